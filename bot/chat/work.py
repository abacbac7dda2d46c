"""Blocking work away from the event loop: a bounded pool for the engine, and another for short database calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

_Result = TypeVar("_Result")
_QUICK_THREADS = 4


class Workers:
    """Runs functions in threads. Short calls have threads of their own: they must not wait behind questions.

    Args:
        threads: how many questions are worked on at once; the embedding model uses all cores by itself.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._heavy = ThreadPoolExecutor(threads, "gaplight-work")
        self._quick = ThreadPoolExecutor(_QUICK_THREADS, "gaplight-quick")
        self._pending = 0

    @property
    def waiting(self) -> int:
        """Pieces of work that have to wait for others."""
        return max(0, self._pending - self._threads)

    async def work(self, function: Callable[[], _Result]) -> _Result:
        """Run something that may take long; first come, first served."""
        self._pending += 1
        try:
            return await self._run(self._heavy, function)
        finally:
            self._pending -= 1

    async def quick(self, function: Callable[[], _Result]) -> _Result:
        """Run a short call that may block, such as a database query."""
        return await self._run(self._quick, function)

    async def _run(self, threads: ThreadPoolExecutor, function: Callable[[], _Result]) -> _Result:
        """The caller's context comes along: what is logged in the thread belongs to the same question."""
        context = copy_context()
        return await asyncio.get_running_loop().run_in_executor(threads, lambda: context.run(function))

    def close(self) -> None:
        """Give the threads back; what has not begun is dropped."""
        self._heavy.shutdown(wait=True, cancel_futures=True)
        self._quick.shutdown(wait=True, cancel_futures=True)
