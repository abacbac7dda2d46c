"""How well the evidence supports answering: one number in [0, 1], made of named parts. Pure.

Each part looks at one sign and gives a value in [0, 1] with a sentence; support is the logistic function of their
weighted sum. No weight is negative: when a part rises, support never falls.

Two kinds of corpora need two kinds of proof, and the mean length of a chunk tells them apart. Where chunks are
one-line examples, an answerable question lies near to several of them. Where they are passages of documents,
everything about the same product is near, so one passage must stand out from the rest, in meaning and in words. In a
language that the embedding model doesn't cover, words alone decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.answering import support_parts as signs
from bot.answering.question_words import MEAN_LENGTH, PassageWords, QuestionWords
from bot.answering.support_parts import HALF_TRUST_TERMS, Evidence, PassageEvidence, Seen
from store.background import Background

__all__ = ["HALF_TRUST_TERMS", "Background", "Evidence", "PassageEvidence", "Support", "SupportPart", "support"]

SUPPORT_VERSION = "2"
"""Raise it when the same evidence would get another support: calibrated thresholds are then no longer used."""


@dataclass(frozen=True, slots=True)
class SupportPart:
    """One sign: its value in [0, 1], how much it counts (0 or more), and what was seen."""

    name: str
    value: float
    weight: float
    explanation: str


@dataclass(frozen=True, slots=True)
class Support:
    """The number in [0, 1] and the parts that it is made of."""

    value: float
    parts: tuple[SupportPart, ...]


@dataclass(frozen=True, slots=True)
class Weight:
    """How much a part counts in a corpus of one-line examples and in one of documents; mixed in between."""

    examples: float
    documents: float

    def at(self, share: float) -> float:
        """The weight where so much of the corpus, in [0, 1], is documents."""
        return (1.0 - share) * self.examples + share * self.documents


WEIGHTS: Mapping[str, Weight] = {
    "closeness": Weight(examples=19.0, documents=0.0),
    "distinction": Weight(examples=5.0, documents=6.0),
    "best_passage": Weight(examples=0.0, documents=5.0),
    "agreement": Weight(examples=0.0, documents=0.6),
    "phrase_lead": Weight(examples=0.0, documents=2.3),
    "words_lead": Weight(examples=0.0, documents=6.0),
    "words_matched": Weight(examples=6.0, documents=0.0),
    "names_found": Weight(examples=0.0, documents=4.0),
}
"""Measured with all-MiniLM-L6-v2 as AUROC (answerable above unanswerable) on 229 support-forum questions, 100 on
product documentation, 1,543 banking and 3,100 assistant requests: .793, .862, .930, .971. How the single parts do, and
what else was tried, stands in docs/measurements.md. An unknown name among one-line examples proves little ("a cool fact
about Seattle"): the examples teach what is asked, not about what."""

BIAS = Weight(examples=-9.8, documents=-8.1)
"""Puts 0.5 where both kinds of error are about equally frequent over those four sets."""

SMALL_CORPUS_BIAS = -11.8
SMALL_CORPUS_NAMES = 8.0
"""The same, and the weight of the names, while the corpus has no background: few other documents are there to stand
out from, what is unrelated is clearly so, and a name that is unknown decides. Five pages of a made-up handbook:
answerable questions then reach 0.6 and more, and of the others only those that no word gives
away."""

FOREIGN_WEIGHTS: Mapping[str, float] = {"phrases_found": 10.0, "words_covered": 10.0, "words_lead": 10.0}
FOREIGN_BIAS = -15.7
"""Measured on 382 Chinese questions: AUROC .98; alone .98, .96, .94. At 0.5, 93 % of the answerable and 5 % of the
others pass."""


def support(evidence: Evidence) -> Support:
    """Judge the evidence; without any passage it is 0."""
    if not evidence.passages:
        return Support(0.0, ())
    words = QuestionWords(evidence.question, evidence.weights)
    length = max(1.0, evidence.background.mean_terms) if evidence.background else MEAN_LENGTH
    found = [words.found_in(passage.document, passage.stems, length) for passage in evidence.passages]
    if not evidence.language_covered:
        return _combined(_word_parts(words, found), FOREIGN_WEIGHTS, FOREIGN_BIAS)
    share = signs.document_share(evidence)
    documents = words.by_document(found)
    parts = {
        "closeness": signs.closeness(evidence),
        "distinction": signs.distinction(evidence),
        "best_passage": signs.best_passage(evidence.passages, words, found),
        "agreement": signs.agreement(evidence.passages),
        "phrase_lead": signs.phrase_lead(words, documents),
        "words_lead": signs.strength_lead(documents),
        "words_matched": signs.words_matched(words, found),
        "names_found": signs.names_found(evidence),
    }
    weights = {name: weight.at(share) for name, weight in WEIGHTS.items()}
    if evidence.background is None:
        return _combined(parts, {**weights, "names_found": SMALL_CORPUS_NAMES}, SMALL_CORPUS_BIAS)
    return _combined(parts, weights, BIAS.at(share))


def _word_parts(words: QuestionWords, found: Sequence[PassageWords]) -> dict[str, Seen]:
    documents = words.by_document(found)
    return {
        "phrases_found": signs.phrases_found(words, found),
        "words_covered": signs.words_covered(words, documents),
        "words_lead": signs.words_lead(words, documents),
    }


def _combined(seen: Mapping[str, Seen], weights: Mapping[str, float], bias: float) -> Support:
    parts = tuple(SupportPart(name, one.value, weights[name], one.explanation) for name, one in seen.items())
    return Support(1.0 / (1.0 + math.exp(-bias - sum(part.weight * part.value for part in parts))), parts)
