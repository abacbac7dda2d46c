"""Remembers the vectors of recent questions.

One question is often searched for more than once: within a channel's scope and within the scope that it names itself,
again when somebody says that the answer is missing, again by whoever asks the same. An embedding costs more than all
searches together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from store.embedding import Embedder, ModelIdentity, Vectors
from store.recent import Recent

REMEMBERED = 1024
"""Questions; with 384 dimensions that is 1.6 MB."""

_LONGEST = 2000
"""Characters of a question that is remembered: nobody pastes the same log twice."""


class CachedQueries:
    """An :class:`store.embedding.Embedder` that embeds a question once.

    Args:
        engine: does the work.
        remembered: how many questions are kept, at least 1; the one that was not asked for longest goes first.
    """

    def __init__(self, engine: Embedder, remembered: int = REMEMBERED) -> None:
        self._engine = engine
        self._known: Recent[Vectors] = Recent(remembered, _LONGEST)
        self.embed_documents = engine.embed_documents
        self.count_tokens = engine.count_tokens
        self.count_tokens_many = engine.count_tokens_many

    @property
    def identity(self) -> ModelIdentity:
        """See :attr:`store.embedding.Embedder.identity`."""
        return self._engine.identity

    def embed_queries(self, texts: list[str]) -> Vectors:
        """See :meth:`store.embedding.Embedder.embed_queries`."""
        found = self._known.values(texts, self._made)
        rows = np.empty((len(texts), self.identity.dimension), dtype=np.float32)
        for place, text in enumerate(texts):
            rows[place] = found[text]
        return rows

    def _made(self, texts: list[str]) -> Iterator[Vectors]:
        # A copy of each row: a part of the matrix would keep the whole of it in memory.
        return (row.copy() for row in self._engine.embed_queries(texts))
