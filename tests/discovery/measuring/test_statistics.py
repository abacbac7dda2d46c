"""Intervals and rankings against values worked out elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.measuring.statistics import Share, auroc, auroc_interval, mean_interval, paired_interval, wilson


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(5, 10, 0.2366, 0.7634), (0, 5, 0.0, 0.4345), (5, 5, 0.5655, 1.0), (81, 263, 0.2553, 0.3662), (0, 0, 0.0, 1.0)],
)
def test_wilson_intervals_have_the_published_values(hits, of, low, high):
    found = wilson(hits, of)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_a_share_of_nothing_has_no_value():
    assert Share(0, 0).value is None
    assert Share(1, 4).value == 0.25


@pytest.mark.parametrize(
    ("positive", "negative", "value"),
    [([3, 4], [1, 2], 1.0), ([1, 2], [3, 4], 0.0), ([1], [1], 0.5), ([1, 3], [2], 0.5), ([], [1], None)],
)
def test_auroc_counts_pairs_in_order_and_ties_half(positive, negative, value):
    assert auroc(positive, negative) == value


SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@settings(deadline=None, max_examples=50)
@given(SCORES, SCORES)
def test_the_interval_holds_the_value_and_is_the_same_every_time(positive, negative):
    value, interval = auroc(positive, negative), auroc_interval(positive, negative)
    assert 0 <= interval.low <= interval.high <= 1
    assert interval == auroc_interval(list(reversed(positive)), negative)
    assert value is not None


def test_two_groups_of_two_prove_nothing_though_they_do_not_overlap():
    assert auroc_interval([0.8, 0.9], [0.1, 0.2]).low < 0.5
    assert auroc_interval([0.8] * 20, [0.1] * 20).low > 0.8


def test_a_difference_between_two_measurements_of_the_same_questions_is_judged_in_pairs():
    first, second = [0.0, 1.0] * 20, [1.0, 1.0] * 20
    found = paired_interval(first, second, float)
    assert found is not None
    assert 0.3 < found.low < 0.5 < found.high < 0.7
    assert mean_interval([]) is None
