"""Gap records: questions that the documents do not answer, merged by topic, with who asked and what became of them.

Writers of gaps take turns, so that a sighting is never lost, whoever merges or closes the gap at the same moment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import ColumnElement, bindparam, func, select, update

from store import gap_moves, gap_rows
from store.askers import GAPS_LOCK
from store.columns import index_key
from store.database import Database
from store.gap_summary import first_sighting, gap_id_of, seen_again, state_when_asked, wording_digest
from store.privacy import redact
from store.records import Gap, GapSighting, GapState, Visibility
from store.statements import batches
from store.tables import gaps

__all__ = ["REPEAT_SECONDS", "GapStore", "gap_id_of", "wording_digest"]

REPEAT_SECONDS = 600.0
"""The same person asking the same thing again within this time is not counted."""
_MERGED_BY_HAND = "merged by a maintainer"
_UNMERGED = frozenset(GapState) - {GapState.MERGED}
_IDS = select(gaps.c.id).where(gaps.c.state != GapState.MERGED.value).order_by(gaps.c.id)
# Without the state: SQLite would go through all gaps of a state rather than look up thirty ids.
_VECTORS = select(gaps.c.id, gaps.c.state, gaps.c.vector).where(gaps.c.id.in_(bindparam("these", expanding=True)))


class GapStore:
    """Gaps; safe to share between threads. Ids may be given as any unique prefix, except to :meth:`transition`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(
        self,
        sighting: GapSighting,
        *,
        merge_into: str | None = None,
        merged_because: str = "",
        repeat_seconds: float = REPEAT_SECONDS,
    ) -> Gap:
        """Add one question to the gap of its topic, or open that gap.

        The same key always leads to the same gap; a merged one forwards, and a wording that was split off stays with
        its own. A closed gap is reopened, an ignored one only counts. The recorded question is linked to the gap.

        Args:
            sighting: what was asked. Sightings without an asker all count, as one asker.
            merge_into: the gap to join when the key is new, because its meaning is nearly the same.
            merged_because: why, kept with the wording.
            repeat_seconds: the same wording by the same asker within this time is not counted.

        Raises:
            NotFoundError: the gap to merge into does not exist.
        """
        new = first_sighting(
            replace(sighting, question=redact(sighting.question)), merged_because if merge_into else ""
        )
        with self._database.begin(GAPS_LOCK) as connection:
            row = gap_moves.home(connection, sighting.key, new, merge_into)
            gap_id = row.id
            wordings = {one.digest: one for one in gap_rows.wordings_of(connection, [gap_id]).get(gap_id, [])}
            askers = gap_rows.askers_of(connection, [gap_id]).get(gap_id, {})
            who = (new.digest, index_key(sighting.asker))
            counted = _counts(who[1], askers.get(who), sighting.seen_at, repeat_seconds)
            if new.digest in wordings:
                known = wordings[new.digest]
                new = seen_again(known, replace(new, merged_because=known.merged_because), counted=counted)
            wordings[new.digest] = new
            gap_rows.save_wordings(connection, self._database.dialect, gap_id, [new])
            if counted:
                askers[who] = sighting.seen_at
                gap_rows.save_askers(connection, self._database.dialect, gap_id, {who: sighting.seen_at})
            state = state_when_asked(GapState(row.state))
            if sighting.question_id:
                gap_rows.link_question(connection, sighting.question_id, gap_id)
            return gap_rows.save_summary(connection, gap_id, list(wordings.values()), askers, state=state.value)

    def get(self, gap_id: str) -> Gap:
        """One gap by its id or the beginning of it.

        Raises:
            NotFoundError: no gap begins so.
            UsageError: several do.
        """
        with self._database.connect() as connection:
            return gap_rows.loaded(connection, gap_rows.find(connection, gap_id).id)

    def ids(self) -> list[str]:
        """Ids of all gaps but merged ones, in a fixed order."""
        with self._database.connect() as connection:
            return [*connection.scalars(_IDS)]

    def vectors(
        self, gap_ids: Sequence[str], states: Collection[GapState] | None = None
    ) -> Iterator[tuple[str, bytes]]:
        """Ids and question vectors of those of the gaps that exist, in no order, some hundred read at a time.

        Args:
            gap_ids: whole ids.
            states: as in :meth:`list`.
        """
        wanted = _UNMERGED if states is None else frozenset(states)
        for some in batches(gap_ids):
            with self._database.connect() as connection:
                rows = connection.execute(_VECTORS, {"these": some}).all()
            yield from ((row.id, row.vector) for row in rows if row.state in wanted)

    def counts(self) -> dict[GapState, int]:
        """Number of gaps in each state, those without any included; merged ones count as what they were merged into."""
        query = select(gaps.c.state, func.count()).where(_in_states(None)).group_by(gaps.c.state)
        with self._database.connect() as connection:
            found: dict[str, int] = {state: count for state, count in connection.execute(query)}  # noqa: C416 - rows are no pairs to mypy
        return {state: found.get(state.value, 0) for state in GapState if state is not GapState.MERGED}

    def list(
        self,
        states: Collection[GapState] | None = None,
        visibility: Visibility | None = None,
        limit: int | None = None,
    ) -> list[Gap]:
        """Gaps by the number of distinct askers, then of sightings, then the latest first.

        Args:
            states: only these; None for all but merged ones.
            visibility: PUBLIC gives gaps that somebody asked in public, without their private wordings: what may be
                shown to everybody. PRIVATE gives gaps asked in private only. None gives everything.
            limit: how many at most.
        """
        query = select(gaps).where(_in_states(states))
        if visibility is not None:
            query = query.where(gaps.c.visibility == visibility.value)
        query = query.order_by(gaps.c.askers.desc(), gaps.c.count.desc(), gaps.c.last_seen.desc(), gaps.c.id)
        with self._database.connect() as connection:
            rows = connection.execute(query.limit(limit)).mappings().all()
            return gap_rows.records(connection, rows, only_public=visibility is Visibility.PUBLIC)

    def close(self, gap_id: str, note: str = "") -> Gap:
        """Close a gap; an empty note keeps the present one. Errors as in :meth:`reopen`."""
        return self._set_state(gap_id, GapState.CLOSED, note)

    def ignore(self, gap_id: str, note: str = "") -> Gap:
        """Ignore a gap: it goes on counting but stays out of the way. Errors as in :meth:`reopen`."""
        return self._set_state(gap_id, GapState.IGNORED, note)

    def reopen(self, gap_id: str, note: str = "") -> Gap:
        """Open a gap again.

        Raises:
            NotFoundError: there is no such gap.
            UsageError: the beginning of an id fits several.
            ConflictError: the gap was merged into another.
        """
        return self._set_state(gap_id, GapState.REOPENED, note)

    def transition(self, gap_id: str, expected: Collection[GapState], state: GapState, note: str = "") -> bool:
        """Change the state if it is one of the expected ones; of several callers, the first wins. Full id only.

        An empty note keeps the present one.
        """
        values = {"state": state.value} | ({"note": note} if note else {})
        chosen = (gaps.c.id == gap_id) & gaps.c.state.in_([one.value for one in expected])
        with self._database.begin(GAPS_LOCK) as connection:
            return connection.execute(update(gaps).where(chosen).values(**values)).rowcount == 1

    def merge(self, source_ids: Sequence[str], into: str, because: str = _MERGED_BY_HAND) -> Gap:
        """Move everything known about some gaps to another; their keys lead there from now on.

        Raises:
            UsageError: a gap would be merged into itself, or the beginning of an id fits several.
            NotFoundError: one of them does not exist.
            ConflictError: one of them was merged before.
        """
        with self._database.begin(GAPS_LOCK) as connection:
            target = gap_moves.merge(connection, self._database.dialect, source_ids, into, because)
            return gap_rows.loaded(connection, target)

    def split(self, gap_id: str, wordings: Sequence[str], key: str) -> Gap:
        """Move wordings of a gap to a gap of their own; later questions in these words go there too.

        Args:
            gap_id: the gap that was merged too far.
            wordings: at least one of its wordings, and not all.
            key: topic key of the new gap. Where it is the old gap's own, the wording is made part of it: a topic key
                that is too coarse must not keep two questions together.

        Raises:
            NotFoundError: the gap or one of the wordings does not exist.
            UsageError: no wording would move, or none would stay.
            ConflictError: the gap was merged into another, or the key already has a gap of its own.
        """
        with self._database.begin(GAPS_LOCK) as connection:
            new = gap_moves.split(connection, self._database.dialect, gap_id, wordings, key)
            return gap_rows.loaded(connection, new)

    def _set_state(self, gap_id: str, state: GapState, note: str) -> Gap:
        values = {"state": state.value} | ({"note": note} if note else {})
        with self._database.begin(GAPS_LOCK) as connection:
            found = gap_rows.unmerged(connection, gap_id).id
            connection.execute(update(gaps).where(gaps.c.id == found).values(**values))
            return gap_rows.loaded(connection, found)


def _counts(asker: str, last: datetime | None, seen_at: datetime, repeat_seconds: float) -> bool:
    return not asker or last is None or abs((seen_at - last).total_seconds()) >= repeat_seconds


def _in_states(states: Collection[GapState] | None) -> ColumnElement[bool]:
    if states is None:
        return gaps.c.state != GapState.MERGED.value
    return gaps.c.state.in_([state.value for state in states])
