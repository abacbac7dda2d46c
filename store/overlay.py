"""An index as it would be with one more document: what a search finds then, without writing anything.

Reads like :class:`store.index.Index` as far as searching goes. The document's chunks are found by the same measures as
those of the index: cosine similarity, and BM25 with the statistics of both together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from store.chunking import telling_title
from store.documents import DocumentStore
from store.embedding import Embedder
from store.index import Index
from store.lexical import K1, B, LexicalHit, LexicalIndex, idf
from store.records import ScopeFilter, StoredChunk
from store.scopes import carries
from store.source_ingest import Prepared
from store.text import stems
from store.vectors import Vector, VectorHit, VectorIndex

SECTION_SEPARATOR = " › "
_SAMPLE = 200
"""Chunks whose length is looked at for the mean; known to a few percent then, and BM25 hardly depends on it."""


class Overlay:
    """An index together with one document that it does not hold.

    Args:
        index: what is really there.
        document: what is tried out; a stored document with the same id is hidden by it.
        mean_terms: mean number of terms of a chunk in the index, see :func:`mean_terms`.
    """

    def __init__(self, index: Index, document: Prepared, mean_terms: float) -> None:
        hidden = f"{document.id}:"
        chunks = [_Piece(document, place) for place in range(len(document.chunks))]
        self._index = index
        self.documents = _Chunks(index.documents, chunks)
        self.vectors = _Dense(lambda: index.vectors, document, hidden)
        self.lexical = _Lexical(index.lexical, chunks, mean_terms, hidden)

    @property
    def embedder(self) -> Embedder:
        """The embedding model of the index."""
        return self._index.embedder


def mean_terms(documents: DocumentStore) -> float:
    """Mean number of index terms of a chunk, from a sample; 1 when there is none."""
    ids = documents.chunk_ids()
    if not ids:
        return 1.0
    places = np.unique(np.linspace(0, len(ids) - 1, min(_SAMPLE, len(ids))).astype(int))
    sample = documents.chunks_by_id([ids[place] for place in places]).values()
    lengths = [len(stems(f"{telling_title(one.title)}\n{one.section}\n{one.text}")) for one in sample]
    return float(np.mean(lengths)) if lengths else 1.0


class _Piece:
    """A chunk of the tried document, as the database and the lexical index would hold it."""

    def __init__(self, document: Prepared, place: int) -> None:
        chunk_id, chunk = document.chunks[place]
        found = stems(chunk.embedded_text)
        self.id = chunk_id
        self.counts = Counter(found)
        self.length = len(found)
        self.stored = StoredChunk(
            id=chunk_id,
            document_id=document.id,
            ordinal=place,
            collection=document.source.collection,
            path=document.source.path,
            title=document.document.title,
            url=document.source.url or document.document.url,
            section=SECTION_SEPARATOR.join(chunk.headings),
            text=chunk.text,
            scope=document.scope,
            visibility=document.source.visibility,
            vector=document.vectors[place].astype("<f4").tobytes(),
        )


class _Chunks:
    def __init__(self, documents: DocumentStore, pieces: Sequence[_Piece]) -> None:
        self._documents = documents
        self._tried = {piece.id: piece.stored for piece in pieces}

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> dict[str, StoredChunk]:
        known = self._documents.chunks_by_id([one for one in chunk_ids if one not in self._tried])
        both = known | self._tried
        return {one: both[one] for one in chunk_ids if one in both}


class _Dense:
    def __init__(self, vectors: Callable[[], VectorIndex], document: Prepared, hidden: str) -> None:
        self._vectors = vectors
        self._document = document
        self._hidden = hidden

    def query(self, collection: str, vector: Vector, limit: int, scope: ScopeFilter) -> list[VectorHit]:
        found = self._vectors().query(collection, vector, limit, scope)
        hits = [hit for hit in found if not hit.chunk_id.startswith(self._hidden)]
        if collection == self._document.source.collection and carries(self._document.scope, scope):
            scores = np.clip(self._document.vectors @ vector, -1.0, 1.0)
            pairs = zip(self._document.chunks, scores, strict=True)
            hits += [VectorHit(chunk_id, float(score)) for (chunk_id, _), score in pairs]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:limit]


class _Lexical:
    def __init__(self, lexical: LexicalIndex, pieces: Sequence[_Piece], mean_terms: float, hidden: str) -> None:
        self._lexical = lexical
        self._pieces = pieces
        total = mean_terms * lexical.size + sum(piece.length for piece in pieces)
        self._mean_terms = max(1.0, total / max(1, self.size))
        self._hidden = hidden

    @property
    def size(self) -> int:
        return self._lexical.size + len(self._pieces)

    def document_frequencies(self, stems: Iterable[str]) -> dict[str, int]:
        found = self._lexical.document_frequencies(stems)
        return {stem: count + self._frequency(stem) for stem, count in found.items()}

    def search(
        self,
        stems: Mapping[str, float],
        limit: int,
        collections: Sequence[str],
        scope: ScopeFilter | None = None,
    ) -> list[LexicalHit]:
        known = self._lexical.document_frequencies(stems)
        both = {stem: weight * idf(known[stem] + self._frequency(stem), self.size) for stem, weight in stems.items()}
        # The index weighs a word by its own statistics; the ratio puts those of both in their place.
        ratios = {stem: weight / idf(known[stem], self._lexical.size) for stem, weight in both.items() if known[stem]}
        found = self._lexical.search(ratios, limit, collections, scope)
        hits = [hit for hit in found if not hit.chunk_id.startswith(self._hidden)]
        for piece in self._pieces:
            if piece.stored.collection in collections and carries(piece.stored.scope, scope or {}):
                score = sum(weight * self._share(piece, stem) for stem, weight in both.items())
                hits += [LexicalHit(piece.id, score)] if score > 0 else []
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def _frequency(self, stem: str) -> int:
        return sum(stem in piece.counts for piece in self._pieces)

    def _share(self, piece: _Piece, stem: str) -> float:
        """BM25 without its idf; see :mod:`store.lexical` for the constants."""
        count = piece.counts[stem]
        return count * (K1 + 1) / (count + K1 * (1 - B + B * piece.length / self._mean_terms))
