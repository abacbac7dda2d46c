"""Two documents that say the same except for a figure: which of them is right nobody can tell from them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from bot.answering.agreement import numbers
from bot.answering.scopes import LEADING, same_place
from store.records import Passage
from store.text import stems

_SAME_WORDS = 0.8
"""Share of words in common, numbers left out, from which two passages tell of the same thing."""


def contradiction(question: str, passages: Sequence[Passage]) -> str:
    """What two of the leading passages contradict each other in, such as ``25 or 30``; empty when they don't.

    They do when they stand in the same place of two documents, in the same words but with other numbers, and the
    question names neither document.

    Args:
        question: names a document with a word of its title or path that the other's do not have.
        passages: best first.
    """
    asked = set(stems(question))
    for first, second in combinations(passages[:LEADING], 2):
        if not same_place(first, second) or first.scope != second.scope:
            continue
        one, other = set(numbers(first.text)), set(numbers(second.text))
        if not (one - other and other - one) or not _same_words(first.text, second.text, one | other):
            continue
        if not asked & (_named(first) ^ _named(second)):
            return f"{_listed(one - other)} ({first.document}) or {_listed(other - one)} ({second.document})"
    return ""


def _same_words(first: str, second: str, figures: set[str]) -> bool:
    one, other = set(stems(first)) - figures, set(stems(second)) - figures
    return bool(one | other) and len(one & other) >= _SAME_WORDS * len(one | other)


def _named(passage: Passage) -> set[str]:
    return set(stems(f"{passage.title} {passage.document}"))


def _listed(figures: set[str]) -> str:
    return ", ".join(sorted(figures))
