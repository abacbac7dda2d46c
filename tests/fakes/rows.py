"""Rows for every table of a schema, whatever it looks like: made from the types of its columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import JSON, Boolean, DateTime, Float, Integer, LargeBinary, MetaData, select

ROWS = 3


def reflected(connection):
    """The tables that a database has, without the note of its revision."""
    found = MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name != "alembic_version"]


def fill(connection, tables):
    """Put :data:`ROWS` different rows into each table; the last one leaves open what may be open."""
    naive = connection.dialect.name == "sqlite"
    for table in tables:
        rows = [{column.name: _value(column, number, naive) for column in table.c} for number in range(ROWS)]
        connection.execute(table.insert(), rows)


def content(connection, tables):
    """Table → its rows as dictionaries, in a fixed order."""
    found = {}
    for table in tables:
        rows = [dict(row._mapping) for row in connection.execute(select(table))]
        found[table.name] = sorted(rows, key=repr)
    return found


def _value(column, number, naive):
    if column.foreign_keys:
        (key,) = column.foreign_keys
        column = key.column
    elif column.nullable and number == ROWS - 1:
        return None
    name = f"{column.table.name}.{column.name}"
    kind = getattr(column.type, "impl_instance", column.type)
    moment = datetime(2026, 6, 1, 9, 30, 15, 123456, tzinfo=UTC) + timedelta(days=number)
    makers = {
        Boolean: number % 2 == 0,
        Integer: number + 7,
        Float: number + 0.1,
        DateTime: moment.replace(tzinfo=None) if naive and kind is column.type else moment,
        JSON: {"name": name, "number": number, "share": 0.1, "deep": [{"ü": "中文 🙂"}, None, True]},
        LargeBinary: bytes([number, 0, 255]) + name.encode(),
    }
    text = f"{name} {number} é 中文 🙂 'quoted' \\ back"
    return next((value for type_, value in makers.items() if isinstance(kind, type_)), text)
