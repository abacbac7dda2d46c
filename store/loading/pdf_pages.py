"""The text of PDF pages: running headers, watermarks, broken lines. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from store.loading.source import one_line
from store.text import fold, is_blank

_EDGE = 3
"""Lines at the top and at the bottom of a page among which running headers and footers are looked for."""
_REPEATED_SHARE = 0.6
_MIN_PAGES = 3
_WATERMARK_LENGTH = 200
_HYPHEN = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zà-ÿ])")
_ITEM = re.compile(r"^\s*(?:[-*•‣▪◦–]|\(?\d{1,3}[.)]|[a-z][.)])\s+")
_BULLET = re.compile(r"^(\s*)[•‣▪◦]\s+")


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages after tidying.

    Attributes:
        texts: one for each page; empty for pages without text.
        without_text: page numbers from 1.
        repeated: how many running header and footer lines were removed.
    """

    texts: tuple[str, ...]
    without_text: tuple[int, ...]
    repeated: int


def tidy_pages(raw: Sequence[str]) -> Pages:
    """Remove running headers and footers, and tell which pages have no text of their own.

    Pages that all hold nothing but the same short text carry a watermark, not content.
    """
    lines = [[line.rstrip() for line in text.split("\n")] for text in raw]
    if _only_watermark(raw):
        return Pages(("",) * len(raw), tuple(range(1, len(raw) + 1)), 0)
    running = _running_lines(lines)
    texts, removed = [], 0
    for number, page in enumerate(lines):
        kept = _without_running(page, number, running)
        removed += sum(map(bool, page)) - sum(map(bool, kept))
        text = "\n".join(kept).strip("\n")
        texts.append("" if is_blank(text) else text)
    empty = tuple(number for number, text in enumerate(texts, 1) if not text)
    return Pages(tuple(texts), empty, removed)


def _signatures(line: str, page: int) -> frozenset[str]:
    """The forms under which a line may repeat: as it is, or with a number that counts the pages."""
    shown = one_line(fold(line))
    numbers = list(re.finditer(r"\d{1,6}", shown))
    counted = [
        f"{shown[: number.start()]}#{int(number[0]) - page}{shown[number.end() :]}"
        for number in (numbers[:1] + numbers[-1:])
    ]
    return frozenset([shown, *counted])


def _only_watermark(raw: Sequence[str]) -> bool:
    shown = [_signatures(text, page) for page, text in enumerate(raw) if not is_blank(text)]
    if len(shown) <= 1 or not frozenset.intersection(*shown):
        return False
    return max(len(one_line(text)) for text in raw) <= _WATERMARK_LENGTH


def _edges(page: Sequence[str]) -> list[int]:
    filled = [place for place, line in enumerate(page) if line.strip()]
    return sorted({*filled[:_EDGE], *filled[-_EDGE:]})


def _running_lines(pages: Sequence[Sequence[str]]) -> frozenset[str]:
    filled = sum(any(line.strip() for line in page) for page in pages)
    if filled < _MIN_PAGES:
        return frozenset()
    counts = Counter(
        signature
        for number, page in enumerate(pages)
        for signature in frozenset().union(*(_signatures(page[place], number) for place in _edges(page)))
    )
    needed = max(_MIN_PAGES, math.ceil(_REPEATED_SHARE * filled))
    return frozenset(signature for signature, count in counts.items() if count >= needed)


def _without_running(page: Sequence[str], number: int, running: Collection[str]) -> list[str]:
    gone = {place for place in _edges(page) if not _signatures(page[place], number).isdisjoint(running)}
    return [line for place, line in enumerate(page) if place not in gone]


def paragraphs(text: str, titles: Collection[str] = ()) -> list[str]:
    """The paragraphs of a page: split at empty lines and around lines that are titles; hyphenation undone.

    Args:
        text: lines as extracted.
        titles: lines that stand alone because the outline names them.
    """
    known = {fold(title) for title in titles}
    groups: list[list[str]] = [[]]
    for line in _HYPHEN.sub("", text).split("\n"):
        if not line.strip():
            groups.append([])
        elif fold(one_line(line)) in known:
            groups.extend([[line.strip()], []])
        else:
            groups[-1].append(line)
    return [_joined(group) for group in groups if group]


def _joined(lines: Sequence[str]) -> str:
    """Wrapped lines as flowing text; items of a list keep their lines."""
    joined: list[str] = []
    for line in lines:
        if joined and not _ITEM.match(line):
            joined[-1] = f"{joined[-1]} {line.strip()}"
        else:
            joined.append(_BULLET.sub(r"\1- ", line.rstrip()))
    return "\n".join(joined)
