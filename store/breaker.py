"""Stops asking a remote end that keeps failing, and tries it again later: a circuit breaker.

The states and their changes are pure functions; :class:`CircuitBreaker` adds the clock and the lock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """``failures`` in a row, at least 1, open the breaker; after ``rest`` seconds one call may try again."""

    failures: int = 3
    rest: float = 60.0


@dataclass(frozen=True, slots=True)
class BreakerState:
    """What is known of the other side.

    Attributes:
        failures: calls that failed in a row.
        open_until: time until which nothing is asked; None while calls go through.
        trying: whether the one call that finds out whether it works again is under way.
    """

    failures: int = 0
    open_until: float | None = None
    trying: bool = False


def admitted(state: BreakerState, now: float) -> BreakerState | None:
    """The state with one more call under way; None when that call must not be made."""
    if state.open_until is None:
        return state
    if state.trying or now < state.open_until:
        return None
    return replace(state, trying=True)


def after_success() -> BreakerState:
    """The state after a call that worked: all is forgotten."""
    return BreakerState()


def after_failure(state: BreakerState, policy: BreakerPolicy, now: float) -> BreakerState:
    """The state after a call that failed; a failed trial opens the breaker again at once."""
    failures = state.failures + 1
    if state.trying or failures >= policy.failures:
        return BreakerState(failures, now + policy.rest)
    return replace(state, failures=failures)


class CircuitBreaker:
    """One breaker for all threads that ask the same endpoint.

    Args:
        policy: when it opens, and for how long.
        clock: seconds that only ever grow.
    """

    def __init__(self, policy: BreakerPolicy | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy or BreakerPolicy()
        self._clock = clock
        self._lock = threading.Lock()
        self._state = BreakerState()

    def admit(self) -> bool:
        """Whether a call may be made now; every call that was let through must be reported as ``succeeded``,
        ``failed`` or ``abandoned``.
        """
        with self._lock:
            state = admitted(self._state, self._clock())
            self._state = state or self._state
            return state is not None

    @contextmanager
    def reporting(self, worked: Callable[[BaseException], bool | None]) -> Iterator[None]:
        """Report how a call that was let through ends.

        Args:
            worked: of an exception, whether the other side did its part; None when the exception says nothing of it.
        """
        try:
            yield
        except BaseException as error:
            {True: self.succeeded, False: self.failed, None: self.abandoned}[worked(error)]()
            raise
        self.succeeded()

    def succeeded(self) -> None:
        """A call worked."""
        with self._lock:
            self._state = after_success()

    def failed(self) -> None:
        """A call failed in a way that the next one will fail too."""
        with self._lock:
            self._state = after_failure(self._state, self._policy, self._clock())

    def abandoned(self) -> None:
        """A call ended for a reason that says nothing about the other side."""
        with self._lock:
            self._state = replace(self._state, trying=False)

    @property
    def remaining(self) -> float:
        """Seconds until the next trial; 0 while calls go through."""
        with self._lock:
            until = self._state.open_until
        return 0.0 if until is None else max(0.0, until - self._clock())
