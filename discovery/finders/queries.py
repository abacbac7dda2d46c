"""What is looked for when a topic is: weighted words for an index, short queries for a search service. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from store.records import Topic
from store.text import informative, terms

QUESTION_WEIGHT = 1.0
TERM_WEIGHT = 0.5
"""A distinctive word of the topic that its most central question lacks counts half: it may belong to another member."""


def weighted_stems(topic: Topic) -> dict[str, float]:
    """Stems to search for, with their weights; empty when nothing of the topic may be told or searched for."""
    weights: dict[str, float] = {}
    spoken = (*topic.terms, *topic.platforms) if topic.terms or topic.question else (topic.label, *topic.platforms)
    for text in spoken:
        weights |= {term.stem: TERM_WEIGHT for term in informative(terms(text))}
    return weights | {term.stem: QUESTION_WEIGHT for term in informative(terms(topic.question))}


def words_of(topic: Topic) -> list[str]:
    """The topic's words as people write them, the most telling first: platforms, distinctive words, the question's."""
    found: dict[str, str] = {}
    for text in (*topic.platforms, *topic.terms, topic.question or topic.label):
        for term in informative(terms(text)):
            found.setdefault(term.stem, term.surface)
    return list(found.values())


def named(words: Sequence[str], found: Sequence[str]) -> str:
    """The words among these that were found, as a reason: ``names proxy, tunnel``; empty when there are none."""
    present = [word for word in words if word in set(found)]
    return f"Names {', '.join(present)}." if present else ""
