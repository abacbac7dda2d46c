"""Brings a database to the schema of this program, once, however many processes start together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from sqlalchemy import Connection, inspect, text

from store.errors import ConfigurationError

HEAD = "0006"
"""The last step in :mod:`store.migrations`; known here so that a start without migration needs no Alembic."""

Transaction = Callable[[], AbstractContextManager[Connection]]


def ensure_current(reading: Transaction, migrating: Transaction, *, migrate: bool) -> None:
    """Apply the missing migration steps, or say why the database cannot be used.

    Args:
        reading: opens a connection for a look at the present revision.
        migrating: opens a write transaction that only one process can hold at a time.
        migrate: whether missing steps may be applied.

    Raises:
        ConfigurationError: the database is newer than this program, or older and ``migrate`` is false.
    """
    with reading() as connection:
        present = current_revision(connection)
    if present == HEAD:
        return
    if not migrate:
        raise ConfigurationError(
            f"The database is at schema revision {present or 'none'}; this program needs {HEAD}.",
            "Run `gaplight doctor` once, which brings the database up to date.",
        )
    with migrating() as connection:
        # Another process may have finished the same work while this one waited for the lock.
        if current_revision(connection) != HEAD:
            _upgrade(connection)


def current_revision(connection: Connection) -> str:
    """The revision that the database says it is at; an empty string for one without any tables of ours."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or ""


def _upgrade(connection: Connection) -> None:
    # Alembic costs 100 ms to import: only a database that is behind pays for it.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "store:migrations")
    present = current_revision(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if present and present not in known:
        raise ConfigurationError(
            f"The database is at schema revision {present}, which this version of Gaplight does not know.",
            "Install the newer version that wrote it, or restore the backup made before that upgrade.",
        )
    command.upgrade(config, "head")
