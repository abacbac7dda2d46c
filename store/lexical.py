"""Search by words: what every index of words promises, and the formula they share.

Text is split and stemmed by :mod:`store.text` only, so that the same question finds the same chunks in the same order
whichever index answers: :class:`store.lexical_tantivy.TantivyIndex` for one process, or
:class:`store.postings.PostingsIndex` for several that share a database. Both rank by BM25 with k1 = 1.2 and b = 0.75
(Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from store.records import ScopeFilter
from store.text import TOKENISER_VERSION

K1 = 1.2
B = 0.75
FORMAT = f"1-{TOKENISER_VERSION}"
"""What an index was made with; one of another format is rebuilt."""


@dataclass(frozen=True, slots=True)
class LexicalEntry:
    """What the index needs of one chunk; ``scope`` holds ``key=value`` facts."""

    chunk_id: str
    collection: str
    scope: tuple[str, ...]
    stems: Sequence[str]


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """One chunk found by words, with its BM25 score (0 or more, no upper bound)."""

    chunk_id: str
    score: float


class LexicalIndex(Protocol):
    """BM25 over the chunks; derived from the database and rebuilt from it at any time. Threads share the object."""

    @property
    def rebuild_needed(self) -> bool:
        """Whether the index is missing, damaged, of another format, or was not completely built."""

    @property
    def size(self) -> int:
        """Number of indexed chunks."""

    def write(self, entries: Iterable[LexicalEntry] = (), deleted: Iterable[str] = ()) -> None:
        """Delete and add chunks in one step; an id that is already there is replaced, an unknown one is no error.

        Raises:
            UnavailableError: the index cannot be written.
        """

    def rebuild(self, entries: Iterable[LexicalEntry]) -> None:
        """Put these chunks in place of everything; an interrupted rebuild leaves an index that asks for another.

        Raises:
            UnavailableError: the index cannot be written.
        """

    def search(
        self,
        stems: Mapping[str, float],
        limit: int,
        collections: Sequence[str],
        scope: ScopeFilter | None = None,
    ) -> list[LexicalHit]:
        """The chunks that match any of the stems, best first.

        Args:
            stems: query stems with their weights (1.0 for plain BM25).
            limit: at most so many hits.
            collections: only chunks of these.
            scope: only chunks that carry one of the values for every key.

        Raises:
            UnavailableError: the index cannot be read.
        """

    def document_frequencies(self, stems: Iterable[str]) -> dict[str, int]:
        """In how many chunks each stem occurs (deleted chunks may still count until they are merged away)."""

    def close(self) -> None:
        """Finish running work and give every lock back."""


def idf(document_frequency: int, size: int) -> float:
    """Inverse document frequency as BM25 weighs it: ln(1 + (N - n + 0.5) / (n + 0.5)), never negative."""
    return math.log1p(max(0.0, size - document_frequency + 0.5) / (document_frequency + 0.5))
