"""Whose turn it is to write documents: one thread of one process at a time, over all that share a database.

Whoever writes deletes from the indexes what a killed process has staged and not committed, and would take what another
is staging right now for that. So a turn lasts from staging to commit; reading and embedding need none. In SQLite the
lock on the data folder keeps other processes out. In PostgreSQL a session holds an advisory lock, which the server
gives back when the process or its connection dies.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from types import TracebackType

from sqlalchemy import Connection, text

from store.database import Database, lock_key
from store.errors import BusyError, UnavailableError
from store.lock import command_of

logger = logging.getLogger(__name__)

WAIT_SECONDS = 60.0
"""How long another process is waited for: a batch of documents takes less, building the index anew may take an hour."""
_TELL_SECONDS = 3.0
"""How long another process is waited for in silence: runs that share their work do so all the time."""
_LOOK_SECONDS = 0.1
_NAME_BYTES = 63
"""What PostgreSQL keeps of a session's name."""

_TAKE = text("SELECT pg_try_advisory_lock(:key)")
_GIVE = text("SELECT pg_advisory_unlock(:key)")
_HOLDER = text(
    "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.database = a.datid "
    "AND a.datname = current_database() "
    "AND (l.classid::bigint << 32 | l.objid::bigint) = :key"
)


class Turn:
    """The right to write documents, as a context manager; whoever has it may take it again.

    Args:
        database: what it is about.
        wait_seconds: how long another process is waited for.
        report: told in a sentence that it is waited for.
    """

    def __init__(
        self, database: Database, wait_seconds: float = WAIT_SECONDS, report: Callable[[str], None] | None = None
    ) -> None:
        self._database = database
        self._wait_seconds = wait_seconds
        self._report = report
        self._thread = threading.RLock()
        self._depth = 0
        self._held = ExitStack()
        self._connection: Connection | None = None

    def __enter__(self) -> None:
        """Take the turn; other threads of this process are waited for without limit.

        Raises:
            BusyError: another process has had it for longer than the wait; the message names it.
        """
        self._enter(self._wait_seconds, threading.Event())

    def _enter(self, wait_seconds: float, broken_off: threading.Event) -> None:
        self._thread.acquire()
        try:
            if not self._depth:
                self._take(wait_seconds, broken_off)
            self._depth += 1
        except BaseException:
            self._thread.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it back."""
        self._depth -= 1
        try:
            if not self._depth:
                self._give()
        finally:
            self._thread.release()

    @contextmanager
    def awaited(self, broken_off: threading.Event | None = None) -> Iterator[None]:
        """Take the turn however long another process has it, for whoever would lose what it has done so far.

        Args:
            broken_off: set by another thread when there is nothing left to wait for.

        Raises:
            BusyError: it was broken off.
        """
        self._enter(math.inf, broken_off or threading.Event())
        try:
            yield
        finally:
            self.__exit__(None, None, None)

    @contextmanager
    def if_free(self) -> Iterator[bool]:
        """Take the turn if nobody else has it; says whether it was taken."""
        if not self._thread.acquire(blocking=False):
            yield False
            return
        try:
            taken = bool(self._depth) or self._taken()
            if not taken:
                yield False
                return
            self._depth += 1
            try:
                yield True
            finally:
                self._depth -= 1
                if not self._depth:
                    self._give()
        finally:
            self._thread.release()

    def confirm(self) -> None:
        """Make sure, before something is written, that no other process has been let in.

        Raises:
            UnavailableError: the connection that holds the turn was lost, and the turn with it.
        """
        if self._connection is None:
            return
        try:
            if not self._connection.invalidated:
                with self._database.translated():
                    self._connection.execute(text("SELECT 1"))
                return
        except UnavailableError:
            logger.warning("The connection that holds the turn was lost.", exc_info=True)
        raise UnavailableError(
            "The connection that keeps other processes from bringing documents in was lost.",
            "Run the command again; what was finished is kept.",
        )

    def _take(self, wait_seconds: float, broken_off: threading.Event) -> None:
        began, told = time.monotonic(), False
        while not self._taken():
            waited = time.monotonic() - began
            if not told and self._report and waited >= min(_TELL_SECONDS, wait_seconds):
                self._report(f"Waiting for {self._holder()}, which is bringing documents in.")
                told = True
            if waited >= wait_seconds or broken_off.wait(_LOOK_SECONDS):
                raise BusyError(
                    f"Documents are being brought in by {self._holder()}.",
                    "Wait until it has finished or stop it, then try again.",
                )

    def _taken(self) -> bool:
        if self._database.dialect != "postgresql":
            return True
        with ExitStack() as opened:
            connection = opened.enter_context(self._database.connect())
            if not connection.scalar(_TAKE, {"key": self._key(connection)}):
                return False
            connection.execute(text("SELECT set_config('application_name', :name, false)"), {"name": _own_name()})
            self._connection = connection
            self._held = opened.pop_all()
        return True

    def _give(self) -> None:
        connection, self._connection = self._connection, None
        with self._held:
            self._held = ExitStack()
            if connection is None or connection.invalidated:
                return  # the server takes the lock back with the connection
            try:
                with self._database.translated():
                    connection.execute(text("SELECT set_config('application_name', 'gaplight', false)"))
                    connection.execute(_GIVE, {"key": self._key(connection)})
            except UnavailableError:
                connection.invalidate()

    def _key(self, connection: Connection) -> int:
        """Installations may share a database in schemas of their own, and an advisory lock knows databases only."""
        return lock_key(f"turn {connection.scalar(text('SELECT current_schema()'))}")

    def _holder(self) -> str:
        """Who has it; the lock itself is the truth, this only helps the reader."""
        with self._database.connect() as connection:
            found = connection.scalar(_HOLDER, {"key": self._key(connection)})
        return f"another process ({found})" if found else "another process"


def _own_name() -> str:
    name = f"{command_of(sys.argv)} since {datetime.now(UTC):%H:%M} UTC, pid {os.getpid()} on {socket.gethostname()}"
    return name.encode()[:_NAME_BYTES].decode(errors="ignore")
