"""Moves everything that one database knows into another, empty one: all of it, or nothing.

Works in every direction between SQLite and PostgreSQL. What is read is the state of one moment, whatever is written
meanwhile; what was written is read once more and compared before it is committed. Indexes are not moved: they are
derived, and built anew from what was.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Table, delete, func, select, text

from store.database import Database
from store.errors import ConflictError, UnavailableError, UsageError
from store.tables import DERIVED, PASSING, lexical_builds, metadata
from store.transfer_digests import TableDigest

LOCK = "transfer"
TRUTH: tuple[Table, ...] = tuple(table for table in metadata.sorted_tables if table not in (*DERIVED, *PASSING))
"""The tables that nothing can bring back, each after those that it refers to."""
_ROWS = 500


class TransferProgress(Protocol):
    """Told how far a transfer is, for a person who waits."""

    def started(self, rows: int) -> None:
        """So many rows are to be written, and then compared."""

    def done(self, rows: int) -> None:
        """So many more are."""


class Silent:
    """Nobody waits."""

    def started(self, rows: int) -> None:
        """See :class:`TransferProgress`."""

    def done(self, rows: int) -> None:
        """See :class:`TransferProgress`."""


def transfer(source: Database, target: Database, progress: TransferProgress | None = None) -> dict[str, int]:
    """Copy every table; returns the number of rows of each.

    Args:
        source: only read; may be in use, and gives its state of this moment.
        target: at the same schema, with nothing in it.
        progress: told how far it is.

    Raises:
        UsageError: both are the same database.
        ConflictError: there is something in the target; it is left as it is.
        UnavailableError: one of them does not work, or the copy is not equal; nothing is left in the target then.
    """
    watched = progress or Silent()
    if _identity(source) == _identity(target):
        raise UsageError(
            f"{target.url_without_password} is the database that is to be copied.", "Name another one, which is empty."
        )
    with source.snapshot() as reading, target.begin(LOCK) as writing:
        _lock(writing)
        _refuse_filled(writing, target.url_without_password)
        watched.started(2 * sum(_count(reading, table) for table in TRUTH))
        written = {table.name: _copied(reading, writing, table, watched) for table in TRUTH}
        for table in TRUTH:
            _compare(writing, table, written[table.name], watched)
        _go_on_counting(writing)
        # Whatever is in the index of words belongs to other documents: it is built when it is first needed.
        writing.execute(delete(lexical_builds))
    return {name: table.rows for name, table in written.items()}


def _identity(database: Database) -> Sequence[object]:
    """What two connections to the same tables have in common, and no others."""
    with database.connect() as connection:
        if database.dialect == "sqlite":
            path = str(connection.execute(text("PRAGMA database_list")).first()[2])  # type: ignore[index]
            status = Path(path).stat()
            return ("sqlite", status.st_dev, status.st_ino)
        query = "SELECT pg_postmaster_start_time(), inet_server_port(), current_database(), current_schema()"
        return ("postgresql", *connection.execute(text(query)).one())


def _lock(connection: Connection) -> None:
    """Keep everybody from writing: SQLite does so by itself."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(table.name for table in TRUTH)
        connection.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))


def _refuse_filled(connection: Connection, address: str) -> None:
    found = {table.name: count for table in TRUTH if (count := _count(connection, table))}
    if found:
        told = ", ".join(f"{name} {count}" for name, count in found.items())
        raise ConflictError(
            f"{address} is not empty (rows: {told}). It was left as it is.",
            "Name an empty database; SQLite makes one of its own in a new folder, as with --data DIR.",
        )


def _count(connection: Connection, table: Table) -> int:
    return connection.scalar(select(func.count()).select_from(table)) or 0


def _copied(reading: Connection, writing: Connection, table: Table, progress: TransferProgress) -> TableDigest:
    digest = TableDigest()
    with closing(_parts(reading, table)) as parts:
        for rows in parts:
            writing.execute(table.insert(), [dict(zip(table.c.keys(), row, strict=True)) for row in rows])
            digest = digest.with_rows(rows)
            progress.done(len(rows))
    return digest


def _compare(connection: Connection, table: Table, written: TableDigest, progress: TransferProgress) -> None:
    digest = TableDigest()
    with closing(_parts(connection, table)) as parts:
        for rows in parts:
            digest = digest.with_rows(rows)
            progress.done(len(rows))
    if digest != written:
        raise UnavailableError(
            f"The table {table.name} did not arrive as it was: {written.rows} rows were read, {digest.rows} are there, "
            "or their content differs. Nothing was kept.",
            "Run it again; if it stays so, check the disk of both databases, and report it.",
        )


def _parts(connection: Connection, table: Table) -> Generator[Sequence[Sequence[Any]], None, None]:
    with connection.execute(select(table), execution_options={"yield_per": _ROWS}) as result:
        yield from result.partitions()


def _go_on_counting(connection: Connection) -> None:
    """Numbers that PostgreSQL gives out begin after those that were copied; SQLite looks for itself."""
    if connection.dialect.name != "postgresql":
        return
    for table in TRUTH:
        column = table.autoincrement_column
        if column is not None:
            highest = connection.scalar(select(func.max(column)))
            sequence = func.pg_get_serial_sequence(table.name, column.name)
            if highest is not None:
                connection.execute(select(func.setval(sequence, highest)))
