"""The room that an answer may take, and what already stands there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.answering.quoting import balanced, lines_of, marked

SCREEN_CHARACTERS = 1200
"""An answer in a chat window that needs no scrolling; also below Discord's 2,000 with sources and buttons."""
SCREEN_LINES = 15
MOST_UNITS = 5
"""Units chosen by score; what they need around them comes on top."""
MOST_SOURCES = 3
MARKER_ROOM = 8
"""Characters that a marker and the blank line behind a piece take."""
_WIDE_NUMBER = 10


@dataclass(frozen=True, slots=True)
class ExtractiveOptions:
    """How much is quoted: ``characters`` and ``lines`` of the whole answer, and from how many ``sources``."""

    characters: int = SCREEN_CHARACTERS
    lines: int = SCREEN_LINES
    units: int = MOST_UNITS
    sources: int = MOST_SOURCES


@dataclass(slots=True)
class Screen:
    """What has been chosen so far and what room is left.

    Attributes:
        options: how much there may be.
        chosen: units by the number of their passage, in the order of their merit.
        cut: what is shown of a unit that is larger than its room, and how many of its characters that keeps.
        characters: taken so far.
        lines: taken so far, blank ones not counted.
    """

    options: ExtractiveOptions
    chosen: dict[int, set[int]] = field(default_factory=dict)
    cut: dict[tuple[int, int], tuple[str, int]] = field(default_factory=dict)
    characters: int = 0
    lines: int = 0

    def has_room(self, shown: Sequence[str]) -> bool:
        """Whether these pieces fit."""
        characters, lines = _size(shown)
        return self.characters + characters <= self.options.characters and self.lines + lines <= self.options.lines

    def take(self, passage: int, units: set[int], shown: Sequence[str]) -> None:
        """Remember units and the room that their pieces need."""
        self.chosen.setdefault(passage, set()).update(units)
        characters, lines = _size(shown)
        self.characters += characters
        self.lines += lines


def _size(shown: Sequence[str]) -> tuple[int, int]:
    """Characters and non-blank lines of pieces with their markers and the blank lines between them."""
    texts = [marked(balanced(piece), _WIDE_NUMBER) for piece in shown]
    return sum(len(text) + 2 for text in texts), sum(map(lines_of, texts))
