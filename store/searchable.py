"""What a search reads: an :class:`store.index.Index`, or one with a document laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from store.embedding import Embedder
from store.lexical import LexicalHit
from store.records import ScopeFilter, StoredChunk
from store.vectors import Vector, VectorHit


class Dense(Protocol):
    """Chunks by meaning."""

    def query(self, collection: str, vector: Vector, limit: int, scope: ScopeFilter) -> list[VectorHit]:
        """As :meth:`store.vectors.VectorIndex.query`."""


class Lexical(Protocol):
    """Chunks by words; everything as in :class:`store.lexical.LexicalIndex`."""

    @property
    def size(self) -> int:
        """Number of chunks."""

    def document_frequencies(self, stems: Iterable[str]) -> dict[str, int]:
        """In how many chunks each stem occurs."""

    def search(
        self, stems: Mapping[str, float], limit: int, collections: Sequence[str], scope: ScopeFilter | None = None
    ) -> list[LexicalHit]:
        """The chunks that match any of the stems, best first."""


class Chunks(Protocol):
    """What is current."""

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> dict[str, StoredChunk]:
        """The live chunks among these ids."""


class Searchable(Protocol):
    """Everything that one search needs."""

    @property
    def embedder(self) -> Embedder:
        """The embedding model."""

    @property
    def vectors(self) -> Dense:
        """Chunks by meaning."""

    @property
    def lexical(self) -> Lexical:
        """Chunks by words."""

    @property
    def documents(self) -> Chunks:
        """What is current."""
