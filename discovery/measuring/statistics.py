"""Shares, rankings and how sure they are. Pure, and the same figures for the same input every time."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

_Z = 1.959964
"""Standard deviations on both sides of the mean that hold 95 % of a normal distribution."""
RESAMPLES = 500
_SEED = 20260101

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a figure lies with 95 % confidence."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Share:
    """``hits`` of ``of``; ``value`` is None when there was nothing to count."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """The share in [0, 1]."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> Interval:
        """Wilson's interval; the whole of [0, 1] when there was nothing to count."""
        return wilson(self.hits, self.of)


def wilson(hits: int, of: int) -> Interval:
    """Wilson's score interval of a share, which stays inside [0, 1] and is honest for 0 of 5, too.

    Args:
        hits: 0 to ``of``.
        of: how many were counted; 0 gives [0, 1].
    """
    if not of:
        return Interval(0.0, 1.0)
    share, square = hits / of, _Z * _Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _Z / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """The chance that a positive scores above a negative; ties count half. None when a group is empty."""
    if not positive or not negative:
        return None
    ordered = sorted(negative)
    below = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in positive)
    return below / (2 * len(positive) * len(negative))


def auroc_interval(positive: Sequence[float], negative: Sequence[float]) -> Interval:
    """95 % interval of :func:`auroc` by drawing both groups again; [0, 1] when a group is empty.

    Groups without overlap stay so however often they are drawn; then it is what the size of the smaller one allows.
    """
    chance, smaller = auroc(positive, negative), min(len(positive), len(negative))
    if chance is None:
        return Interval(0.0, 1.0)
    if chance in {0.0, 1.0}:
        return wilson(round(chance * smaller), smaller)
    random = np.random.default_rng(_SEED)
    first, second = np.sort(np.asarray(positive, float)), np.sort(np.asarray(negative, float))
    values = []
    for _ in range(RESAMPLES):
        drawn = random.choice(first, len(first))
        others = np.sort(random.choice(second, len(second)))
        below = np.searchsorted(others, drawn, "left") + np.searchsorted(others, drawn, "right")
        values.append(below.mean() / (2 * len(others)))
    return _middle(values)


def mean_interval(values: Sequence[float]) -> Interval | None:
    """95 % interval of a mean by drawing again; None without values."""
    if not values:
        return None
    random = np.random.default_rng(_SEED)
    data = np.asarray(values, float)
    return _middle([float(random.choice(data, len(data)).mean()) for _ in range(RESAMPLES)])


def paired_interval(first: Sequence[_T], second: Sequence[_T], figure: Callable[[_T], float]) -> Interval | None:
    """95 % interval of the mean difference between two measurements of the same questions; None without any.

    Args:
        first: one entry a question.
        second: of the same questions in the same order.
        figure: turns an entry into the number that is compared.
    """
    return mean_interval([figure(b) - figure(a) for a, b in zip(first, second, strict=True)])


def _middle(values: Sequence[float]) -> Interval:
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(float(low), float(high))
