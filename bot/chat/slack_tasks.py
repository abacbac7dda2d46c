"""Work that goes on after Slack was told that its message arrived."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)

_REMEMBERED = 10_000


class Tasks:
    """Tasks with an owner: none is lost, none fails in silence."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()
        self._seen: OrderedDict[str, None] = OrderedDict()

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Begin work.

        Args:
            work: what is done.
            name: what the log calls it.
        """
        task = asyncio.create_task(work, name=f"slack {name}")
        self._running.add(task)
        task.add_done_callback(self._ended)

    def first(self, delivery: str) -> bool:
        """Whether a click or command is seen for the first time; Slack may deliver one again.

        Questions need no such memory: the core keeps theirs in the database.

        Args:
            delivery: the trigger id; empty when Slack gave none.
        """
        if not delivery:
            return True
        if delivery in self._seen:
            return False
        self._seen[delivery] = None
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return True

    async def finish(self, seconds: float) -> None:
        """Wait for all work, at most some seconds; what is not done then is cancelled."""
        running = set(self._running)
        if not running:
            return
        _, late = await asyncio.wait(running, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("The work on a %s failed", task.get_name(), exc_info=error)
