"""Connects to the platforms, lets something be posted, and disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from bot.chat.ports import Platform
from bot.chat.running import RunParts, connect

Result = TypeVar("Result")


async def post_once(parts: RunParts, work: Callable[[], Result]) -> Result:
    """What ``work`` returns, done in a thread while the platforms are connected.

    Who is connected is a replica of the bot, if only for a moment: what arrives meanwhile is answered before the end.

    Args:
        parts: the platforms with what they need.
        work: posts through ``parts.digests``.

    Raises:
        ConfigurationError: a token, scope or intent is missing.
        UnavailableError: a platform cannot be reached.
    """
    connected: list[Platform] = []
    try:
        await connect(parts, connected)
        return await asyncio.to_thread(work)
    finally:
        for platform in connected:
            await platform.stop()
