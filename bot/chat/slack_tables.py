"""How Slack shows a table: its width, and row by row where it is wider. Pure."""

from __future__ import annotations

from bot.chat.tables import Table, row_cells

WIDEST = 76


def records(table: Table) -> str:
    """Each row as a list item, each cell behind the name of its column."""
    rows = row_cells(table)
    if not rows:
        return " | ".join(table.shown[0])
    return "\n".join("• " + "\n    ".join(cells or ["—"]) for cells in rows)
