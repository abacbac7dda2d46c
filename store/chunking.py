"""Document → chunks. Pure.

A chunk is read by a model that sees a fixed number of tokens and drops the rest without a word. So nothing here is
measured in characters, and no chunk may exceed the limit, whatever the document looks like.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from store.records import Block, Chunk, Document
from store.splitting import Measure, Space, split_block
from store.text import fold, is_blank

CHUNKER_VERSION = "1"
"""Raise it when the same document would give other chunks: stored chunks are then made anew."""

TARGET_TOKENS = 180
"""Size up to which blocks are put together; leaves a model of 256 tokens room for title and headings."""

OVERLAP_TOKENS = 30
"""Whole sentences that two parts of one split paragraph share: a fact on the border is found from both sides."""

SMALLEST_LIMIT = 16
"""Tokens below which no model is: title, a newline and one character of any script must fit."""

_SEPARATOR = " › "
_SKIPPED = "…"
_LONGEST_TITLE = 200
_CONTEXT_SHARE = 3
"""Title and headings take at most one part in three of the limit."""

_NEWLINE = 1
"""Tokens between context and text, for tokenisers that count a line end."""

_TAIL_SHARE = 4

_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{3,}(?![^\W_])|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
"""Three letters that stand by themselves, or two characters of a script without spaces."""
"""A last draft below this part of the budget is a rest, not worth a chunk of its own."""
_LEAD_SHARE = 3
"""A line that announces the next block takes at most this part of the budget."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """Pieces that will become one chunk; ``tokens`` is the sum of theirs."""

    headings: tuple[str, ...]
    pieces: tuple[str, ...]
    tokens: int


def chunk(
    document: Document,
    *,
    count_tokens: Callable[[str], int],
    limit: int,
    target: int = TARGET_TOKENS,
    overlap: int = OVERLAP_TOKENS,
) -> list[Chunk]:
    """Cut a document into pieces that the embedding model reads to the end.

    Args:
        document: blocks in reading order.
        count_tokens: length of a text in tokens of the embedding model, special tokens not counted.
        limit: tokens the model reads, less its special tokens and prefix; at least 16.
        target: tokens of text up to which whole blocks of a section are put together; at least 1.
        overlap: tokens of whole sentences that the parts of one split paragraph share; 0 for none.

    Returns:
        Chunks in reading order. Every character of every block is in one of them, except where a whole chunk would
        hold neither letter nor digit. No ``embedded_text`` is longer than ``limit``.

    Raises:
        ValueError: limit, target or overlap is out of range.
    """
    if limit < SMALLEST_LIMIT or target < 1 or overlap < 0:
        raise ValueError(f"limit={limit} (at least {SMALLEST_LIMIT}), target={target}, overlap={overlap}: out of range")
    measure = Measure(count_tokens, limit)
    contexts = _Contexts(document.title, measure, limit)
    drafts = [
        draft
        for headings, blocks in groupby(document.blocks, key=lambda block: block.headings)
        for draft in _section_drafts(headings, list(blocks), measure, contexts.space(headings, target, overlap))
    ]
    merged = _merged(drafts, measure, target)
    return [done for draft in merged for done in _finished(draft, measure, contexts, limit)]


class _Contexts:
    """The line of title and headings above a text, made once for each section."""

    def __init__(self, title: str, measure: Measure, limit: int) -> None:
        self._title = telling_title(title)
        self._measure = measure
        self._limit = limit
        self._known: dict[tuple[str, ...], str] = {}

    def line(self, headings: tuple[str, ...]) -> str:
        """Title and headings as one line of at most a third of the limit; empty when there are none."""
        if headings not in self._known:
            parts = [part for part in (self._title, *self.path(headings)) if part]
            self._known[headings] = _shortened(parts, self._measure, self._limit // _CONTEXT_SHARE)
        return self._known[headings]

    def path(self, headings: tuple[str, ...]) -> tuple[str, ...]:
        """The headings without a first one that only repeats the title."""
        return headings[1:] if headings and fold(headings[0]).split() == fold(self._title).split() else headings

    def space(self, headings: tuple[str, ...], target: int, overlap: int) -> Space:
        """What a section's headings leave to its text."""
        line = self.line(headings)
        room = self._limit - (self._measure.tokens(line) + _NEWLINE if line else 0)
        budget = min(target, room)
        return Space(room, budget, min(overlap, budget // 2))


def telling_title(title: str) -> str:
    """The title on one line; empty when it has no word, only ids, numbers or dates.

    Files are often named by a key of some other system. In a one-line document such a name would outweigh the line.
    """
    line = " ".join(title.split())
    return line if _WORD.search(line) else ""


def _shortened(parts: Sequence[str], measure: Measure, room: int) -> str:
    clipped = [part if len(part) <= _LONGEST_TITLE else f"{part[:_LONGEST_TITLE]}{_SKIPPED}" for part in parts]
    line = _SEPARATOR.join(clipped)
    if not parts or measure.tokens(line) <= room:
        return line
    if len(clipped) > 2:  # noqa: PLR2004  the ends say most: what the page is, and where in it
        line = _SEPARATOR.join([clipped[0], _SKIPPED, clipped[-1]])
        if measure.tokens(line) <= room:
            return line
    halves = [_clipped(part, measure, room // 2 - 1) for part in (clipped[0], clipped[-1])] if len(parts) > 1 else []
    line = _SEPARATOR.join(filter(None, halves)) or clipped[0]
    return _clipped(line, measure, room)


def _clipped(text: str, measure: Measure, room: int) -> str:
    """The longest beginning that fits, marked as cut; empty when not even one character does."""
    if measure.tokens(text) <= room:
        return text
    low, high = 0, len(text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if measure.tokens(text[:middle].rstrip() + _SKIPPED) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + _SKIPPED if low else ""


def _section_drafts(
    headings: tuple[str, ...], blocks: Sequence[Block], measure: Measure, space: Space
) -> Iterator[_Draft]:
    """Whole blocks put together up to the budget; a short rest joins the draft before it when there is room."""
    groups: list[list[str]] = []
    sizes: list[int] = []
    for piece in _pieces(blocks, measure, space):
        own = measure.tokens(piece)
        if groups and sizes[-1] + own <= space.budget and _characters(groups[-1]) + len(piece) <= measure.longest:
            groups[-1].append(piece)
            sizes[-1] += own
            continue
        lead = _lead_in(groups[-1], own, measure, space) if groups else []
        if lead:
            groups[-1].pop()
            sizes[-1] -= measure.tokens(lead[0])
        groups.append([*lead, piece])
        sizes.append(own + sum(map(measure.tokens, lead)))
    short_rest = len(groups) > 1 and sizes[-1] < space.budget // _TAIL_SHARE and sizes[-2] + sizes[-1] <= space.room
    if short_rest and _characters([*groups[-2], *groups[-1]]) <= measure.longest:
        groups[-2:] = [[*groups[-2], *groups[-1]]]
        sizes[-2:] = [sizes[-2] + sizes[-1]]
    for group, size in zip(groups, sizes, strict=True):
        yield _Draft(headings, tuple(group), size)


def _characters(pieces: Sequence[str]) -> int:
    return sum(map(len, pieces))


def _lead_in(before: Sequence[str], size: int, measure: Measure, space: Space) -> list[str]:
    """The line that announces the next piece ("Run this:"), when both fit into one chunk."""
    last = before[-1]
    if len(before) > 1 and _announces(last, measure, space) and measure.tokens(last) + size <= space.room:
        return [last]
    return []


def _pieces(blocks: Sequence[Block], measure: Measure, space: Space) -> list[str]:
    pieces: list[str] = []
    for block in blocks:
        whole = f"{block.caption}\n\n{block.text}" if block.caption else block.text
        if not whole.strip():
            continue
        if measure.tokens(whole) <= space.room:
            pieces.append(whole)
            continue
        lead = pieces.pop() if pieces and _announces(pieces[-1], measure, space) else ""
        pieces.extend(split_block(block, measure, space, lead))
    return pieces


def _announces(text: str, measure: Measure, space: Space) -> bool:
    """Whether a piece is a short line that leads to what follows ("Run this:")."""
    ends = text.endswith((":", "：")) and "\n" not in text
    return ends and measure.tokens(text) <= space.budget // _LEAD_SHARE


def _merged(drafts: Sequence[_Draft], measure: Measure, target: int) -> list[_Draft]:
    """Put small neighbouring sections of one parent together, each under its own heading line."""
    groups: list[list[_Draft]] = []
    for draft in drafts:
        if groups and _joinable([*groups[-1], draft], measure, target):
            groups[-1].append(draft)
        else:
            groups.append([draft])
    return [group[0] if len(group) == 1 else _joined(group, measure) for group in groups]


def _joinable(group: Sequence[_Draft], measure: Measure, target: int) -> bool:
    if max(group[0].tokens, group[-1].tokens) > target // 2:
        return False
    shared = len(_common(group))
    if any(len(draft.headings) > shared + 1 for draft in group):
        return False
    if sum(draft.tokens for draft in group) > target:
        return False
    joined = _joined(group, measure)
    return joined.tokens <= target and _characters(joined.pieces) <= measure.longest


def _common(group: Sequence[_Draft]) -> tuple[str, ...]:
    """The headings that all drafts stand under."""
    first = group[0].headings
    shared = 0
    while shared < len(first) and all(draft.headings[: shared + 1] == first[: shared + 1] for draft in group):
        shared += 1
    return first[:shared]


def _joined(group: Sequence[_Draft], measure: Measure) -> _Draft:
    common = _common(group)
    pieces: list[str] = []
    tokens = sum(draft.tokens for draft in group)
    above = common
    for draft in group:
        first, *rest = draft.pieces
        if draft.headings not in {common, above}:
            line = f"{'#' * min(6, len(draft.headings))} {draft.headings[-1]}"
            tokens += measure.tokens(line)
            first = f"{line}\n\n{first}"
        above = draft.headings
        pieces.extend([first, *rest])
    return _Draft(common, tuple(pieces), tokens)


def _finished(draft: _Draft, measure: Measure, contexts: _Contexts, limit: int) -> Iterator[Chunk]:
    """The chunk of a draft. The count of the finished text decides: tokenisers may count a whole above its parts."""
    text = "\n\n".join(draft.pieces)
    if is_blank(text):
        return
    line = contexts.line(draft.headings)
    embedded = f"{line}\n{text}" if line else text
    tokens = measure.exact(embedded)
    if tokens <= limit:
        yield Chunk(text, contexts.path(draft.headings), tokens, embedded)
        return
    for half in _halves(draft, measure):
        yield from _finished(half, measure, contexts, limit)


def _halves(draft: _Draft, measure: Measure) -> list[_Draft]:
    middle = len(draft.pieces) // 2
    if middle:
        parts = [draft.pieces[:middle], draft.pieces[middle:]]
        return [_Draft(draft.headings, part, 0) for part in parts]
    text = draft.pieces[0]
    if len(text) == 1:
        raise ValueError(f"the tokeniser counts {measure.tokens(text)} tokens for the one character {text!r}")
    block = Block("paragraph", text)
    room = max(1, measure.tokens(text) * 2 // 3)
    parts_of_text = split_block(block, measure, Space(room, room))
    if len(parts_of_text) == 1:
        parts_of_text = [text[: len(text) // 2], text[len(text) // 2 :]]
    return [_Draft(draft.headings, (part,), 0) for part in parts_of_text]
