"""Which gap a question belongs to, and moving wordings between gaps; used inside the gap store's transactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, bindparam, select, update

from store import gap_rows
from store.errors import ConflictError, NotFoundError, UsageError
from store.gap_rows import GapRow
from store.gap_summary import Wording, combined, gap_id_of, state_when_merged, wording_digest
from store.records import GapState
from store.tables import gap_wordings, gaps

_SPLIT_OFF = (
    select(gaps.c.id, gaps.c.state, gaps.c.merged_into)
    .join(gap_wordings)
    .where(gap_wordings.c.digest == bindparam("this_wording"), gaps.c.split_from == bindparam("this_gap"))
    .limit(1)
)


def home(connection: Connection, key: str, new: Wording, merge_into: str | None) -> GapRow:
    """The row of the gap that a sighting belongs to; a new row is made when there is none.

    A key that is new but joins another gap gets a forwarding row, so that it leads to the same gap next time.
    """
    own = gap_id_of(key)
    row = gap_rows.by_id(connection, own)
    if row is None and merge_into:
        target = gap_rows.forwarded(connection, gap_rows.find(connection, merge_into))
        gap_rows.insert_gap(connection, own, key, new, merged_into=target.id)
        return target
    if row is None:
        return gap_rows.insert_gap(connection, own, key, new)
    target = gap_rows.forwarded(connection, row)
    return _split_off(connection, target.id, new.digest) or target


def merge(connection: Connection, dialect: str, source_ids: Sequence[str], into: str, because: str) -> str:
    """Move the wordings of the sources to the target, and let the sources forward; the target's id."""
    target = gap_rows.forwarded(connection, gap_rows.find(connection, into))
    sources = {row.id: row for row in (gap_rows.unmerged(connection, one) for one in source_ids)}
    if target.id in sources:
        raise UsageError(f"Gap {target.id} cannot be merged into itself.", "Name another gap.")
    for source in sources:
        _move_wordings(connection, dialect, source, target.id, because)
        _forward(connection, source, target.id, because)
    if sources:
        state = state_when_merged(GapState(target.state), [GapState(row.state) for row in sources.values()])
        gap_rows.refresh(connection, target.id, state=state.value)
    return target.id


def split(connection: Connection, dialect: str, gap_id: str, wordings: Sequence[str], key: str) -> str:
    """Move some wordings to a gap of their own; its id."""
    old = gap_rows.unmerged(connection, gap_id).id
    chosen = _chosen(gap_rows.wordings_of(connection, [old])[old], wordings)
    if gap_id_of(key) == old:
        key = f"{key} [{min(chosen)[:12]}]"
    new = gap_id_of(key)
    askers = {who: when for who, when in gap_rows.askers_of(connection, [old])[old].items() if who[0] in chosen}
    own = [replace(one, merged_because="") for one in chosen.values()]
    _make_room(connection, old, new, key, own[0])
    gap_rows.drop_wordings(connection, old, list(chosen))
    gap_rows.save_wordings(connection, dialect, new, own)
    gap_rows.save_askers(connection, dialect, new, askers)
    gap_rows.move_questions(connection, old, new, frozenset(chosen))
    gap_rows.refresh(connection, old)
    gap_rows.refresh(connection, new)
    return new


def _split_off(connection: Connection, gap_id: str, digest: str) -> GapRow | None:
    """The gap that took this wording away from the given one, if a maintainer split it off."""
    row = connection.execute(_SPLIT_OFF, {"this_wording": digest, "this_gap": gap_id}).first()
    return GapRow(*row) if row else None


def _move_wordings(connection: Connection, dialect: str, source: str, target: str, because: str) -> None:
    wordings = gap_rows.wordings_of(connection, [source, target])
    present = {one.digest: one for one in wordings.get(target, [])}
    moved = [replace(one, merged_because=one.merged_because or because) for one in wordings.get(source, [])]
    askers = gap_rows.askers_of(connection, [source, target])
    counted = askers.get(target, {})
    latest = {who: max(when, counted.get(who, when)) for who, when in askers.get(source, {}).items()}
    gap_rows.drop_wordings(connection, source, [one.digest for one in moved])
    together = [combined(present[one.digest], one) if one.digest in present else one for one in moved]
    gap_rows.save_wordings(connection, dialect, target, together)
    gap_rows.save_askers(connection, dialect, target, latest)
    gap_rows.move_questions(connection, source, target)


def _forward(connection: Connection, source: str, target: str, because: str) -> None:
    merged = {"state": GapState.MERGED.value, "merged_into": target, "note": because}
    connection.execute(update(gaps).where(gaps.c.id == source).values(**merged))
    connection.execute(update(gaps).where(gaps.c.merged_into == source).values(merged_into=target))
    # What was split off the source must go on catching its wordings, which now come by way of the target.
    connection.execute(update(gaps).where(gaps.c.split_from == source).values(split_from=target))


def _chosen(present: Sequence[Wording], texts: Sequence[str]) -> dict[str, Wording]:
    known = {one.digest: one for one in present}
    digests = {wording_digest(text): text for text in texts}
    unknown = [text for digest, text in digests.items() if digest not in known]
    if unknown:
        raise NotFoundError(f"The gap has no wording {unknown[0]!r}.", "`gaplight gaps show` lists its wordings.")
    if not digests or len(digests) == len(known):
        raise UsageError("A split has to move at least one wording and leave one.", "Name some of the wordings.")
    return {digest: known[digest] for digest in digests}


def _make_room(connection: Connection, old: str, new: str, key: str, first: Wording) -> None:
    """Make the row of a split-off gap, out of a forwarding row where the key has one."""
    row = gap_rows.by_id(connection, new)
    if row is None:
        gap_rows.insert_gap(connection, new, key, first, split_from=old)
    elif row.state == GapState.MERGED and row.merged_into == old:
        own = {"state": GapState.OPEN.value, "merged_into": "", "note": "", "split_from": old}
        connection.execute(update(gaps).where(gaps.c.id == new).values(**own))
    else:
        raise ConflictError(f"The topic already has its own gap {new}.", "Merge the wording into that gap instead.")
