"""Rules are held against what people said, and silence is no verdict."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from discovery.measuring.feedback import answered, observed
from discovery.measuring.rule_figures import Observed, combination_figures, rule_figures
from discovery.measuring.shadow import Answered, shadow
from store.questions import QuestionRecord, Votes
from store.records import AbstainReason, GapState, Rule, Status

WEAK, FEW = Rule.WEAK_ANSWER_LANGUAGE, Rule.FEW_DISTINCT_LESSONS
SEEN = [
    Observed(frozenset({WEAK, FEW}), gap=True),
    Observed(frozenset({FEW}), gap=False),
    Observed(frozenset({FEW}), gap=True),
    Observed(frozenset({FEW})),
    Observed(frozenset(), gap=True),
]


def test_a_rule_counts_whatever_else_fired():
    found = {figure.name: figure for figure in rule_figures(SEEN)}
    few = found["few_distinct_lessons"]
    assert (few.fired.hits, few.fired.of) == (4, 5)
    assert (few.precision.hits, few.precision.of) == (2, 3)
    assert (few.recall.hits, few.recall.of) == (2, 3)
    assert list(found) == [rule.value for rule in Rule]
    assert found["missing_platform"].precision.value is None


def test_a_combination_counts_alone_and_its_rules_stand_in_report_order():
    found = combination_figures(SEEN)
    assert [(one.name, one.fired.hits) for one in found] == [
        ("few_distinct_lessons", 3),
        ("few_distinct_lessons+weak_answer_language", 1),
        ("none", 1),
    ]
    assert found[0].precision.value == 0.5


def record(**values):
    return QuestionRecord(datetime(2026, 6, 1, tzinfo=UTC), "Q?", **{"status": Status.ANSWERED, **values})


@pytest.mark.parametrize(
    ("status", "votes", "state", "gap"),
    [
        (Status.ANSWERED, None, None, None),
        (Status.ANSWERED, Votes(2, 1), None, False),
        (Status.ANSWERED, Votes(1, 2), None, True),
        (Status.ANSWERED, Votes(1, 1), None, None),
        (Status.ABSTAINED, Votes(0, 3), None, None),
        (Status.ABSTAINED, None, GapState.OPEN, None),
        (Status.ABSTAINED, None, GapState.CLOSED, True),
        (Status.ABSTAINED, None, GapState.IGNORED, False),
        (Status.ANSWERED, Votes(3, 0), GapState.CLOSED, True),
    ],
)
def test_decisions_count_before_votes_and_votes_on_refusals_do_not(status, votes, state, gap):
    assert observed(record(status=status), votes, state).gap is gap


def test_the_gate_would_refuse_below_its_threshold_or_where_it_said_so():
    assert answered(record(support=0.4), None, 0.5) == Answered(would_refuse=True)
    assert answered(record(support=0.6), Votes(1, 0), 0.5) == Answered(would_refuse=False, helpful=1)
    noted = record(support=0.6, reason=AbstainReason.SCOPE_CONFLICT)
    assert answered(noted, None, 0.5) == Answered(would_refuse=True)
    assert answered(record(status=Status.ABSTAINED), None, 0.5) is None


def test_shadow_says_how_many_liked_and_disliked_answers_it_would_have_stopped():
    given = [Answered(True, 1, 0)] * 12 + [Answered(False, 2, 1)] * 50 + [Answered(True, 0, 1)] * 31
    given += [Answered(False, 0, 2)] * 4 + [Answered(True)] * 3 + [Answered(True, 1, 1)]
    result = shadow(given)
    assert result.sentence == (
        "The gate would have refused 47 of 101 answers: 12 of 62 liked ones, and stopped 31 of 35 disliked ones."
    )
    assert shadow([]).refused.value is None
