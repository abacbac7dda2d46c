"""Tables for Slack, which has none: aligned in a block of code, or row by row where that would be too wide. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

_WIDEST = 76


@dataclass(frozen=True, slots=True)
class Table:
    """A table, header first.

    Attributes:
        words: what stands in each cell, without formatting.
        mrkdwn: the same escaped and with links.
        right: for each column, whether it is aligned to the right.
    """

    words: list[list[str]]
    mrkdwn: list[list[str]]
    right: list[bool]


def aligned(table: Table) -> str | None:
    """Rows with their columns below each other; None when a row would be wider than a screen."""
    rows = [[" ".join(cell.split()) for cell in row] for row in table.words]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(table.right))]
    if sum(widths) + 3 * (len(widths) - 1) > _WIDEST:
        return None
    lines = [" | ".join(_padded(*cell) for cell in zip(row, widths, table.right, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-+-".join("-" * width for width in widths), *lines[1:]])


def records(table: Table) -> str:
    """Each row as a list item, each cell behind the name of its column."""
    header, *rows = table.mrkdwn
    if not rows:
        return " | ".join(header)
    shown = []
    for row in rows:
        cells = [f"{name}: {cell}" if name else cell for name, cell in zip(header, row, strict=True) if cell]
        shown.append("• " + "\n    ".join(cells or ["—"]))
    return "\n".join(shown)


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space
