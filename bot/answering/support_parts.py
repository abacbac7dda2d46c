"""The signs by which support judges the evidence: each a named function with a value in [0, 1] and a sentence. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from bot.answering.question_words import PassageWords, QuestionWords
from store.background import Background

HALF_TRUST_TERMS = 30.0
"""Mean terms a chunk at which a corpus is half one of examples, half one of documents. A chunk hardly longer than a
question can't hold all its words, and what it lacks proves little. Measured: examples 8 to 12, documents 80 to 90."""

RELATED_PLACE = 10
"""The document at this place of the dense route shows how near the merely related lies; a shorter list is filled up
with the similarity by chance."""

CHANCE_SIMILARITY = 0.2
"""Cosine of two unrelated chunks while it isn't measured (four English corpora: 0.09 to 0.33)."""

NEIGHBOUR_SIMILARITY = 0.75
"""Mean cosine of a chunk and its nearest of other documents while it isn't measured (0.63 to 0.87)."""

NEAREST = 10
"""Chunks whose mean nearness counts: of one-line examples, an answerable question lies near to several."""

LEADING = 3
"""Places that lead a list."""

HALF_MATCHED = 10.0
"""Weight of matched words at which they are half the proof; two rare words in ten thousand chunks weigh about 15."""

_STEEPNESS = 4
_SMALLEST_SPAN = 0.1
_ALL_PLACES = sum(1.0 / place for place in range(1, LEADING + 1))


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
        dense_documents: ids of their documents; empty takes each hit for a document of its own.
        names: what the question names (codes, numbers, dates, proper names), and whether any document names it too.
        language_covered: whether the embedding model reads the question's language.
        background: of the corpus; None while that is too small to tell.
    """

    passages: Sequence[PassageEvidence]
    question: Sequence[str]
    weights: Mapping[str, float]
    dense_scores: Sequence[float] = ()
    language_covered: bool = True
    background: Background | None = None
    dense_documents: Sequence[str] = ()
    names: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one part found: a value in [0, 1] and the figures behind it, in words."""

    value: float
    explanation: str


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
    near = fmean(_scores(evidence)[:NEAREST])
    value = _clamp(0.5 * (near - chance) / max(neighbour - chance, _SMALLEST_SPAN))
    return Seen(value, f"similarity {near:.2f}; chunks have {neighbour:.2f} to neighbours and {chance:.2f} by chance")


def distinction(evidence: Evidence) -> Seen:
    """How far the nearest stands out from the merely related.

    In documents that is the tenth nearest document, each with its nearest chunk: the other chunks of the same page
    are near for the same reason. Among one-line examples it is the last chunk of the dense route.
    """
    chunks, documents = _scores(evidence), _document_scores(evidence)
    share = document_share(evidence)
    related = share * _related(documents, evidence) + (1.0 - share) * chunks[-1]
    return Seen(_clamp(chunks[0] - related), f"nearest {chunks[0]:.2f}, merely related {related:.2f}")


def _related(scores: Sequence[float], evidence: Evidence) -> float:
    """Similarity at the place of the merely related; what a short list lacks counts as similarity by chance."""
    background = evidence.background
    last = scores[min(len(scores), RELATED_PLACE) - 1]
    chance = min(background.chance_similarity if background else CHANCE_SIMILARITY, last)
    full = min(1.0, len(scores) / RELATED_PLACE)
    return full * last + (1.0 - full) * chance


def best_passage(passages: Sequence[PassageEvidence], words: QuestionWords, found: Sequence[PassageWords]) -> Seen:
    """The passage that is best in everything at once: a third each its nearness, its words and its phrases.

    Nearness, words and phrases of three different passages would prove less.
    """
    value = max(
        (_clamp(passage.score) + one.strength + words.phrased(one.stems, one.pairs)) / 3
        for passage, one in zip(passages, found, strict=True)
    )
    return Seen(_clamp(value), f"nearness, words and phrases together reach {value:.2f} in one passage")


def agreement(passages: Sequence[PassageEvidence]) -> Seen:
    """How many of the first passages are among the first of both routes; the first place counts most."""
    both = [place for place, one in enumerate(passages[:LEADING], 1) if _leads_both(one)]
    value = sum(1.0 / place for place in both) / _ALL_PLACES
    return Seen(_clamp(value), f"{len(both)} of the first {LEADING} passages lead by meaning and by words")


def phrase_lead(words: QuestionWords, documents: Sequence[PassageWords]) -> Seen:
    """The question's word pairs in the best document, less what the other documents have of them on average.

    What all documents of a product line say proves nothing for one of them.
    """
    shares = [words.phrased(one.stems, one.pairs) for one in documents]
    value = _lead(shares)
    return Seen(value, f"best document has {max(shares):.0%} of the phrases, {value:.0%} more than the others")


def strength_lead(documents: Sequence[PassageWords]) -> Seen:
    """How strongly the best document has the question's words, less how strongly the others have them on average."""
    value = _lead([one.strength for one in documents])
    return Seen(value, f"best document has the question's words {value:.0%} more strongly than the others")


def words_matched(words: QuestionWords, found: Sequence[PassageWords]) -> Seen:
    """How much the words weigh that the question shares with one passage: many rare words are no coincidence."""
    weight = words.total * max(one.strength for one in found)
    return Seen(weight / (weight + HALF_MATCHED), f"words in common weigh {weight:.1f}")


def names_found(evidence: Evidence) -> Seen:
    """Share of what the question names that the documents know at all.

    They may say "cancel" where a question says "terminate", but nobody paraphrases ``E999`` or France.
    """
    unknown = [name for name, known in evidence.names.items() if not known]
    if not unknown:
        return Seen(1.0, f"{len(evidence.names)} names in the question, none of them unknown")
    value = 1.0 - len(unknown) / len(evidence.names)
    return Seen(_clamp(value), f"no document knows {', '.join(unknown[:3])}")


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


def _lead(shares: Sequence[float]) -> float:
    """The largest share less the mean of the others."""
    best, *others = sorted(shares, reverse=True)
    return _clamp(best - (fmean(others) if others else 0.0))


def _scores(evidence: Evidence) -> Sequence[float]:
    """Similarities, best first."""
    return evidence.dense_scores or sorted((passage.score for passage in evidence.passages), reverse=True)


def _document_scores(evidence: Evidence) -> list[float]:
    """Similarity of the nearest chunk of each document, best first."""
    if len(evidence.dense_documents) != len(evidence.dense_scores) or not evidence.dense_documents:
        return list(_scores(evidence))
    nearest: dict[str, float] = {}
    for document, score in zip(evidence.dense_documents, evidence.dense_scores, strict=True):
        nearest.setdefault(document, score)
    return list(nearest.values())


def _leads_both(passage: PassageEvidence) -> bool:
    ranks = passage.dense_rank, passage.lexical_rank
    return all(rank is not None and rank <= LEADING for rank in ranks)


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
