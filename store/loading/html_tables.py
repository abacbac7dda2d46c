"""HTML tables as rows of cells, with spanned cells filled in."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from store.loading.html_tree import children, not_shown, shown_text, whole_number
from store.loading.tables import Table, markdown_table

_MAX_COLUMNS = 200
_MAX_SPAN = 1_000
_LAYOUT_CONTENT = "table, pre, h1, h2, h3, h4, h5, h6"


def is_layout(table: LexborNode) -> bool:
    """Whether a table only arranges the page: it says so, holds whole sections, or has a single column."""
    if (table.attributes.get("role") or "").lower() in {"presentation", "none"}:
        return True
    if any(node.mem_id != table.mem_id for node in table.css(_LAYOUT_CONTENT)):
        return True
    return all(len(_cells(row)) <= 1 for row in table.css("tr"))


def read_table(table: LexborNode) -> tuple[Table, str]:
    """The rows of a data table, and its caption (empty without one)."""
    rows = [row for row in table.css("tr") if not not_shown(row)]
    grid = _filled(rows)
    caption = table.css_first("caption")
    return markdown_table(grid, _header_rows(rows)), shown_text(caption) if caption else ""


def _cells(row: LexborNode) -> list[LexborNode]:
    return [cell for cell in children(row) if cell.tag in {"td", "th"} and not not_shown(cell)]


def _header_rows(rows: list[LexborNode]) -> int:
    count = 0
    for row in rows:
        parent = row.parent
        in_head = parent is not None and parent.tag == "thead"
        cells = _cells(row)
        if not in_head and not (cells and all(cell.tag == "th" for cell in cells)):
            break
        count += 1
    return max(1, count)


def _filled(rows: list[LexborNode]) -> list[list[str]]:
    grid: list[list[str]] = []
    running: dict[int, tuple[int, str]] = {}  # column → rows still covered from above, and with what
    for row in rows:
        line: list[str] = []
        for cell in _cells(row):
            _take_running(line, running)
            text = shown_text(cell)
            for _ in range(min(_span(cell, "colspan"), _MAX_COLUMNS - len(line))):
                running[len(line)] = (_span(cell, "rowspan") - 1, text)
                line.append(text)
        _take_running(line, running)
        grid.append(line)
    return grid


def _take_running(line: list[str], running: dict[int, tuple[int, str]]) -> None:
    while running.get(len(line), (0, ""))[0] > 0:
        left, text = running[len(line)]
        running[len(line)] = (left - 1, text)
        line.append(text)


def _span(cell: LexborNode, name: str) -> int:
    return max(1, min(whole_number(cell.attributes.get(name), default=1), _MAX_SPAN))
