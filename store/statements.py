"""Small helpers for statements that both databases share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

from store.errors import UsageError

IDS_PER_STATEMENT = 500
"""Both databases limit the parameters of a statement (SQLite 32,766, PostgreSQL 65,535)."""

Item = TypeVar("Item")


def insert_for(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that can have an ON CONFLICT clause, for ``sqlite`` or ``postgresql``."""
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def batches(items: Sequence[Item], size: int = IDS_PER_STATEMENT) -> Iterator[Sequence[Item]]:
    """The items in order, at most ``size`` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def refuse_repeats(kind: str, values: Sequence[str]) -> None:
    """Raise UsageError when a value occurs twice; the message names ``kind`` and the value."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise UsageError(f"The {kind} {value!r} occurs twice in one call.", "Every one may occur once.")
        seen.add(value)
