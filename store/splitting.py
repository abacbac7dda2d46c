"""Cutting one block that is too large for a chunk, at the border that hurts least. Pure.

Parts are slices of the block: together they hold every character of it, in order. What is added (a repeated table
header, a repeated code fence, overlapping sentences) comes on top.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from store.records import Block

CHARACTERS_PER_TOKEN = 16
"""Characters that one token may stand for. Models read a word of more than 100 characters as a single unknown token
(BERT's ``max_input_chars_per_word``), so tokens alone do not bound a text; prose and code stay below ten."""

_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+(?=[^\sa-z])|(?<=[。！？；])[」』”’）]*\s*|\n[ \t]*\n\s*")
_LINE = re.compile(r"\n")
_CLAUSE = re.compile(r"(?<=[,;:—])\s+|(?<=[，、：])")
_WORD = re.compile(r"\s+")
_CELL = re.compile(r"(?<=[^\\]\|)\s")
_NESTED_ITEM = re.compile(r"\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t])")
_TABLE = (_LINE, _CELL, _WORD)
_PROSE = (_SENTENCE, _LINE, _CLAUSE, _WORD)
_WHOLE_SENTENCE = re.compile(r"[.!?…。！？][\"'”’)\]*_」』）]*\s*\Z")
_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_LONGEST_INFO = 40
_FENCE_RESERVE = 8
"""Tokens kept free for closing and reopening a fence whose own length is not known yet."""

Borders = tuple[re.Pattern[str], ...]


class Measure:
    """Token counts, each text counted once.

    Args:
        count_tokens: length of a text in tokens of the embedding model, special tokens not counted.
        limit: the model's hard limit in tokens; texts that cannot fit are not even counted.
    """

    def __init__(self, count_tokens: Callable[[str], int], limit: int) -> None:
        self._count = count_tokens
        self._known: dict[str, int] = {}
        self.longest = limit * CHARACTERS_PER_TOKEN

    def tokens(self, text: str) -> int:
        """Tokens of a text; for one that is far too long, a number that is too large for any chunk."""
        if len(text) > self.longest:
            return len(text)
        if text not in self._known:
            self._known[text] = self._count(text)
        return self._known[text]

    def exact(self, text: str) -> int:
        """Tokens of a finished text, however long."""
        return self._count(text)


@dataclass(frozen=True, slots=True)
class Space:
    """How large the parts of a block may become, in tokens.

    Attributes:
        room: never exceeded by a part.
        budget: up to which small units are put together; at most ``room``.
        overlap: whole sentences that a part of prose repeats from the one before.
    """

    room: int
    budget: int
    overlap: int = 0


def split_block(block: Block, measure: Measure, space: Space, lead: str = "") -> list[str]:
    """The parts of a block that does not fit as a whole, after a line that announces it (empty for none).

    Code is cut at line borders and keeps its fence; tables at row borders, with their header in every part and the
    caption in the first; lists at items; prose at sentences, with overlap. Only what is still too large is cut further:
    at clauses, at words, and last inside a word.
    """
    taken = measure.tokens(lead) if lead else 0
    if block.kind == "table":
        parts = _split_table(block, measure, space, taken)
    elif block.kind == "code":
        parts = _split_fenced(block.text, measure, space, (_LINE, _WORD), taken)
    elif block.kind == "list":
        borders = (_item_border(block.text), _NESTED_ITEM, _LINE, *_PROSE)
        parts = _split_fenced(block.text, measure, space, borders, taken)
    else:
        parts = split_prose(block.text, measure, space)
    if not lead:
        return parts
    if parts and measure.tokens(parts[0]) + taken <= space.room:
        return [f"{lead}\n\n{parts[0]}", *parts[1:]]
    return [lead, *parts]


def split_prose(text: str, measure: Measure, space: Space) -> list[str]:
    """Parts of running text, each beginning with the last whole sentences of the one before."""
    parts: list[list[str]] = []
    for unit, fits in _placed(slices(text, measure, space.room, _PROSE), measure, space):
        if fits:
            parts[-1].append(unit)
        else:
            carried = _carried(parts[-1], unit, measure, space) if parts else []
            parts.append([*carried, unit])
    return _texts(["".join(part) for part in parts])


def slices(text: str, measure: Measure, room: int, borders: Borders) -> list[str]:
    """Consecutive slices of a text that fit into ``room`` tokens each.

    Args:
        text: anything; its slices joined give it back.
        measure: the token counter.
        room: tokens a slice may have; a single character is never cut.
        borders: where to cut, best first; the slice ends behind a match.
    """
    if measure.tokens(text) <= room:
        return [text] if text else []
    if not borders:
        return _cut_anywhere(text, measure, room)
    border, *finer = borders
    found: list[str] = []
    for piece in _cut_behind(text, border):
        found.extend([piece] if measure.tokens(piece) <= room else slices(piece, measure, room, tuple(finer)))
    return found


def _cut_behind(text: str, border: re.Pattern[str]) -> list[str]:
    ends = [match.end() for match in border.finditer(text)]
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)]) if start < end]


def _cut_anywhere(text: str, measure: Measure, room: int) -> list[str]:
    """Slices of a text without borders, found by proportion so that each character is counted a few times only."""
    found: list[str] = []
    place, size = 0, min(len(text), measure.longest)
    while place < len(text):
        piece = text[place : place + size]
        tokens = measure.tokens(piece)
        if tokens > room and size > 1:
            size = max(1, min(size - 1, size * room // tokens))
            continue
        end = _character_border(text, place, place + len(piece))
        found.append(text[place:end])
        place = end
        size = min(measure.longest, max(size, size * room // max(1, tokens)))
    return found


def _character_border(text: str, start: int, end: int) -> int:
    """``end``, moved back a little when an accent would be torn from its letter."""
    place = end
    while start < place < len(text) and unicodedata.combining(text[place]) and end - place < CHARACTERS_PER_TOKEN:
        place -= 1
    return place if place > start else end


def _placed(units: Sequence[str], measure: Measure, space: Space, taken: int = 0) -> list[tuple[str, bool]]:
    """Each unit with whether it still goes into the part that is being filled; ``taken`` is missing in the first."""
    placed: list[tuple[str, bool]] = []
    tokens = characters = 0
    for unit in units:
        own = measure.tokens(unit)
        fits = bool(placed) and tokens + own <= space.budget and characters + len(unit) <= measure.longest
        if fits:
            tokens, characters = tokens + own, characters + len(unit)
        else:
            # Room for what the part will repeat from the one before is taken into account here.
            tokens, characters = own + (space.overlap if placed else taken), len(unit)
        placed.append((unit, fits))
    return placed


def _packed(units: Sequence[str], measure: Measure, space: Space, taken: int = 0) -> list[str]:
    parts: list[list[str]] = []
    for unit, fits in _placed(units, measure, space, taken):
        if fits:
            parts[-1].append(unit)
        else:
            parts.append([unit])
    return _texts(["".join(part) for part in parts])


def _texts(parts: Sequence[str]) -> list[str]:
    return [part.strip("\n").rstrip() for part in parts if part.strip()]


def _carried(before: Sequence[str], unit: str, measure: Measure, space: Space) -> list[str]:
    """The last whole sentences of a part that fit into the overlap, and into the room together with ``unit``."""
    left = min(space.overlap, space.room - measure.tokens(unit))
    longest = measure.longest - len(unit)
    carried: list[str] = []
    for place in range(len(before) - 1, 0, -1):
        sentence = before[place]
        left -= measure.tokens(sentence)
        longest -= len(sentence)
        if (
            left < 0
            or longest < 0
            or not (_WHOLE_SENTENCE.search(sentence) and _WHOLE_SENTENCE.search(before[place - 1]))
        ):
            break
        carried.insert(0, sentence)
    return carried


def _item_border(text: str) -> re.Pattern[str]:
    """The border before each item that is not indented deeper than the first."""
    first = text.split("\n", 1)[0]
    indent = len(first) - len(first.lstrip())
    return re.compile(rf"\n(?=[ \t]{{0,{indent}}}(?:[-*+]|\d{{1,9}}[.)])[ \t])")


def _split_fenced(text: str, measure: Measure, space: Space, borders: Borders, taken: int) -> list[str]:
    opening = _FENCE.match(text.split("\n", 1)[0])
    reserve = 2 * measure.tokens(_reopened(opening)) if opening else _FENCE_RESERVE if "```" in text else 0
    if reserve > space.room // 2:
        return split_prose(text, measure, Space(space.room, space.budget))
    smaller = Space(space.room - reserve, max(1, min(space.budget, space.room - reserve)))
    return _with_whole_fences(_packed(slices(text, measure, smaller.room, borders), measure, smaller, taken))


def _reopened(fence: re.Match[str]) -> str:
    info = fence["info"].strip()
    return f"{fence['mark']}{info if len(info) <= _LONGEST_INFO else ''}"


def _with_whole_fences(parts: Sequence[str]) -> list[str]:
    """Close a fence that a part leaves open, and open it again in the next.

    A part of nothing but a fence goes when its neighbour gets the same one.
    """
    whole: list[str] = []
    open_fence: re.Match[str] | None = None
    closed = False  # whether the last part written was closed by us
    for number, part in enumerate(parts):
        start = f"{open_fence['indent']}{_reopened(open_fence)}\n" if open_fence else ""
        for line in part.split("\n"):
            open_fence = _after_line(open_fence, line)
        end = f"\n{open_fence['indent']}{open_fence['mark']}" if open_fence else ""
        repeated_before = bool(start and not end and closed)
        repeated_after = bool(end and not start and number + 1 < len(parts))
        if not (_is_short_fence(part) and (repeated_before or repeated_after)):
            whole.append(f"{start}{part}{end}")
            closed = bool(end)
    return whole


def _is_short_fence(part: str) -> bool:
    fence = _FENCE.fullmatch(part.strip("\n"))
    return fence is not None and len(fence["info"].strip()) <= _LONGEST_INFO


def _after_line(open_fence: re.Match[str] | None, line: str) -> re.Match[str] | None:
    fence = _FENCE.match(line)
    if fence is None:
        return open_fence
    if open_fence is None:
        return fence
    closes = fence["mark"].startswith(open_fence["mark"]) and not fence["info"].strip()
    return None if closes else open_fence


def _split_table(block: Block, measure: Measure, space: Space, taken: int) -> list[str]:
    header = block.header.strip("\n")
    head = measure.tokens(header)
    if not header or not block.text.startswith(header) or head > space.room // 2:
        units = slices(block.text, measure, space.room, _TABLE)
        return [*_split_caption(block, measure, space), *_packed(units, measure, space)]
    # A wide header may take most of the budget; half of each part at least is left to rows, as far as there is room.
    inner = Space(space.room - head, max(1, min(space.room, max(space.budget, 2 * head)) - head))
    units = slices(block.text[len(header) :].strip("\n"), measure, inner.room, _TABLE) or [""]
    caption = measure.tokens(block.caption) if block.caption else 0
    glued = bool(caption) and caption + measure.tokens(units[0]) <= inner.room
    before = [] if glued else _split_caption(block, measure, space)
    first, *rest = _packed(units, measure, inner, taken + (caption if glued else 0)) or [""]
    lead = f"{block.caption}\n\n" if glued else ""
    return [*before, f"{lead}{header}\n{first}", *(f"{header}\n{rows}" for rows in rest)]


def _split_caption(block: Block, measure: Measure, space: Space) -> list[str]:
    return split_prose(block.caption, measure, space) if block.caption else []
