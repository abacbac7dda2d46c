"""A scripted HTTP server on 127.0.0.1: each request may get a turn of its own, and is remembered."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Turns: what is done with one request, given its handler and its JSON.


def replies(content, *, status=200, kind="application/json", **headers):
    """Answers exactly this: bytes, or a value as JSON."""
    return lambda handler, _request: handler.send(status, content, kind, headers)


def hangs(handler, _request):
    """Accepts the request and never answers."""
    handler.server.closing.wait(60)
    handler.close_connection = True


def drips(handler, _request):
    """Sends a byte of an endless header now and then: each single read ends in time, the whole never."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    handler.drip(b"x")


class Handler(BaseHTTPRequestHandler):
    """Reads JSON, sends JSON, and stays silent; a subclass answers in ``get`` and ``post``."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.get()

    def do_POST(self):
        self.post(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def play(self, turn, request):
        with contextlib.suppress(OSError):  # the client gave up
            turn(self, request)

    def send(self, status, content, kind="application/json", headers=None):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def drip(self, piece):
        """Send a piece again and again until the server closes or the client gives up."""
        with contextlib.suppress(OSError):
            while not self.server.closing.wait(0.02):
                self.wfile.write(piece)
                self.wfile.flush()
        self.close_connection = True

    def log_message(self, *_arguments):
        pass


class ScriptedServer(ThreadingHTTPServer):
    """Serves in a thread of its own until it is closed. What a handler needs of a subclass is set before this starts.

    Attributes:
        turns: played in order, one for each request.
        requests: what came in, as JSON.
        closing: set when it ends; whoever hangs waits for it.
    """

    daemon_threads = True

    def __init__(self, handler, port=0):
        self.turns, self.requests = deque(), []
        self.closing = threading.Event()
        super().__init__(("127.0.0.1", port), handler)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def script(self, *turns):
        self.turns.extend(turns)

    def handle_error(self, request, client_address):
        pass  # a client that went away is what many tests are about

    def close(self):
        self.closing.set()
        self.shutdown()
        self.server_close()
        self._thread.join()
