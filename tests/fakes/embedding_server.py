"""An embedding endpoint on 127.0.0.1 that serves a real engine, as Text Embeddings Inference or OpenAI-compatible.

``turns`` are played before it works as it should, one for each request for vectors. ``change`` alters what it answers
for good.
"""

from __future__ import annotations

import base64
import threading

import numpy as np

from tests.fakes.http_server import Handler, ScriptedServer, replies

TEI_BATCH = 32


def fails(status, message="no", **headers):
    """Answers with an error."""
    return replies({"error": message, "error_type": "overloaded"}, status=status, **headers)


def breaks_off(handler, _request):
    """Closes the connection in the middle of the answer."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[[0.1")
    handler.close_connection = True


class _Handler(Handler):
    def get(self):
        info = self.server.info()
        if self.path != "/info" or info is None:
            self.send(404, {"error": "not here"})
        elif self._allowed():
            self.send(200, info)

    def post(self, request):
        server = self.server
        if not self._allowed():
            return
        if self.path == "/tokenize" and server.kind == "tei":
            self.send(200, [server.tokens(text) for text in request["inputs"]])
            return
        if self.path != {"tei": "/embed", "openai": "/v1/embeddings"}[server.kind]:
            self.send(404, {"error": {"message": f"no route {self.path}"}})
            return
        with server.lock:
            server.requests.append(request)
            turn = server.turns.popleft() if server.turns else None
        self.play(turn or type(self)._works, request)

    def _allowed(self):
        key = self.server.api_key
        if key and self.headers.get("Authorization") != f"Bearer {key}":
            self.send(401, {"error": {"message": "wrong key"}})
            return False
        return True

    def _works(self, request):
        server = self.server
        texts = request["inputs"] if server.kind == "tei" else request["input"]
        if len(texts) > server.most:
            self.send(413, {"error": f"batch size {len(texts)} > maximum allowed batch size {server.most}"})
            return
        if not server.cuts and any(len(server.tokens(text)) > server.reads for text in texts):
            self.send(413, {"error": "inputs must have less tokens"})
            return
        rows = server.change(server.vectors(texts))
        if server.kind == "tei":
            self.send(200, rows.tolist())
            return
        data = [{"index": place, "embedding": row.tolist()} for place, row in enumerate(rows)]
        if server.base64:
            for each, row in zip(data, rows, strict=True):
                each["embedding"] = base64.b64encode(row.astype("<f4").tobytes()).decode()
        self.send(200, {"data": data[::-1], "model": request["model"]})


class EmbeddingServer(ScriptedServer):
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

    def __init__(self, engine, kind="tei", *, port=0, api_key="", model="sentence-transformers/all-MiniLM-L6-v2"):
        self.engine, self.kind, self.api_key, self.model = engine, kind, api_key, model
        self.change = lambda rows: rows
        self.cuts, self.base64 = False, False
        self.reads, self.most = engine.identity.max_tokens, TEI_BATCH
        self.lock = threading.Lock()
        self._known = {}
        super().__init__(_Handler, port)

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
