"""Requests to an embedding endpoint: kept connections, one time limit for everything, further attempts that can help.

A connection is kept between calls, since a question should not wait for a new one, and belongs to one call at a time:
when the call's time is over, its socket is shut, however slowly bytes still come.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from store.cutoff import Connections, Cutoff
from store.errors import EndpointError
from store.loopback import is_loopback
from store.remote_embedding_wire import refusal

logger = logging.getLogger(__name__)

_FIRST_PAUSE = 0.2
"""Seconds before the second attempt; doubled before each further one."""
_MOST_BYTES = 200_000_000
_SHORTEST = 0.01


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where embeddings are made and how long that may take.

    Attributes:
        base_url: such as ``https://host/v1``, or the address of Text Embeddings Inference.
        api_key: sent as bearer token; empty sends none.
        connect_seconds: until a connection stands.
        question_seconds: for a question, all attempts together.
        batch_seconds: for a batch of documents, all attempts together.
        retries: further attempts where one can help.
    """

    base_url: str
    api_key: str = field(default="", repr=False)
    connect_seconds: float = 3.0
    question_seconds: float = 5.0
    batch_seconds: float = 120.0
    retries: int = 5

    @property
    def is_local(self) -> bool:
        """Whether what is sent stays on this machine."""
        return is_loopback(self.base_url)


class _Line:
    """One client with one connection, used by one call at a time."""

    def __init__(self, endpoint: Endpoint, verify: Any) -> None:
        self.connections = Connections()
        self.client = httpx.Client(
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=30.0),
            # Proxies that the environment names are for other hosts than this one.
            trust_env=not endpoint.is_local,
            follow_redirects=False,
            verify=verify,
        )

    def close(self) -> None:
        self.client.close()
        self.connections.forget()


class EmbeddingHttp:
    """Sends requests to one endpoint; may be used by many threads.

    Args:
        endpoint: where they go.
        pause: waits so many seconds.
    """

    def __init__(self, endpoint: Endpoint, pause: Callable[[float], None] = time.sleep) -> None:
        self._endpoint = endpoint
        self._pause = pause
        self._headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        # Reading all certificates takes long, and without TLS there is nothing to verify.
        self._verify: Any = False if endpoint.base_url.startswith("http:") else httpx.create_ssl_context()
        self._lock = threading.Lock()
        self._idle: list[_Line] = []

    def call(self, url: str, body: Mapping[str, Any] | None, seconds: float) -> bytes:
        """The reply to a request, after further attempts where the endpoint is busy or out of reach.

        Args:
            url: whole address.
            body: sent as JSON; None asks with GET.
            seconds: for all attempts together; more than 0.

        Raises:
            EndpointError: no reply with status 200 in time.
        """
        ends = time.monotonic() + seconds
        attempt = 0
        while True:
            try:
                return self._once(url, body, max(ends - time.monotonic(), _SHORTEST))
            except EndpointError as error:
                wait = max(error.retry_after, _FIRST_PAUSE * 2**attempt)
                if not error.again or attempt == self._endpoint.retries or time.monotonic() + wait >= ends:
                    raise
                logger.info("The embedding endpoint is asked again in %.1f s: %s", wait, error.problem)
                self._pause(wait)
                attempt += 1

    def close(self) -> None:
        """Give all connections back."""
        with self._lock:
            lines, self._idle = self._idle, []
        for line in lines:
            line.close()

    @contextmanager
    def _line(self) -> Iterator[_Line]:
        """A line for one call; it is kept for the next one unless the call failed."""
        with self._lock:
            line = self._idle.pop() if self._idle else _Line(self._endpoint, self._verify)
        try:
            yield line
        except BaseException:
            line.close()
            raise
        with self._lock:
            self._idle.append(line)

    def _once(self, url: str, body: Mapping[str, Any] | None, seconds: float) -> bytes:
        try:
            with self._line() as line, Cutoff(seconds, line.connections) as cutoff:
                try:
                    status, headers, content = self._exchange(line, url, body, seconds)
                except (httpx.HTTPError, httpx.InvalidURL) as error:
                    # A connection that was shut ends in whatever error the reader happened to run into, and one that
                    # was silent for all of the time may end a moment before it is shut.
                    late = cutoff.passed or isinstance(error, httpx.ReadTimeout)
                    raise self._too_slow(seconds) if late else self._explained(error) from error
                if cutoff.passed:
                    raise self._too_slow(seconds)
        except RuntimeError as error:  # the client was closed under the call: the program ends
            raise EndpointError(f"The connection to the embedding endpoint was closed: {error}.") from error
        if status != httpx.codes.OK:
            raise refusal(status, content, headers.get("retry-after", ""), datetime.now(UTC))
        return content

    def _exchange(
        self, line: _Line, url: str, body: Mapping[str, Any] | None, seconds: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        with line.client.stream(
            "GET" if body is None else "POST",
            url,
            json=body,
            headers=self._headers,
            timeout=httpx.Timeout(seconds, connect=min(self._endpoint.connect_seconds, seconds)),
            extensions={"trace": line.connections.trace},
        ) as response:
            content = bytearray()
            for piece in response.iter_bytes():
                content += piece
                if len(content) > _MOST_BYTES:
                    raise EndpointError(f"The embedding endpoint sent more than {_MOST_BYTES:,} bytes.")
            return response.status_code, response.headers, bytes(content)

    def _too_slow(self, seconds: float) -> EndpointError:
        return EndpointError(
            f"The embedding endpoint at {self._endpoint.base_url} gave no whole answer within {seconds:.1f} s.",
            "Raise embedding.question_seconds or embedding.batch_seconds, or lower embedding.batch_size.",
            again=True,
        )

    def _explained(self, error: Exception) -> EndpointError:
        where = self._endpoint.base_url
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        if isinstance(error, httpx.TimeoutException | httpx.TransportError):
            return EndpointError(
                f"The embedding endpoint at {where} cannot be reached ({said}).",
                "Start it, or correct embedding.base_url.",
                again=True,
            )
        return EndpointError(f"The embedding endpoint at {where} sent what cannot be read ({said}).")
