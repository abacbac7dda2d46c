"""Calibrated thresholds, one row for each time that somebody (or the first ingestion) calibrated."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select, update

from store.database import Database
from store.errors import NotFoundError
from store.tables import calibrations


@dataclass(frozen=True, slots=True)
class CalibrationRecord:
    """A threshold with what it was measured on.

    Attributes:
        threshold: support from which the gate lets an answer through, in [0, 1].
        method: ``labelled`` or ``unlabelled``.
        space: what a support means: embedding model, chunker, tokeniser and the version of the parts of support. A
            threshold of another space says nothing.
        chunks: of the corpus when it was measured.
        result: the whole calibration as plain JSON values.
        applied: whether the gate was told to use it.
        id: empty until it is stored.
    """

    created_at: datetime
    threshold: float
    method: str
    space: str
    chunks: int
    result: Mapping[str, object] = field(default_factory=dict)
    applied: bool = False
    id: str = ""


class CalibrationStore:
    """Calibrations; nothing is ever overwritten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, record: CalibrationRecord) -> str:
        """Keep a calibration; returns its id."""
        identity = record.id or uuid.uuid4().hex[:12]
        with self._database.begin() as connection:
            connection.execute(
                insert(calibrations).values(
                    id=identity,
                    created_at=record.created_at,
                    threshold=record.threshold,
                    method=record.method,
                    space=record.space,
                    chunks=record.chunks,
                    result=dict(record.result),
                    applied=record.applied,
                )
            )
        return identity

    def apply(self, calibration_id: str) -> None:
        """Let the gate use a kept calibration.

        Raises:
            NotFoundError: there is none with this id.
        """
        query = update(calibrations).where(calibrations.c.id == calibration_id).values(applied=True)
        with self._database.begin() as connection:
            if not connection.execute(query).rowcount:
                raise NotFoundError(f"There is no calibration {calibration_id!r}.")

    def in_force(self, space: str) -> CalibrationRecord | None:
        """The calibration that the gate uses: the latest applied one of this space, one with labels before others."""
        applied = [record for record in self.all(space) if record.applied]
        labelled = [record for record in applied if record.method == "labelled"]
        usable = labelled or applied
        return usable[-1] if usable else None

    def all(self, space: str | None = None) -> list[CalibrationRecord]:
        """Kept calibrations, oldest first; of one space, or of every one."""
        query = select(calibrations).order_by(calibrations.c.created_at, calibrations.c.id)
        if space is not None:
            query = query.where(calibrations.c.space == space)
        with self._database.connect() as connection:
            return [_record(row) for row in connection.execute(query)]


def _record(row: Row[*tuple[Any, ...]]) -> CalibrationRecord:
    return CalibrationRecord(
        row.created_at, row.threshold, row.method, row.space, row.chunks, row.result, row.applied, row.id
    )
