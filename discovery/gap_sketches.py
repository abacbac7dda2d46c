"""Which gaps may mean nearly the same as a question, told from the signs of their vectors: 64 bytes a gap.

Vectors of all gaps in memory would take twenty times as much. The share of signs in which two vectors differ grows with
the angle between them, angle / pi on average (Charikar, "Similarity estimation techniques from rounding algorithms",
2002); who is near enough is then decided by the vectors themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from store.vectors import Vector

_MOST = 32
"""How many gaps are proposed: on the question sets measured, the nearest 16 held all that were to be found."""
_SPREAD = 0.1
"""How much more signs may differ than the angle says, as a share of all. Real pairs differed by .04 more at most."""
_ID = np.dtype("S16")
"""A gap's id: 32 hexadecimal digits."""
_ROOM = 1024
"""Gaps a table has room for at first."""
_GROWTH = 0.1
"""Share of its gaps that a full table gains room for."""


class GapSketches:
    """Signs of vectors by gap id; vectors of several lengths may be added, each is compared with its like."""

    def __init__(self) -> None:
        self._tables: dict[int, _Table] = {}

    def __len__(self) -> int:
        """How many gaps are known."""
        return sum(table.used for table in self._tables.values())

    def __contains__(self, gap_id: str) -> bool:
        """Whether a gap is known."""
        return any(bool(np.any(table.ids[: table.used] == bytes.fromhex(gap_id))) for table in self._tables.values())

    def add(self, gap_id: str, vector: Vector) -> None:
        """Take in a gap that is not known; an empty vector makes it known and never proposed."""
        table = self._tables.get(vector.size)
        if table is None:
            table = self._tables[vector.size] = _Table(vector.size)
        table.add(gap_id, vector)

    def missing(self, gap_ids: Sequence[str]) -> list[str]:
        """Those of the gaps that are not known, in their order."""
        wanted = _packed(gap_ids)
        known = np.zeros(len(wanted), dtype=bool)
        for table in self._tables.values():
            known |= np.isin(wanted, table.ids[: table.used])
        return [gap_id for gap_id, seen in zip(gap_ids, known, strict=True) if not seen]

    def keep(self, gap_ids: Sequence[str]) -> None:
        """Forget all other gaps."""
        kept = _packed(gap_ids)
        for table in self._tables.values():
            table.keep(kept)

    def near(self, vector: Vector, similarity: float) -> list[str]:
        """Gaps whose vectors may have at least this cosine with a vector, the likeliest first, 32 at most."""
        table = self._tables.get(vector.size)
        if table is None or not vector.size:
            return []
        share = math.acos(min(max(similarity, -1.0), 1.0)) / math.pi + _SPREAD
        return table.near(vector, share * vector.size)


class _Table:
    """Gaps whose vectors have the same length; arrays with room for more, so that a gap costs no copy of them all."""

    def __init__(self, dimension: int) -> None:
        self.used = 0
        self.ids = np.empty(_ROOM, dtype=_ID)
        self._signs = np.empty((_ROOM, -(-dimension // 64)), dtype=np.uint64)

    def add(self, gap_id: str, vector: Vector) -> None:
        if self.used == len(self.ids):
            room = int(self.used * _GROWTH)
            self.ids = np.concatenate([self.ids, np.empty_like(self.ids, shape=room)])
            self._signs = np.concatenate([self._signs, np.empty_like(self._signs, shape=(room, self._signs.shape[1]))])
        self.ids[self.used] = bytes.fromhex(gap_id)
        self._signs[self.used] = _signs(vector)
        self.used += 1

    def keep(self, gap_ids: np.ndarray[tuple[int], np.dtype[np.bytes_]]) -> None:
        places = np.flatnonzero(np.isin(self.ids[: self.used], gap_ids))
        self.ids[: places.size] = self.ids[places]
        self._signs[: places.size] = self._signs[places]
        self.used = int(places.size)

    def near(self, vector: Vector, most_differing: float) -> list[str]:
        differing = np.bitwise_count(self._signs[: self.used] ^ _signs(vector)).sum(axis=1)
        places = np.flatnonzero(differing <= most_differing)
        nearest = places[np.argsort(differing[places], kind="stable")[:_MOST]]
        return [_unpacked(one) for one in self.ids[nearest]]


def _packed(gap_ids: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.bytes_]]:
    return np.array([bytes.fromhex(gap_id) for gap_id in gap_ids], dtype=_ID)


def _unpacked(stored: bytes) -> str:
    return stored.ljust(_ID.itemsize, b"\0").hex()  # numpy cuts zeros off the end


def _signs(vector: Vector) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    packed = np.packbits(vector > 0)
    return np.pad(packed, (0, -packed.size % 8)).view(np.uint64)
