"""Rows of a sheet or a delimited file: merged areas, header rows, separate tables. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from store.loading.builder import BlockBuilder
from store.loading.tables import markdown_table

_NUMBER = re.compile(r"[-+]?[\d.,]*\d%?|\d{4}-\d{2}-\d{2}(?:[T ].*)?")
_WORDS_IN_CELL = 8
"""Words up to which a lone cell counts as an entry of a list; longer ones are prose."""
_FILLED_LIMIT = 1_000_000
"""Cells that are filled because they are merged with others; areas may state any size, and overlap."""
_HEADER_LIMIT = 5
"""Rows that a header may have; more are data that happens to be merged."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged area by zero-based rows and columns, both ends included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True)
class Sheet:
    """The cells of one sheet as text.

    Attributes:
        rows: from the first row on; rows may differ in length.
        merged: areas of which only the first cell holds the value.
        cut: whether rows or columns were left out.
    """

    rows: list[list[str]]
    merged: tuple[Merged, ...] = ()
    cut: bool = False


def cell_text(value: object, number_format: str = "") -> str:
    """A cell as a reader sees it: dates in ISO form, whole numbers without a point, percentages as such."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time(0) else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date | time | timedelta):
        return str(value)
    if isinstance(value, int | float):
        return _number_text(value, percent="%" in (number_format or ""))
    return str(value)


def _number_text(value: float, *, percent: bool) -> str:
    if not math.isfinite(value):
        return ""
    if percent:
        return f"{value * 100:.10g}%"
    return str(value) if isinstance(value, int) else f"{value:.15g}"


def add_sheet(sheet: Sheet, builder: BlockBuilder) -> None:
    """Add the tables of a sheet to the open section.

    Empty rows set tables apart. A row with a single text above a table is its caption; a later part that begins with
    data instead of names continues under the last header.
    """
    rows = _filled(sheet)
    caption = ""
    header: list[list[str]] = []
    for start, end in _groups(rows):
        first = start + _titles(rows[start:end], continues=bool(header))
        for row in rows[start:first]:
            builder.add("paragraph", caption)
            caption = _only_value(row)
        body = rows[first:end]
        if not body:
            header = []
        elif header and first == start and _is_data(body[0]):
            builder.add_table(markdown_table([*header, *body], len(header)), caption)
        else:
            header = body[: _header_rows(body, first, sheet.merged)]
            builder.add_table(markdown_table(body, len(header)), caption)
        caption = "" if body else caption
    builder.add("paragraph", caption)


def _titles(group: Sequence[Sequence[str]], *, continues: bool) -> int:
    """How many of the first rows hold one text only and so are lines of prose above a table."""
    lone = [len(set(filter(None, row))) == 1 for row in group]
    if len(group) > 1 and all(lone) and all(len(_only_value(row).split()) <= _WORDS_IN_CELL for row in group):
        return 0  # a table of a single column
    count = 0
    while count < len(group) and lone[count] and not (continues and _is_data(group[count])):
        count += 1
    return count


def _only_value(row: Sequence[str]) -> str:
    return next(filter(None, row))


def _is_data(row: Sequence[str]) -> bool:
    """Whether a row holds numbers or dates, as names of columns do not."""
    return any(_NUMBER.fullmatch(value.strip()) for value in row)


def _groups(rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    start = None
    for place, row in enumerate([*rows, []]):
        if any(row) and start is None:
            start = place
        elif not any(row) and start is not None:
            yield start, place
            start = None


def _header_rows(group: Sequence[Sequence[str]], start: int, merged: Sequence[Merged]) -> int:
    """One row, and one more for each level of names that are merged over several columns."""
    count = 1
    while count < min(_HEADER_LIMIT, len(group) - 1) and any(
        area.top <= start + count - 1 <= area.bottom and area.right > area.left and area.bottom < start + len(group) - 1
        for area in merged
    ):
        count += 1
    tall = [area.bottom - start + 1 for area in merged if area.top == start and area.bottom > area.top]
    if count > 1 and tall:
        count = min(max(count, *tall), len(group) - 1, _HEADER_LIMIT)
    return count


def _filled(sheet: Sheet) -> list[list[str]]:
    """The rows with each merged area's value in all of its cells."""
    rows = [[value.strip() for value in row] for row in sheet.rows]
    room = _FILLED_LIMIT
    for area in sheet.merged:
        room -= (area.bottom - area.top + 1) * (area.right - area.left + 1)
        if room < 0:
            break
        value = rows[area.top][area.left] if area.top < len(rows) and area.left < len(rows[area.top]) else ""
        if not value:
            continue
        for row in rows[area.top : area.bottom + 1]:
            row.extend([""] * (area.right + 1 - len(row)))
            row[area.left : area.right + 1] = [value] * (area.right + 1 - area.left)
    return rows
