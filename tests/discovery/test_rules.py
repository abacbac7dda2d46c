"""Each rule tests one signal, at its exact limits, and explains itself with the numbers."""

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.detector import detect_answer, detect_retrieval, gap_type, severity
from discovery.platforms import load_platforms
from discovery.rules import ANSWER_RULES, RETRIEVAL_RULES, Observation, RuleThresholds
from store.errors import ConfigurationError
from store.records import GapType, Passage, Rule

DEFAULTS = RuleThresholds()
LONG = "The pod restarts on its own after the node is drained and the volume is attached again. " * 3
SOUND = "Run the script and wait."


def passage(score, document="a.md", text="Some text.", title="Notes", section=""):
    return Passage(
        chunk_id=f"{document}:{score}:{text}",
        document_id=document,
        document=document,
        title=title,
        section=section,
        url="",
        text=text,
        score=score,
        rank=1,
    )


def observe(question="How do I restart it safely?", passages=(), answer=""):
    return Observation(question, tuple(passages), answer, load_platforms())


def fired(observation, thresholds=DEFAULTS, disabled=frozenset()):
    findings = detect_retrieval(observation, thresholds, disabled) + detect_answer(observation, thresholds, disabled)
    return [finding.rule.value for finding in findings]


def test_the_worked_example_comes_out_exactly():
    """A Terraform question on documents without Terraform fires four rules, in report order, and is a missing platform."""
    observation = observe(
        "Terraform module best practices",
        [passage(0.12, "a.md"), passage(0.08, "b.md")],
        "No relevant lessons were found.",
    )
    reasons = fired(observation)
    assert reasons == ["no_relevant_chunks", "few_distinct_lessons", "missing_platform", "weak_answer_language"]
    assert gap_type(map(Rule, reasons)) is GapType.MISSING_PLATFORM


def test_explanations_hold_the_numbers():
    findings = detect_retrieval(observe("Terraform modules", [passage(0.12)]), DEFAULTS)
    assert [finding.explanation for finding in findings] == [
        "best score 0.12 is below 0.30",
        "0 documents at or above 0.30, fewer than 2",
        "none of 1 passage names Terraform",
    ]


@pytest.mark.parametrize(("score", "fires"), [(0.2999, True), (0.3, False), (0.31, False), (-0.4, True)])
def test_the_best_score_is_judged_at_its_limit(score, fires):
    assert ("no_relevant_chunks" in fired(observe(passages=[passage(-0.9, "z.md"), passage(score)]))) is fires


def test_no_passage_at_all_is_no_relevant_chunk():
    assert fired(observe()) == ["no_relevant_chunks", "few_distinct_lessons"]


def test_two_passages_of_one_document_are_one_document():
    assert fired(observe(passages=[passage(0.8, text="one"), passage(0.7, text="two")])) == ["few_distinct_lessons"]
    assert fired(observe(passages=[passage(0.8, "a.md"), passage(0.3, "b.md")])) == []


@pytest.mark.parametrize(
    ("scores", "fires"),
    [
        ([0.4, 0.3, 0.2], True),
        ([0.4999, 0.0001, 0.3], True),
        ([0.5, 0.3, 0.2, 0.1], False),
        ([0.4, 0.3], False),
        ([0.4, 0.3, 0.0], False),
        ([0.4, 0.3, -0.1], False),
        ([], False),
    ],
)
def test_related_passages_score_strictly_inside_the_range(scores, fires):
    passages = [passage(score, f"{place}.md") for place, score in enumerate(scores)]
    assert ("related_but_unanswered" in fired(observe(passages=passages))) is fires


@pytest.mark.parametrize("where", ["text", "title", "section"])
def test_a_platform_named_anywhere_in_a_passage_is_not_missing(where):
    good = passage(0.8, "b.md", **{where: "Upgrading Kubernetes clusters"})
    assert "missing_platform" not in fired(observe("How do I upgrade k8s?", [passage(0.9), good]))


def test_one_platform_of_several_may_be_missing():
    findings = detect_retrieval(
        observe("Kafka on Kubernetes", [passage(0.9, text="k8s basics"), passage(0.8, "b.md")]), DEFAULTS
    )
    assert [finding.explanation for finding in findings] == ["none of 2 passages names Kafka"]


def test_a_question_without_a_platform_misses_none():
    assert "missing_platform" not in fired(observe("How do I book a room?", []))


def test_an_existence_question_counts_only_with_a_weak_answer():
    passages = [passage(0.8, "a.md"), passage(0.7, "b.md")]
    question = "Do we have anything on parental leave?"
    assert fired(observe(question, passages, "No relevant lessons were found.")) == [
        "weak_answer_language",
        "explicit_absence_query",
    ]
    assert fired(observe(question, passages, "Yes: parents get 14 weeks [1].")) == []
    assert fired(observe("How long is parental leave?", passages, "No relevant lessons were found.")) == [
        "weak_answer_language"
    ]


@pytest.mark.parametrize(
    ("length", "supporting", "fires"),
    [(200, 0, False), (201, 0, True), (201, 1, True), (201, 2, False), (5000, 2, False)],
)
def test_a_long_answer_needs_two_relevant_passages(length, supporting, fires):
    passages = [passage(0.3, f"{place}.md") for place in range(supporting)] + [passage(0.29, "z.md")]
    assert ("general_knowledge_answer" in fired(observe(passages=passages, answer="x" * length))) is fires


def test_all_seven_rules_can_fire_but_only_in_report_order():
    low = [passage(0.2, "a.md"), passage(0.1, "b.md"), passage(0.15, "c.md")]
    answer = f"The documents do not mention this. {LONG}"
    assert fired(observe("Is there any doc about Terraform?", low, answer)) == [rule.value for rule in Rule]
    assert [tag for tag, _ in RETRIEVAL_RULES + ANSWER_RULES] == list(Rule)


def test_a_disabled_rule_never_fires():
    observation = observe("Terraform", [], "I don't know.")
    assert fired(observation, disabled={Rule.MISSING_PLATFORM, Rule.WEAK_ANSWER_LANGUAGE}) == [
        "no_relevant_chunks",
        "few_distinct_lessons",
    ]


def test_retrieval_rules_do_not_read_the_answer():
    passages = [passage(0.2)]
    assert detect_retrieval(observe(passages=passages), DEFAULTS) == detect_retrieval(
        observe(passages=passages, answer="I don't know. " * 99), DEFAULTS
    )


def test_thresholds_replace_the_defaults():
    low = RuleThresholds(relevant_score=0.1, min_distinct_documents=1)
    assert fired(observe(passages=[passage(0.12)]), low) == []


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_never_relevant_evidence_alone(score):
    assert "no_relevant_chunks" in fired(observe(passages=[passage(score)]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"relevant_score": 1.5},
        {"relevant_score": math.nan},
        {"related_low": 0.6},
        {"min_distinct_documents": 0},
        {"min_related_passages": 0},
        {"min_supporting_chunks": -1},
        {"general_answer_length": -1},
    ],
)
def test_impossible_thresholds_are_refused_by_name(wrong):
    with pytest.raises(ConfigurationError) as refused:
        RuleThresholds(**wrong)
    assert f"rules.{next(iter(wrong))}" in refused.value.problem


@pytest.mark.parametrize(
    ("reasons", "kind"),
    [
        (list(Rule), GapType.MISSING_PLATFORM),
        ([rule for rule in Rule if rule is not Rule.MISSING_PLATFORM], GapType.EXPLICIT_ABSENCE),
        ([Rule.WEAK_ANSWER_LANGUAGE, Rule.RELATED_BUT_UNANSWERED, Rule.NO_RELEVANT_CHUNKS], GapType.NO_COVERAGE),
        ([Rule.FEW_DISTINCT_LESSONS, Rule.RELATED_BUT_UNANSWERED], GapType.UNANSWERED),
        ([Rule.GENERAL_KNOWLEDGE_ANSWER, Rule.FEW_DISTINCT_LESSONS], GapType.THIN_COVERAGE),
        ([Rule.WEAK_ANSWER_LANGUAGE, Rule.GENERAL_KNOWLEDGE_ANSWER], GapType.UNGROUNDED),
        ([Rule.WEAK_ANSWER_LANGUAGE], GapType.WEAK_ANSWER),
        ([], GapType.UNANSWERED),
    ],
)
def test_the_type_follows_the_priority_of_the_reasons(reasons, kind):
    assert gap_type(reversed(reasons)) is kind


@given(st.sets(st.sampled_from(Rule)), st.sampled_from(Rule), st.floats(-1, 1), st.floats(-1, 1))
def test_more_reasons_and_lower_scores_never_lower_the_severity(reasons, another, score, other):
    lower, higher = sorted((score, other))
    assert 0.0 <= severity(reasons, score) <= 1.0
    assert severity(reasons | {another}, score) >= severity(reasons, score)
    assert severity(reasons, lower) >= severity(reasons, higher)


def test_no_reason_lowers_the_severity_of_any_others_by_a_single_digit():
    """However the processor rounds, and in whatever order a set gives its members."""
    for size in range(len(Rule)):
        for reasons in combinations(Rule, size):
            for another in set(Rule) - set(reasons):
                assert severity([another, *reasons], 0.0) >= severity(reversed(reasons), 0.0)


def test_the_severity_of_a_known_case():
    """0.6 · (1 - 0.4 · 0.8) + 0.4 · (1 - 0.1): the formula of the docstring by hand."""
    assert severity([Rule.NO_RELEVANT_CHUNKS, Rule.FEW_DISTINCT_LESSONS], 0.1) == pytest.approx(0.768)
    assert severity([], math.nan) == pytest.approx(0.4)


@settings(max_examples=300, deadline=None)
@given(st.text(), st.text(), st.lists(st.tuples(st.floats(), st.text(max_size=60)), max_size=5))
def test_any_observation_is_judged_without_an_error(question, answer, found):
    passages = [passage(score, f"{place}.md", text) for place, (score, text) in enumerate(found)]
    reasons = fired(observe(question, passages, answer))
    assert reasons == [rule.value for rule in Rule if rule.value in reasons]
