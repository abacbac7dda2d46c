"""An embedding model that runs elsewhere: behind an OpenAI-compatible address or Text Embeddings Inference.

It keeps the promises of :class:`store.embedding.Embedder` like the engines on this machine. What it adds is doubt: it
is recognised by its vectors (:mod:`store.remote_embedding_identity`), asked whether it reads texts to their end, and
compared again whenever it was out of reach, because that is when models get exchanged.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from store.breaker import BreakerPolicy, CircuitBreaker
from store.embedding import Progress, Vectors, unit_length
from store.embedding_checks import CheckedEmbedder, Side
from store.errors import EndpointError, ModelError
from store.model_probe import PROBES
from store.remote_embedding_http import EmbeddingHttp, Endpoint
from store.remote_embedding_identity import SAME_MODEL, Known, agreement
from store.remote_embedding_tokens import Tokens

logger = logging.getLogger(__name__)

_FEW = 4
"""Texts up to which a call counts as a question, for which somebody waits."""
_BREAKER = BreakerPolicy(failures=3, rest=10.0)
_REINDEX = "If that was meant, restart and run `gaplight reindex`; otherwise give the endpoint its former model back."


class Api(Protocol):
    """How one kind of endpoint is asked."""

    max_batch: int
    """Texts that one request may have."""

    def embed(self, texts: Sequence[str], seconds: float) -> Vectors:
        """Vectors (n, d) in the order of the texts, of any length.

        Raises:
            EndpointError: it gives none.
        """


class RemoteEmbedder(CheckedEmbedder):
    """The embedding engine ``remote``.

    Args:
        model: which one it is, and what it gave for the probe sentences at the start.
        api: how it is asked.
        http: the connections, to give them back at the end.
        endpoint: time limits.
        tokens: how long texts are for it.
        threads: requests of one call that are under way at once, at least 1.
    """

    def __init__(
        self,
        model: Known,
        api: Api,
        http: EmbeddingHttp,
        endpoint: Endpoint,
        tokens: Tokens,
        threads: int,
    ) -> None:
        super().__init__(model.identity)
        self._model = model
        self._api = api
        self._http = http
        self._endpoint = endpoint
        self._tokens = tokens
        self._threads = max(1, threads)
        self._breaker = CircuitBreaker(_BREAKER)
        self._doubt = threading.Event()
        reserved = tokens.reserved(model.identity.document_prefix) - tokens.reserved(model.identity.query_prefix)
        self._query_room = max(1, model.identity.max_tokens + reserved)

    def count_tokens_many(self, texts: list[str]) -> list[int]:
        """See :meth:`store.embedding.Embedder.count_tokens_many`."""
        return [len(spans) for spans in self._tokens.spans(texts)]

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """See :meth:`store.embedding_checks.CheckedEmbedder.token_offsets`."""
        return self._tokens.spans([text])[0]

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    @property
    def _query_tokens(self) -> int:
        return self._query_room

    def _has_tokens(self, text: str) -> bool:  # noqa: ARG002 -- what has a letter or digit is worth a request
        return True

    def _query_windows(self, text: str) -> list[str]:
        # Each token stands for at least one byte: a question that is surely short enough need not be counted.
        return [text] if len(text.encode()) <= self._query_room else super()._query_windows(text)

    def _unit_vectors(self, texts: list[str], side: Side, progress: Progress | None) -> Vectors:
        if not texts:
            return np.empty((0, self._identity.dimension), dtype=np.float32)
        if side == "document":
            self._refuse_too_long(texts)
        prefix = self._prefix(side)
        prompts = [prefix + text for text in texts]
        if side == "query" and len(texts) <= _FEW:
            return self._answered(prompts)
        self._verify(self._endpoint.batch_seconds)
        return self._batches(prompts, progress)

    def _refuse_too_long(self, texts: list[str]) -> None:
        limit = self._identity.max_tokens
        # The same bound as for questions: most chunks of a model that reads thousands of tokens need no counting.
        doubtful = [text for text in texts if len(text.encode()) > limit]
        for text, tokens in zip(doubtful, self.count_tokens_many(doubtful) if doubtful else (), strict=True):
            if tokens > limit:
                raise self._too_long(text)

    def _answered(self, prompts: list[str]) -> Vectors:
        """A question's vectors, soon or not at all: while the endpoint is down nobody waits for it again and again."""
        if not self._breaker.admit():
            raise EndpointError(
                f"The embedding endpoint at {self._endpoint.base_url} failed several times; it is asked again in "
                f"{self._breaker.remaining:.0f} s.",
                "Run `gaplight doctor` to see what is wrong.",
            )
        seconds = self._endpoint.question_seconds
        with self._breaker.reporting(self._worked):
            self._verify(seconds)
            return self._checked(self._api.embed(prompts, seconds))

    def _worked(self, error: BaseException) -> bool | None:
        if not isinstance(error, EndpointError):
            return None
        self._doubt.set()
        return False

    def _verify(self, seconds: float) -> None:
        """After the endpoint was out of reach: whether it still is the same model."""
        if not self._doubt.is_set():
            return
        prefix = self._prefix("document")
        given = unit_length(self._api.embed([prefix + PROBES[0]], seconds))
        found = agreement(given, self._model.probes[:1])
        if found < SAME_MODEL:
            raise ModelError(
                f"The embedding endpoint gives other vectors than before (cosine {found:.4f}): its model has changed.",
                _REINDEX,
            )
        self._doubt.clear()

    def _batches(self, prompts: list[str], progress: Progress | None) -> Vectors:
        rows = np.empty((len(prompts), self._identity.dimension), dtype=np.float32)
        done = 0
        for part in self._in_order(prompts):
            rows[done : done + len(part)] = part
            done += len(part)
            if progress is not None:
                progress(done)
        return rows

    def _in_order(self, prompts: list[str]) -> Iterator[Vectors]:
        size = self._api.max_batch
        batches = [prompts[start : start + size] for start in range(0, len(prompts), size)]
        if len(batches) == 1:
            yield self._batch(batches[0])
            return
        pool = ThreadPoolExecutor(min(self._threads, len(batches)), thread_name_prefix="embed")
        try:
            yield from pool.map(self._batch, batches)
        finally:
            # After a failure the batches that are still to come would fail too, each after all its attempts.
            pool.shutdown(cancel_futures=True)

    def _batch(self, prompts: list[str]) -> Vectors:
        try:
            return self._checked(self._api.embed(prompts, self._endpoint.batch_seconds))
        except EndpointError:
            self._doubt.set()
            raise

    def _checked(self, rows: Vectors) -> Vectors:
        dimension = rows.shape[1]
        if dimension != self._identity.dimension:
            raise ModelError(
                f"The embedding endpoint gave vectors of {dimension} dimensions instead of "
                f"{self._identity.dimension}: its model has changed.",
                _REINDEX,
            )
        return unit_length(rows)


def halved(embed: Callable[[Sequence[str], float], Vectors], texts: Sequence[str], seconds: float) -> Vectors:
    """Vectors of texts, in halves where the endpoint finds the whole too much.

    Raises:
        EndpointError: also when a single text is too much.
    """
    try:
        return embed(texts, seconds)
    except EndpointError as error:
        if not error.too_much or len(texts) == 1:
            raise
    middle = len(texts) // 2
    halves = [halved(embed, part, seconds) for part in (texts[:middle], texts[middle:])]
    if len({half.shape[1] for half in halves}) > 1:
        raise EndpointError("The embedding endpoint gave vectors of different dimensions.", "Check its model.")
    return np.concatenate(halves)
