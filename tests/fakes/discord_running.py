"""The real adapter over the real discord.py, connected to the fake Discord."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

from bot.chat.discord_app import DiscordOptions, DiscordPlatform
from bot.chat.discord_outbox import Patience
from bot.chat.discord_views import arguments_of
from tests.fakes.core import FakeCore
from tests.fakes.discord import TOKEN, discord_server
from tests.fakes.discord_world import pings

QUICK = Patience(seconds=8.0, attempt_seconds=2.0, pause_seconds=0.01)


def options_for(fake, **changes):
    given = {"token": TOKEN, "api_url": fake.api_url, "connect_seconds": 10.0, "patience": QUICK}
    return DiscordOptions(**given | changes)


@asynccontextmanager
async def connected(fake, core, **changes):
    """The adapter, connected to a server that is there."""
    platform = DiscordPlatform(options_for(fake, **changes), core)
    try:
        await platform.start()
        yield platform
    finally:
        await platform.stop()


@asynccontextmanager
async def running(core=None, **changes):
    """A server and the adapter in it: (server, core, platform). Nobody may have been called in the end."""
    core = core or FakeCore()
    async with discord_server() as fake, connected(fake, core, **changes) as platform:
        yield fake, core, platform
        await asyncio.sleep(0)
        called = [message["pings"] for message in fake.everything() if message.get("pings")]
        assert not called, called
        unfolded = [message["unfolded"] for message in fake.everything() if message.get("unfolded")]
        assert not unfolded, unfolded


def payload_of(page):
    """A message as it would be sent, for the fake to judge."""
    arguments = arguments_of(page)
    view = arguments.pop("view", None)
    payload = {
        "content": arguments.get("content", ""),
        "embeds": [embed.to_dict() for embed in arguments.get("embeds", ())],
        "components": view.to_components() if view else [],
    }
    assert pings(payload) == [], payload
    return payload
