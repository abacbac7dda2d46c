"""The quotable units of a passage: sentences, list items, whole steps, whole code blocks, table rows. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from bot.answering.sentences import spans
from store.text import stems

UnitKind = Literal["sentence", "item", "steps", "code", "row", "heading"]

_CACHED_PASSAGES = 2048
"""Passages whose units are remembered; about 10 kB each."""

_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)\Z")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+\S")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+•]|\d{1,9}[.)、])[ \t]+\S?")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece that can be quoted.

    Attributes:
        kind: what it is; ``steps`` is a numbered list as a whole.
        start: where it begins in the passage's text.
        end: where it ends, exclusive.
        block: number of the paragraph, list, code block or table that it belongs to.
        header: where the header rows of its table, or the line that announces its list, stand.
        words: its stems in order.
        counts: how often each stem occurs.
        above: stems of the heading line above it within the passage, and of a question just before it.
    """

    kind: UnitKind
    start: int
    end: int
    block: int
    header: tuple[int, int] | None
    words: tuple[str, ...]
    counts: Mapping[str, int]
    above: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Block:
    kind: Literal["paragraph", "heading", "code", "table", "list"]
    start: int
    end: int


@lru_cache(maxsize=_CACHED_PASSAGES)
def units_of(text: str) -> tuple[Unit, ...]:
    """The units of a passage in reading order; every visible character outside table rules is in one of them.

    Args:
        text: Markdown of one passage. A code fence that is never closed reaches to the end.
    """
    found: list[Unit] = []
    heading: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    for number, block in enumerate(_blocks(text)):
        for kind, start, end, header in _parts(text, block, found[-1] if found else None):
            words = tuple(stems(text[start:end]))
            unit = Unit(kind, start, end, number, header, words, Counter(words), heading | asked)
            found.append(unit)
            asks = kind == "sentence" and text[start:end].rstrip("*_\"' )").endswith(("?", "？"))
            asked = frozenset(words) if asks else asked if kind == "code" else frozenset()
        if block.kind == "heading" and found:
            heading = frozenset(found[-1].words)
    return tuple(found)


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks of a passage by their lines; a list takes its indented lines and their code along."""
    lines = _lines(text)
    place = 0
    while place < len(lines):
        start, end = lines[place]
        if not text[start:end].strip():
            place += 1
            continue
        kind, after = _block_at(text, lines, place)
        last = after - 1
        while last > place and not text[slice(*lines[last])].strip():
            last -= 1
        yield _Block(kind, start, lines[last][1])
        place = after


def _lines(text: str) -> list[tuple[int, int]]:
    found, start = [], 0
    for line in text.split("\n"):
        found.append((start, start + len(line)))
        start += len(line) + 1
    return found


def _block_at(
    text: str, lines: list[tuple[int, int]], place: int
) -> tuple[Literal["paragraph", "heading", "code", "table", "list"], int]:
    line = text[slice(*lines[place])]
    if _FENCE.match(line):
        return "code", _after_fence(text, lines, place)
    if _HEADING.match(line):
        return "heading", place + 1
    if _is_table(text, lines, place):
        return "table", _while(text, lines, place, lambda one: "|" in one)
    if item := _ITEM.match(line):
        return "list", _after_list(text, lines, place, len(item["indent"]))
    return "paragraph", _after_paragraph(text, lines, place)


def _after_fence(text: str, lines: list[tuple[int, int]], place: int) -> int:
    opening = _FENCE.match(text[slice(*lines[place])])
    mark = opening["mark"] if opening else "```"
    for later in range(place + 1, len(lines)):
        closing = _FENCE.match(text[slice(*lines[later])])
        if closing and closing["mark"].startswith(mark) and not closing["info"].strip():
            return later + 1
    return len(lines)


def _is_table(text: str, lines: list[tuple[int, int]], place: int) -> bool:
    if "|" not in text[slice(*lines[place])] or place + 1 >= len(lines):
        return False
    below = text[slice(*lines[place + 1])]
    return "|" in below and bool(_TABLE_RULE.fullmatch(below))


def _while(text: str, lines: list[tuple[int, int]], place: int, holds: Callable[[str], bool]) -> int:
    while place < len(lines) and holds(text[slice(*lines[place])]):
        place += 1
    return place


def _after_list(text: str, lines: list[tuple[int, int]], place: int, indent: int) -> int:
    numbered = text[lines[place][0] + indent].isdigit()
    blank = False
    while place < len(lines):
        line = text[slice(*lines[place])]
        item = _ITEM.match(line)
        if _FENCE.match(line):
            deeper = len(line) - len(line.lstrip()) > indent
            if not deeper and not _item_follows(text, lines, _after_fence(text, lines, place), numbered=numbered):
                return place
            place, blank = _after_fence(text, lines, place), False
            continue
        if item and len(item["indent"]) <= indent and item["mark"][0].isdigit() != numbered:
            return place
        if not item and line.strip() and (_HEADING.match(line) or (blank and not line.startswith((" ", "\t")))):
            return place
        blank = not line.strip()
        place += 1
    return place


def _item_follows(text: str, lines: list[tuple[int, int]], place: int, *, numbered: bool) -> bool:
    """Whether steps go on behind a code block that stands between them without indentation."""
    place = _while(text, lines, place, lambda one: not one.strip())
    if not numbered or place >= len(lines):
        return False
    item = _ITEM.match(text[slice(*lines[place])])
    return bool(item) and not (item and item["mark"].startswith("1") and not item["mark"][1].isdigit())


def _after_paragraph(text: str, lines: list[tuple[int, int]], place: int) -> int:
    place += 1
    while place < len(lines):
        line = text[slice(*lines[place])]
        if not line.strip() or _FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line):
            return place
        if _is_table(text, lines, place):
            return place
        place += 1
    return place


_Part = tuple[UnitKind, int, int, tuple[int, int] | None]


def _parts(text: str, block: _Block, before: Unit | None) -> Iterator[_Part]:
    if block.kind == "paragraph":
        for start, end in spans(text[block.start : block.end]):
            yield "sentence", block.start + start, block.start + end, None
    elif block.kind == "heading":
        yield "heading", block.start, block.end, None
    elif block.kind == "code":
        yield "code", block.start, block.end, None
    elif block.kind == "table":
        yield from _rows(text, block)
    else:
        yield from _items(text, block, _announcement(text, before))


def _announcement(text: str, before: Unit | None) -> tuple[int, int] | None:
    """The sentence in front of a list, when it leads to it ("Check these:")."""
    if before is None or before.kind != "sentence" or not text[before.start : before.end].endswith((":", "：")):
        return None
    return before.start, before.end


def _rows(text: str, block: _Block) -> Iterator[_Part]:
    lines = [(block.start + start, block.start + end) for start, end in _lines(text[block.start : block.end])]
    header = (lines[0][0], lines[1][1])
    for start, end in lines[2:]:
        yield "row", start, end, header
    if len(lines) == 2:  # noqa: PLR2004  a header and its rule: a table without rows
        yield "sentence", *header, None


def _items(text: str, block: _Block, header: tuple[int, int] | None) -> Iterator[_Part]:
    body = text[block.start : block.end]
    indent = len(body) - len(body.lstrip(" \t"))
    if body[indent].isdigit():
        yield "steps", block.start, block.end, header
        return
    begins: list[int] = []
    fence = ""
    for start, end in _lines(body):
        line = body[start:end]
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence and mark["mark"].startswith(fence) else fence or mark["mark"]
        item = _ITEM.match(line)
        if item and not fence and len(item["indent"]) <= indent:
            begins.append(start)
    for start, end in zip(begins, [*begins[1:], len(body)], strict=True):
        yield "item", block.start + start, block.start + start + len(body[start:end].rstrip()), header
