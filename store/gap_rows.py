"""Statements on the gap tables, used inside the transactions of the gap store."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, Connection, RowMapping, bindparam, delete, select, update

from store.errors import ConflictError, NotFoundError, UsageError
from store.gap_summary import Summary, Wording, lead, summary, wording_digest
from store.records import Gap, GapState, GapType, GapWording, Nearest, Visibility
from store.statements import batches, upsert
from store.tables import collections, gap_askers, gap_wordings, gaps, questions

Askers = dict[tuple[str, str], datetime]
"""(wording digest, asker) → when that asker was last counted with that wording."""

# Built once: on SQLite, building a statement costs more than running it.
_THIS_GAP = gaps.c.id == bindparam("this_gap")
_THESE_GAPS: BindParameter[str] = bindparam("these_gaps", expanding=True)
_GAP_ROW = select(gaps.c.id, gaps.c.state, gaps.c.merged_into).where(_THIS_GAP)
_WHOLE_GAP = select(gaps).where(_THIS_GAP)
_UPDATE_GAP = update(gaps).where(_THIS_GAP)
_WORDINGS = (
    select(gap_wordings)
    .where(gap_wordings.c.gap_id.in_(_THESE_GAPS))
    .order_by(gap_wordings.c.first_seen, gap_wordings.c.digest)
)
_ASKERS = select(gap_askers).where(gap_askers.c.gap_id.in_(_THESE_GAPS))
_PRIVATE_COLLECTIONS = select(collections.c.name).where(collections.c.visibility == Visibility.PRIVATE.value)

_ID_BEGINNING = re.compile("[0-9a-f]{1,32}")
_SHOWN_MATCHES = 5
_AFTER_HEXADECIMAL = "g"
# A comparison and no LIKE, for which SQLite has no index.
_BEGINNING = (
    select(gaps.c.id, gaps.c.state, gaps.c.merged_into)
    .where(gaps.c.id >= bindparam("from_here"), gaps.c.id < bindparam("to_here"))
    .order_by(gaps.c.id)
    .limit(_SHOWN_MATCHES)
)


class GapRow(NamedTuple):
    """What decides where a sighting goes."""

    id: str
    state: str
    merged_into: str


def by_id(connection: Connection, gap_id: str) -> GapRow | None:
    """The gap with exactly this id."""
    row = connection.execute(_GAP_ROW, {"this_gap": gap_id}).one_or_none()
    return GapRow(*row) if row else None


def find(connection: Connection, beginning: str) -> GapRow:
    """The gap whose id begins so.

    Raises:
        NotFoundError: none does.
        UsageError: several do.
    """
    prefix = beginning.strip().lower()
    rows: Sequence[Any] = ()
    if _ID_BEGINNING.fullmatch(prefix):
        rows = connection.execute(_BEGINNING, {"from_here": prefix, "to_here": prefix + _AFTER_HEXADECIMAL}).all()
    if not rows:
        raise NotFoundError(f"There is no gap {beginning!r}.", "`gaplight gaps list` shows the ids.")
    if len(rows) > 1:
        raise UsageError(f"Several gaps begin with {beginning!r}: {', '.join(row.id for row in rows)}.", "Add digits.")
    return GapRow(*rows[0])


def forwarded(connection: Connection, row: GapRow) -> GapRow:
    """The gap itself, or the one that it was merged into."""
    target = by_id(connection, row.merged_into) if row.state == GapState.MERGED else None
    return target or row


def unmerged(connection: Connection, beginning: str) -> GapRow:
    """Like :func:`find`, but a gap that was merged into another is refused with ConflictError."""
    row = find(connection, beginning)
    if row.state == GapState.MERGED:
        raise ConflictError(f"Gap {row.id} was merged into {row.merged_into}.", "Use that one, or split it first.")
    return row


def loaded(connection: Connection, gap_id: str) -> Gap:
    """The record of the gap with exactly this id."""
    return records(connection, connection.execute(_WHOLE_GAP, {"this_gap": gap_id}).mappings().all())[0]


def insert_gap(
    connection: Connection, gap_id: str, key: str, first: Wording, *, merged_into: str = "", split_from: str = ""
) -> GapRow:
    """A new gap row, or one that only forwards to the gap it was merged into."""
    state = GapState.MERGED if merged_into else GapState.OPEN
    own = {"id": gap_id, "key": key, "state": state.value, "note": first.merged_because if merged_into else ""}
    own |= {"merged_into": merged_into, "split_from": split_from}
    connection.execute(gaps.insert(), own | _summary_values(summary([first])) | {"askers": 0})
    return GapRow(gap_id, state.value, merged_into)


def wordings_of(connection: Connection, gap_ids: Sequence[str]) -> dict[str, list[Wording]]:
    """The wordings of gaps, earliest first."""
    found: defaultdict[str, list[Wording]] = defaultdict(list)
    for some in batches(gap_ids):
        for row in connection.execute(_WORDINGS, {"these_gaps": some}).mappings():
            values = {name: row[name] for name in _WORDING_FIELDS} | _typed(row)
            found[row["gap_id"]].append(Wording(**values))
    return found


def askers_of(connection: Connection, gap_ids: Sequence[str]) -> dict[str, Askers]:
    """Who asked which wording of the gaps."""
    found: defaultdict[str, Askers] = defaultdict(dict)
    for some in batches(gap_ids):
        for gap_id, digest, asker, counted_at in connection.execute(_ASKERS, {"these_gaps": some}):
            found[gap_id][digest, asker] = counted_at
    return found


def save_wordings(connection: Connection, dialect: str, gap_id: str, wordings: Iterable[Wording]) -> None:
    """Insert wordings or overwrite those that the gap already has."""
    rows = [
        asdict(one)
        | {"gap_id": gap_id, "type": one.type.value, "visibility": one.visibility.value, "reasons": dict(one.reasons)}
        for one in wordings
    ]
    if rows:
        connection.execute(upsert(dialect, gap_wordings, ("gap_id", "digest")), rows)


def save_askers(connection: Connection, dialect: str, gap_id: str, askers: Askers) -> None:
    """Insert askers of wordings or overwrite when they were last counted."""
    rows = [
        {"gap_id": gap_id, "digest": digest, "asker": asker, "counted_at": counted_at}
        for (digest, asker), counted_at in askers.items()
    ]
    if rows:
        connection.execute(upsert(dialect, gap_askers, ("gap_id", "digest", "asker")), rows)


def drop_wordings(connection: Connection, gap_id: str, digests: Sequence[str]) -> None:
    """Take wordings and their askers off a gap."""
    for table in (gap_wordings, gap_askers):
        for some in batches(digests):
            connection.execute(delete(table).where(table.c.gap_id == gap_id, table.c.digest.in_(some)))


def save_summary(
    connection: Connection, gap_id: str, wordings: Sequence[Wording], askers: Askers, **own: object
) -> Gap:
    """Write what the wordings say together, and values of the gap itself such as its state, to the gap's row."""
    values = _summary_values(summary(wordings)) | {"askers": len({asker for _, asker in askers})} | own
    connection.execute(_UPDATE_GAP, values | {"this_gap": gap_id})
    row = connection.execute(_WHOLE_GAP, {"this_gap": gap_id}).mappings().one()
    return record(row, sorted(wordings, key=lambda one: (one.first_seen, one.digest)), askers)


def refresh(connection: Connection, gap_id: str, **own: object) -> Gap:
    """Sum up a gap anew from its wordings, as :func:`save_summary` does."""
    wordings, askers = wordings_of(connection, [gap_id])[gap_id], askers_of(connection, [gap_id]).get(gap_id, {})
    return save_summary(connection, gap_id, wordings, askers, **own)


def link_question(connection: Connection, question_id: str, gap_id: str) -> None:
    """Note on a recorded question which gap it belongs to."""
    connection.execute(update(questions).where(questions.c.id == question_id).values(gap_id=gap_id))


def move_questions(connection: Connection, old: str, new: str, digests: frozenset[str] | None = None) -> None:
    """Link recorded questions to another gap: all of a gap, or those with one of the wordings."""
    if digests is None:
        connection.execute(update(questions).where(questions.c.gap_id == old).values(gap_id=new))
        return
    rows = connection.execute(select(questions.c.id, questions.c.text).where(questions.c.gap_id == old)).all()
    for some in batches([identity for identity, text in rows if wording_digest(text) in digests]):
        connection.execute(update(questions).where(questions.c.id.in_(some)).values(gap_id=new))


def records(connection: Connection, rows: Sequence[RowMapping], *, only_public: bool = False) -> list[Gap]:
    """Gap rows as records, with their wordings; ``only_public`` leaves private wordings out.

    A gap that everybody may see never quotes a collection that has become private since.
    """
    ids = [row["id"] for row in rows]
    wordings, askers = wordings_of(connection, ids), askers_of(connection, ids)
    found = [
        record(row, wordings.get(row["id"], []), askers.get(row["id"], {}), only_public=only_public) for row in rows
    ]
    closed = frozenset(connection.scalars(_PRIVATE_COLLECTIONS))
    return [replace(gap, nearest=None) if _quotes(gap, closed) else gap for gap in found]


def _quotes(gap: Gap, private: Collection[str]) -> bool:
    return gap.visibility is Visibility.PUBLIC and gap.nearest is not None and gap.nearest.collection in private


def record(row: RowMapping, wordings: Sequence[Wording], askers: Askers, *, only_public: bool = False) -> Gap:
    """One gap as a record."""
    shown = lead(wordings) if wordings else None
    by_wording = Counter(digest for digest, _ in askers)
    others = [
        one for one in wordings if one is not shown and not (only_public and one.visibility is not Visibility.PUBLIC)
    ]
    values = {name: row[name] for name in _GAP_FIELDS} | _typed(row) | {"state": GapState(row["state"])}
    return Gap(**values, additional_questions=tuple(_shown(one, by_wording[one.digest]) for one in others))


_WORDING_FIELDS = [one.name for one in fields(Wording)]
_SUMMARY_FIELDS = [one.name for one in fields(Summary)]
_GAP_FIELDS = [*_SUMMARY_FIELDS, "id", "key", "askers", "note", "merged_into"]


def _typed(row: RowMapping) -> dict[str, Any]:
    nearest = row["nearest"]
    return {
        "type": GapType(row["type"]),
        "visibility": Visibility(row["visibility"]),
        "nearest": Nearest(**nearest) if nearest else None,
    }


def _summary_values(found: Summary) -> dict[str, Any]:
    values = {name: getattr(found, name) for name in _SUMMARY_FIELDS}
    values |= {"type": found.type.value, "visibility": found.visibility.value, "reasons": dict(found.reasons)}
    return values | {"nearest": asdict(found.nearest) if found.nearest else None}


def _shown(wording: Wording, askers: int) -> GapWording:
    return GapWording(
        text=wording.text,
        count=wording.count,
        askers=askers,
        first_seen=wording.first_seen,
        last_seen=wording.last_seen,
        visibility=wording.visibility,
        merged_because=wording.merged_because,
    )
