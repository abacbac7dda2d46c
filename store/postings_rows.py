"""Statements on the tables of the shared index of words, used by :mod:`store.postings`."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np
from sqlalchemy import BindParameter, Connection, and_, bindparam, delete, select, update

from store.index_log import now
from store.lexical import FORMAT
from store.postings_segments import (
    Places,
    Segment,
    Size,
    pack_members,
    pack_places,
    unpack_members,
    unpack_places,
)
from store.statements import batches, insert_for
from store.tables import lexical_builds, lexical_groups, lexical_postings, lexical_segments

_ROWS = 2000
"""Rows in one insert: enough that round trips do not count."""
_ID_BITS = 62
_IDS: BindParameter[int] = bindparam("ids", expanding=True)
_TERMS: BindParameter[str] = bindparam("terms", expanding=True)

# Built once: making a statement costs more than running it.
_SIZES = select(
    lexical_segments.c.id, lexical_segments.c.chunks, lexical_segments.c.deleted, lexical_segments.c.terms
).order_by(lexical_segments.c.id)
_CONTENT = select(
    lexical_segments.c.id,
    lexical_segments.c.members,
    lexical_segments.c.lengths,
    lexical_segments.c.groups,
).where(lexical_segments.c.id.in_(_IDS))
_DELETIONS = select(lexical_segments.c.id, lexical_segments.c.deletions).where(lexical_segments.c.id.in_(_IDS))
_POSTINGS = (
    select(lexical_segments.c.id, lexical_postings.c.term, lexical_postings.c.places)
    .outerjoin(
        lexical_postings,
        and_(lexical_postings.c.segment == lexical_segments.c.id, lexical_postings.c.term.in_(_TERMS)),
    )
    .where(lexical_segments.c.id.in_(_IDS))
)


class SegmentSize(NamedTuple):
    """How full a segment is, and how many terms its chunks have together."""

    size: Size
    terms: int


def sizes(connection: Connection) -> list[SegmentSize]:
    """Of all segments, in the order of their ids."""
    return [SegmentSize(Size(row[0], row[1], row[2]), row[3]) for row in connection.execute(_SIZES)]


def segments(connection: Connection, ids: Sequence[int]) -> dict[int, Segment]:
    """Those that still exist."""
    if not ids:
        return {}
    return {
        row.id: Segment(
            unpack_members(row.members),
            np.frombuffer(row.lengths, dtype="<u4").astype(np.int64),
            np.frombuffer(row.groups, dtype="<i8"),
        )
        for row in connection.execute(_CONTENT, {"ids": ids})
    }


def deletions(connection: Connection, ids: Sequence[int]) -> dict[int, Places]:
    """The deleted places of those that still exist."""
    if not ids:
        return {}
    return {row.id: unpack_places(row.deletions) for row in connection.execute(_DELETIONS, {"ids": ids})}


def postings(connection: Connection, ids: Sequence[int], terms: Sequence[str]) -> dict[int, dict[str, bytes]]:
    """What the segments have of the terms; those that no longer exist are left out. One look at one moment."""
    found: dict[int, dict[str, bytes]] = {}
    for segment, term, places in connection.execute(_POSTINGS, {"ids": ids, "terms": terms}):
        lists = found.setdefault(segment, {})
        if term is not None:
            lists[term] = places
    return found


def every_posting(connection: Connection, ids: Sequence[int]) -> Iterator[tuple[str, Sequence[tuple[int, bytes]]]]:
    """Each term of these segments once, with its list in each of them, numbered in the order of ``ids``."""
    numbers = {segment: number for number, segment in enumerate(ids)}
    query = (
        select(lexical_postings.c.term, lexical_postings.c.segment, lexical_postings.c.places)
        .where(lexical_postings.c.segment.in_(ids))
        .order_by(lexical_postings.c.term)
    )
    rows = connection.execute(query).all()
    for term, same in groupby(rows, key=lambda row: row[0]):
        yield term, [(numbers[segment], places) for _, segment, places in same]


def insert(connection: Connection, segment: Segment, lists: Iterable[tuple[str, bytes]]) -> None:
    """Add a segment with its postings, under an id that was never used."""
    identity = secrets.randbits(_ID_BITS)
    row = {
        "id": identity,
        "chunks": len(segment.members),
        "terms": int(segment.lengths.sum()),
        "deleted": 0,
        "members": pack_members(segment),
        "lengths": segment.lengths.astype("<u4").tobytes(),
        "groups": segment.groups.astype("<i8").tobytes(),
        "deletions": b"",
    }
    connection.execute(lexical_segments.insert(), row)
    coming = iter(lists)
    while some := list(islice(coming, _ROWS)):
        values = [{"segment": identity, "term": term, "places": places} for term, places in some]
        connection.execute(lexical_postings.insert(), values)


def mark_deleted(connection: Connection, segment: int, places: Places) -> None:
    """Say which places of a segment are deleted, those that were before included."""
    changed = {"deleted": len(places), "deletions": pack_places(places)}
    connection.execute(update(lexical_segments).where(lexical_segments.c.id == segment).values(**changed))


def drop(connection: Connection, ids: Sequence[int]) -> None:
    """Remove segments with their postings."""
    for some in batches(ids):
        connection.execute(delete(lexical_postings).where(lexical_postings.c.segment.in_(some)))
        connection.execute(delete(lexical_segments).where(lexical_segments.c.id.in_(some)))


def is_built(connection: Connection) -> bool:
    """Whether the index was completely built in the present format."""
    return connection.scalar(select(lexical_builds.c.format).where(lexical_builds.c.format == FORMAT)) is not None


def note_built(connection: Connection) -> None:
    """Say that the index is complete, in the present format and no other."""
    connection.execute(delete(lexical_builds))
    connection.execute(lexical_builds.insert(), {"format": FORMAT, "built_at": now()})


def group_id(collection: str, scope: Sequence[str]) -> int:
    """What stands for a collection and a scope, the same in every process."""
    text = "\0".join([collection, *sorted(scope)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> (64 - _ID_BITS)


def groups(connection: Connection) -> dict[int, tuple[str, frozenset[str]]]:
    """All groups: collection and facts of each."""
    rows = connection.execute(select(lexical_groups))
    return {row.id: (row.collection, frozenset(row.scope)) for row in rows}


def add_groups(connection: Connection, dialect: str, added: Mapping[int, tuple[str, Sequence[str]]]) -> None:
    """Make groups known; those that are known already stay."""
    if added:
        rows = [{"id": one, "collection": name, "scope": sorted(scope)} for one, (name, scope) in added.items()]
        connection.execute(insert_for(dialect, lexical_groups).on_conflict_do_nothing(), rows)
