"""Which questions open a gap: a named decision, apart from the rules that only report signals. Pure.

A rule alone rarely suffices: a question that one document answers perfectly fires ``few_distinct_lessons`` and is
no gap. So by default a gap opens when the gate refused for want of documentation, or when an answer that was given
shows a set of signals that hangs together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from store.errors import ConfigurationError
from store.records import AbstainReason, Rule, Status

NEVER_OPENS = frozenset(
    {
        AbstainReason.EMPTY_INDEX,
        AbstainReason.OUT_OF_SCOPE,
        AbstainReason.NOT_A_QUESTION,
        AbstainReason.UNAVAILABLE,
    }
)
"""Reasons that say nothing about the documents; no configuration turns them into gaps."""

DOCUMENTATION_REASONS = frozenset(
    {
        AbstainReason.NO_RELEVANT_PASSAGES,
        AbstainReason.INSUFFICIENT_EVIDENCE,
        AbstainReason.AMBIGUOUS_EVIDENCE,
    }
)
"""Refusals that better documents would have prevented. What a language model wrote without support is none of them:
the gate had found enough to answer from, and a weak model would fill the gap log with questions that are answered."""

DEFAULT_RULE_SETS: tuple[frozenset[Rule], ...] = (
    # The answer itself says that the documents hold nothing, or not everything.
    frozenset({Rule.WEAK_ANSWER_LANGUAGE}),
    # About another platform than the one that was asked for, and nothing comes close.
    frozenset({Rule.MISSING_PLATFORM, Rule.RELATED_BUT_UNANSWERED}),
    frozenset({Rule.MISSING_PLATFORM, Rule.NO_RELEVANT_CHUNKS}),
    # A long answer with nothing relevant behind it came from somewhere else.
    frozenset({Rule.GENERAL_KNOWLEDGE_ANSWER, Rule.NO_RELEVANT_CHUNKS}),
)
"""Sets of rules that open a gap on an answered question when all of a set fired."""


@dataclass(frozen=True, slots=True)
class GapVerdict:
    """What opens a gap.

    Attributes:
        abstain_reasons: refusals that open one; never any of :data:`NEVER_OPENS`.
        rule_sets: for answered questions; one set suffices when all of its rules fired.

    Raises:
        ConfigurationError: an empty rule set (it would open a gap on every question), or a reason that is no gap.
    """

    abstain_reasons: frozenset[AbstainReason] = DOCUMENTATION_REASONS
    rule_sets: tuple[frozenset[Rule], ...] = DEFAULT_RULE_SETS

    def __post_init__(self) -> None:
        if not all(self.rule_sets):
            raise ConfigurationError("A set of rules that opens gaps is empty.", "Name at least one rule in each set.")
        wrong = sorted(self.abstain_reasons & NEVER_OPENS)
        if wrong:
            raise ConfigurationError(f"{', '.join(wrong)} can't open a gap.", "It says nothing about the documents.")


DEFAULT_VERDICT = GapVerdict()


def opens_gap(
    status: Status, reason: AbstainReason | None, rules: Iterable[Rule], verdict: GapVerdict = DEFAULT_VERDICT
) -> bool:
    """Whether a question that ended so opens a gap.

    Args:
        status: only answered and abstained questions can open one.
        reason: why the gate refused. On an answered question (the gate only watches) a refusal that it would have
            made counts like one that it made.
        rules: every rule that fired.
        verdict: what opens a gap.
    """
    if status not in {Status.ANSWERED, Status.ABSTAINED} or reason in NEVER_OPENS:
        return False
    if reason in verdict.abstain_reasons:
        return True
    fired = frozenset(rules)
    return status is Status.ANSWERED and any(rule_set <= fired for rule_set in verdict.rule_sets)


def parse_verdict(
    rule_sets: Iterable[Iterable[str]] | None = None, abstain_reasons: Iterable[str] | None = None
) -> GapVerdict:
    """A verdict from configured tags; what is None keeps its default.

    Raises:
        ConfigurationError: an unknown tag, a bare string instead of a list, an empty set, a reason that is no gap.
    """
    return GapVerdict(
        DOCUMENTATION_REASONS if abstain_reasons is None else frozenset(map(_reason, _tags(abstain_reasons))),
        DEFAULT_RULE_SETS
        if rule_sets is None
        else tuple(frozenset(map(_rule, _tags(rule_set))) for rule_set in rule_sets),
    )


def _tags(value: Iterable[str]) -> Iterable[str]:
    if isinstance(value, str):
        raise ConfigurationError(f"{value!r} is one tag, where a list of tags is expected.", f"Write [{value!r}].")
    return value


def _rule(tag: str) -> Rule:
    try:
        return Rule(tag)
    except ValueError as error:
        raise ConfigurationError(f"{tag!r} is no rule.", f"Use {', '.join(Rule)}.") from error


def _reason(tag: str) -> AbstainReason:
    try:
        return AbstainReason(tag)
    except ValueError as error:
        raise ConfigurationError(f"{tag!r} is no reason to abstain.", f"Use {', '.join(AbstainReason)}.") from error
