"""From scored questions to a threshold, with how far it can be trusted. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from discovery.measuring.statistics import Interval, Share, auroc, auroc_interval
from store.errors import UsageError

Method = Literal["labelled", "unlabelled"]
Confidence = Literal["high", "medium", "low"]

SMALLEST_GROUP = 5
"""Questions in each group below which nothing is called separable: a gap between two handfuls is luck."""
MEDIUM_GROUP = 20
HIGH_GROUP = 50
"""Questions in the smaller group for each confidence: an error rate is then known to about 0.2 and 0.13."""
_COIN = 0.5


@dataclass(frozen=True, slots=True)
class Scored:
    """A question's score, and whether the documents answer it."""

    score: float
    answerable: bool


@dataclass(frozen=True, slots=True)
class Group:
    """How many questions, and the lowest and highest score; None for an empty group."""

    n: int
    min: float | None
    max: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold and its proof; a question whose score reaches it counts as covered.

    Attributes:
        threshold: where both groups part best.
        separable: whether no score of one group lies among those of the other, and both groups are large enough
            for that to mean something.
        false_accept: gaps that would be answered.
        false_abstain: covered questions that would be refused.
        auroc: chance that a covered question scores above a gap.
        auroc_interval: its 95 % interval.
        covered: scores of the answerable questions.
        gaps: scores of the others.
        confidence: by the size of the smaller group, and lower where the groups hardly part.
        method: where the labels came from.
        notes: what a reader must know, in sentences.
    """

    threshold: float
    separable: bool
    false_accept: Share
    false_abstain: Share
    auroc: float
    auroc_interval: Interval
    covered: Group
    gaps: Group
    confidence: Confidence
    method: Method
    notes: tuple[str, ...]

    @property
    def tells_apart(self) -> bool:
        """Whether the score parts the groups better than a coin, beyond doubt."""
        return self.auroc_interval.low > _COIN


def calibrate(scored: Sequence[Scored], method: Method = "labelled") -> Calibration:
    """Find the threshold with the fewest errors, both kinds weighing the same whatever the size of the groups.

    Between thresholds that err equally the middle of the widest range between two scores is taken.

    Raises:
        UsageError: no question, or all of one kind; a threshold would be a guess.
    """
    usable = [one for one in scored if math.isfinite(one.score)]
    covered = sorted(one.score for one in usable if one.answerable)
    gaps = sorted(one.score for one in usable if not one.answerable)
    if not covered or not gaps:
        missing = "that the documents answer" if not covered else "that the documents do not answer"
        raise UsageError(
            f"There is no question {missing} among the {len(usable)} given.",
            "A threshold needs both kinds: mark them with answerable 1 and 0.",
        )
    return judge(covered, gaps, best_threshold(covered, gaps), method)


def judge(
    covered: Sequence[float],
    gaps: Sequence[float],
    threshold: float,
    method: Method,
    notes: Sequence[str] = (),
) -> Calibration:
    """How a threshold does on scores of both kinds, neither of them empty; ``notes`` come before those added here."""
    chance = auroc(covered, gaps)
    assert chance is not None
    smaller = min(len(covered), len(gaps))
    apart = min(covered) > max(gaps)
    interval = auroc_interval(covered, gaps)
    return Calibration(
        threshold=threshold,
        separable=apart and smaller >= SMALLEST_GROUP,
        false_accept=Share(sum(score >= threshold for score in gaps), len(gaps)),
        false_abstain=Share(sum(score < threshold for score in covered), len(covered)),
        auroc=chance,
        auroc_interval=interval,
        covered=Group(len(covered), min(covered), max(covered)),
        gaps=Group(len(gaps), min(gaps), max(gaps)),
        confidence=_confidence(smaller, interval),
        method=method,
        notes=(*notes, *_notes(covered, gaps, interval)),
    )


def best_threshold(covered: Sequence[float], gaps: Sequence[float]) -> float:
    """The threshold with the lowest mean of both error rates; the middle of the widest such range."""
    covered, gaps = sorted(covered), sorted(gaps)
    places = sorted({*covered, *gaps})
    best = (math.inf, 0.0, places[0])
    for low, high in pairwise(places):
        middle = (low + high) / 2
        middle = middle if middle > low else high
        errors = bisect_left(covered, middle) / len(covered) + 1 - bisect_left(gaps, middle) / len(gaps)
        best = min(best, (round(errors, 9), low - high, middle))
    return best[2]


def _confidence(smaller: int, interval: Interval) -> Confidence:
    if smaller < MEDIUM_GROUP or interval.low <= _COIN:
        return "low"
    return "high" if smaller >= HIGH_GROUP else "medium"


def _notes(covered: Sequence[float], gaps: Sequence[float], interval: Interval) -> list[str]:
    notes = []
    smaller = min(len(covered), len(gaps))
    if smaller < MEDIUM_GROUP:
        notes.append(
            f"{len(covered)} covered questions and {len(gaps)} gaps are few: "
            f"take at least {MEDIUM_GROUP} of each before trusting the threshold."
        )
    if min(covered) <= max(gaps):
        among = sum(score <= max(gaps) for score in covered)
        notes.append(
            f"The groups overlap: {among} of {len(covered)} covered questions score no higher than the best gap "
            f"({max(gaps):.2f}). No threshold is without errors."
        )
    if interval.low <= _COIN:
        notes.append("The score may tell the groups apart no better than a coin.")
    return notes
