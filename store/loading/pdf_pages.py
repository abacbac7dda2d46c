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
    for page in lines:
        kept = _without_running(page, running)
        removed += sum(map(bool, page)) - sum(map(bool, kept))
        text = "\n".join(kept).strip("\n")
        texts.append("" if is_blank(text) else text)
    empty = tuple(number for number, text in enumerate(texts, 1) if not text)
    return Pages(tuple(texts), empty, removed)


def _signature(line: str) -> str:
    """A line as it looks on every page: page numbers do not count."""
    return re.sub(r"\d+", "#", one_line(fold(line)))


def _only_watermark(raw: Sequence[str]) -> bool:
    shown = [_signature(text) for text in raw if not is_blank(text)]
    return len(shown) > 1 and len(set(shown)) == 1 and len(shown[0]) <= _WATERMARK_LENGTH


def _edges(page: Sequence[str]) -> list[int]:
    filled = [place for place, line in enumerate(page) if line.strip()]
    return sorted({*filled[:_EDGE], *filled[-_EDGE:]})


def _running_lines(pages: Sequence[Sequence[str]]) -> frozenset[str]:
    filled = [page for page in pages if any(line.strip() for line in page)]
    if len(filled) < _MIN_PAGES:
        return frozenset()
    counts = Counter(signature for page in filled for signature in {_signature(page[place]) for place in _edges(page)})
    needed = max(_MIN_PAGES, math.ceil(_REPEATED_SHARE * len(filled)))
    return frozenset(signature for signature, count in counts.items() if count >= needed)


def _without_running(page: Sequence[str], running: Collection[str]) -> list[str]:
    gone = {place for place in _edges(page) if _signature(page[place]) in running}
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
