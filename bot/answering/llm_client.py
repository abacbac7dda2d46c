"""Asks a language model: tries again where that can help, within one time limit, and not at all while it is down."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.answering.llm_http import ChatHttp, Endpoint
from bot.answering.llm_wire import Completion, Message, request_body
from store.breaker import BreakerPolicy, CircuitBreaker
from store.errors import LlmError, LlmFailure

logger = logging.getLogger(__name__)

_FIRST_PAUSE = 0.5
"""Seconds before the second attempt; doubled before each further one."""
_RETRIED = frozenset({LlmFailure.UNREACHABLE, LlmFailure.RATE_LIMITED, LlmFailure.OVERLOADED})
_ENDPOINT_WORKS = frozenset(
    {LlmFailure.CONTEXT_EXCEEDED, LlmFailure.EMPTY, LlmFailure.FILTERED, LlmFailure.CUT_OFF, LlmFailure.WITHHELD}
)
"""Failures of one question, which say nothing about the next."""


class LlmClient:
    """One endpoint; may be used by many threads.

    Args:
        endpoint: where it is.
        breaker: when to stop asking.
        pause: waits so many seconds.
    """

    def __init__(
        self, endpoint: Endpoint, breaker: BreakerPolicy | None = None, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.endpoint = endpoint
        self._http = ChatHttp(endpoint)
        self._breaker = CircuitBreaker(breaker)
        self._pause = pause
        self.calls = 0
        """Prompts since the start."""
        self.failures: Counter[LlmFailure] = Counter()
        """Prompts since the start that brought no usable answer."""

    @property
    def resting(self) -> bool:
        """Whether the model failed so often that it is not asked for a while."""
        return self._breaker.remaining > 0

    def complete(
        self, messages: Sequence[Message], *, answer_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """See :meth:`bot.answering.llm_wire.Llm.complete`."""
        self.calls += 1
        try:
            return self._completed(messages, answer_tokens, schema)
        except LlmError as error:
            self.failures[error.failure] += 1
            raise

    def _completed(
        self, messages: Sequence[Message], answer_tokens: int, schema: Mapping[str, Any] | None
    ) -> Completion:
        if not self._breaker.admit():
            raise LlmError(
                LlmFailure.CIRCUIT_OPEN,
                f"The language model failed several times; it is asked again in {self._breaker.remaining:.0f} s.",
                "Run `gaplight doctor` to see what is wrong.",
            )
        body = request_body(
            self.endpoint.model,
            messages,
            answer_tokens=answer_tokens,
            schema=schema,
            stream=self.endpoint.stream,
            options=self.endpoint.options,
        )
        with self._breaker.reporting(_worked):
            return self._attempts(body)

    def models(self) -> tuple[str, ...]:
        """The models that the endpoint offers; empty where it does not tell. Asked whatever the breaker says.

        Raises:
            LlmError: of any kind.
        """
        return self._http.models(self.endpoint.total_seconds)

    def close(self) -> None:
        """Give everything back."""
        self._http.close()

    def _attempts(self, body: Mapping[str, Any]) -> Completion:
        ends = time.monotonic() + self.endpoint.total_seconds
        attempt = 0
        while True:
            try:
                return self._http.chat(body, max(ends - time.monotonic(), 0.01))
            except LlmError as error:
                wait = error.retry_after or _FIRST_PAUSE * 2**attempt
                exhausted = attempt == self.endpoint.retries or time.monotonic() + wait >= ends
                if exhausted or error.failure not in _RETRIED:
                    raise
                logger.info("The language model is asked again in %.1f s: %s", wait, error.problem)
                self._pause(wait)
                attempt += 1


def _worked(error: BaseException) -> bool | None:
    return error.failure in _ENDPOINT_WORKS if isinstance(error, LlmError) else None
