"""A server's stand-in at another port, whose line can be cut, left hanging and mended."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time


class Relay:
    """Passes bytes on to a server, in threads of its own.

    Args:
        host, port: of the server.
    """

    def __init__(self, host, port):
        self._server = (host, port)
        self._line = socket.create_server(("127.0.0.1", 0))
        self.port = self._line.getsockname()[1]
        self._open = set()
        self._lock = threading.Lock()
        self.state = "up"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def cut(self):
        """Connections are closed, and new ones refused at once."""
        self.state = "cut"
        self._drop()

    def hang(self):
        """Nothing is passed on any more, and nothing refused: what a dead switch looks like."""
        self.state = "hanging"

    def mend(self):
        """New connections work again; those that hung are closed."""
        self._drop()
        self.state = "up"

    def close(self):
        """End everything."""
        self.cut()
        self._line.close()

    def _drop(self):
        with self._lock:
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._line.accept()
                if self.state == "cut":
                    client.close()
                    continue
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        # A selector, because select() takes no descriptor above 1023, and a long test run has more open.
        with (
            contextlib.suppress(OSError),
            client,
            socket.create_connection(self._server) as server,
            selectors.DefaultSelector() as watched,
        ):
            with self._lock:
                self._open |= {client, server}
            watched.register(client, selectors.EVENT_READ)
            watched.register(server, selectors.EVENT_READ)
            while True:
                if self.state == "hanging":
                    time.sleep(0.02)
                    if client.fileno() == -1 or client not in self._open:
                        return
                    continue
                for key, _ in watched.select(0.05):
                    one = key.fileobj
                    data = one.recv(65536)
                    if not data:
                        return
                    (server if one is client else client).sendall(data)
