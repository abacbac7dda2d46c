"""A small working embedder: words hashed into a vector. Texts that share words are near each other."""

from __future__ import annotations

import hashlib
import re

import numpy as np

from store.embedding import ModelIdentity
from store.text import stems


class HashEmbedder:
    """Keeps the promises of :class:`store.embedding.Embedder` without a model."""

    def __init__(self, *, name="hash", revision="1", dimension=64, max_tokens=256, fail_on_call=None):
        self.identity = ModelIdentity(name, revision, dimension, max_tokens)
        self.calls = 0
        self.embedded = 0
        self._fail_on_call = fail_on_call

    def embed_queries(self, texts):
        return np.stack([self._vector(text) for text in texts])

    def embed_documents(self, texts, *, progress=None):
        self.calls += 1
        if self.calls == self._fail_on_call:
            raise RuntimeError("the embedder fails on purpose")
        self.embedded += len(texts)
        return np.stack([self._vector(text) for text in texts])

    def count_tokens(self, text):
        return len(text.split())

    def count_tokens_many(self, texts):
        return [self.count_tokens(text) for text in texts]

    def token_offsets(self, text):
        return [match.span() for match in re.finditer(r"\S+", text)]

    def _vector(self, text):
        vector = np.full(self.identity.dimension, 1e-3, dtype=np.float32)
        for stem in stems(text):
            digest = hashlib.sha256(f"{self.identity.revision}{stem}".encode()).digest()
            vector[digest[0] % self.identity.dimension] += 1.0 if digest[1] % 2 else -1.0
        return vector / np.linalg.norm(vector)
