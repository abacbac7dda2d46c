"""The sign that somebody is typing: one for a channel, however many questions wait there."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

import aiohttp
import discord

logger = logging.getLogger(__name__)

_LASTS_SECONDS = 8.0
"""Discord shows it for ten."""


class Typing:
    """Shows the sign for as long as it is wanted.

    Args:
        client: the connection.
    """

    def __init__(self, client: discord.Client) -> None:
        self._client = client
        self._wanted: Counter[int] = Counter()
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def begin(self, channel: int) -> None:
        """Work begins on a question of a channel."""
        self._wanted[channel] += 1
        if channel not in self._tasks:
            self._tasks[channel] = asyncio.create_task(self._show(channel))

    def end(self, channel: int) -> None:
        """Work on one of them has ended."""
        self._wanted[channel] -= 1
        if self._wanted[channel] <= 0:
            del self._wanted[channel]
            if task := self._tasks.pop(channel, None):
                task.cancel()

    async def close(self) -> None:
        """End it everywhere."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        self._wanted.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _show(self, channel: int) -> None:
        target = self._client.get_partial_messageable(channel)
        while True:
            try:
                await target.typing()
            except (discord.DiscordException, aiohttp.ClientError, OSError, RuntimeError) as error:
                logger.info("Typing cannot be shown in %d: %s", channel, error)
            await asyncio.sleep(_LASTS_SECONDS)
