"""One way to read words: for the lexical index, topic keys, rules and the choice of sentences.

Pure functions. Documents and questions go through the same steps, so that a term means the same everywhere:
clean → normalise → split into words (Chinese by dictionary, other unspaced scripts by character pairs) → stem.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple, cast

import Stemmer

TOKENISER_VERSION = "2"
"""Part of the lexical index's identity: raise it when the same text would give other terms."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_TERMINAL = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]{0,2000}(?:\x07|\x1b\\|\x9c)")
"""Colour, cursor and title sequences; taken out whole, since without their first character they would pass for text."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")

_UNCLEAN_ASCII = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
"""Plain text, which most is, is told with one look instead of three."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_UNSPACED = "\u3041-\u30ff\u31f0-\u31ff\uac00-\ud7af\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f"
_HAN_RUN = re.compile(f"[{_HAN}]+")
_RUNS = re.compile(
    rf"(?P<han>[{_HAN}]+)"
    rf"|(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<word>(?:(?![{_HAN}{_UNSPACED}])[^\W_])+(?:[._'’/+#-](?:(?![{_HAN}{_UNSPACED}])[^\W_])+|_+(?:(?![{_HAN}{_UNSPACED}])[^\W_])+|\+\+|\#(?!\w))*)"
)
_PARTS = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER = re.compile(r"[vV]?(\d+(?:[.,:/-]\d+)*)")
_MAX_TERM = 80
"""Longer runs (base64, hashes glued together) are cut: nobody searches for their tail."""
_REMEMBERED_WORDS = 8_192
"""More than people ask with; identifiers and numbers never end."""
_MAX_SEGMENT = 1000
"""Chinese characters segmented at once: jieba's time grows with the square of a run without punctuation."""


class Term(NamedTuple):
    """One index term with the word as it stood in the text."""

    stem: str
    surface: str


def clean(text: str) -> str:
    """Text without what databases refuse or readers cannot see; applied before hashing and chunking.

    Removes terminal sequences, NUL and other control characters, lone surrogates, zero-width and direction marks; turns
    CRLF and CR into LF; composes accents (NFC), so that the same word has one spelling.
    """
    if text.isascii() and not _UNCLEAN_ASCII.search(text):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _TERMINAL.sub("", text)
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", _CONTROL.sub("", text)))


def clean_values(value: object) -> object:
    """The same cleaning for JSON-like metadata, keys included; anything that is not JSON becomes its text."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_values(item) for item in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return clean(str(value))


def fold(text: str) -> str:
    """Compatibility forms (full width, ligatures) and case made equal: how two spellings are compared."""
    return unicodedata.normalize("NFKC", clean(text)).casefold()


def is_blank(text: str) -> bool:
    """Whether a reader would see no letter, digit or ideograph at all."""
    return not any(character.isalnum() for character in clean(text))


def terms(text: str) -> list[Term]:
    """The index terms of a text in order, repeated as often as they occur.

    A compound such as ``node_exporter`` or ``NodeDiskFull`` gives itself and its parts; numbers and versions
    stay whole (``v4.1.1`` is ``4.1.1``); stop words are kept (see :func:`informative`).
    """
    found: list[Term] = []
    for match in _RUNS.finditer(unicodedata.normalize("NFKC", clean(text))):
        run = match.group()
        if match.lastgroup == "han":
            found.extend(Term(word, word) for word in _segment(run))
        elif match.lastgroup == "unspaced":
            found.extend(Term(pair, pair) for pair in _pairs(run))
        else:
            found.extend(_word_terms(run[:_MAX_TERM]))
    return found


def stems(text: str) -> list[str]:
    """Just the stems of :func:`terms`, for the lexical index."""
    return [term.stem for term in terms(text)]


def informative(found: Iterable[Term]) -> list[Term]:
    """The terms that say what a text is about: no stop words, each stem once, order kept."""
    kept: dict[str, Term] = {}
    stop = stop_words()
    for term in found:
        if term.surface.casefold() not in stop and term.stem not in stop and term.stem not in kept:
            kept[term.stem] = term
    return list(kept.values())


@cache
def stop_words() -> frozenset[str]:
    """English and Chinese words without a topic of their own."""
    return frozenset(_word_list("stop_en.txt")) | frozenset(_word_list("stop_zh.txt"))


def _word_list(name: str) -> list[str]:
    lines = files("store").joinpath("words", name).read_text(encoding="utf-8").splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


@lru_cache(maxsize=_REMEMBERED_WORDS)
def _word_terms(run: str) -> tuple[Term, ...]:
    if number := _NUMBER.fullmatch(run):
        return (Term(number.group(1), run),)
    whole = run.replace("’", "'")
    if whole.casefold().endswith("'s"):
        whole = whole[:-2]
    found = [Term(stem(whole), whole)]
    parts = [piece for part in _PARTS.findall(whole) for piece in _CAMEL.split(part)]
    if len(parts) > 1:
        found.extend(Term(stem(part), part) for part in parts if len(part) > 1)
    return tuple(found)


@lru_cache(maxsize=_REMEMBERED_WORDS)
def stem(word: str) -> str:
    """The stem of one word: Porter2 for Latin letters, Snowball Russian for Cyrillic, folded text otherwise."""
    folded = fold(word)
    if not folded.isalpha():
        return folded
    language = "russian" if "\u0400" <= folded[0] <= "\u04ff" else "english"
    return _stemmer(language)(folded)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    stemmer = Stemmer.Stemmer(language, 0)
    lock = threading.Lock()

    def stem_one(word: str) -> str:
        with lock:
            return cast(str, stemmer.stemWord(word))

    return stem_one


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(max(1, len(run) - 1))]


def _segment(run: str) -> list[str]:
    pieces = (run[start : start + _MAX_SEGMENT] for start in range(0, len(run), _MAX_SEGMENT))
    return [word for piece in pieces for word in _segmenter()(piece)]


@cache
def _segmenter() -> Callable[[str], Iterable[str]]:
    import jieba  # loads a dictionary of 5 MB: only when Chinese text appears

    jieba.setLogLevel(logging.WARNING)
    jieba.initialize()
    return cast(Callable[[str], Iterable[str]], jieba.cut_for_search)


def han_share(text: str) -> float:
    """Share of Chinese characters among the letters of a text, in [0, 1]."""
    letters = sum(character.isalpha() for character in text)
    return sum(len(run) for run in _HAN_RUN.findall(text)) / letters if letters else 0.0


def topic_words(text: str) -> list[str]:
    """Stems that say what a text is about, order-free and each once; the raw material of topic keys."""
    return sorted(term.stem for term in informative(terms(text)))
