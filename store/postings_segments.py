"""Segments of an index of words: made once, never changed, and merged into larger ones. Pure.

A segment holds some chunks in the order of their ids. A chunk's place in that order stands for it everywhere else:
for each term there is one list of places with the number of times the term occurs there. Only the set of deleted
places grows; the next merge leaves those chunks out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Places = np.ndarray[tuple[int], np.dtype[np.uint32]]
Counts = np.ndarray[tuple[int], np.dtype[np.uint16]]
Ints = np.ndarray[tuple[int], np.dtype[np.int64]]
Bytes = np.ndarray[tuple[int], np.dtype[np.bytes_]]

_SEPARATOR = b"\0"
"""No id that a database accepts has it."""
_PLACE_BYTES, _COUNT_BYTES = 4, 2
_HIGHEST_COUNT = 65_535
SMALL = 32
"""Chunks up to which segments count as equally small."""
FACTOR = 5
"""As many segments of about the same size become one."""
LARGEST = 100_000
"""Chunks that a merge may bring together: what has to fit into memory at once."""
MUCH_DELETED = 0.3
"""Share of deleted chunks from which a segment is written anew."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk to be indexed; ``group`` stands for its collection and scope."""

    chunk_id: str
    group: int
    stems: Sequence[str]


@dataclass(frozen=True, slots=True)
class Segment:
    """The chunks of a segment, in the order of their ids.

    Attributes:
        members: ids as UTF-8.
        lengths: number of terms of each.
        groups: of each.
    """

    members: Bytes
    lengths: Ints
    groups: Ints

    def places(self, chunk_ids: Sequence[bytes]) -> Places:
        """Where those of the ids stand that belong to this segment."""
        if not len(self.members) or not chunk_ids:
            return _no_places()
        wanted = np.array(chunk_ids, dtype=np.bytes_)
        found = np.minimum(np.searchsorted(self.members, wanted), len(self.members) - 1)
        return np.unique(found[self.members[found] == wanted]).astype(np.uint32)


class Size(NamedTuple):
    """How full a segment is."""

    id: int
    chunks: int
    deleted: int

    @property
    def live(self) -> int:
        """Chunks that are left."""
        return self.chunks - self.deleted


Postings = Mapping[str, bytes]
"""Term → packed list of places and counts."""


def build(entries: Iterable[Entry]) -> tuple[Segment, dict[str, bytes]]:
    """A segment of these chunks with its postings; the last of several entries with one id counts."""
    latest = {entry.chunk_id.encode(): entry for entry in entries}
    order = sorted(latest)
    found: dict[str, tuple[list[int], list[int]]] = {}
    for place, chunk_id in enumerate(order):
        for term, count in Counter(latest[chunk_id].stems).items():
            places, counts = found.setdefault(term, ([], []))
            places.append(place)
            counts.append(min(count, _HIGHEST_COUNT))
    segment = Segment(
        np.array(order, dtype=np.bytes_),
        np.array([len(latest[one].stems) for one in order], dtype=np.int64),
        np.array([latest[one].group for one in order], dtype=np.int64),
    )
    return segment, {term: pack(places, counts) for term, (places, counts) in found.items()}


def merge(
    parts: Sequence[tuple[Segment, Places]], postings: Iterable[tuple[str, Sequence[tuple[int, bytes]]]]
) -> tuple[Segment, Iterator[tuple[str, bytes]]]:
    """One segment of the live chunks of several.

    Args:
        parts: the segments, each with its deleted places.
        postings: each term once, with its packed list in each part that has it (number of the part, list).

    Returns:
        The segment, and its postings as they are made.
    """
    kept = [_kept(segment, deleted) for segment, deleted in parts]
    members = np.concatenate([segment.members[keep] for (segment, _), keep in zip(parts, kept, strict=True)])
    order = np.argsort(members, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    moved, start = [], 0
    for keep in kept:
        target = np.full(len(keep), -1, dtype=np.int64)
        target[keep] = rank[start : start + int(keep.sum())]
        start += int(keep.sum())
        moved.append(target)

    def column(name: str) -> Ints:
        values = [getattr(segment, name)[keep] for (segment, _), keep in zip(parts, kept, strict=True)]
        return np.concatenate(values)[order]

    return Segment(members[order], column("lengths"), column("groups")), _moved(postings, moved)


def _kept(segment: Segment, deleted: Places) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    keep = np.ones(len(segment.members), dtype=np.bool_)
    keep[deleted] = False
    return keep


def _moved(
    postings: Iterable[tuple[str, Sequence[tuple[int, bytes]]]], moved: Sequence[Ints]
) -> Iterator[tuple[str, bytes]]:
    for term, lists in postings:
        unpacked = [(moved[part][places], counts) for part, data in lists for places, counts in [unpack(data)]]
        places = np.concatenate([one for one, _ in unpacked])
        counts = np.concatenate([one for _, one in unpacked])
        live = places >= 0
        if live.any():
            order = np.argsort(places[live])
            yield term, pack(places[live][order], counts[live][order])


def merges(sizes: Sequence[Size]) -> list[list[int]]:
    """Which segments are to become one each; one alone is written anew without its deleted chunks.

    Segments whose sizes are within a factor of :data:`FACTOR` are of one tier, and a tier that is full becomes one
    segment of the next, so that there are a few for each power and every chunk is rewritten once a tier.
    """
    tiers: dict[int, list[Size]] = {}
    alone = []
    for size in sizes:
        if size.deleted > MUCH_DELETED * size.chunks:
            alone.append([size.id])
        else:
            tiers.setdefault(_tier(size.live), []).append(size)
    full = [_fitting(tier) for tier in tiers.values() if len(tier) >= FACTOR]
    return [*alone, *(found for found in full if len(found) > 1)]


def _tier(chunks: int) -> int:
    return max(0, math.floor(math.log(max(chunks, 1) / SMALL, FACTOR)) + 1)


def _fitting(tier: Sequence[Size]) -> list[int]:
    """As many of a tier, smallest first, as make no more than the largest segment."""
    chosen, total = [], 0
    for size in sorted(tier, key=lambda one: (one.live, one.id)):
        total += size.live
        if total > LARGEST:
            break
        chosen.append(size.id)
    return chosen


def pack(places: Sequence[int] | Ints, counts: Sequence[int] | Counts) -> bytes:
    """Places and counts as bytes: all places as little-endian 32 bits, then all counts as 16 bits."""
    return np.asarray(places, dtype="<u4").tobytes() + np.asarray(counts, dtype="<u2").tobytes()


def unpack(data: bytes) -> tuple[Places, Counts]:
    """What :func:`pack` packed."""
    count = len(data) // (_PLACE_BYTES + _COUNT_BYTES)
    return (
        np.frombuffer(data, dtype="<u4", count=count),
        np.frombuffer(data, dtype="<u2", count=count, offset=count * _PLACE_BYTES),
    )


def pack_members(segment: Segment) -> bytes:
    """The ids of a segment as bytes."""
    return _SEPARATOR.join(segment.members.tolist())


def unpack_members(data: bytes) -> Bytes:
    """What :func:`pack_members` packed."""
    return np.array(data.split(_SEPARATOR) if data else [], dtype=np.bytes_)


def pack_places(places: Places) -> bytes:
    """A set of places as bytes."""
    return places.astype("<u4").tobytes()


def unpack_places(data: bytes) -> Places:
    """What :func:`pack_places` packed."""
    return np.frombuffer(data, dtype="<u4")


def united(places: Places, others: Places) -> Places:
    """Two sets of places as one."""
    return np.union1d(places, others).astype(np.uint32)


def _no_places() -> Places:
    return np.empty(0, dtype=np.uint32)
