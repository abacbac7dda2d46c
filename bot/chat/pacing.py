"""How often something may happen within a while: sliding windows, kept in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

_CLEAN_UP_ABOVE = 10_000
_LONGEST = 3600.0


class Pace:
    """Counts events by key.

    Args:
        clock: seconds that only ever grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._times: dict[str, deque[float]] = {}

    def allows(self, key: str, limit: int, seconds: float) -> bool:
        """Count one more event, if fewer than ``limit`` happened within the last ``seconds`` (at most an hour)."""
        now = self._clock()
        times = self._times.setdefault(key, deque())
        while times and times[0] <= now - seconds:
            times.popleft()
        if len(times) >= limit:
            return False
        times.append(now)
        if len(self._times) > _CLEAN_UP_ABOVE:
            self._times = {name: kept for name, kept in self._times.items() if kept and kept[-1] > now - _LONGEST}
        return True
