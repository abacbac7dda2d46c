"""Whether a sentence says something that its source does not: numbers and names that don't stand there. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from discovery.platforms import load_platforms
from store.language import detect_language
from store.text import fold, stems

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[vV]?(\d+(?:[.,:/-]\d+)*)|(?<=[A-Za-z_-])(\d+(?:\.\d+)*)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_UP_TO_TWENTY = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_UP_TO_TWENTY)} | {
    word: str(value) for value, word in zip(range(30, 100, 10), _TENS, strict=True)
}
_MONTHS = {
    name: str(number)
    for number, name in enumerate(
        ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
         "December"), 1,
    )
}  # fmt: skip
_CHINESE_DIGITS = {sign: str(value) for value, sign in enumerate("零一二三四五六七八九十")} | {"两": "2"}
_WORD = re.compile(r"[A-Za-z]+")
_SMALLEST_TOLD = 2
"""A bare 0 or 1 is written or left out as grammar wants ("one of", "a")."""
LIST_MARK = re.compile(r"(?m)^[ \t>]*(?:[-*+•]|\d{1,3}[.)、])[ \t]+|(?<![\w(])\(?\d{1,2}\)(?=\s)")
"""The bullet or number of a list item, and numbers in running text that only count ("1) this, 2) that")."""
_CODE = re.compile(r"`+([^`\n]+)`+")
_IDENTIFIER = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]+"  # an option
    r"|[A-Za-z_][\w-]*(?:[./\\:@_][\w-]+)+"  # a path, a setting, a qualified name
    r"|\b[A-Za-z]+[A-Z]\w*|\b[A-Z]{2,}\w*"  # camelCase, an abbreviation
    r"|\b[A-Za-z]+\d\w*",
    re.ASCII,
)
_CAPITALISED = re.compile(r"(?<=[a-z0-9,;] )[A-Z][a-z]+")
_NOUNS_WITH_CAPITALS = frozenset({"de"})
_PLURAL = re.compile(r"[A-Z]{2,}s")
_EDGES = ".,:;!?()[]{}\"'"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source holds, taken apart once."""

    text: str
    stems: frozenset[str]
    numbers: frozenset[str]
    platforms: frozenset[str]


@lru_cache(maxsize=1024)
def read(text: str) -> Reading:
    """A source, or several joined, taken apart."""
    return Reading(
        " ".join(fold(text).split()),
        frozenset(stems(text)),
        frozenset(numbers(text)),
        load_platforms().mentioned(text),
    )


def disagreements(sentence: str, cited: Reading, question: str = "", others: Reading | None = None) -> tuple[str, ...]:
    """The numbers and names of a sentence that its sources do not have, each once.

    Args:
        sentence: one sentence, list item or table without citation markers.
        cited: what it cites.
        question: its numbers may be repeated beside one of the source ("7 GB is above the limit of 5 GB"), and its
            names, but a platform only when some source is about it.
        others: all sources, cited or not; None stands for ``cited``.
    """
    asked = read(question)
    platforms = cited.platforms | (asked.platforms & (others or cited).platforms)
    found = [*_foreign_numbers(sentence, cited, asked), *_foreign_names(sentence, cited, asked, platforms)]
    return tuple(dict.fromkeys(found))


def numbers(text: str) -> tuple[str, ...]:
    """The numbers of a text in one spelling: ``1,000`` and ``1000``, ``ten`` and ``10``, parts of dates apart."""
    text = LIST_MARK.sub("", text)
    found: list[str] = []
    for match in _NUMBER.finditer(text):
        found += _atoms(match.group(1) or match.group(2))
    found += [_MONTHS[word] for word in _WORD.findall(text) if word in _MONTHS]
    found += [_NUMBER_WORDS[word.lower()] for word in _WORD.findall(text) if word.lower() in _NUMBER_WORDS]
    found += [_CHINESE_DIGITS[sign] for sign in text if sign in _CHINESE_DIGITS]
    return tuple(found)


def _atoms(number: str) -> list[str]:
    """A number without thousands separators; dates, ranges and times as their parts."""
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    return [_plain(part) for part in re.split(r"[,:/-]", number)]


def _plain(number: str) -> str:
    """Without leading zeros and without ``.0`` at the end, which change no value."""
    whole, dot, rest = number.partition(".")
    whole = whole.lstrip("0") or "0"
    return whole if not rest.strip("0") and "." not in rest else f"{whole}{dot}{rest}"


def _foreign_numbers(sentence: str, cited: Reading, asked: Reading) -> list[str]:
    # Number words and signs are part of many other words, so that only digits are held against a sentence.
    text = _CODE.sub(" ", LIST_MARK.sub("", sentence))
    told = [atom for match in _NUMBER.finditer(text) for atom in _atoms(match.group(1) or match.group(2))]
    told += [_MONTHS[name] for name in _CAPITALISED.findall(text) if name in _MONTHS]
    foreign = [number for number in told if not _stands_in(number, cited.numbers)]
    if len(foreign) < len(told):
        foreign = [number for number in foreign if number not in asked.numbers]
    return [number for number in foreign if not number.isdigit() or int(number) >= _SMALLEST_TOLD]


def _stands_in(number: str, known: frozenset[str]) -> bool:
    """Whether a source has a number, or a more exact one: 3.11.2 stands for 3.11 too, not the other way round."""
    return number in known or ("." in number and any(other.startswith(f"{number}.") for other in known))


def _foreign_names(sentence: str, cited: Reading, asked: Reading, platforms: frozenset[str]) -> list[str]:
    text = LIST_MARK.sub("", sentence)
    prose = _CODE.sub(" , ", text)
    names = [*_CODE.findall(text), *_IDENTIFIER.findall(prose)]
    capitalised = [name for name in _CAPITALISED.findall(prose) if name not in _MONTHS]
    if capitalised and detect_language(prose) not in _NOUNS_WITH_CAPITALS:
        names += capitalised
    missing = sorted(load_platforms().mentioned(prose) - platforms)
    foreign = [name for name in names if not _named(name, cited) and not _named(name, asked)]
    return [name for name in foreign if not load_platforms().mentioned(name) & platforms] + missing


def _named(name: str, known: Reading) -> bool:
    name = name.strip(_EDGES)
    if _PLURAL.fullmatch(name):
        name = name[:-1]
    folded = " ".join(fold(name).split())
    return not folded or folded in known.text or set(stems(name)) <= known.stems
