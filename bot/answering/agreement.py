"""Whether a sentence says something that its source does not: numbers and names that don't stand there. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from discovery.platforms import load_platforms
from store.text import fold, stems

_NUMBER = re.compile(r"(?<![\w.])[vV]?(\d+(?:[.,:/-]\d+)*)|(?<=[A-Za-z_-])(\d+(?:\.\d+)*)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_WORDS)} | {w: str(v) for w, v in _TENS.items()}
_WORD = re.compile(r"[A-Za-z]+")
_SMALLEST_TOLD = 2
"""A bare 0 or 1 is written or left out as grammar wants ("one of", "a")."""
_CHINESE_DIGITS = {sign: str(value) for value, sign in enumerate("零一二三四五六七八九")} | {"两": "2", "十": "10"}
_LIST_MARK = re.compile(r"(?m)^[ \t>]*(?:[-*+•]|\d{1,3}[.)、])[ \t]+")
_CODE = re.compile(r"`+([^`\n]+)`+")
_IDENTIFIER = re.compile(
    r"--?[A-Za-z][\w-]+"  # an option
    r"|[A-Za-z_][\w-]*(?:[./\\:@_][\w-]+)+"  # a path, a setting, a qualified name
    r"|\b[A-Za-z]+[A-Z]\w*|\b[A-Z]{2,}\w*"  # camelCase, an abbreviation
    r"|\b[A-Za-z]+\d\w*"
)
_CAPITALISED = re.compile(r"(?<=[a-z0-9,;] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
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


def disagreements(sentence: str, source: Reading, question: str = "") -> tuple[str, ...]:
    """The numbers and names of a sentence that its source does not have.

    Args:
        sentence: one sentence, list item or table row without citation markers.
        source: what it cites.
        question: its numbers may be repeated beside one of the source ("7 GB is above the limit of 5 GB").
    """
    return (*_foreign_numbers(sentence, source, question), *_foreign_names(sentence, source))


def numbers(text: str) -> tuple[str, ...]:
    """The numbers of a text in one spelling: ``1,000`` and ``1000``, ``ten`` and ``10``, parts of dates apart."""
    text = _LIST_MARK.sub("", text)
    found: list[str] = []
    for match in _NUMBER.finditer(text):
        found += _atoms(match.group(1) or match.group(2))
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


def _foreign_numbers(sentence: str, source: Reading, question: str) -> list[str]:
    # Number words and signs are part of many other words, so that only digits are held against a sentence.
    text = _LIST_MARK.sub("", sentence)
    told = [atom for match in _NUMBER.finditer(text) for atom in _atoms(match.group(1) or match.group(2))]
    foreign = [number for number in told if not _stands_in(number, source.numbers)]
    if len(foreign) < len(told):
        asked = set(numbers(question))
        foreign = [number for number in foreign if number not in asked]
    return [number for number in foreign if not number.isdigit() or int(number) >= _SMALLEST_TOLD]


def _stands_in(number: str, known: frozenset[str]) -> bool:
    """Whether a source has a number, or a more exact one: 3.11.2 stands for 3.11 too, not the other way round."""
    return number in known or ("." in number and any(other.startswith(f"{number}.") for other in known))


def _foreign_names(sentence: str, source: Reading) -> list[str]:
    text = _LIST_MARK.sub("", sentence)
    spans = _CODE.findall(text)
    prose = _CODE.sub(" , ", text)
    names = [*spans, *_IDENTIFIER.findall(prose), *_CAPITALISED.findall(prose)]
    foreign = [name for name in names if not _named(name.strip(_EDGES), source)]
    return foreign + sorted(load_platforms().mentioned(prose) - source.platforms)


def _named(name: str, source: Reading) -> bool:
    folded = " ".join(fold(name).split())
    return not folded or folded in source.text or set(stems(name)) <= source.stems
