"""The seven rules. Each is a pure function of one observation, tests one signal and explains itself.

Rules on retrieval run before an answer exists, rules on the answer afterwards; both tuples at the end stand in the
order in which reasons are reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discovery.platforms import PlatformNames
from discovery.questions import asks_existence
from discovery.weak_language import weak_phrase
from store.errors import ConfigurationError
from store.records import Passage, Rule


@dataclass(frozen=True, slots=True)
class RuleThresholds:
    """The numbers of the rules; configuration and calibration can override each.

    Attributes:
        relevant_score: from this cosine similarity on a passage counts as relevant, in [-1, 1].
        min_distinct_documents: fewer documents with a relevant passage are thin coverage.
        related_low: a related passage scores strictly above this.
        related_high: and strictly below this; a passage that reaches it may well answer.
        min_related_passages: so many related passages, and none better, leave a question unanswered.
        general_answer_length: a longer answer (characters) needs support.
        min_supporting_chunks: fewer relevant passages do not support a long answer.

    Raises:
        ConfigurationError: a score outside [-1, 1], an empty related range, or a count below 1 (length below 0).
    """

    relevant_score: float = 0.3
    min_distinct_documents: int = 2
    related_low: float = 0.0
    related_high: float = 0.5
    min_related_passages: int = 3
    general_answer_length: int = 200
    min_supporting_chunks: int = 2

    def __post_init__(self) -> None:
        for name in ("relevant_score", "related_low", "related_high"):
            if not -1.0 <= getattr(self, name) <= 1.0:
                raise ConfigurationError(f"rules.{name} is {getattr(self, name)}.", "Use a similarity from -1 to 1.")
        if self.related_low >= self.related_high:
            raise ConfigurationError(
                f"rules.related_low ({self.related_low}) is not below rules.related_high ({self.related_high}).",
                "Leave a range between them.",
            )
        for name in ("min_distinct_documents", "min_related_passages", "min_supporting_chunks"):
            if getattr(self, name) < 1:
                raise ConfigurationError(f"rules.{name} is {getattr(self, name)}.", "Use 1 or more.")
        if self.general_answer_length < 0:
            raise ConfigurationError(f"rules.general_answer_length is {self.general_answer_length}.", "Use 0 or more.")


@dataclass(frozen=True, slots=True)
class Observation:
    """What the rules look at: one question with what was retrieved for it and, later, what was answered.

    ``answer`` stays empty until there is one; rules on retrieval do not read it.
    """

    question: str
    passages: Sequence[Passage]
    answer: str
    platforms: PlatformNames


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that fired, with a short sentence that holds the numbers."""

    rule: Rule
    explanation: str


RuleFunction = Callable[[Observation, RuleThresholds], Finding | None]


def no_relevant_chunks(observation: Observation, thresholds: RuleThresholds) -> Finding | None:
    """Fires when the best passage is not relevant, or there is no passage."""
    best = best_score(observation.passages)
    if best is None:
        return Finding(Rule.NO_RELEVANT_CHUNKS, "no passage was found")
    if best >= thresholds.relevant_score:
        return None
    return Finding(Rule.NO_RELEVANT_CHUNKS, f"best score {best:.2f} is below {thresholds.relevant_score:.2f}")


def few_distinct_lessons(observation: Observation, thresholds: RuleThresholds) -> Finding | None:
    """Fires when too few distinct documents have a relevant passage."""
    documents = {passage.document_id for passage in _relevant(observation, thresholds)}
    if len(documents) >= thresholds.min_distinct_documents:
        return None
    return Finding(
        Rule.FEW_DISTINCT_LESSONS,
        f"{_count(len(documents), 'document')} at or above {thresholds.relevant_score:.2f}, "
        f"fewer than {thresholds.min_distinct_documents}",
    )


def related_but_unanswered(observation: Observation, thresholds: RuleThresholds) -> Finding | None:
    """Fires when several passages are related and none is close enough to answer."""
    scores = [passage.score for passage in observation.passages]
    related = sum(thresholds.related_low < score < thresholds.related_high for score in scores)
    if related < thresholds.min_related_passages or any(score >= thresholds.related_high for score in scores):
        return None
    return Finding(
        Rule.RELATED_BUT_UNANSWERED,
        f"{_count(related, 'passage')} between {thresholds.related_low:.2f} and {thresholds.related_high:.2f}, "
        f"none reaches {thresholds.related_high:.2f}",
    )


def missing_platform(observation: Observation, _thresholds: RuleThresholds) -> Finding | None:
    """Fires when the question names a known platform that no retrieved passage names.

    A passage names what its title, its heading path or its text names.
    """
    missing = set(observation.platforms.mentioned(observation.question))
    for passage in observation.passages:
        if not missing:
            return None
        missing -= observation.platforms.touched(f"{passage.title}\n{passage.section}\n{passage.text}")
    if not missing:
        return None
    return Finding(
        Rule.MISSING_PLATFORM,
        f"none of {_count(len(observation.passages), 'passage')} names {', '.join(sorted(missing))}",
    )


def weak_answer_language(observation: Observation, _thresholds: RuleThresholds) -> Finding | None:
    """Fires when the answer's own words say that it isn't grounded."""
    phrase = weak_phrase(observation.answer)
    return Finding(Rule.WEAK_ANSWER_LANGUAGE, f"the answer says “{phrase}”") if phrase else None


def explicit_absence_query(observation: Observation, _thresholds: RuleThresholds) -> Finding | None:
    """Fires when the question asks whether anything about its subject exists, and the answer is weak."""
    if not asks_existence(observation.question):
        return None
    phrase = weak_phrase(observation.answer)
    if not phrase:
        return None
    return Finding(Rule.EXPLICIT_ABSENCE_QUERY, f"asks whether anything exists, and the answer says “{phrase}”")


def general_knowledge_answer(observation: Observation, thresholds: RuleThresholds) -> Finding | None:
    """Fires when a long answer has too few relevant passages behind it."""
    length = len(observation.answer)
    supporting = len(_relevant(observation, thresholds))
    if length <= thresholds.general_answer_length or supporting >= thresholds.min_supporting_chunks:
        return None
    return Finding(
        Rule.GENERAL_KNOWLEDGE_ANSWER,
        f"{length} characters with {_count(supporting, 'passage')} at or above {thresholds.relevant_score:.2f}, "
        f"fewer than {thresholds.min_supporting_chunks}",
    )


def best_score(passages: Sequence[Passage]) -> float | None:
    """The highest finite score of the passages; None when there is none."""
    return max((passage.score for passage in passages if math.isfinite(passage.score)), default=None)


def _relevant(observation: Observation, thresholds: RuleThresholds) -> list[Passage]:
    return [passage for passage in observation.passages if passage.score >= thresholds.relevant_score]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


RETRIEVAL_RULES: tuple[tuple[Rule, RuleFunction], ...] = (
    (Rule.NO_RELEVANT_CHUNKS, no_relevant_chunks),
    (Rule.FEW_DISTINCT_LESSONS, few_distinct_lessons),
    (Rule.RELATED_BUT_UNANSWERED, related_but_unanswered),
    (Rule.MISSING_PLATFORM, missing_platform),
)
"""Tag and rule, in report order; they need no answer."""

ANSWER_RULES: tuple[tuple[Rule, RuleFunction], ...] = (
    (Rule.WEAK_ANSWER_LANGUAGE, weak_answer_language),
    (Rule.EXPLICIT_ABSENCE_QUERY, explicit_absence_query),
    (Rule.GENERAL_KNOWLEDGE_ANSWER, general_knowledge_answer),
)
"""Tag and rule, in report order; they read the answer."""
