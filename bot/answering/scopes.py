"""What a document is valid for: what a question names of it, and passages that contradict each other over it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from store.records import Passage, ScopeFilter
from store.text import fold

LEADING = 3
"""Passages that an answer quotes from."""

_SHORTEST_WORD = 3
"""Letters from which a value counts by itself; shorter ones ("eu", "de") only beside their key."""
_VERSION = re.compile(r"[vV]?\d+(?:\.\d+)*(?:\.x)?")


def named_scope(question: str, known: Mapping[str, frozenset[str]]) -> dict[str, tuple[str, ...]]:
    """The facts that a question itself names, such as "in v2" or "on Windows".

    A version counts after "v", the word version or its key; other values as whole words.

    Args:
        question: the text that is searched for.
        known: all values of each key among the documents.

    Returns:
        For each key the one value that is named. Who names two wants both compared, which is no restriction.
    """
    text = fold(question)
    found: dict[str, tuple[str, ...]] = {}
    for key, values in known.items():
        named = [value for value in sorted(values) if _names(text, fold(key), fold(value))]
        if len(named) == 1 and len(values) > 1:
            found[key] = (named[0],)
    return found


def within(passages: Sequence[Passage], scope: ScopeFilter) -> tuple[Passage, ...]:
    """The passages that are valid for a scope: those that say so, and those that say nothing about it."""
    return tuple(
        one
        for one in passages
        if all(key not in one.scope or set(values) & set(one.scope[key]) for key, values in scope.items())
    )


def conflict(question: str, passages: Sequence[Passage], scope: ScopeFilter) -> str:
    """What the leading passages disagree about, such as ``version: 1 or 2``; empty when they don't.

    Two passages disagree when they stand in the same place of two documents that are valid for different things, and
    do not say the same.

    Args:
        question: who names several values asks for both.
        passages: best first.
        scope: what the search was restricted to.
    """
    for first, second in combinations(passages[:LEADING], 2):
        if not same_place(first, second) or _plain(first.text) == _plain(second.text):
            continue
        for key in sorted(first.scope.keys() & second.scope.keys() - scope.keys()):
            one, other = first.scope[key], second.scope[key]
            named = sum(any(_names(fold(question), fold(key), fold(value)) for value in each) for each in (one, other))
            if not set(one) & set(other) and not named:
                return f"{key}: {' or '.join(sorted({*one, *other}))}"
    return ""


def _names(text: str, key: str, value: str) -> bool:
    escaped = re.escape(value.removeprefix("v") if _VERSION.fullmatch(value) else value)
    if _VERSION.fullmatch(value):
        before = rf"(?:\bv(?:ersion|er|\.)?\s*|\b{re.escape(key)}\s*[=:]?\s*v?)"
        return bool(re.search(rf"{before}{escaped}(?![\w]|\.\d)", text))
    if len(value) < _SHORTEST_WORD:
        return bool(re.search(rf"\b{re.escape(key)}\s*[=:]?\s*{escaped}(?!\w)", text))
    return bool(re.search(rf"(?<!\w){escaped}(?!\w)", text))


def same_place(first: Passage, second: Passage) -> bool:
    """Whether two passages are the same section of two documents with the same title or file name."""
    if first.document_id == second.document_id or fold(first.section) != fold(second.section):
        return False
    return fold(first.title) == fold(second.title) or _file(first) == _file(second)


def _file(passage: Passage) -> str:
    return fold(passage.document.replace("\\", "/").rpartition("/")[2])


def _plain(text: str) -> str:
    return " ".join(fold(text).split())
