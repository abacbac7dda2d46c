"""Where one sentence ends and the next begins, in English and Chinese technical prose. Pure.

Made for one paragraph of Markdown: code spans, links, addresses and short brackets are never cut inside.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

Span = tuple[int, int]
"""Start and end of a slice, as in ``text[start:end]``."""

_CLOSERS = "\"'”’)\\]*_」』）》】"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CANDIDATE = re.compile(
    rf"(?P<wide>[。！？；]+[{_CLOSERS}]*)"
    rf"|(?P<dots>\.{{2,}}|…+)(?P<after_dots>[{_CLOSERS}]*)(?=\s|$)"
    rf"|(?P<mark>[.!?]+)(?P<after>[{_CLOSERS}]*)(?=\s|$)"
    rf"|(?P<glued>[!?]+)(?=[{_HAN}])"
    r"|(?P<blank>\n[ \t]*\n\s*)"
)
_PROTECTED = re.compile(
    r"(?<!`)(?P<ticks>`{1,6})(?!`)(?:[^`]|(?!(?P=ticks)(?!`))`++){1,400}(?P=ticks)(?!`)"
    r"|!?\[[^\[\]\n]{0,300}\]\([^()\s]{0,500}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?(?:\s+\"[^\"\n]{0,200}\")?\)"
    r"|<[^<>\s]{1,500}>"
    r"|\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s<>`\"”]{0,1000}[^\s<>`\"”.,;:!?)\]*_]"
    r"|\([^()\n]{1,300}\)",
    re.DOTALL,
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘*_`]*\Z")
_NEXT = re.compile(r"\s*[\"'“‘(\[*_`「『（《]*(?P<word>\S*)")

_NEVER_LAST = frozenset(
    (  # noqa: SIM905
        "e.g eg i.e ie vs cf dr mr mrs ms prof st fig figs eq sec approx ca incl excl resp viz al gen sgt capt hon rev"
    ).split()
)
"""Abbreviations that something always follows in their own sentence."""
_NUMBERED = frozenset("no nr vol ch art pp p para ver v jan feb mar apr jun jul aug sep sept oct nov dec".split())  # noqa: SIM905
"""Abbreviations only in front of a number: a bare "No." is a sentence."""
_MAY_BE_LAST = frozenset("etc inc ltd corp co a.m p.m am pm u.s u.k u.n e.u ph.d min max est dept jr sr".split())  # noqa: SIM905
_INITIAL = re.compile(r"(?:[A-Z]\.)*[A-Z]")
_STARTERS = frozenset(
    (  # noqa: SIM905
        "the this that these those it its if in when while where you we they he she to a an for use run see then "
        "there however also and but so as at by on with after before once please note do don't make i"
    ).split()
)
"""Words that begin a sentence rather than a name: they tell "the U.S. This" from "the U.S. Army"."""
_LIST_NUMBER = re.compile(r"\s*(?:[-*+]\s+)?(?:\d{1,9}|[a-zA-Z]|[ivxIVX]{1,5})")
_SHORTEST_LAST_WORD = 4
"""In front of a lower-case word a shorter one may be an abbreviation that no list knows."""


def spans(text: str) -> list[Span]:
    """Where the sentences of a text stand; surrounding white space belongs to none.

    Args:
        text: one paragraph of prose; may hold Markdown. A blank line always ends a sentence.

    Returns:
        Non-empty, ordered, non-overlapping slices that hold every visible character of the text.
    """
    protected = _protected(text)
    ends: list[int] = []
    start = 0
    for match in _CANDIDATE.finditer(text):
        if match["blank"] or (not _inside(match, protected) and _ends_sentence(text, start, match)):
            ends.append(match.end())
            start = match.end()
    trimmed = (_trimmed(text, begin, end) for begin, end in pairwise([0, *ends, len(text)]))
    return [span for span in trimmed if span[0] < span[1]]


def split(text: str) -> list[str]:
    """The sentences of a text, each a literal part of it (see :func:`spans`)."""
    return [text[start:end] for start, end in spans(text)]


def _protected(text: str) -> list[Span]:
    return [match.span() for match in _PROTECTED.finditer(text)]


def _inside(match: re.Match[str], protected: list[Span]) -> bool:
    """Whether a mark lies within protected text; one whose closing bracket ends that text is at its border."""
    place = bisect_right(protected, (match.start(), len(match.string))) - 1
    if place < 0:
        return False
    start, end = protected[place]
    return start <= match.start() and match.end() < end


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    if match["wide"] or match["glued"]:
        return True
    following = _NEXT.match(text, match.end())
    if following is None or not following["word"]:
        return True
    word = following["word"]
    lower = word[0].islower() and "`" not in text[match.end() : following.start("word")]
    if match["dots"]:
        return not lower
    if lower and match["after"].strip("*_"):
        return False
    if match["mark"] != ".":
        return True
    return _full_stop(text[start : match.start()], word, lower=lower)


def _full_stop(before: str, following: str, *, lower: bool) -> bool:
    """Whether a single dot between these two texts ends a sentence rather than an abbreviation."""
    if _LIST_NUMBER.fullmatch(before):
        return False
    found = _LAST_WORD.search(before)
    last = found.group() if found else ""
    if before[-1:].isspace():
        return False
    known = last.casefold()
    if known in _NEVER_LAST or (known in _NUMBERED and following[0].isdigit()):
        return False
    if known in _MAY_BE_LAST or _INITIAL.fullmatch(last):
        starter = following.rstrip(",:;.!?").casefold() in _STARTERS
        return starter if _INITIAL.fullmatch(last) else not lower and not following[0].isdigit()
    if lower:
        return len(last) >= _SHORTEST_LAST_WORD and last[-1].isalpha()
    return True


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
