"""What a corpus looks like from inside: the level against which one question's evidence is read. Pure."""

from __future__ import annotations

from dataclasses import dataclass

SMALLEST_CORPUS = 20
"""Chunks below which a mean of neighbours says more about chance than about the corpus."""

NEIGHBOURS = 3
"""Nearest chunks of other documents that are averaged for one chunk."""


@dataclass(frozen=True, slots=True)
class Background:
    """Measured once for a state of the documents.

    Attributes:
        chunks: how many there are.
        mean_terms: mean number of index terms a chunk (:func:`store.text.stems` of its embedded text).
        neighbour_similarity: mean cosine of a chunk and its nearest chunks of other documents.
        chance_similarity: mean cosine of two chunks of different documents.
    """

    chunks: int
    mean_terms: float
    neighbour_similarity: float
    chance_similarity: float
