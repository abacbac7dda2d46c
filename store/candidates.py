"""Suggested sources and the decisions on them. The first decision wins, over all threads and processes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, RowMapping, select, update

from store.columns import index_key
from store.database import Database
from store.errors import ConflictError, NotFoundError, UsageError
from store.records import Candidate, CandidateState, Nearest, Preview, Source, Visibility
from store.statements import insert_for
from store.tables import candidates
from store.text import clean, clean_values

_SHOWN_MATCHES = 5
_DECIDED = (CandidateState.APPROVED, CandidateState.INGESTED, CandidateState.REJECTED)


def candidate_id(topic_id: str, source_key: str) -> str:
    """The id of a source as a suggestion for a topic: 12 hexadecimal digits, the same in every round."""
    return hashlib.sha256(f"{topic_id}\n{source_key}".encode()).hexdigest()[:12]


class CandidateStore:
    """Candidates; safe to share between threads. Ids may be given as any unique prefix, except to :meth:`change`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def suggest(self, candidate: Candidate) -> Candidate:
        """Store a suggestion. One that is known for this topic keeps its state and decision and gets the new findings.

        While it waits, that is: what was approved, ingested or rejected stays what was decided on. An expired one
        waits again when its source has another revision.

        Returns:
            The candidate as it stands now; its ``version`` is raised only where the findings changed.
        """
        candidate = _cleaned(candidate)
        this = candidates.c.id == candidate.id
        with self._database.begin() as connection:
            statement = insert_for(self._database.dialect, candidates).on_conflict_do_nothing()
            connection.execute(statement, _values(candidate))
            known = _candidate(connection.execute(select(candidates).where(this)).one()._mapping)  # noqa: SLF001
            if known.state in _DECIDED:
                return known
            found = replace(
                known if known.source.revision == candidate.source.revision else _renewed(known, candidate),
                topic_label=candidate.topic_label,
                source=candidate.source,
                preview=candidate.preview,
                gap_ids=candidate.gap_ids,
                score=candidate.score,
            )
            if found == known:
                return known
            found = replace(found, version=known.version + 1)
            connection.execute(update(candidates).where(this).values(_values(found)))
            return found

    def get(self, beginning: str) -> Candidate:
        """One candidate by its id or the beginning of it.

        Raises:
            NotFoundError: none begins so.
            UsageError: several do.
        """
        if not beginning or not set(beginning) <= set("0123456789abcdef"):
            raise NotFoundError(f"There is no candidate {beginning!r}.", "`gaplight candidates list` shows them.")
        found = self._select(candidates.c.id.startswith(beginning))
        if len(found) > 1:
            shown = ", ".join(one.id for one in found[:_SHOWN_MATCHES])
            raise UsageError(f"{beginning!r} is the beginning of several candidates: {shown}.", "Give more digits.")
        if not found:
            raise NotFoundError(f"There is no candidate {beginning!r}.", "`gaplight candidates list` shows them.")
        return found[0]

    def listed(
        self, states: Collection[CandidateState] = (CandidateState.PENDING,), topic_id: str = ""
    ) -> list[Candidate]:
        """Candidates in one of these states (all states when empty), the best first."""
        condition = candidates.c.state.in_([state.value for state in states or tuple(CandidateState)])
        return self._select(condition & (candidates.c.topic_id == topic_id) if topic_id else condition)

    def of_source(self, source_key: str) -> list[Candidate]:
        """Every suggestion of a source, for whatever topic."""
        return self._select(candidates.c.source_key == index_key(source_key))

    def change(self, candidate: Candidate, expected: Collection[CandidateState], **changes: Any) -> Candidate:
        """Move a candidate on, if it still is where the caller believes it to be.

        Args:
            candidate: as it was read.
            expected: states from which this step is allowed.
            changes: fields of :class:`Candidate` to set; ``version`` is raised by itself.

        Raises:
            ConflictError: somebody else was first, or the state does not allow it; says who and what.
            NotFoundError: the candidate was deleted.
        """
        changed = replace(candidate, **changes, version=candidate.version + 1)
        condition = (
            (candidates.c.id == candidate.id)
            & (candidates.c.version == candidate.version)
            & candidates.c.state.in_([state.value for state in expected])
        )
        with self._database.begin() as connection:
            if connection.execute(update(candidates).where(condition).values(_values(changed))).rowcount == 1:
                return changed
        present = self.get(candidate.id)
        if present.state in expected and present.state is candidate.state:
            return self.change(present, expected, **changes)  # only the findings were refreshed in between
        raise ConflictError(_already(present))

    def _select(self, condition: ColumnElement[bool]) -> list[Candidate]:
        query = select(candidates).where(condition).order_by(candidates.c.score.desc(), candidates.c.id)
        with self._database.connect() as connection:
            return [_candidate(row._mapping) for row in connection.execute(query)]  # noqa: SLF001 - SQLAlchemy's way


def _renewed(known: Candidate, found: Candidate) -> Candidate:
    """An expired candidate whose source has changed waits for a decision once more."""
    if known.state is not CandidateState.EXPIRED:
        return known
    return replace(known, state=CandidateState.PENDING, created_at=found.created_at, note="")


def _cleaned(candidate: Candidate) -> Candidate:
    """As the database will give it back, so that the same findings are the same."""
    values = _values(candidate)
    return replace(
        candidate,
        topic_label=clean(candidate.topic_label),
        source=_source(cast(dict[str, Any], clean_values(values["source"]))),
        preview=_preview(cast(dict[str, Any], clean_values(values["preview"]))) if candidate.preview else None,
        note=clean(candidate.note),
    )


def _already(candidate: Candidate) -> str:
    by = f" by {candidate.decided_by}" if candidate.decided_by else ""
    return f"Candidate {candidate.id} is already {candidate.state.value}{by}."


def _values(candidate: Candidate) -> dict[str, object]:
    source = asdict(candidate.source)
    source["updated_at"] = candidate.source.updated_at.isoformat() if candidate.source.updated_at else None
    return {
        "id": candidate.id,
        "topic_id": candidate.topic_id,
        "topic_label": candidate.topic_label,
        "source_key": index_key(candidate.source.key),
        "source": source,
        "preview": asdict(candidate.preview) if candidate.preview else None,
        "gap_ids": list(candidate.gap_ids),
        "score": candidate.score,
        "state": candidate.state.value,
        "collection": candidate.collection,
        "visibility": candidate.visibility.value,
        "created_at": candidate.created_at,
        "decided_by": candidate.decided_by,
        "decided_at": candidate.decided_at,
        "note": candidate.note,
        "snoozed_until": candidate.snoozed_until,
        "version": candidate.version,
    }


def _candidate(row: RowMapping) -> Candidate:
    values = {name: row[name] for name in Candidate.__slots__}
    return Candidate(
        **values
        | {
            "source": _source(row["source"]),
            "preview": _preview(row["preview"]) if row["preview"] else None,
            "gap_ids": tuple(row["gap_ids"]),
            "state": CandidateState(row["state"]),
            "visibility": Visibility(row["visibility"]),
        }
    )


def _source(stored: Mapping[str, Any]) -> Source:
    moment = stored["updated_at"]
    return Source(
        **dict(stored)
        | {"updated_at": datetime.fromisoformat(moment) if moment else None, "reasons": tuple(stored["reasons"])}
    )


def _preview(stored: Mapping[str, Any]) -> Preview:
    return Preview(**dict(stored) | {"evidence": tuple(Nearest(**passage) for passage in stored["evidence"])})
