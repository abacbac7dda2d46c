"""An index as it would be with some documents less: what a search finds then, without writing anything.

Reads like :class:`store.index.Index` as far as searching goes. Word statistics stay those of the whole index: one
document more or less hardly changes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from store.embedding import Embedder
from store.lexical import LexicalHit
from store.records import ScopeFilter, StoredChunk
from store.searchable import Searchable
from store.vectors import Vector, VectorHit

MOST_HIDDEN = 200
"""Hits asked for on top of the limit at most, so that enough are left when those of the hidden documents go."""


class Without:
    """An index that hides some documents.

    Args:
        index: what is really there.
        hidden: ids of documents.
        chunks: how many chunks they have together.
    """

    def __init__(self, index: Searchable, hidden: Collection[str], chunks: int) -> None:
        self._index = index
        more = min(chunks, MOST_HIDDEN)
        self.vectors = _Dense(index, hidden, more)
        self.lexical = _Lexical(index, hidden, more)
        self.documents = _Chunks(index, hidden)

    @property
    def embedder(self) -> Embedder:
        """The embedding model of the index."""
        return self._index.embedder


class _Dense:
    def __init__(self, index: Searchable, hidden: Collection[str], more: int) -> None:
        self._index, self._hidden, self._more = index, hidden, more

    def query(self, collection: str, vector: Vector, limit: int, scope: ScopeFilter) -> list[VectorHit]:
        found = self._index.vectors.query(collection, vector, limit + self._more, scope)
        return [hit for hit in found if _document(hit.chunk_id) not in self._hidden][:limit]


class _Lexical:
    def __init__(self, index: Searchable, hidden: Collection[str], more: int) -> None:
        self._index, self._hidden, self._more = index, hidden, more

    @property
    def size(self) -> int:
        return self._index.lexical.size

    def document_frequencies(self, stems: Iterable[str]) -> dict[str, int]:
        return self._index.lexical.document_frequencies(stems)

    def search(
        self, stems: Mapping[str, float], limit: int, collections: Sequence[str], scope: ScopeFilter | None = None
    ) -> list[LexicalHit]:
        found = self._index.lexical.search(stems, limit + self._more, collections, scope)
        return [hit for hit in found if _document(hit.chunk_id) not in self._hidden][:limit]


class _Chunks:
    def __init__(self, index: Searchable, hidden: Collection[str]) -> None:
        self._index, self._hidden = index, hidden

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> dict[str, StoredChunk]:
        return self._index.documents.chunks_by_id([one for one in chunk_ids if _document(one) not in self._hidden])


def _document(chunk_id: str) -> str:
    return chunk_id.partition(":")[0]
