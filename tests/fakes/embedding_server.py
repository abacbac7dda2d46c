"""An embedding endpoint on 127.0.0.1 that serves a real engine, as Text Embeddings Inference or OpenAI-compatible.

``turns`` are played before it works as it should, one for each request for vectors. ``change`` alters what it answers
for good.
"""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

TEI_BATCH = 32


def fails(status, message="no", **headers):
    """Answers with an error."""

    def turn(handler, _request):
        handler.reply(status, {"error": message, "error_type": "overloaded"}, headers)

    return turn


def says(content):
    """Answers 200 with exactly this: bytes, or a value as JSON."""
    return lambda handler, _request: handler.reply(200, content)


def hangs(handler, _request):
    """Never answers."""
    handler.server.closing.wait(60)
    handler.close_connection = True


def drips(handler, _request):
    """Sends a byte now and then: each single read ends in time, the whole never."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    with contextlib.suppress(OSError):
        while not handler.server.closing.wait(0.02):
            handler.wfile.write(b"x")
            handler.wfile.flush()
    handler.close_connection = True


def breaks_off(handler, _request):
    """Closes the connection in the middle of the answer."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[[0.1")
    handler.close_connection = True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        info = self.server.info()
        if self.path != "/info" or info is None:
            self.reply(404, {"error": "not here"})
        elif self._allowed():
            self.reply(200, info)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        if not self._allowed():
            return
        if self.path == "/tokenize" and server.kind == "tei":
            self.reply(200, [server.tokens(text) for text in request["inputs"]])
            return
        if self.path != {"tei": "/embed", "openai": "/v1/embeddings"}[server.kind]:
            self.reply(404, {"error": {"message": f"no route {self.path}"}})
            return
        with server.lock:
            server.requests.append(request)
            turn = server.turns.popleft() if server.turns else None
        with contextlib.suppress(OSError):  # the client gave up
            (turn or type(self)._works)(self, request)

    def _allowed(self):
        key = self.server.api_key
        if key and self.headers.get("Authorization") != f"Bearer {key}":
            self.reply(401, {"error": {"message": "wrong key"}})
            return False
        return True

    def _works(self, request):
        server = self.server
        texts = request["inputs"] if server.kind == "tei" else request["input"]
        if len(texts) > server.most:
            self.reply(413, {"error": f"batch size {len(texts)} > maximum allowed batch size {server.most}"})
            return
        if not server.cuts and any(len(server.tokens(text)) > server.reads for text in texts):
            self.reply(413, {"error": "inputs must have less tokens"})
            return
        rows = server.change(server.vectors(texts))
        if server.kind == "tei":
            self.reply(200, rows.tolist())
            return
        data = [{"index": place, "embedding": row.tolist()} for place, row in enumerate(rows)]
        if server.base64:
            for each, row in zip(data, rows, strict=True):
                each["embedding"] = base64.b64encode(row.astype("<f4").tobytes()).decode()
        self.reply(200, {"data": data[::-1], "model": request["model"]})

    def reply(self, status, content, headers=None):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


class EmbeddingServer(ThreadingHTTPServer):
    """Serves the vectors of an engine.

    Attributes:
        kind: ``tei`` or ``openai``.
        turns: what the next requests for vectors get instead.
        requests: those that came in, without the ones for tokens.
        change: vectors → what is sent instead.
        cuts: whether texts that are too long are cut in silence, as some servers do, instead of refused.
        reads: tokens that it reads, special ones not counted.
        most: texts that a request may have.
    """

    daemon_threads = True

    def __init__(self, engine, kind="tei", *, port=0, api_key="", model="sentence-transformers/all-MiniLM-L6-v2"):
        super().__init__(("127.0.0.1", port), _Handler)
        self.engine, self.kind, self.api_key, self.model = engine, kind, api_key, model
        self.turns, self.requests = deque(), []
        self.change = lambda rows: rows
        self.cuts, self.base64 = False, False
        self.reads, self.most = engine.identity.max_tokens, TEI_BATCH
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self._known = {}
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def script(self, *turns):
        self.turns.extend(turns)

    def info(self):
        if self.kind != "tei":
            return None
        return {
            "model_id": self.model,
            "model_sha": None,
            "model_dtype": "float32",
            "model_type": {"embedding": {"pooling": "mean"}},
            "max_input_length": self.reads + 2,
            "max_client_batch_size": self.most,
            "auto_truncate": self.cuts,
        }

    def tokens(self, text):
        return [
            {"id": 0, "text": text[start:stop], "special": False, "start": start, "stop": stop}
            for start, stop in self.engine.token_offsets(text)
        ]

    def vectors(self, texts):
        kept = [self._cut(text) for text in texts]
        missing = [text for text in dict.fromkeys(kept) if text not in self._known]
        if missing:
            with self.lock:
                self._known.update(zip(missing, self.engine.embed_documents(missing), strict=True))
        return np.stack([self._known[text] for text in kept])

    def _cut(self, text):
        spans = self.engine.token_offsets(text)
        return text if len(spans) <= self.reads else text[: spans[self.reads][0]]

    def handle_error(self, request, client_address):
        pass  # a client that went away is what many tests are about

    def close(self):
        self.closing.set()
        self.shutdown()
        self.server_close()
        self._thread.join()
