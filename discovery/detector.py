"""Runs the rules in report order and says what kind of gap their findings make, and how severe. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from discovery.rules import ANSWER_RULES, RETRIEVAL_RULES, Finding, Observation, RuleFunction, RuleThresholds
from store.records import GapType, Rule

TYPE_PRIORITY: tuple[tuple[Rule, GapType], ...] = (
    (Rule.MISSING_PLATFORM, GapType.MISSING_PLATFORM),
    (Rule.EXPLICIT_ABSENCE_QUERY, GapType.EXPLICIT_ABSENCE),
    (Rule.NO_RELEVANT_CHUNKS, GapType.NO_COVERAGE),
    (Rule.RELATED_BUT_UNANSWERED, GapType.UNANSWERED),
    (Rule.FEW_DISTINCT_LESSONS, GapType.THIN_COVERAGE),
    (Rule.GENERAL_KNOWLEDGE_ANSWER, GapType.UNGROUNDED),
    (Rule.WEAK_ANSWER_LANGUAGE, GapType.WEAK_ANSWER),
)
"""The type of a gap is that of the first of these rules that fired."""

RULE_WEIGHTS: Mapping[Rule, float] = MappingProxyType(
    {
        Rule.NO_RELEVANT_CHUNKS: 0.6,
        Rule.MISSING_PLATFORM: 0.5,
        Rule.EXPLICIT_ABSENCE_QUERY: 0.4,
        Rule.WEAK_ANSWER_LANGUAGE: 0.4,
        Rule.RELATED_BUT_UNANSWERED: 0.3,
        Rule.GENERAL_KNOWLEDGE_ANSWER: 0.3,
        Rule.FEW_DISTINCT_LESSONS: 0.2,
    }
)
"""How strongly each rule alone speaks for missing content, in [0, 1]: a judgement that orders gaps."""

REASONS_SHARE = 0.6
"""Part of the severity that comes from the rules; the rest is the distance of the nearest passage."""


def detect_retrieval(
    observation: Observation, thresholds: RuleThresholds, disabled: Collection[Rule] = frozenset()
) -> tuple[Finding, ...]:
    """Findings of the rules on retrieval, in report order, without the disabled rules."""
    return _run(RETRIEVAL_RULES, observation, thresholds, disabled)


def detect_answer(
    observation: Observation, thresholds: RuleThresholds, disabled: Collection[Rule] = frozenset()
) -> tuple[Finding, ...]:
    """Findings of the rules on the answer, in report order, without the disabled rules."""
    return _run(ANSWER_RULES, observation, thresholds, disabled)


def gap_type(reasons: Iterable[Rule]) -> GapType:
    """The type of a gap by the priority of its reasons.

    A gap without any reason exists when the gate refused although no rule fired: passages were there and did not
    suffice, which is ``UNANSWERED``.
    """
    fired = frozenset(reasons)
    return next((kind for rule, kind in TYPE_PRIORITY if rule in fired), GapType.UNANSWERED)


def severity(reasons: Iterable[Rule], best_score: float) -> float:
    """How much seems to be missing, in [0, 1]; more reasons and a lower best score never lower it.

    ``REASONS_SHARE · strength + (1 - REASONS_SHARE) · distance``: strength is the noisy-or of the weights of the
    fired rules, 1 - Π(1 - weight), and distance is 1 - best score, the score held in [0, 1].

    Args:
        reasons: the rules that fired; a rule given twice counts once.
        best_score: highest cosine similarity; anything that is not a number counts as 0.
    """
    fired = frozenset(reasons)
    # In the order of the rules: that of a set changes from run to run, and with it the last digit of a product.
    unexplained = math.prod(1.0 - RULE_WEIGHTS[rule] for rule in Rule if rule in fired)
    closeness = 0.0 if math.isnan(best_score) else min(max(best_score, 0.0), 1.0)
    return REASONS_SHARE * (1.0 - unexplained) + (1.0 - REASONS_SHARE) * (1.0 - closeness)


def _run(
    rules: tuple[tuple[Rule, RuleFunction], ...],
    observation: Observation,
    thresholds: RuleThresholds,
    disabled: Collection[Rule],
) -> tuple[Finding, ...]:
    findings = (rule(observation, thresholds) for tag, rule in rules if tag not in disabled)
    return tuple(finding for finding in findings if finding is not None)
