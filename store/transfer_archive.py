"""A backup: everything that a database knows, in one SQLite file that says what it holds.

It is made from either kind of database, while the bot runs, and restored into either. A table of its own lists every
other one with the number of its rows and a hash of their content, so that a damaged file is told from a whole one.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from store.database import Database, open_database
from store.errors import ConfigurationError, ConflictError, LoadError, NotFoundError, UnavailableError
from store.schema import HEAD
from store.transfer import TransferProgress, transfer
from store.transfer_digests import TableDigest

FORMAT = 1
"""Raise it when an older program could not read a backup any more."""
_TABLE = "gaplight_backup"
_NEWER = "Install the version of Gaplight that made it, or a newer one."
_DAMAGED = "Take another backup; this one cannot be trusted."


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself.

    Attributes:
        format: see :data:`FORMAT`.
        revision: of the schema.
        made_at: moment of the state that it holds, ISO 8601.
        tables: number of rows of each.
        digests: hash of the rows of each.
    """

    format: int
    revision: str
    made_at: str
    tables: Mapping[str, int]
    digests: Mapping[str, str]


def back_up(source: Database, path: Path, progress: TransferProgress | None = None) -> Manifest:
    """Write a backup. It appears under its name when it is complete, and only the owner may read it.

    Raises:
        ConflictError: there is a file of that name.
        UnavailableError: it cannot be written, or the database does not work.
    """
    if path.exists():
        raise ConflictError(f"{path} exists already and was left as it is.", "Name another file.")
    with _unfinished(path) as file:
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        copy = open_database(f"sqlite:///{file}")
        try:
            rows = transfer(source, copy, progress)
        finally:
            copy.close()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            digests = {name: _digest(connection, name).hex for name in rows}
            manifest = Manifest(FORMAT, HEAD, made_at, rows, digests)
            connection.execute(f"CREATE TABLE {_TABLE} (manifest TEXT NOT NULL)")
            connection.execute(f"INSERT INTO {_TABLE} VALUES (?)", (json.dumps(asdict(manifest)),))  # noqa: S608
            connection.commit()
        _make_durable(file)
        if path.exists():
            raise ConflictError(f"{path} was made meanwhile and was left as it is.", "Name another file.")
        file.replace(path)
    return manifest


def restore(path: Path, target: Database, progress: TransferProgress | None = None) -> Manifest:
    """Bring what is in a backup into an empty database; one of an older version is brought up to date on the way.

    Raises:
        NotFoundError: there is no such file.
        LoadError: it is no backup, damaged, or made by a newer version.
        ConflictError: there is something in the target; it is left as it is.
        UnavailableError: the target does not work.
    """
    manifest = verify(path)
    with tempfile.TemporaryDirectory(prefix="gaplight-") as folder:
        # Opening a database writes beside it, and upgrading changes it: the backup stays as it is.
        file = Path(folder) / "backup.db"
        shutil.copyfile(path, file)
        try:
            source = open_database(f"sqlite:///{file}")
        except ConfigurationError as error:
            raise LoadError(f"{path} was made by another version: {error.problem}", _NEWER) from error
        try:
            transfer(source, target, progress)
        finally:
            source.close()
    return manifest


def verify(path: Path) -> Manifest:
    """What a backup holds, after everything in it was compared with what should be.

    Raises:
        NotFoundError: there is no such file.
        LoadError: it is no backup, damaged, or made by a newer version.
    """
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}.", "Name a file that `gaplight backup` has written.")
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)) as connection:
            manifest = _manifest(connection, path)
            _compare(connection, manifest, path)
    except sqlite3.DatabaseError as error:
        raise LoadError(f"{path} is damaged or no backup: {error}.", _DAMAGED) from error
    return manifest


def _manifest(connection: sqlite3.Connection, path: Path) -> Manifest:
    known = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if _TABLE not in known:
        raise LoadError(
            f"{path} is a database, but no backup.",
            "Name a file that `gaplight backup` has written; `gaplight copy` moves a database as it is.",
        )
    try:
        found = json.loads(connection.execute(f"SELECT manifest FROM {_TABLE}").fetchone()[0])  # noqa: S608
        if found["format"] > FORMAT:
            raise LoadError(f"{path} is a backup of format {found['format']}; this version reads {FORMAT}.", _NEWER)
        return Manifest(**found)
    except (ValueError, KeyError, TypeError) as error:
        raise LoadError(f"{path} is damaged: what it says of itself cannot be read.", _DAMAGED) from error


def _compare(connection: sqlite3.Connection, manifest: Manifest, path: Path) -> None:
    problems = [row[0] for row in connection.execute("PRAGMA integrity_check(3)") if row[0] != "ok"]
    if problems:
        raise LoadError(f"{path} is damaged: {'; '.join(problems)}.", _DAMAGED)
    revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if revision is None or revision[0] != manifest.revision:
        raise LoadError(f"{path} is damaged: it is not at the revision {manifest.revision} that it names.", _DAMAGED)
    for name, rows in manifest.tables.items():
        found = _digest(connection, name)
        if (found.rows, found.hex) != (rows, manifest.digests.get(name)):
            raise LoadError(
                f"{path} is damaged: the table {name} does not hold the {rows} rows that were written.", _DAMAGED
            )


def _digest(connection: sqlite3.Connection, table: str) -> TableDigest:
    """Of the values as SQLite keeps them: what they mean may differ between versions."""
    rows = connection.execute(f'SELECT * FROM "{table.replace(chr(34), "")}"')  # noqa: S608
    columns = [column[0] for column in rows.description]
    return TableDigest().with_rows([*zip(columns, row, strict=True)] for row in rows)


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A file beside the wanted one, which nobody else may read; gone at the end unless it was renamed."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise UnavailableError(
            f"{path} cannot be written: {error.strerror or error}.", "Name a file in a folder that exists."
        ) from error
    os.close(handle)
    try:
        yield Path(name)
    except (OSError, sqlite3.Error) as error:
        raise UnavailableError(
            f"{path} cannot be written: {error}.", "Free some disk space, or name another."
        ) from error
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                Path(name + suffix).unlink(missing_ok=True)


def _make_durable(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
