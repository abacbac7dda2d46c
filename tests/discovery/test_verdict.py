"""Which questions open a gap: only those that better documents would have answered."""

import pytest

from discovery.verdict import DEFAULT_VERDICT, DOCUMENTATION_REASONS, NEVER_OPENS, GapVerdict, opens_gap, parse_verdict
from store.errors import ConfigurationError
from store.records import AbstainReason, Rule, Status

EVERYTHING = tuple(Rule)


@pytest.mark.parametrize("reason", sorted(DOCUMENTATION_REASONS))
def test_a_refusal_for_want_of_documentation_opens_a_gap(reason):
    assert opens_gap(Status.ABSTAINED, reason, ())


@pytest.mark.parametrize("status", [Status.ANSWERED, Status.ABSTAINED])
@pytest.mark.parametrize("reason", sorted(NEVER_OPENS))
def test_failures_and_foreign_questions_never_open_a_gap(status, reason):
    """B045, B054, B076: an empty index, a failing part or a question outside the domain says nothing about the documents."""
    assert not opens_gap(status, reason, EVERYTHING)


@pytest.mark.parametrize("status", [Status.SMALLTALK, Status.CLARIFY, Status.ERROR])
def test_small_talk_and_questions_back_never_open_a_gap(status):
    """B082: thanks are no gap, whatever the rules say about them."""
    assert not opens_gap(status, None, EVERYTHING)
    assert not opens_gap(status, AbstainReason.NO_RELEVANT_PASSAGES, EVERYTHING)


@pytest.mark.parametrize(
    "rules",
    [
        [],
        [Rule.FEW_DISTINCT_LESSONS],
        [Rule.MISSING_PLATFORM],
        [Rule.MISSING_PLATFORM, Rule.FEW_DISTINCT_LESSONS],
        [Rule.RELATED_BUT_UNANSWERED, Rule.FEW_DISTINCT_LESSONS],
        [Rule.GENERAL_KNOWLEDGE_ANSWER, Rule.FEW_DISTINCT_LESSONS],
    ],
)
def test_a_well_supported_answer_opens_no_gap(rules):
    """A question that one document answers fires rules and is no gap."""
    assert not opens_gap(Status.ANSWERED, None, rules)


@pytest.mark.parametrize(
    "rules",
    [
        [Rule.WEAK_ANSWER_LANGUAGE],
        [Rule.FEW_DISTINCT_LESSONS, Rule.RELATED_BUT_UNANSWERED, Rule.MISSING_PLATFORM],
        [Rule.NO_RELEVANT_CHUNKS, Rule.FEW_DISTINCT_LESSONS, Rule.GENERAL_KNOWLEDGE_ANSWER],
    ],
)
def test_an_answer_with_a_telling_set_of_signals_opens_a_gap(rules):
    assert opens_gap(Status.ANSWERED, None, rules)


def test_a_refusal_that_the_watching_gate_would_have_made_counts():
    assert opens_gap(Status.ANSWERED, AbstainReason.INSUFFICIENT_EVIDENCE, ())


def test_conflicting_scopes_are_settled_by_asking_not_by_writing():
    assert not opens_gap(Status.ABSTAINED, AbstainReason.SCOPE_CONFLICT, EVERYTHING)


def test_a_configured_verdict_replaces_the_sets():
    verdict = parse_verdict([["few_distinct_lessons", "missing_platform"]], ["insufficient_evidence"])
    assert opens_gap(Status.ANSWERED, None, [Rule.MISSING_PLATFORM, Rule.FEW_DISTINCT_LESSONS], verdict)
    assert not opens_gap(Status.ANSWERED, None, [Rule.WEAK_ANSWER_LANGUAGE], verdict)
    assert not opens_gap(Status.ABSTAINED, AbstainReason.NO_RELEVANT_PASSAGES, (), verdict)


def test_without_configuration_the_default_stands():
    assert parse_verdict() == DEFAULT_VERDICT == GapVerdict()


@pytest.mark.parametrize(
    ("rule_sets", "reasons", "named"),
    [
        ([["nonsense"]], None, "'nonsense'"),
        ([[]], None, "empty"),
        (["weak_answer_language"], None, "'weak_answer_language'"),
        (None, ["nope"], "'nope'"),
        (None, ["unavailable"], "unavailable"),
        (None, "unavailable", "'unavailable'"),
    ],
)
def test_a_wrong_verdict_is_refused_with_the_offending_value(rule_sets, reasons, named):
    with pytest.raises(ConfigurationError) as refused:
        parse_verdict(rule_sets, reasons)
    assert named in refused.value.problem
    assert refused.value.next_step
