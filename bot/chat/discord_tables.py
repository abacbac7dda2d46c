"""Tables for Discord, which has none: aligned in a block of code, or row by row where that would be too wide. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

_WIDEST = 64
"""Columns of a block of code that a narrow window shows without breaking lines."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, header first.

    Attributes:
        words: what stands in each cell, without formatting.
        shown: the same as inline Markdown.
        right: for each column, whether it is aligned to the right.
    """

    words: list[list[str]]
    shown: list[list[str]]
    right: list[bool]


def aligned(table: Table) -> str | None:
    """Rows with their columns below each other; None when a row would be too wide."""
    rows = [[" ".join(cell.split()) for cell in row] for row in table.words]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(table.right))]
    if sum(widths) + 3 * (len(widths) - 1) > _WIDEST:
        return None
    lines = []
    for row in rows:
        cells = []
        for cell, width, right in zip(row, widths, table.right, strict=True):
            space = " " * (width - cell_len(cell))
            cells.append(space + cell if right else cell + space)
        lines.append(" | ".join(cells).rstrip())
    return "\n".join([lines[0], "-+-".join("-" * width for width in widths), *lines[1:]])


def records(table: Table) -> str:
    """Each row as a list item: its first cell, and the others behind the names of their columns."""
    header, *rows = table.shown
    if not rows:
        return " · ".join(cell for cell in header if cell)
    shown = []
    for row in rows:
        cells = [f"{name}: {cell}" if name else cell for name, cell in zip(header, row, strict=True) if cell]
        shown.append("- " + "\n  ".join(cells or ["—"]))
    return "\n".join(shown)
