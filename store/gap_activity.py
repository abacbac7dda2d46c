"""Who asked about gaps and when, and whose answers people marked as not helpful: what topics are ranked by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, func, select

from store.database import Database
from store.records import Visibility
from store.statements import batches
from store.tables import gap_askers, questions, votes


@dataclass(frozen=True, slots=True)
class Activity:
    """What is known of one gap beyond its record.

    Attributes:
        askers: who asked; an unknown person is one.
        unhelpful: how many people marked an answer to it as not helpful.
        asked: when it was asked, oldest first, as far back as was wanted and the question log goes.
        publicly: the same for what was asked in public only.
    """

    askers: frozenset[str] = frozenset()
    unhelpful: int = 0
    asked: tuple[datetime, ...] = ()
    publicly: tuple[datetime, ...] = ()


class GapActivity:
    """Reads the question log, votes and askers; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, gap_ids: Sequence[str], since: datetime | None = None) -> dict[str, Activity]:
        """Activity by gap id, for all of these gaps.

        Args:
            gap_ids: whole ids.
            since: leaves earlier questions out of ``asked``; None takes all.
        """
        found = {gap_id: _Found() for gap_id in gap_ids}
        with self._database.connect() as connection:
            for some in batches(list(found)):
                _read_askers(connection, some, found)
                _read_votes(connection, some, found)
                _read_log(connection, some, since, found)
        return {gap_id: one.frozen() for gap_id, one in found.items()}


@dataclass(slots=True)
class _Found:
    askers: set[str] = field(default_factory=set)
    unhelpful: int = 0
    asked: list[datetime] = field(default_factory=list)
    publicly: list[datetime] = field(default_factory=list)

    def frozen(self) -> Activity:
        return Activity(frozenset(self.askers), self.unhelpful, tuple(self.asked), tuple(self.publicly))


def _read_askers(connection: Connection, gap_ids: Sequence[str], found: Mapping[str, _Found]) -> None:
    query = select(gap_askers.c.gap_id, gap_askers.c.asker).where(gap_askers.c.gap_id.in_(gap_ids))
    for gap_id, asker in connection.execute(query):
        found[gap_id].askers.add(asker)


def _read_votes(connection: Connection, gap_ids: Sequence[str], found: Mapping[str, _Found]) -> None:
    query = (
        select(questions.c.gap_id, func.count(votes.c.asker.distinct()))
        .join(votes)
        .where(questions.c.gap_id.in_(gap_ids), votes.c.helpful.is_(False))
        .group_by(questions.c.gap_id)
    )
    for gap_id, count in connection.execute(query):
        found[gap_id].unhelpful = count


def _read_log(
    connection: Connection, gap_ids: Sequence[str], since: datetime | None, found: Mapping[str, _Found]
) -> None:
    log = questions.c
    query = select(log.gap_id, log.asked_at, log.visibility).where(log.gap_id.in_(gap_ids)).order_by(log.asked_at)
    for gap_id, moment, visibility in connection.execute(
        query if since is None else query.where(log.asked_at >= since)
    ):
        found[gap_id].asked.append(moment)
        if visibility == Visibility.PUBLIC.value:
            found[gap_id].publicly.append(moment)
