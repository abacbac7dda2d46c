"""A generated answer taken apart into what is kept or dropped as a whole, and put together again. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.answering.citations import outside_code, without_markers
from bot.answering.units import Unit, units_of

PartKind = Literal["sentence", "list item", "steps", "code", "table", "heading"]

_MARKER = r"[\[【]\d{1,4}(?:\s*[,，、;–-]\s*\d{1,4})*[\]】]"
_AFTER_STOP = re.compile(
    rf"(?P<stop>[.!?。！？]+[\"'”’)*_]*)[ \t]*(?P<run>{_MARKER}(?:[ \t]*{_MARKER})*)"
    r"(?=[ \t]*(?:\n|\Z|[A-Z\"“(*_`\u4e00-\u9fff]))"
)
_STEP = re.compile(r"(?m)^[ \t]*\d{1,9}[.)、][ \t]+")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an answer.

    Attributes:
        kind: what it is. Steps and tables are kept or dropped as a whole: a step must not be missing.
        before: what stands between the part before and this one.
        pieces: its text; the steps of a list one by one.
    """

    kind: PartKind
    before: str
    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole part."""
        return "".join(self.pieces)


def markers_before_stops(text: str) -> str:
    """``A is so. [1] B`` becomes ``A is so [1]. B``: a marker belongs to the sentence that it stands behind."""

    def moved(match: re.Match[str]) -> str:
        return f" {match['run']}{match['stop']}"

    return outside_code(text, lambda prose: _AFTER_STOP.sub(moved, prose))


def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of an answer in order; joined with what stands between them they give the text again.

    A line of markers alone belongs to the code or table above it.
    """
    parts: list[Part] = []
    end = 0
    for kind, start, after in _spans(units_of(text)):
        body = text[start:after]
        before, end = text[end:start], after
        if parts and not without_markers(body).strip():
            parts[-1] = _extended(parts[-1], f"{before}{body}")
            continue
        parts.append(Part(kind, before, _steps(body) if kind == "steps" else (body,)))
    return tuple(parts)


def leads(part: Part) -> bool:
    """Whether a part only leads to what follows: a heading, or an announcement such as "Run this:"."""
    announces = part.kind == "sentence" and without_markers(part.text).rstrip("*_ ").endswith((":", "："))
    return part.kind == "heading" or announces


def _extended(part: Part, more: str) -> Part:
    return replace(part, pieces=(*part.pieces[:-1], f"{part.pieces[-1]}{more}"))


def joined(parts: Sequence[Part | None]) -> str:
    """The text of the parts that are left.

    Args:
        parts: all parts in order; None stands for one that was dropped. An announcement ("Run this:") in front of it
            goes too, and so does a heading with nothing below.
    """
    kept: list[Part] = []
    following: Part | None = None
    for part in reversed(parts):
        if part and leads(part) and (following is None or following.kind == "heading"):
            continue
        following = part
        if part:
            kept.append(part)
    kept.reverse()
    return "".join(f"{part.before}{part.text}" for part in kept).strip()


def _spans(units: Sequence[Unit]) -> list[tuple[PartKind, int, int]]:
    found: list[tuple[PartKind, int, int]] = []
    table = -1
    for unit in units:
        if unit.kind == "row":
            if unit.block == table:
                kind, start, _ = found[-1]
                found[-1] = (kind, start, unit.end)
            else:
                found.append(("table", unit.header[0] if unit.header else unit.start, unit.end))
            table = unit.block
        else:
            found.append(("list item" if unit.kind == "item" else unit.kind, unit.start, unit.end))
    return found


def _steps(body: str) -> tuple[str, ...]:
    begins = [match.start() for match in _STEP.finditer(body)]
    if not begins or begins[0]:
        begins.insert(0, 0)
    return tuple(body[start:end] for start, end in zip(begins, [*begins[1:], len(body)], strict=True))
