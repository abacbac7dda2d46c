"""Tables for platforms that have none: columns below each other, for a block of code. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len


@dataclass(frozen=True, slots=True)
class Table:
    """A table, header first.

    Attributes:
        words: what stands in each cell, without formatting.
        shown: the same in the platform's own markup.
        right: for each column, whether it is aligned to the right.
    """

    words: list[list[str]]
    shown: list[list[str]]
    right: list[bool]


def aligned(table: Table, widest: int) -> str | None:
    """Rows with their columns below each other; None when a row would be wider than so many columns of text."""
    rows = [[" ".join(cell.split()) for cell in row] for row in table.words]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(table.right))]
    if sum(widths) + 3 * (len(widths) - 1) > widest:
        return None
    lines = [" | ".join(_padded(*cell) for cell in zip(row, widths, table.right, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-+-".join("-" * width for width in widths), *lines[1:]])


def row_cells(table: Table) -> list[list[str]]:
    """For each row, its cells that are not empty, each behind the name of its column."""
    header, *rows = table.shown
    return [
        [f"{name}: {cell}" if name else cell for name, cell in zip(header, row, strict=True) if cell] for row in rows
    ]


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space
