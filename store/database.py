"""Opens the SQL database: SQLite for one machine, PostgreSQL beyond it.

Everything above this file sees the same two calls, :meth:`Database.connect` to read and :meth:`Database.begin` to
write, and one error, UnavailableError, when the database does not answer.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, InterfaceError, OperationalError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from store.errors import ConfigurationError, GaplightError, UnavailableError
from store.private_folder import make_private
from store.schema import ensure_current

SQLITE_BUSY_SECONDS = 10
"""How long a statement waits for another process's write before it fails."""
SQLITE_QUEUE_SECONDS = 30
"""How long a thread waits for the other writing threads of this process."""
POSTGRES_CONNECT_SECONDS = 10

_WRITE = "gaplight_write"
_SNAPSHOT = "gaplight_snapshot"
_SECRET_PARAMETERS = {"password", "sslpassword"}
_URL_HELP = (
    "Use sqlite:///folder/gaplight.db or postgresql://user@host/database (setting database.url or DATABASE_URL)."
)


class Database:
    """An open database; one for the whole process, shared by all its threads.

    Attributes:
        dialect: ``sqlite`` or ``postgresql``.
        url_without_password: the address as it may be logged.
    """

    def __init__(self, url: URL) -> None:
        self.dialect = url.get_backend_name()
        self.url_without_password = _shown(url)
        self._engine = _sqlite_engine(url) if self.dialect == "sqlite" else _postgres_engine(url)
        self._writer = self._engine.execution_options(**{_WRITE: True})
        # SQLite sees every statement of a reader on its own anyway; on PostgreSQL this saves the BEGIN round trip.
        self._reader = (
            self._engine if self.dialect == "sqlite" else self._engine.execution_options(isolation_level="AUTOCOMMIT")
        )
        self._snapshot = self._engine.execution_options(
            **({_SNAPSHOT: True} if self.dialect == "sqlite" else {"isolation_level": "REPEATABLE READ"})
        )
        self._queue = threading.Lock()

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection to read with; each statement sees the latest committed state.

        Raises:
            UnavailableError: the database does not answer.
        """
        with self.translated(), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection to read with, for which time stands still: every statement sees the state of the first one.

        Raises:
            UnavailableError: the database does not answer.
        """
        with self.translated(), self._snapshot.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def begin(self, lock: str = "") -> Iterator[Connection]:
        """A write transaction: committed at the end of the block, undone when the block raises.

        SQLite lets one transaction write at a time. On PostgreSQL, transactions that name the same ``lock`` take
        turns, over all processes; others run side by side. The block must not open a second transaction.

        Raises:
            UnavailableError: the database does not answer, cannot be written, or is locked for too long.
        """
        with self.translated(), self._turn(), self._writer.begin() as connection:
            if lock and self.dialect == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": lock_key(lock)})
            yield connection

    def close(self) -> None:
        """Close all connections; the object must not be used afterwards."""
        self._engine.dispose()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Writing threads queue here in SQLite: its own busy handler polls, and starves some of many writers."""
        if self.dialect != "sqlite":
            yield
            return
        if not self._queue.acquire(timeout=SQLITE_QUEUE_SECONDS):
            raise UnavailableError(
                f"The database {self.url_without_password} was busy writing for {SQLITE_QUEUE_SECONDS} s.",
                "Try again; if it stays so, look for a long ingest, or use PostgreSQL (DATABASE_URL).",
            )
        try:
            yield
        finally:
            self._queue.release()

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn what the driver raises within into UnavailableError, where the database is to blame."""
        try:
            yield
        except StatementError as error:
            if isinstance(error.orig, GaplightError):
                raise error.orig from error
            if isinstance(error, OperationalError | InterfaceError) or _is_lost(error):
                raise self._unavailable(str(error.orig)) from error
            raise
        except PoolTimeoutError as error:
            raise self._unavailable(f"all connections are in use ({error})") from error

    def _unavailable(self, reason: str) -> UnavailableError:
        step = (
            "Check that the folder exists, may be written and has room, and that no other program holds the file."
            if self.dialect == "sqlite"
            else "Check that the server runs, accepts this user, and that DATABASE_URL is right."
        )
        told = " ".join(reason.split()).rstrip(".?")  # drivers write several lines, and a question at their end
        return UnavailableError(f"The database {self.url_without_password} does not work: {told}.", step)


def open_database(url: str, *, migrate: bool = True) -> Database:
    """Open a database and bring its schema up to date.

    Args:
        url: ``sqlite:///path`` (missing folders are made, ``~`` is the home folder) or any ``postgres://`` or
            ``postgresql://`` address; PostgreSQL is always spoken to through psycopg.
        migrate: whether a missing or older schema may be created or upgraded. Several processes may do so at once.

    Raises:
        ConfigurationError: the address cannot be used, or the database belongs to a newer program.
        UnavailableError: the database cannot be reached, opened or written.
    """
    database = Database(_normalised(url))
    try:
        ensure_current(database.connect, partial(database.begin, "migrate"), migrate=migrate)
    except BaseException:
        database.close()
        raise
    return database


def is_postgresql(address: str) -> bool:
    """Whether an address names a PostgreSQL server, which several processes may share."""
    return address.startswith(("postgres:", "postgresql:", "postgresql+"))


def _normalised(address: str) -> URL:
    try:
        # Hosting services hand out postgres://, which SQLAlchemy no longer reads.
        url = make_url("postgresql" + address[len("postgres") :] if address.startswith("postgres://") else address)
    except (ArgumentError, ValueError) as error:
        # The address is not quoted: it may hold a password.
        raise ConfigurationError("The database address cannot be read as a URL.", _URL_HELP) from error
    if url.drivername in {"postgresql", "postgresql+psycopg2", "postgresql+psycopg"}:
        # The rest of a password with an @ in it would be taken for the host, and shown as such.
        if "@" in f"{url.host}{url.database}":
            raise ConfigurationError(
                "The database address has more than one @.", "Write those in the password as %40, and / as %2F."
            )
        return url.set(drivername="postgresql+psycopg")
    if url.drivername in {"sqlite", "sqlite+pysqlite"}:
        return _sqlite_url(url)
    raise ConfigurationError(f"The database kind {url.drivername!r} is not supported.", _URL_HELP)


def _sqlite_url(url: URL) -> URL:
    if not url.database or url.database == ":memory:":
        raise ConfigurationError("A SQLite database in memory cannot be shared between threads.", _URL_HELP)
    path = Path(url.database).expanduser()
    try:
        make_private(path.parent)
    except OSError as error:
        raise UnavailableError(
            f"The folder {path.parent} of the database cannot be made: {error.strerror or error}.",
            "Choose another folder (--data DIR or the setting database.url), or allow writing there.",
        ) from error
    return url.set(drivername="sqlite", database=str(path))


def _shown(url: URL) -> str:
    hidden = {key: "***" for key in url.query if key in _SECRET_PARAMETERS}
    return url.update_query_dict(hidden).render_as_string(hide_password=True)


def lock_key(name: str) -> int:
    """The number under which PostgreSQL knows a lock of ours."""
    return int.from_bytes(hashlib.sha256(f"gaplight {name}".encode()).digest()[:8], "big", signed=True)


def _is_lost(error: StatementError) -> bool:
    # A damaged or foreign file comes as DatabaseError itself; its subclasses are mistakes of ours.
    return type(error) is DatabaseError or (isinstance(error, DBAPIError) and error.connection_invalidated)


# Both engines hide parameters: a statement that fails would otherwise carry people's questions into the log.
def _postgres_engine(url: URL) -> Engine:
    arguments: Mapping[str, Any] = {
        "connect_timeout": POSTGRES_CONNECT_SECONDS,
        "application_name": "gaplight",
        "client_encoding": "utf8",
        # A server that vanished without a word (a dead switch, a paused machine) is given up after a minute; the
        # system's own default is two hours, for which every thread that asked would wait.
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 60_000,
    }
    given = {key: value for key, value in arguments.items() if key not in url.query}
    # A server restart must cost one reconnect, not one failed question for each idle connection.
    return create_engine(
        url, pool_pre_ping=True, pool_size=10, max_overflow=20, connect_args=given, hide_parameters=True
    )


def _sqlite_engine(url: URL) -> Engine:
    engine = create_engine(
        url, pool_size=10, max_overflow=50, connect_args={"timeout": SQLITE_BUSY_SECONDS}, hide_parameters=True
    )
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    """A transaction that may write takes the write lock first: upgrading a read lock later fails without waiting."""
    options = connection.get_execution_options()
    if options.get(_WRITE):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    elif options.get(_SNAPSHOT):
        connection.exec_driver_sql("BEGIN")


def _set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None
    wanted = {"busy_timeout": SQLITE_BUSY_SECONDS * 1000, "foreign_keys": 1, "synchronous": 1}
    for name, value in wanted.items():
        connection.execute(f"PRAGMA {name} = {value}").close()
    found = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted}
    found["journal_mode"] = _switch_to_wal(connection)
    wrong = {name: value for name, value in found.items() if value != {**wanted, "journal_mode": "wal"}[name]}
    if wrong:
        raise UnavailableError(
            f"SQLite refused the settings it needs to be shared safely: {wrong}.",
            "Keep the database on a local disk (not a network share), or use PostgreSQL (DATABASE_URL).",
        )


def _switch_to_wal(connection: sqlite3.Connection) -> str:
    """The journal mode after asking for WAL; SQLite does not wait by itself when another process is switching."""
    deadline = time.monotonic() + SQLITE_BUSY_SECONDS
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
