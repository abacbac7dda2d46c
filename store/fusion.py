"""Two ranked lists → one. Pure.

A chunk's fused score is the weighted sum of its scores in both routes, each as a share of that route's best score.
Unlike ranks, shares keep how clear a lead is: a word match that stands alone is not overruled by a dense list whose
places hardly differ. Measured against reciprocal rank fusion in docs/measurements.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class Hit(Protocol):
    """One chunk in a route's list."""

    @property
    def chunk_id(self) -> str:
        """Which chunk."""

    @property
    def score(self) -> float:
        """The route's own score; higher is better."""


@dataclass(frozen=True, slots=True)
class RouteWeights:
    """How much each route counts, 0 or more; a route with weight 0 contributes nothing."""

    dense: float = 0.5
    lexical: float = 0.5


def fuse(dense: Sequence[Hit], lexical: Sequence[Hit], weights: RouteWeights, full: int) -> dict[str, float]:
    """Ids of both lists with their fused scores, best first; among equal scores lexical hits come first.

    Args:
        dense: hits with cosine similarity, best first.
        lexical: hits with BM25 scores, best first.
        weights: of the routes.
        full: length of a list that was cut. What a cut list does not name has at most the score of its last hit, and
            counts with that in the dense route, where scores fall slowly; without words in common it has no BM25.
    """
    scores: dict[str, float] = {}
    if lexical and weights.lexical > 0 and lexical[0].score > 0:
        _add(scores, lexical, weights.lexical)
    if dense and weights.dense > 0 and dense[0].score > 0:
        rest = max(0.0, dense[-1].score) if len(dense) >= full else 0.0
        others = scores.keys() - {hit.chunk_id for hit in dense}
        _add(scores, dense, weights.dense)
        for chunk_id in others:
            scores[chunk_id] += weights.dense * rest / dense[0].score
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def _add(scores: dict[str, float], hits: Sequence[Hit], weight: float) -> None:
    for hit in hits:
        scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + weight * max(0.0, hit.score) / hits[0].score


def by_document_coverage(
    fused: Mapping[str, float],
    stems: Mapping[str, Collection[str]],
    weights: Mapping[str, float],
    document_of: Callable[[str], str],
    bonus: float,
) -> list[str]:
    """Ids again, with a bonus for chunks of documents that cover the question together.

    Where words alone must find the document, its name often stands in one chunk and the fact in another.

    Args:
        fused: fused score of each id.
        stems: index terms of each id's text.
        weights: inverse document frequency of the question's informative stems.
        document_of: the document of an id.
        bonus: what full coverage adds, in units of a route's best score.
    """
    total = sum(weights.values())
    if not total:
        return sorted(fused, key=fused.__getitem__, reverse=True)
    have: dict[str, set[str]] = {}
    for chunk_id in fused:
        have.setdefault(document_of(chunk_id), set()).update(stems.get(chunk_id, ()))
    covered = {name: sum(w for stem, w in weights.items() if stem in found) / total for name, found in have.items()}
    return sorted(fused, key=lambda one: fused[one] + bonus * covered[document_of(one)], reverse=True)


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
