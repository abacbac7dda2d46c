"""The gate compares support with a threshold, and a refusal names the most telling reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answering.gate import DEFAULT_SUPPORT, GateEvidence, decide

GOOD = GateEvidence(passages=5, best_score=0.6, support=0.8, relevant_score=0.3, language_covered=True, known_words=1.0)


def test_support_from_the_threshold_on_answers():
    assert decide(replace(GOOD, support=DEFAULT_SUPPORT)).answers
    assert not decide(replace(GOOD, support=DEFAULT_SUPPORT - 1e-9)).answers
    assert decide(replace(GOOD, support=0.2), threshold=0.2).answers


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"passages": 0, "support": 1.0}, "no_relevant_passages"),
        ({"support": 0.1, "best_score": 0.29}, "no_relevant_passages"),
        ({"support": 0.1, "best_score": 0.3}, "insufficient_evidence"),
        ({"support": 0.1, "language_covered": False, "known_words": 0.4}, "out_of_scope"),
        ({"support": 0.1, "language_covered": False, "known_words": 0.5}, "insufficient_evidence"),
        (
            {"support": 0.1, "language_covered": False, "known_words": 0.0, "documents_speak_it": True},
            "insufficient_evidence",
        ),
        ({"support": 0.1, "language_covered": False, "known_words": 0.5, "best_score": 0.0}, "insufficient_evidence"),
    ],
)
def test_a_refusal_names_its_reason(changes, reason):
    decision = decide(replace(GOOD, **changes))
    assert (decision.reason, decision.answers) == (reason, False)


def test_a_language_that_is_not_covered_is_answered_when_words_support_it():
    assert decide(replace(GOOD, language_covered=False, known_words=0.0)).answers


def test_a_missing_platform_asks_for_half_the_way_to_certainty():
    asked = replace(GOOD, missing_platform=True)
    assert decide(replace(asked, support=0.75), threshold=0.5).answers
    assert not decide(replace(asked, support=0.74), threshold=0.5).answers
    assert decide(replace(asked, support=1.0), threshold=1.0).answers


def test_passages_that_contradict_each_other_are_not_answered_from_however_good_they_are():
    decision = decide(replace(GOOD, support=1.0, conflict="version: 1 or 2"))
    assert (decision.reason, "version: 1 or 2" in decision.explanation) == ("scope_conflict", True)
    assert decide(replace(GOOD, support=0.1, conflict="version: 1 or 2")).reason == "insufficient_evidence"


def test_the_explanation_has_the_numbers():
    assert decide(replace(GOOD, support=0.12)).explanation == "support 0.12 is below 0.55"
    assert decide(GOOD).explanation == "support 0.80 reaches 0.55"


UNIT = st.floats(0, 1)


@given(UNIT, UNIT, UNIT, st.booleans(), st.booleans(), UNIT, st.floats(-1, 1))
def test_more_support_never_turns_an_answer_into_a_refusal(low, high, threshold, covered, missing, known, best):
    low, high = sorted((low, high))
    evidence = replace(
        GOOD, language_covered=covered, missing_platform=missing, known_words=known, best_score=best, support=low
    )
    if decide(evidence, threshold).answers:
        assert decide(replace(evidence, support=high), threshold).answers
