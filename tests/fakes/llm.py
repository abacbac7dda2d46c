"""A scripted OpenAI-compatible server on 127.0.0.1: each request gets the next turn, and is remembered."""

from __future__ import annotations

import json
import threading

from tests.fakes.http_server import Handler, ScriptedServer, replies


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


def fails(status, message="no", **headers):
    return replies({"error": {"message": message}}, status=status, **headers)


def drips_body(handler, request):
    """Sends a comment of an endless event stream now and then."""
    handler.begin("text/event-stream")
    handler.drip(b"1\r\n:\r\n")


def breaks_off(handler, request):
    """Closes the connection in the middle of a stream."""
    handler.begin("text/event-stream")
    handler.chunk(b'data: {"choices": [{"delta": {"content": "Press the"}}]}\n\n')
    handler.close_connection = True
    handler.connection.close()


class _Handler(Handler):
    def post(self, request):
        self.server.requests.append(request)
        self.server.headers.append(dict(self.headers))
        self.server.arrived.release()
        turn = self.server.turns.popleft() if self.server.turns else fails(500, "the script is at its end")
        self.play(turn, request)

    def get(self):
        self.server.headers.append(dict(self.headers))
        self.server.get(self, {})

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


class LlmServer(ScriptedServer):
    """``turns`` are played in order; ``requests`` and ``headers`` are what came in."""

    def __init__(self):
        self.headers = []
        self.arrived = threading.Semaphore(0)
        self.get = replies({"data": [{"id": "small"}]})
        super().__init__(_Handler)

    @property
    def base_url(self):
        return f"{self.url}/v1"

    def prompt(self, number=-1):
        """The whole text of a request's prompt."""
        return "\n".join(message["content"] for message in self.requests[number]["messages"])
