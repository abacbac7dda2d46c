"""What all embedding engines check before they compute: texts that can be read, and questions that fit."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable
from typing import Literal

import numpy as np

from store.embedding import ModelIdentity, Progress, Vectors, split_in_windows, unit_length
from store.errors import UsageError
from store.text import clean, is_blank

logger = logging.getLogger(__name__)

Side = Literal["query", "document"]
SHOWN = 60
"""Characters of a text that an error quotes."""


class CheckedEmbedder:
    """An engine without its tokeniser and its model, which subclasses bring.

    Args:
        identity: which model makes the vectors.
    """

    def __init__(self, identity: ModelIdentity) -> None:
        self._identity = identity

    @property
    def identity(self) -> ModelIdentity:
        """Which model makes the vectors."""
        return self._identity

    def count_tokens(self, text: str) -> int:
        """Length in the model's tokens, special tokens and prefixes not counted."""
        return self.count_tokens_many([text])[0]

    def count_tokens_many(self, texts: list[str]) -> list[int]:
        """:meth:`count_tokens` of many texts, faster."""
        raise NotImplementedError

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token of a text, in characters; special tokens not among them."""
        raise NotImplementedError

    def embed_queries(self, texts: list[str]) -> Vectors:
        """See :meth:`Embedder.embed_queries`."""
        windows = [self._query_windows(text) for text in self._readable(texts)]
        rows = self._unit_vectors(list(itertools.chain.from_iterable(windows)), "query", None)
        if len(rows) == len(texts):
            return rows
        ends = list(itertools.accumulate(len(pieces) for pieces in windows))
        return unit_length(
            np.array(
                [
                    np.average(rows[end - len(pieces) : end], axis=0, weights=self.count_tokens_many(pieces))
                    for pieces, end in zip(windows, ends, strict=True)
                ]
            )
        )

    def embed_documents(self, texts: list[str], *, progress: Progress | None = None) -> Vectors:
        """See :meth:`Embedder.embed_documents`."""
        return self._unit_vectors(self._readable(texts), "document", progress)

    @property
    def _query_tokens(self) -> int:
        """Tokens of a question that are read at once, without the prefix."""
        raise NotImplementedError

    def _unit_vectors(self, texts: list[str], side: Side, progress: Progress | None) -> Vectors:
        """Unit-length vectors of texts that are given without the prefix of their side.

        Raises:
            UsageError: a text is too long.
        """
        raise NotImplementedError

    def _prefix(self, side: Side) -> str:
        return self._identity.query_prefix if side == "query" else self._identity.document_prefix

    def _query_windows(self, text: str) -> list[str]:
        windows = split_in_windows(text, self._query_tokens, self.token_offsets)
        windows = [window for window in windows if self.count_tokens(window)]
        if len(windows) > 1:
            logger.warning(
                "A question of %d tokens is longer than the %d that the model reads; it was read in %d windows.",
                self.count_tokens(text),
                self._query_tokens,
                len(windows),
            )
        return windows

    def _readable(self, texts: Iterable[str]) -> list[str]:
        cleaned = [clean(text) for text in texts]
        for place, text in enumerate(cleaned):
            if is_blank(text) or not self._has_tokens(text):
                raise UsageError(
                    f"Text {place + 1} of {len(cleaned)} has nothing that can be read: {text[:SHOWN]!r}.",
                    "Give at least one word.",
                )
        return cleaned

    def _has_tokens(self, text: str) -> bool:
        """Whether the tokeniser leaves anything of a text with letters or digits."""
        raise NotImplementedError

    def _too_long(self, text: str) -> UsageError:
        return UsageError(
            f"A text of {self.count_tokens(text)} tokens is longer than the {self._identity.max_tokens} that "
            f"{self._identity.name} reads: {text[:SHOWN]!r}.",
            "Cut it into smaller chunks (count_tokens tells the length); nothing is cut silently.",
        )
