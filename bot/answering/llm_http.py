"""One exchange with an OpenAI-compatible endpoint: sent, read, and every way in which it fails told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from bot.answering.llm_wire import Completion, read_models, read_reply, read_stream, refusal
from store.cutoff import Cutoff
from store.errors import LlmError, LlmFailure
from store.loopback import is_loopback

_MOST_CHARACTERS = 2_000_000
"""Of a reply; more is no answer to a question."""
_EXCERPT_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a language model is and how long it may take.

    Attributes:
        base_url: such as ``http://127.0.0.1:11434/v1``.
        model: as the endpoint names it.
        api_key: sent as bearer token; empty sends none.
        connect_seconds: until a connection stands.
        idle_seconds: the longest silence of the server.
        total_seconds: of one call with its retries and pauses.
        retries: further attempts where one can help.
        stream: whether answers come in pieces, which tells a slow model from a dead one.
        options: further fields of every request.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    connect_seconds: float = 3.0
    idle_seconds: float = 15.0
    total_seconds: float = 30.0
    retries: int = 2
    stream: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether what is sent stays on this machine."""
        return is_loopback(self.base_url)


class ChatHttp:
    """Sends single requests; may be used by many threads.

    Args:
        endpoint: where they go.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        # A new connection for each call: its time limit can shut it, and none is stale. Proxies that the environment
        # names are for other hosts than this one.
        plain = endpoint.is_local and endpoint.base_url.startswith("http:")
        self._client = httpx.Client(
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=not endpoint.is_local,
            follow_redirects=False,
            verify=not plain,  # without TLS there is nothing to verify, and reading all certificates takes long
        )
        self._headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}

    def chat(self, body: Mapping[str, Any], seconds: float) -> Completion:
        """Send one prompt.

        Args:
            body: see :func:`bot.answering.llm_wire.request_body`.
            seconds: until the connection is shut, however much has come; more than 0.

        Raises:
            LlmError: of any kind.
        """
        with self._exchange("POST", "chat/completions", seconds, body) as response:
            if "event-stream" in response.headers.get("content-type", ""):
                return read_stream(_bounded(response.iter_lines()))
            return read_reply("".join(_bounded(response.iter_text())).encode())

    def models(self, seconds: float) -> tuple[str, ...]:
        """The models that the endpoint offers; empty where it does not tell.

        Raises:
            LlmError: of any kind.
        """
        with self._exchange("GET", "models", seconds) as response:
            return read_models("".join(_bounded(response.iter_text())).encode())

    def close(self) -> None:
        """Give everything back."""
        self._client.close()

    @contextmanager
    def _exchange(
        self, method: str, path: str, seconds: float, body: Mapping[str, Any] | None = None
    ) -> Iterator[httpx.Response]:
        """A reply with status 200 to be read; whatever goes wrong on the way comes out as LlmError."""
        end = self._endpoint
        idle = min(end.idle_seconds, seconds)
        with Cutoff(seconds) as cutoff:
            try:
                with self._client.stream(
                    method,
                    f"{end.base_url.rstrip('/')}/{path}",
                    json=body,
                    headers=self._headers,
                    timeout=httpx.Timeout(idle, connect=min(end.connect_seconds, seconds)),
                    extensions={"trace": cutoff.trace},
                ) as response:
                    if response.status_code != httpx.codes.OK:
                        raise _refused(response)
                    yield response
            except (LlmError, httpx.HTTPError, httpx.InvalidURL) as error:
                # A connection that was shut ends in whatever error the reader happened to run into.
                raise self._too_slow(seconds) if cutoff.passed else self._explained(error, idle) from error

    def _too_slow(self, seconds: float) -> LlmError:
        return LlmError(
            LlmFailure.TIMEOUT,
            f"The language model gave no whole answer within {seconds:.1f} s.",
            "Raise llm.total_seconds, or use a faster model.",
        )

    def _explained(self, error: Exception, idle: float) -> LlmError:
        where = self._endpoint.base_url
        if isinstance(error, LlmError):
            return error
        if isinstance(error, httpx.ConnectTimeout):
            return LlmError(LlmFailure.UNREACHABLE, f"No connection to the language model at {where} in time.")
        if isinstance(error, httpx.TimeoutException):
            return LlmError(LlmFailure.TIMEOUT, f"The language model at {where} was silent for {idle:.1f} s.")
        if isinstance(error, httpx.TransportError):
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            return LlmError(
                LlmFailure.UNREACHABLE, f"The language model at {where} cannot be reached ({said}).", "Is it running?"
            )
        return LlmError(LlmFailure.GARBAGE, f"The language model at {where} sent what cannot be read: {error}.")


def _refused(response: httpx.Response) -> LlmError:
    read = bytearray()
    for piece in response.iter_bytes():
        read += piece
        if len(read) >= _EXCERPT_BYTES:
            break
    text = bytes(read[:_EXCERPT_BYTES]).decode("utf-8", "replace")
    return refusal(response.status_code, text, response.headers.get("retry-after", ""))


def _bounded(pieces: Iterator[str]) -> Iterator[str]:
    """The pieces, as long as they are not too many."""
    left = _MOST_CHARACTERS
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise LlmError(LlmFailure.GARBAGE, f"The language model sent more than {_MOST_CHARACTERS:,} characters.")
        yield piece
