"""The things that a question names: codes, versions, dates, numbers, and names written with a capital. Pure."""

from __future__ import annotations

import re

from store.text import stems, stop_words

LONGEST = 200
"""Characters of a question whose names all matter. Measured on forum questions with pasted logs, where a third of the
answerable ones name something that no document knows; of short questions 0 to 4 in a hundred."""

_WORD = re.compile(r"[^\s,;:()\[\]{}<>\"“”„‘’`'?!，。？！；：、（）《》]+")
_SENTENCE_END = re.compile(r"(?:^|[.?!:;\n\"“(*>-])\s*$")
_DIGIT = re.compile(r"[0-9]")
_SEPARATED = re.compile(r"[0-9][-/.:_][0-9A-Za-z]")
_LETTER = re.compile(r"[A-Za-z]")
_SHORTEST_NUMBER = 3
"""Digits from which a bare number names something; "2 ways" and "top 10" name nothing."""


def named(question: str) -> dict[str, str]:
    """The names in a question as they stand there, each with its stem, in order.

    A word counts when it mixes digits with letters or separators, is a number of at least three digits, or has a
    capital where a sentence gives it none. Where most words have one, as in a headline, capitals name nothing.
    """
    words = [word for word in question.split() if word[:1].isalpha()]
    capitals_tell = 2 * sum(word[0].isupper() for word in words) <= len(words) + 1
    found: dict[str, str] = {}
    for match in _WORD.finditer(question):
        word = match.group().strip(".-/*_")
        before = question[: match.start()]
        if word.isascii() and (_is_code(word) or (capitals_tell and _is_name(word, before))) and (whole := stems(word)):
            found[word] = whole[0]
    return found


def _is_code(word: str) -> bool:
    if not _DIGIT.search(word):
        return False
    return bool(_LETTER.search(word) or _SEPARATED.search(word)) or len(word) >= _SHORTEST_NUMBER


def _is_name(word: str, before: str) -> bool:
    starts_sentence = _SENTENCE_END.search(before)
    return len(word) > 1 and word[0].isupper() and not starts_sentence and word.casefold() not in stop_words()
