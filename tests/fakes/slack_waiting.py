"""Waiting for what happens in the background."""

import asyncio


async def until(condition, seconds=15):
    """Wait until a condition holds; what it gave."""
    async with asyncio.timeout(seconds):
        while not (found := condition()):  # noqa: ASYNC110 - conditions look at anything, nobody announces it
            await asyncio.sleep(0.005)
    return found
