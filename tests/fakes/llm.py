"""A scripted OpenAI-compatible server on 127.0.0.1: each request gets the next turn, and is remembered."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def says(text, *, usage=None, finish="stop", pieces=3):
    """A completion; in a few pieces where the client asked for a stream."""

    def turn(handler, request):
        if request.get("stream"):
            handler.stream(text, usage, finish, pieces)
        else:
            handler.send(200, completion(text, usage, finish))

    return turn


def grades(relevant, rewrite=""):
    """A completion with grades."""
    return says(json.dumps({"relevant": relevant, "rewrite": rewrite}))


def completion(content, usage=None, finish="stop"):
    reply = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}]}
    return json.dumps(reply | ({"usage": usage} if usage else {})).encode()


def replies(body, *, status=200, kind="application/json", **headers):
    """Exactly these bytes; a mapping becomes JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda handler, request: handler.send(status, content, kind, headers)


def fails(status, message="no", **headers):
    return replies({"error": {"message": message}}, status=status, **headers)


def hangs(handler, request):
    """Accepts the request and never answers."""
    handler.server.closing.wait(60)
    handler.close_connection = True


def drips(handler, request):
    """Sends a byte of an endless header now and then: each single read ends in time, the whole never."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    _drip(handler, b"x")


def drips_body(handler, request):
    """The same with an endless event stream."""
    handler.begin("text/event-stream")
    _drip(handler, b"1\r\n:\r\n")


def breaks_off(handler, request):
    """Closes the connection in the middle of a stream."""
    handler.begin("text/event-stream")
    handler.chunk(b'data: {"choices": [{"delta": {"content": "Press the"}}]}\n\n')
    handler.close_connection = True
    handler.connection.close()


def _drip(handler, piece):
    with contextlib.suppress(OSError):
        while not handler.server.closing.wait(0.02):
            handler.wfile.write(piece)
            handler.wfile.flush()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        self.server.headers.append(dict(self.headers))
        self.server.arrived.release()
        turn = self.server.turns.popleft() if self.server.turns else fails(500, "the script is at its end")
        with contextlib.suppress(OSError):  # the client gave up
            turn(self, request)

    def do_GET(self):
        self.server.headers.append(dict(self.headers))
        self.server.get(self, {})

    def send(self, status, content, kind="application/json", headers=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def begin(self, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def stream(self, text, usage, finish, pieces):
        self.begin("text/event-stream")
        text = text or ""
        size = max(1, -(-len(text) // pieces))
        parts = [text[place : place + size] for place in range(0, len(text), size)]
        deltas = [{"role": "assistant", "content": None}, *({"content": part} for part in parts)]
        for delta in deltas:
            self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if usage:
            self._event({"choices": [], "usage": usage})
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def _event(self, value):
        self.chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

    def log_message(self, *_arguments):
        pass


class LlmServer(ThreadingHTTPServer):
    """``turns`` are played in order; ``requests`` and ``headers`` are what came in."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.turns = deque()
        self.requests = []
        self.headers = []
        self.arrived = threading.Semaphore(0)
        self.closing = threading.Event()
        self.get = replies({"data": [{"id": "small"}]})
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def script(self, *turns):
        self.turns.extend(turns)

    def prompt(self, number=-1):
        """The whole text of a request's prompt."""
        return "\n".join(message["content"] for message in self.requests[number]["messages"])

    def handle_error(self, request, client_address):
        pass  # a client that went away is what many tests are about

    def close(self):
        self.closing.set()
        self.shutdown()
        self.server_close()
        self._thread.join()
