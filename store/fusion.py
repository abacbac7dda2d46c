"""Two ranked lists → one. Pure.

Reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009) with weights: a chunk scores the sum of
weight / (k + rank) over the routes that found it. Ranks are comparable between routes where scores are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

RANK_CONSTANT = 10
"""The paper's k is 60, for lists of thousands; with lists of 50 a smaller one lets a first place count."""


@dataclass(frozen=True, slots=True)
class RouteWeights:
    """How much each route counts, 0 or more."""

    dense: float = 1.0
    lexical: float = 1.0


def fuse(dense: Sequence[str], lexical: Sequence[str], weights: RouteWeights, k: int = RANK_CONSTANT) -> list[str]:
    """Ids of both lists, best first; equal scores keep the order dense before lexical.

    Args:
        dense: ids by cosine similarity, best first.
        lexical: ids by BM25, best first.
        weights: of the routes; a route with weight 0 contributes no id.
        k: rank constant, above -1.
    """
    scores: dict[str, float] = {}
    for ids, weight in ((dense, weights.dense), (lexical, weights.lexical)):
        if weight > 0:
            for rank, chunk_id in enumerate(ids, 1):
                scores[chunk_id] = scores.get(chunk_id, 0.0) + weight / (k + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)


def spread(ids: Sequence[str], document_of: Callable[[str], str], most: int) -> list[str]:
    """The ids with at most ``most`` of one document in front, then the rest in the same order.

    Cutting the result at any length gives variety first and fills up with further chunks of the same documents only
    when there are too few others.
    """
    taken: Counter[str] = Counter()
    first: list[str] = []
    later: list[str] = []
    for chunk_id in ids:
        document = document_of(chunk_id)
        (first if taken[document] < most else later).append(chunk_id)
        taken[document] += 1
    return first + later


def ranks(ids: Sequence[str]) -> Mapping[str, int]:
    """Id → 1-based place."""
    return {chunk_id: place for place, chunk_id in enumerate(ids, 1)}
