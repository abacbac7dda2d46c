"""How much a topic matters: one number in [0, 1] that the order of topics follows. Pure.

Four parts, added up:

- people: distinct askers, with less and less added by each further one (:data:`PEOPLE_SHARE`),
- recency: when it was asked last, halved every two weeks (:data:`RECENCY_SHARE`),
- marked: people who marked an answer as not helpful (:data:`MARKED_SHARE`),
- kind: how badly the documents fail, by the type of the gaps (:data:`KIND_SHARE`).

How often something was asked does not count, for one person could then push a topic up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from store.records import Gap, GapType

PEOPLE_SHARE, RECENCY_SHARE, MARKED_SHARE, KIND_SHARE = 0.45, 0.2, 0.2, 0.15
HALF_OF_PEOPLE = 4
"""Askers that give half of the part for people."""
HALF_OF_MARKS = 2
HALF_LIFE = timedelta(days=14)

KIND: Mapping[GapType, float] = {
    GapType.MISSING_PLATFORM: 1.0,
    GapType.NO_COVERAGE: 1.0,
    GapType.EXPLICIT_ABSENCE: 0.8,
    GapType.UNANSWERED: 0.7,
    GapType.THIN_COVERAGE: 0.5,
    GapType.UNGROUNDED: 0.5,
    GapType.WEAK_ANSWER: 0.4,
}
"""Nothing there at all weighs more than something that falls short."""


def severity(gaps: Sequence[Gap], askers: int, marked: int, now: datetime) -> float:
    """How much a topic matters, in [0, 1].

    Args:
        gaps: its members; at least one.
        askers: distinct people over all of them.
        marked: people who marked an answer to one of them as not helpful, over all of them.
        now: the moment of the round.
    """
    people = askers / (askers + HALF_OF_PEOPLE)
    age = max(now - max(gap.last_seen for gap in gaps), timedelta())
    recency = float(0.5 ** (age / HALF_LIFE))
    marks = marked / (marked + HALF_OF_MARKS)
    weight = sum(max(gap.count, 1) for gap in gaps)
    kind = sum(KIND[gap.type] * max(gap.count, 1) for gap in gaps) / weight
    return round(PEOPLE_SHARE * people + RECENCY_SHARE * recency + MARKED_SHARE * marks + KIND_SHARE * kind, 4)
