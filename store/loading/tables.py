"""Rows of cells as Markdown, header rows and merged areas included. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from store.loading.source import one_line

Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as Markdown.

    Attributes:
        text: header, separator and all rows; empty when no cell has text.
        header: the header row with the separator.
    """

    text: str
    header: str


def markdown_table(rows: Sequence[Row], header_rows: int = 1) -> Table:
    """Write rows as one Markdown table.

    Args:
        rows: cells already filled where areas were merged; rows may differ in length.
        header_rows: how many of the first rows name the columns; several are joined as ``Price / Net``.

    Returns:
        The table without rows and columns that are empty throughout.
    """
    kept = _without_empty([[_cell(value) for value in row] for row in rows], header_rows)
    if not kept:
        return Table("", "")
    width = len(kept[0])
    names = [joined_header([row[place] for row in kept[:header_rows]]) for place in range(width)]
    header = f"{_line(names)}\n{_line(['---'] * width)}"
    return Table("\n".join([header, *(_line(row) for row in kept[header_rows:])]), header)


def joined_header(parts: Sequence[str]) -> str:
    """Names of one column from its header rows, top down, without repeats: ``Price / Net``."""
    names: list[str] = []
    for part in parts:
        if part and part not in names:
            names.append(part)
    return " / ".join(names)


def caption_like(line: str) -> bool:
    """Whether a line above a table belongs to it: it ends with a colon or begins with the word *Table*."""
    text = line.strip().strip("*_").rstrip()
    return text.endswith((":", "：")) or text.split(" ", 1)[0].lower() == "table" or text.startswith(("表", "Tab."))


def _without_empty(rows: list[list[str]], header_rows: int) -> list[list[str]]:
    width = max((len(row) for row in rows), default=0)
    padded = [row + [""] * (width - len(row)) for row in rows]
    filled = [place for place in range(width) if any(row[place] for row in padded)]
    return [
        [row[place] for place in filled]
        for number, row in enumerate(padded)
        if filled and (number < header_rows or any(row))
    ]


def _cell(value: str) -> str:
    return one_line(value).replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
