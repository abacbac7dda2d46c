"""What a topic is called: words that its questions use and other topics' questions don't. Pure.

Words are compared by their stems and shown as people wrote them most often.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from store.text import Term, fold, han_share, stop_words, terms

MOST_TERMS = 8
"""Terms kept for a topic: finders search for them."""
_LABEL_TERMS = 3
_LONGEST_LABEL = 60
_PAIR_BONUS = 1.3
"""Two words that stand together say more than either; without a bonus they lose to their parts, which occur more."""
_FEW = 4
"""From so many questions on, a word that only one of them uses is no word of the topic."""
_HAN = 0.5

_Phrase = tuple[str, ...]
"""Stems of one word, or of two that stand side by side."""


@dataclass(frozen=True, slots=True)
class TopicWords:
    """The label of a topic, and its distinctive terms, best first, as they are written."""

    label: str
    terms: tuple[str, ...]


def name_topics(topics: Sequence[Sequence[str]]) -> list[TopicWords]:
    """Label and terms of each topic, told apart from the others.

    Args:
        topics: the questions of each topic, the most central first.

    Returns:
        One for each topic. Where no word says anything, the label is the most central question, and there are no
        terms; a topic without questions has neither.
    """
    counted = [_count(questions) for questions in topics]
    everywhere: Counter[_Phrase] = Counter()
    for one in counted:
        everywhere.update(one.questions)
    usual = sum(everywhere.values()) / max(len(topics), 1)
    return [_named(questions, _best(one, everywhere, usual)) for questions, one in zip(topics, counted, strict=True)]


def shortened(question: str, longest: int = _LONGEST_LABEL) -> str:
    """A question as one line of at most so many characters, cut between words."""
    line = " ".join(question.split())
    if len(line) <= longest:
        return line
    cut = line[: longest - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[longest // 2 :] else cut).rstrip() + "…"


@dataclass(frozen=True, slots=True)
class _Counted:
    """In how many of a topic's questions each phrase stands, and how it is written there."""

    total: int
    questions: Counter[_Phrase]
    written: dict[_Phrase, Counter[str]]


def _count(questions: Sequence[str]) -> _Counted:
    found: Counter[_Phrase] = Counter()
    written: defaultdict[_Phrase, Counter[str]] = defaultdict(Counter)
    for question in questions:
        phrases = _phrases(question)
        found.update(phrases.keys())
        for phrase, surface in phrases.items():
            written[phrase][surface] += 1
    return _Counted(len(questions), found, dict(written))


def _phrases(question: str) -> dict[_Phrase, str]:
    """Words that say something, and pairs of them that stand side by side, each with its first spelling."""
    found: dict[_Phrase, str] = {}
    before: Term | None = None
    for term in terms(question):
        if not _says_something(term):
            before = None
            continue
        found.setdefault((term.stem,), term.surface)
        if before is not None and before.stem != term.stem and (pair := _pair(before.surface, term.surface, question)):
            found.setdefault((before.stem, term.stem), pair)
        before = term
    return found


def _says_something(term: Term) -> bool:
    stop = stop_words()
    if term.stem in stop or fold(term.surface) in stop or "'" in term.stem:
        return False
    return any(character.isalpha() for character in term.stem) and (len(term.stem) > 1 or han_share(term.stem) > 0)


def _pair(first: str, second: str, question: str) -> str:
    """Two words as they stand side by side in a question; empty when they don't, as the parts of a compound.

    Chinese words stand without a blank; only those of a single character need the other one to say something.
    """
    if f"{first} {second}" in question:
        return f"{first} {second}"
    joined = first + second
    return joined if min(len(first), len(second)) == 1 and han_share(joined) == 1 and joined in question else ""


def _best(counted: _Counted, everywhere: Counter[_Phrase], usual: float) -> list[str]:
    """Spellings of the most distinctive phrases; a phrase whose words are part of a better one is left out."""
    weights = {
        phrase: count * math.log1p(usual / everywhere[phrase]) * (_PAIR_BONUS if len(phrase) > 1 else 1)
        for phrase, count in counted.questions.items()
        if count > 1 or counted.total < _FEW
    }
    chosen: list[_Phrase] = []
    for phrase in sorted(weights, key=lambda one: (-weights[one], one)):
        if not any(set(phrase) & set(other) for other in chosen):
            chosen.append(phrase)
        if len(chosen) == MOST_TERMS:
            break
    return [_spelling(counted.written[phrase]) for phrase in chosen]


def _spelling(written: Counter[str]) -> str:
    """The most frequent spelling; of equals the one with the fewest capitals, which open sentences."""
    return min(written, key=lambda one: (-written[one], sum(map(str.isupper, one)), one))


def _named(questions: Sequence[str], found: Sequence[str]) -> TopicWords:
    if not found:
        return TopicWords(shortened(questions[0]) if questions else "", ())
    shown = list(found[:_LABEL_TERMS])
    while len(shown) > 1 and len(_joined(shown)) > _LONGEST_LABEL:
        shown.pop()
    return TopicWords(shortened(_joined(shown)), tuple(found))


def _joined(words: Sequence[str]) -> str:
    return ("、" if all(han_share(word) > _HAN for word in words) else ", ").join(words)
