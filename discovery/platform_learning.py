"""Platform names that a corpus teaches: product-like words that recur in its titles, headings and tags. Pure.

What counts as product-like, and why:

- an inner capital (``OpenTelemetry``, ``kubeProxy``) or letters with digits (``Db2``): ordinary words have neither;
- an ordinary capital in the middle of a heading ("Backups with Borgmatic"), but only in headings that are not in
  title case, only for words that no heading writes in lower case and that have no capital beside them (parts of
  longer names), and never for months, languages and the like.

A name must recur: in the headings of two documents, or in one and in the tags, or in the tags of two. All-capital
words (VPN, SSO) are left out: most are concepts.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from discovery.platform_names import PlatformNames
from store.text import clean, stop_words

FEWEST_SIGHTINGS = 2
"""Documents that must name a word before it is learned."""

_CODE = re.compile(r"`[^`\n]*`|\([^()\n]*\)(?=\s|$)|\S+\(\)|https?://\S+|<[^<>\n]*>")
_WORD = re.compile(r"[^\W_][\w]*(?:[.+#-][^\W_]\w*)*")
_INNER_CAPITAL = re.compile(r"[a-z]+[A-Z][a-z]*|[A-Z][a-z]+[A-Z]")
_WITH_DIGIT = re.compile(r"(?=[\w-]*[A-Za-z]{2})[A-Za-z][A-Za-z-]*\d[A-Za-z0-9]*")
_VERSION_OR_UNIT = re.compile(
    r"(?i)v\d.*|(?:rc|sp|ga|beta|alpha|step|part|phase|level|tier|day|week|page|fig|h|sha|utf|port|err|error)-?\d+\w*"
)
_PROGRAM_NAME = re.compile(r"\w*(?:Exception|Error)|(?:[A-Z][a-z0-9]+){4,}")
_SHORTEST = 3
_FEWEST_TITLE_WORDS = 3


def learn_platforms(titles_and_headings: Iterable[str], tags: Iterable[str], known: PlatformNames) -> frozenset[str]:
    """Names that recur in a corpus and look like products.

    Args:
        titles_and_headings: one text per document, its title and headings on lines of their own.
        tags: one entry per document and tag.
        known: names that need no learning.

    Returns:
        Names in their most frequent spelling, for :meth:`PlatformNames.with_learned`.
    """
    documents = [clean(text) for text in titles_and_headings]
    lower_case = {word for text in documents for word in _WORD.findall(text) if word.islower()}
    spellings: dict[str, Counter[str]] = {}
    sightings: Counter[str] = Counter()
    for text in documents:
        found = set(_candidates(text, lower_case))
        for name in found:
            spellings.setdefault(name.casefold(), Counter())[name] += 1
        sightings.update({name.casefold() for name in found})
    for tag in map(clean, tags):
        name = tag.strip()
        if _distinctive(name):
            spellings.setdefault(name.casefold(), Counter())[name] += 1
        sightings[name.casefold()] += 1
    recurring = (counts for folded, counts in spellings.items() if sightings[folded] >= FEWEST_SIGHTINGS)
    names = (max(sorted(counts), key=counts.__getitem__) for counts in recurring)
    return frozenset(name for name in names if not known.mentioned(name) and name not in known.names)


def _candidates(text: str, lower_case: set[str]) -> Iterator[str]:
    for line in text.splitlines():
        words = _WORD.findall(_CODE.sub(" ", line))
        title_case = _title_case(words)
        for position, word in enumerate(words):
            inside = position and not title_case and not _beside_capital(words, position)
            if _distinctive(word) or (inside and _plain_name(word, lower_case)):
                yield word


def _beside_capital(words: list[str], position: int) -> bool:
    """The first word of a heading does not count: it is always capitalised."""
    beside = words[position + 1 : position + 2] + (words[position - 1 : position] if position > 1 else [])
    return any(word[0].isupper() for word in beside)


def _distinctive(word: str) -> bool:
    if len(word) < _SHORTEST or word.casefold() in _common() or _WORD.fullmatch(word) is None:
        return False
    if "." in word or "_" in word or _PROGRAM_NAME.fullmatch(word):
        return False
    return _INNER_CAPITAL.match(word) is not None or (
        _WITH_DIGIT.fullmatch(word) is not None and not word.isupper() and _VERSION_OR_UNIT.fullmatch(word) is None
    )


def _plain_name(word: str, lower_case: set[str]) -> bool:
    folded = word.casefold()
    return (
        len(word) >= _SHORTEST
        and word.isalpha()
        and word.istitle()
        and folded not in lower_case
        and folded not in stop_words()
        and folded not in _common()
    )


def _title_case(words: list[str]) -> bool:
    longer = [word for word in words if len(word) > _SHORTEST]
    return len(longer) >= _FEWEST_TITLE_WORDS and all(word[0].isupper() for word in longer)


@cache
def _common() -> frozenset[str]:
    data = tomllib.loads(files("discovery").joinpath("platforms.toml").read_text(encoding="utf-8"))
    return frozenset(data["learning"]["common"]) | frozenset(data["cues"]["words"])
