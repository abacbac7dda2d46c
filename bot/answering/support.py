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
from statistics import fmean

from bot.answering.question_words import PassageWords, QuestionWords
from store.background import Background

__all__ = ["Background", "Evidence", "PassageEvidence", "Support", "SupportPart", "support"]

HALF_TRUST_TERMS = 30.0
"""Mean terms a chunk at which a corpus is half one of examples, half one of documents. A chunk hardly longer than a
question can't hold all its words, and what it lacks proves little. Measured: examples 8 to 12, documents 80 to 90."""

FULL_LIST = 20
"""Dense hits from which the last one shows how near the merely related lies; a shorter list is filled up with the
similarity by chance."""

CHANCE_SIMILARITY = 0.2
"""Cosine of two unrelated chunks while it isn't measured (four English corpora: 0.09 to 0.33)."""

NEIGHBOUR_SIMILARITY = 0.75
"""Mean cosine of a chunk and its nearest of other documents while it isn't measured (0.63 to 0.87)."""

NEAREST = 3
"""Passages whose mean nearness counts, and places that lead a list: one alone may be a coincidence."""

_STEEPNESS = 4
_SMALLEST_SPAN = 0.1
_ALL_PLACES = sum(1.0 / place for place in range(1, NEAREST + 1))


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """What support needs of one passage.

    Attributes:
        document: id of its document.
        score: cosine similarity with the question, in [-1, 1].
        stems: of its title, section and text, in order (:func:`store.text.stems`).
        dense_rank: 1-based place in the dense route, None when not found there.
        lexical_rank: 1-based place in the lexical route, None when not found there.
    """

    document: str
    score: float
    stems: Sequence[str]
    dense_rank: int | None = None
    lexical_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known when a question has been searched for.

    Attributes:
        passages: best first.
        question: all stems of the question in order, repeats and stop words included.
        weights: inverse document frequency (0 or more) of the question's informative stems.
        dense_scores: cosine of the dense route's hits (up to 50), best first.
        language_covered: whether the embedding model reads the question's language.
        background: of the corpus; None while that is too small to tell.
    """

    passages: Sequence[PassageEvidence]
    question: Sequence[str]
    weights: Mapping[str, float]
    dense_scores: Sequence[float] = ()
    language_covered: bool = True
    background: Background | None = None


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


@dataclass(frozen=True, slots=True)
class Seen:
    """What one part found: a value in [0, 1] and the figures behind it, in words."""

    value: float
    explanation: str


WEIGHTS: Mapping[str, Weight] = {
    "closeness": Weight(examples=19.0, documents=0.0),
    "distinction": Weight(examples=0.0, documents=2.0),
    "best_passage": Weight(examples=0.0, documents=3.0),
    "agreement": Weight(examples=0.0, documents=1.0),
    "phrase_lead": Weight(examples=0.0, documents=4.0),
}
"""Measured with all-MiniLM-L6-v2 as AUROC (answerable above unanswerable) on 229 support-forum questions, 100 on
product documentation, 1,543 banking and 3,100 assistant requests: .79, .82, .92, .97. The single parts reach, in that
order, closeness .64 .78 .92 .97, distinction .81 .63 .72 .85, best_passage .70 .87 .84 .95, agreement .73 .66 .70 .74,
phrase_lead .75 .80 .67 .80. Equal weights of the standardised parts give .80 .79 .91 .97: little hangs
on the figures."""

BIAS = Weight(examples=-7.5, documents=-3.2)
"""Puts 0.5 where both kinds of error are about equally frequent over those four sets."""

SMALL_CORPUS_BIAS = -2.4
"""The same while the corpus has no background: few other documents are there to stand out from, and what is unrelated
is clearly so. Five pages of a made-up handbook: answerable questions then reach 0.54 and more, others 0.33 at most."""

FOREIGN_WEIGHTS: Mapping[str, float] = {"phrases_found": 10.0, "words_covered": 10.0, "words_lead": 10.0}
FOREIGN_BIAS = -15.7
"""Measured on 382 Chinese questions: AUROC .98; alone .98, .96, .94. At 0.5, 93 % of the answerable and 5 % of the
others pass."""


def support(evidence: Evidence) -> Support:
    """Judge the evidence; without any passage it is 0."""
    if not evidence.passages:
        return Support(0.0, ())
    words = QuestionWords(evidence.question, evidence.weights)
    found = [words.found_in(passage.document, passage.stems) for passage in evidence.passages]
    if not evidence.language_covered:
        return _combined(_word_parts(words, found), FOREIGN_WEIGHTS, FOREIGN_BIAS)
    share = document_share(evidence)
    parts = {
        "closeness": closeness(evidence),
        "distinction": distinction(evidence),
        "best_passage": best_passage(evidence.passages, words, found),
        "agreement": agreement(evidence.passages),
        "phrase_lead": phrase_lead(words, found),
    }
    bias = BIAS.at(share) if evidence.background else SMALL_CORPUS_BIAS
    return _combined(parts, {name: weight.at(share) for name, weight in WEIGHTS.items()}, bias)


def document_share(evidence: Evidence) -> float:
    """How far the corpus is one of documents (towards 1) and not of one-line examples (0), by the length of a chunk."""
    if evidence.background is None:
        return 1.0  # too few chunks for a question to lie near to several: one passage must stand out
    terms = evidence.background.mean_terms
    return terms**4 / (terms**4 + HALF_TRUST_TERMS**4)


def closeness(evidence: Evidence) -> Seen:
    """How near the nearest passages are: 0 as two chunks are by chance, 0.5 as the corpus' own chunks to neighbours."""
    background = evidence.background
    chance = background.chance_similarity if background else CHANCE_SIMILARITY
    neighbour = background.neighbour_similarity if background else NEIGHBOUR_SIMILARITY
    near = fmean(sorted((passage.score for passage in evidence.passages), reverse=True)[:NEAREST])
    value = _clamp(0.5 * (near - chance) / max(neighbour - chance, _SMALLEST_SPAN))
    return Seen(value, f"similarity {near:.2f}; chunks have {neighbour:.2f} to neighbours and {chance:.2f} by chance")


def distinction(evidence: Evidence) -> Seen:
    """How far the nearest chunk stands out from the merely related, such as the last hit of the dense route."""
    scores = evidence.dense_scores or sorted((passage.score for passage in evidence.passages), reverse=True)
    background = evidence.background
    chance = min(background.chance_similarity if background else CHANCE_SIMILARITY, scores[-1])
    full = min(1.0, len(scores) / FULL_LIST)
    related = full * scores[-1] + (1.0 - full) * chance
    return Seen(_clamp(scores[0] - related), f"nearest chunk {scores[0]:.2f}, merely related ones {related:.2f}")


def best_passage(passages: Sequence[PassageEvidence], words: QuestionWords, found: Sequence[PassageWords]) -> Seen:
    """The passage that is best in everything at once: half its nearness, a quarter each its words and its phrases.

    Nearness, words and phrases of three different passages would prove less.
    """
    value = max(
        0.5 * _clamp(passage.score) + 0.25 * words.covered(one.stems) + 0.25 * words.phrased(one.stems, one.pairs)
        for passage, one in zip(passages, found, strict=True)
    )
    return Seen(_clamp(value), f"nearness, words and phrases together reach {value:.2f} in one passage")


def agreement(passages: Sequence[PassageEvidence]) -> Seen:
    """How many of the first passages are among the first of both routes; the first place counts most."""
    both = [place for place, one in enumerate(passages[:NEAREST], 1) if _leads_both(one)]
    value = sum(1.0 / place for place in both) / _ALL_PLACES
    return Seen(_clamp(value), f"{len(both)} of the first {NEAREST} passages lead by meaning and by words")


def phrase_lead(words: QuestionWords, found: Sequence[PassageWords]) -> Seen:
    """The question's word pairs in the best document, less what the other documents have of them on average.

    What all documents of a product line say proves nothing for one of them.
    """
    shares = [words.phrased(one.stems, one.pairs) for one in words.by_document(found)]
    value = _lead(shares)
    return Seen(value, f"best document has {max(shares):.0%} of the phrases, {value:.0%} more than the others")


def _word_parts(words: QuestionWords, found: Sequence[PassageWords]) -> dict[str, Seen]:
    documents = words.by_document(found)
    return {
        "phrases_found": phrases_found(words, found),
        "words_covered": words_covered(words, documents),
        "words_lead": words_lead(words, documents),
    }


def phrases_found(words: QuestionWords, found: Sequence[PassageWords]) -> Seen:
    """Share of the question's pairs of informative words that stand side by side in any passage.

    A name that no document has shows here, though each of its words occurs somewhere.
    """
    missing = words.missing_phrases(found)
    value = _clamp(1.0 - words.weight_of_phrases(missing))
    named = f"; not: {', '.join(' '.join(pair) for pair in missing[:3])}" if missing else ""
    return Seen(value, f"{value:.0%} of the question's phrases found{named}")


def words_covered(words: QuestionWords, documents: Sequence[PassageWords]) -> Seen:
    """Share of the question's informative words in the best document's passages, rare words counting more."""
    value = _clamp(max(words.covered(one.stems) for one in documents))
    return Seen(value, f"best document has {value:.0%} of the question's words")


def words_lead(words: QuestionWords, documents: Sequence[PassageWords]) -> Seen:
    """The same share, less what the other documents have on average."""
    value = _lead([words.covered(one.stems) for one in documents])
    return Seen(value, f"best document has {value:.0%} more of the question's words than the others")


def _combined(seen: Mapping[str, Seen], weights: Mapping[str, float], bias: float) -> Support:
    parts = tuple(SupportPart(name, one.value, weights[name], one.explanation) for name, one in seen.items())
    return Support(1.0 / (1.0 + math.exp(-bias - sum(part.weight * part.value for part in parts))), parts)


def _lead(shares: Sequence[float]) -> float:
    """The largest share less the mean of the others."""
    best, *others = sorted(shares, reverse=True)
    return _clamp(best - (fmean(others) if others else 0.0))


def _leads_both(passage: PassageEvidence) -> bool:
    ranks = passage.dense_rank, passage.lexical_rank
    return all(rank is not None and rank <= NEAREST for rank in ranks)


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
