"""Open gaps brought together by what they are about. Pure.

Gaps whose vectors can be compared are clustered; those without one, or with one of another model, join the gap with
the most similar words, or stay together with each other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from discovery.clustering import SAME_TOPIC, Matrix, centrality, cluster
from store.records import Gap
from store.text import topic_words

SAME_WORDS = 0.5
"""Cosine of two questions' stems from which a gap without a vector joins another."""
_FLOAT_BYTES = 4


def group_gaps(gaps: Sequence[Gap], same_topic: float = SAME_TOPIC) -> list[list[Gap]]:
    """Groups of gaps about the same thing, each with its most central gap first. No gap is left out.

    Args:
        gaps: open gaps; their order does not matter.
        same_topic: see :func:`discovery.clustering.cluster`.
    """
    ordered = sorted(gaps, key=lambda gap: gap.id)
    size = _usual_size(ordered)
    comparable = [gap for gap in ordered if size and len(gap.vector) == size]
    groups = _clustered(comparable, same_topic)
    return _joined_by_words(groups, [gap for gap in ordered if not size or len(gap.vector) != size])


def _usual_size(gaps: Sequence[Gap]) -> int:
    """Bytes of most vectors; after a change of model, that of the model with more gaps. 0 without any."""
    sizes = Counter(len(gap.vector) for gap in gaps if gap.vector and len(gap.vector) % _FLOAT_BYTES == 0)
    return max(sizes, key=lambda size: (sizes[size], size), default=0)


def _clustered(gaps: Sequence[Gap], same_topic: float) -> list[list[Gap]]:
    if not gaps:
        return []
    vectors = _matrix(gaps)
    labels = cluster(vectors, same_topic)
    order = np.argsort(labels, kind="stable")
    borders = np.flatnonzero(np.diff(labels[order])) + 1
    return [_central_first(gaps, vectors, members.tolist()) for members in np.split(order, borders)]


def _matrix(gaps: Sequence[Gap]) -> Matrix:
    rows = np.frombuffer(b"".join(gap.vector for gap in gaps), dtype="<f4").reshape(len(gaps), -1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, np.float32(1e-12)), dtype=np.float32)


def _central_first(gaps: Sequence[Gap], vectors: Matrix, members: Sequence[int]) -> list[Gap]:
    central = centrality(vectors[members])
    # Rounded, so that equally central gaps have the same order on every processor.
    places = sorted(range(len(members)), key=lambda place: (-round(float(central[place]), 4), gaps[members[place]].id))
    return [gaps[members[place]] for place in places]


def _joined_by_words(groups: list[list[Gap]], others: Sequence[Gap]) -> list[list[Gap]]:
    if not others:
        return groups
    words = _Words()
    for number, members in enumerate(groups):
        for gap in members:
            words.add(gap.question, number)
    for gap in others:
        similar = words.best(gap.question)
        number = len(groups) if similar is None else similar
        if similar is None:
            groups.append([])
        groups[number].append(gap)
        words.add(gap.question, number)
    return groups


class _Words:
    """Which group has the question with the most similar words."""

    def __init__(self) -> None:
        self._questions: list[tuple[int, int]] = []
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, question: str, group: int) -> None:
        stems = topic_words(question)
        for stem in stems:
            self._by_stem[stem].append(len(self._questions))
        self._questions.append((group, len(stems)))

    def best(self, question: str) -> int | None:
        """The group of the most similar question; None when none is similar."""
        stems = topic_words(question)
        shared = Counter(place for stem in stems for place in self._by_stem[stem])
        best = max(shared, key=lambda place: (self._likeness(place, shared[place], len(stems)), -place), default=None)
        if best is None or self._likeness(best, shared[best], len(stems)) < SAME_WORDS:
            return None
        return self._questions[best][0]

    def _likeness(self, place: int, shared: int, stems: int) -> float:
        return shared / math.sqrt(self._questions[place][1] * stems)
