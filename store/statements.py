"""Small helpers for statements that both databases share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeVar

from sqlalchemy import Insert, Table
from sqlalchemy.dialects import postgresql, sqlite

from store.errors import UsageError

IDS_PER_STATEMENT = 500
"""Both databases limit the parameters of a statement (SQLite 32,766, PostgreSQL 65,535)."""

Item = TypeVar("Item")


@cache
def upsert(dialect: str, table: Table, keys: tuple[str, ...], changed: tuple[str, ...] = ()) -> Insert:
    """An INSERT that overwrites a row with the same keys: the ``changed`` columns, or all but the keys when empty.

    Made once for each table: building a statement costs more than running it on SQLite.
    """
    insert = insert_for(dialect, table)
    names = changed or tuple(column.name for column in table.c if column.name not in keys)
    return insert.on_conflict_do_update(index_elements=keys, set_={name: insert.excluded[name] for name in names})


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
