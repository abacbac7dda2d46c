"""Ends a connection at a fixed time, however slowly bytes still come.

A time limit of a single read never strikes while a server sends one byte now and then, and there is no other limit on
the whole of a call: so a timer shuts the socket, and whoever waits for it wakes up with an error.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

_CONNECTED = "connection.connect_tcp.complete"


class Connections:
    """The sockets that one HTTP client has opened; give :meth:`trace` to each of its requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._shut = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Told by httpx what it does; a new connection is remembered."""
        if event != _CONNECTED:
            return
        # A duplicate stays valid when the original is wrapped for TLS, and shutting it shuts the connection itself.
        duplicate = info["return_value"].get_extra_info("socket").dup()
        with self._lock:
            self._sockets.append(duplicate)
            if self._shut:
                _shut(duplicate)

    def shut(self) -> None:
        """End all connections, also those that are still to come."""
        with self._lock:
            self._shut = True
            for each in self._sockets:
                _shut(each)

    def forget(self) -> None:
        """Give the remembered sockets back; the client's own stay as they are."""
        with self._lock:
            for each in self._sockets:
                each.close()
            self._sockets.clear()


class Cutoff:
    """A context in which connections live at most so many seconds.

    Args:
        seconds: until all connections are shut; more than 0.
        connections: of a client that keeps them between calls; None for those of this context only.
    """

    def __init__(self, seconds: float, connections: Connections | None = None) -> None:
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._kept = connections is not None
        self._connections = connections or Connections()
        self.trace = self._connections.trace
        self.passed = False

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if not self._kept:
            self._connections.forget()

    def _cut(self) -> None:
        self.passed = True
        self._connections.shut()


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is closed already
        connection.shutdown(socket.SHUT_RDWR)
