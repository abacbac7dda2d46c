"""A threshold comes with its error rates, and never claims more than its data."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.measuring.calibrate import Scored, best_threshold, calibrate
from store.errors import UsageError


def scored(covered, gaps):
    return [*(Scored(score, True) for score in covered), *(Scored(score, False) for score in gaps)]


COVERED = [0.61, 0.62, 0.63, 0.65, 0.66, 0.68, 0.70, 0.71, 0.72, 0.74]
GAPS = [0.16, 0.19, 0.22, 0.25, 0.28, 0.31, 0.36, 0.41, 0.44, 0.47]


def test_groups_that_lie_apart_give_a_threshold_between_them_without_errors():
    """The worked example: covered 0.61 to 0.74, uncovered 0.16 to 0.47."""
    found = calibrate(scored(COVERED, GAPS))
    assert 0.47 < found.threshold < 0.61
    assert found.threshold == pytest.approx(0.54)
    assert found.separable
    assert (found.false_accept.value, found.false_abstain.value, found.auroc) == (0.0, 0.0, 1.0)
    assert (found.covered.n, found.covered.min, found.covered.max) == (10, 0.61, 0.74)
    assert (found.gaps.n, found.gaps.min, found.gaps.max) == (10, 0.16, 0.47)
    assert found.method == "labelled"


def test_overlapping_groups_are_not_separable_and_their_errors_are_told():
    found = calibrate(scored([0.31, 0.44, 0.52], [0.22, 0.47]))
    assert not found.separable
    assert (found.false_accept.value, found.false_abstain.value) == (0.0, pytest.approx(2 / 3)) or (
        found.false_accept.value,
        found.false_abstain.value,
    ) == (0.5, 0.0)
    assert found.confidence == "low"
    assert any("overlap" in note for note in found.notes)


def test_two_probes_are_no_proof():
    found = calibrate(scored([0.8], [0.2]))
    assert not found.separable
    assert found.confidence == "low"
    assert not found.tells_apart
    assert any("few" in note for note in found.notes)


@pytest.mark.parametrize("labels", [True, False])
def test_questions_of_one_kind_are_refused(labels):
    with pytest.raises(UsageError, match="no question that the documents"):
        calibrate([Scored(0.5, labels), Scored(0.9, labels)])


def test_scores_that_are_no_numbers_are_left_out():
    found = calibrate([*scored(COVERED, GAPS), Scored(float("nan"), True), Scored(float("inf"), False)])
    assert (found.covered.n, found.gaps.n) == (10, 10)


def test_many_questions_that_hardly_overlap_earn_confidence_and_a_coin_does_not():
    good = calibrate(scored([0.5 + place / 200 for place in range(60)], [0.3 + place / 250 for place in range(60)]))
    assert (good.confidence, good.tells_apart) == ("high", True)
    coin = calibrate(scored([place / 60 for place in range(60)], [place / 60 for place in range(60)]))
    assert (coin.confidence, coin.tells_apart) == ("low", False)


def test_both_errors_weigh_the_same_however_few_the_gaps_are():
    """100 covered questions from 0.4 on, 4 gaps up to 0.6: refusing a few is better than answering half the gaps."""
    covered = [0.4 + place / 100 for place in range(61)] + [0.9] * 39
    assert best_threshold(covered, [0.2, 0.55, 0.58, 0.6]) > 0.6


SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@settings(deadline=None, max_examples=50)
@given(SCORES, SCORES)
def test_no_other_threshold_errs_less(covered, gaps):
    def errors(threshold):
        return sum(s < threshold for s in covered) / len(covered) + sum(s >= threshold for s in gaps) / len(gaps)

    found = best_threshold(covered, gaps)
    others = {*covered, *gaps} - {min([*covered, *gaps])}
    assert all(errors(found) <= errors(other) + 1e-9 for other in others)


@settings(deadline=None, max_examples=50)
@given(SCORES, SCORES)
def test_separable_means_no_error_on_either_side(covered, gaps):
    found = calibrate(scored(covered, gaps))
    if found.separable:
        assert (found.false_accept.hits, found.false_abstain.hits) == (0, 0)
        assert max(gaps) < found.threshold <= min(covered)
