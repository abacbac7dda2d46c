"""Answer or refuse? Pure: evidence and thresholds in, a decision with its reason out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from store.records import AbstainReason

GateMode = Literal["enforce", "shadow", "off"]

DEFAULT_SUPPORT = 0.55
"""Support below which the gate refuses until the corpus has been calibrated; docs/measurements.md has the figures."""

_KNOWN_WORDS = 0.5
"""Share of a question's informative words that the corpus must know before a language that the model does not cover
counts as one that the documents are written in."""


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """What the gate decides on.

    Attributes:
        passages: number of passages retrieved.
        best_score: highest cosine similarity, in [-1, 1].
        support: how well the evidence supports answering, in [0, 1].
        relevant_score: the score from which a passage counts as relevant at all (the threshold of rule 1).
        language_covered: whether the embedding model reads the question's language.
        known_words: share of the question's informative words that occur in the corpus, in [0, 1].
        documents_speak_it: whether some of the documents are in the question's language.
        missing_platform: whether the question names a platform that no passage names (rule 6).
        conflict: what the leading passages disagree about, such as ``version: 1 or 2``; empty when they don't.
        contradiction: what two documents say differently without a word on which of them holds; empty when none do.
    """

    passages: int
    best_score: float
    support: float
    relevant_score: float
    language_covered: bool
    known_words: float
    documents_speak_it: bool = False
    missing_platform: bool = False
    conflict: str = ""
    contradiction: str = ""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """``reason`` is None when the question is answered; ``explanation`` says why in numbers."""

    reason: AbstainReason | None
    explanation: str

    @property
    def answers(self) -> bool:
        """Whether the question is answered."""
        return self.reason is None


def decide(evidence: GateEvidence, threshold: float = DEFAULT_SUPPORT) -> GateDecision:
    """Compare the support with the threshold; a refusal names the most telling reason.

    What holds for macOS seldom answers a question about Windows: when no passage names the platform that was asked
    about, only half of the way from the threshold to certainty is enough.

    Args:
        evidence: what was found.
        threshold: support from which the question is answered, in [0, 1].
    """
    if not evidence.passages:
        return GateDecision(AbstainReason.NO_RELEVANT_PASSAGES, "nothing was retrieved")
    if evidence.missing_platform:
        threshold = max(threshold, (1.0 + threshold) / 2)
    if evidence.support >= threshold:
        return _agreed(evidence, f"support {evidence.support:.2f} reaches {threshold:.2f}")
    foreign = not evidence.language_covered and not evidence.documents_speak_it
    if foreign and evidence.known_words < _KNOWN_WORDS:
        share = f"{evidence.known_words:.0%} of its words occur in the documents"
        return GateDecision(AbstainReason.OUT_OF_SCOPE, f"the model does not cover the language and {share}")
    shortfall = f"support {evidence.support:.2f} is below {threshold:.2f}"
    if evidence.language_covered and evidence.best_score < evidence.relevant_score:
        return GateDecision(
            AbstainReason.NO_RELEVANT_PASSAGES,
            f"{shortfall}, best score {evidence.best_score:.2f} is below {evidence.relevant_score:.2f}",
        )
    return GateDecision(AbstainReason.INSUFFICIENT_EVIDENCE, shortfall)


def _agreed(evidence: GateEvidence, explanation: str) -> GateDecision:
    """What to do where there is enough evidence: it must not disagree with itself."""
    if evidence.conflict:
        return GateDecision(AbstainReason.SCOPE_CONFLICT, f"the passages are valid for {evidence.conflict}")
    if evidence.contradiction:
        return GateDecision(AbstainReason.AMBIGUOUS_EVIDENCE, f"the documents say {evidence.contradiction}")
    return GateDecision(None, explanation)
