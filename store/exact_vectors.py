"""Exact search where few chunks are left to compare: under a scope, and in small collections among many.

A filter is the expensive part of a search in Chroma, and every collection costs it a call. A few thousand vectors are
compared faster than that in memory, exactly, and also while a vector server is down. They are taken from the database,
kept within a budget, and read again when documents change.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Text, cast, func, select

from store.database import Database
from store.index_log import IndexLog
from store.records import ScopeFilter
from store.scopes import carries
from store.tables import chunk_vectors, chunks, documents
from store.vectors import Vector, VectorHit, VectorIndex, Vectors, scope_condition

MOST = 5_000
"""Chunks that are compared one by one: a filter in Chroma takes about seven times as long for so many."""

SMALL = 1_000
"""Chunks up to which a collection is compared as a whole where there are many collections."""

MANY = 4
"""Collections from which that pays."""

BUDGET = 64_000_000
"""Bytes of vectors that are kept; 41,000 of 384 dimensions."""

_CHECK_SECONDS = 0.25
_REMEMBERED = 500
_IN_USE_SECONDS = 60.0
"""What was used within this time is not given up for something else: two that don't fit together would each be read
again for every question."""


_Key = tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]
"""A collection and a scope."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which scopes of a collection, as JSON text, a search is about, and how many chunks they have together."""

    texts: Sequence[str]
    chunks: int


@dataclass(frozen=True, slots=True)
class _Overview:
    """How many chunks there are at one revision: collection → scope as JSON text → chunks.

    ``choices`` are those that have been asked for, and ``unfit`` those with vectors of another model.
    """

    revision: int
    chunks: Mapping[str, Mapping[str, int]]
    choices: dict[_Key, _Choice] = field(default_factory=dict)
    unfit: set[_Key] = field(default_factory=set)


@dataclass(slots=True)
class _Kept:
    """Vectors of some chunks at one revision; ``used`` is the time of the last search."""

    revision: int
    ids: Sequence[str]
    vectors: Vectors
    used: float = 0.0


class ExactVectors:
    """A :class:`store.vectors.VectorIndex` that compares few chunks by itself and leaves the rest to another.

    Args:
        others: what everything else is asked of.
        database: holds scopes and vectors.
        fingerprint: of the embedding model.
        budget: bytes of vectors that are kept.
        clock: seconds that only ever grow.
    """

    def __init__(
        self,
        others: VectorIndex,
        database: Database,
        fingerprint: str,
        budget: int = BUDGET,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._others = others
        self._database = database
        self._fingerprint = fingerprint
        self._budget = budget
        self._clock = clock
        self._lock = threading.Lock()
        self._overview: _Overview | None = None
        self._looked = -_CHECK_SECONDS
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()

    def query(self, collection: str, vector: Vector, limit: int, scope: ScopeFilter) -> list[VectorHit]:
        """See :meth:`store.vectors.VectorIndex.query`."""
        scope_condition(scope)  # refuses a key without a value
        if limit <= 0:
            return []
        kept = self._few(collection, scope, vector.nbytes)
        if kept is None:
            return self._others.query(collection, vector, limit, scope)
        return _nearest(kept, vector, limit)

    def upsert(self, collection: str, ids: Sequence[str], vectors: Vectors, scopes: Sequence[Sequence[str]]) -> None:
        """See :meth:`store.vectors.VectorIndex.upsert`."""
        self._others.upsert(collection, ids, vectors, scopes)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """See :meth:`store.vectors.VectorIndex.delete`."""
        self._others.delete(collection, ids)

    def count(self, collection: str) -> int:
        """See :meth:`store.vectors.VectorIndex.count`."""
        return self._others.count(collection)

    def fingerprints(self) -> dict[str, set[str]]:
        """See :meth:`store.vectors.VectorIndex.fingerprints`."""
        return self._others.fingerprints()

    def drop(self, collection: str, fingerprint: str) -> None:
        """See :meth:`store.vectors.VectorIndex.drop`."""
        self._others.drop(collection, fingerprint)

    def _few(self, collection: str, scope: ScopeFilter, row: int) -> _Kept | None:
        """The vectors to compare, each of so many bytes; None where there are too many, or they can't be kept."""
        overview = self._current()
        if not scope and len(overview.chunks) < MANY:
            return None
        key = (collection, tuple(sorted((name, tuple(values)) for name, values in scope.items())))
        choice = overview.choices.get(key) or _chosen(overview, key, scope)
        if choice.chunks > (MOST if scope else SMALL) or key in overview.unfit:
            return None
        with self._lock:
            now = self._clock()
            kept = self._kept.get(key)
            if kept is None or kept.revision != overview.revision:
                if not self._has_room(key, choice.chunks * row, now):
                    return None
                kept = self._read(overview.revision, collection, choice.texts if scope else None)
                if kept is None:
                    overview.unfit.add(key)
                    return None
                self._kept[key] = kept
            kept.used = now
            self._kept.move_to_end(key)
            return kept

    def _current(self) -> _Overview:
        now, overview = self._clock(), self._overview
        if overview is not None and now - self._looked < _CHECK_SECONDS:
            return overview
        revision = self._revision()
        self._looked = now
        if overview is None or overview.revision != revision:
            with self._lock:
                if self._overview is None or self._overview.revision != revision:
                    self._overview = _Overview(revision, self._counted())
                return self._overview
        return overview

    def _has_room(self, key: _Key, size: int, now: float) -> bool:
        """Whether the vectors fit beside what is in use; what has not been used for a while makes room."""
        self._kept.pop(key, None)
        while sum(kept.vectors.nbytes for kept in self._kept.values()) + size > self._budget:
            oldest = next(iter(self._kept), None)
            if oldest is None or now - self._kept[oldest].used < _IN_USE_SECONDS:
                return False
            del self._kept[oldest]
        return True

    def _revision(self) -> int:
        return IndexLog(self._database).revision()

    def _counted(self) -> dict[str, dict[str, int]]:
        # As text, because PostgreSQL cannot group by JSON.
        scope = cast(documents.c.scope, Text)
        query = select(documents.c.collection, scope, func.sum(documents.c.chunks)).group_by(
            documents.c.collection, scope
        )
        found: dict[str, dict[str, int]] = {}
        with self._database.connect() as connection:
            for collection, text, count in connection.execute(query):
                found.setdefault(collection, {})[text or "{}"] = int(count)
        return found

    def _read(self, revision: int, collection: str, texts: Sequence[str] | None) -> _Kept | None:
        """Vectors of a collection's chunks, of all or with these scopes; None when another model made one of them."""
        query = (
            select(chunks.c.id, chunk_vectors.c.vector, chunk_vectors.c.model_fingerprint)
            .join(documents, documents.c.id == chunks.c.document_id)
            .outerjoin(chunk_vectors, chunk_vectors.c.chunk_id == chunks.c.id)
            .where(documents.c.collection == collection)
            .order_by(chunks.c.id)
        )
        if texts is not None:
            query = query.where(cast(documents.c.scope, Text).in_(texts))
        with self._database.connect() as connection:
            rows = connection.execute(query).all()
        if any(row[2] != self._fingerprint for row in rows):
            return None
        flat = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").astype(np.float32, copy=False)
        return _Kept(revision, [row[0] for row in rows], flat.reshape(len(rows), -1) if rows else flat.reshape(0, 0))


def _chosen(overview: _Overview, key: _Key, scope: ScopeFilter) -> _Choice:
    """Which of the collection's scopes pass, remembered for the next question about the same."""
    held = overview.chunks.get(key[0], {})
    texts = [text for text in held if _passes(text, scope)] if scope else list(held)
    choice = _Choice(texts, sum(held[text] for text in texts))
    if len(overview.choices) >= _REMEMBERED:
        overview.choices.clear()
    overview.choices[key] = choice
    return choice


def _passes(text: str, scope: ScopeFilter) -> bool:
    return carries(json.loads(text) or {}, scope)


def _nearest(kept: _Kept, vector: Vector, limit: int) -> list[VectorHit]:
    if not kept.ids:
        return []
    scores = np.clip(kept.vectors @ vector, -1.0, 1.0)
    scores = np.where(np.isfinite(scores), scores, -np.inf)
    best = np.argpartition(-scores, min(limit, len(scores)) - 1)[:limit]
    best = best[np.argsort(-scores[best], kind="stable")]
    return [VectorHit(kept.ids[place], float(scores[place])) for place in best if np.isfinite(scores[place])]
