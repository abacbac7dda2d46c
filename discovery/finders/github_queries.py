"""Search queries within GitHub's limits. Pure.

A query has at most 256 characters and five of AND, OR and NOT; the words of a query must all occur. So a topic is asked
for several times, with fewer and fewer of its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MOST_CHARACTERS = 256
"""GitHub does not count qualifiers; here they are, which leaves no doubt."""
MOST_WORDS = 5
"""More words than that occur together almost nowhere."""
_COUNTS = (MOST_WORDS, 3, 2)
"""How many of the first words are tried, before the next two; one alone, which finds everything, only where the topic
has no other."""
_LONGEST_WORD = 60
_SPECIAL = re.compile(r"[^\w.-]+")


def search_words(words: Sequence[str]) -> list[str]:
    """Words as GitHub's search reads them: no operators, no qualifiers, nothing that means something else there.

    Args:
        words: of a topic, the most telling first; parts of one with special characters become words of their own.
    """
    parts = (part.strip("-._").lower() for word in words for part in _SPECIAL.split(word))
    return list(dict.fromkeys(part for part in parts if part and len(part) <= _LONGEST_WORD))


def code_queries(words: Sequence[str], organisations: Sequence[str] = ()) -> list[str]:
    """Queries for Markdown files that have the words, from many words to few; in these organisations or everywhere."""
    return list(_queries(words, organisations, "extension:md"))


def repository_queries(words: Sequence[str], organisations: Sequence[str] = ()) -> list[str]:
    """Queries for repositories whose name, description, topics or README have the words, from many words to few."""
    return list(_queries(words, organisations, "in:name,description,topics,readme"))


def _queries(words: Sequence[str], organisations: Sequence[str], qualifier: str) -> Iterator[str]:
    chosen = search_words(words)[:MOST_WORDS]
    if not chosen:
        return
    tries = dict.fromkeys([*(tuple(chosen[:count]) for count in _COUNTS), tuple(chosen[2:4])])
    for some in tries:
        if len(some) > 1 or len(chosen) == 1 == len(some):
            yield from _placed(some, [f"org:{name}" for name in organisations], qualifier)


def _placed(words: Sequence[str], places: Sequence[str], qualifier: str) -> Iterator[str]:
    """One query, or several where not all organisations have room in one."""
    fixed = [*_fitting(words, qualifier), qualifier]
    query = list(fixed)
    for place in places:
        if len(query) > len(fixed) and len(" ".join([*query, place])) > MOST_CHARACTERS:
            yield " ".join(query)
            query = list(fixed)
        query.append(place)
    yield " ".join(query)


def _fitting(words: Sequence[str], qualifier: str) -> list[str]:
    """The first words that leave half of the room for organisations."""
    kept: list[str] = []
    for word in words:
        if kept and len(" ".join([*kept, word, qualifier])) > MOST_CHARACTERS // 2:
            break
        kept.append(word)
    return kept
