"""What adapters count of their calls: put off, made again, refused, given up."""

from __future__ import annotations

import asyncio

from bot.chat.api_counts import ApiCounts
from bot.chat.discord_app import DiscordPlatform
from bot.chat.messages import Card
from bot.chat.slack_app import SlackPlatform
from store.errors import UnavailableError
from tests.fakes.core import FakeCore
from tests.fakes.discord import discord_server
from tests.fakes.discord_running import options_for as discord_options
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_faults import Fault
from tests.fakes.slack_running import options_for as slack_options

CARD = Card("candidate", "c1", 1, "A source", "For: **VPN**")


async def posted(platform, channel):
    """Whether a card arrived."""
    try:
        await platform.post_card(channel, CARD)
    except UnavailableError:
        return False
    return True


def test_calls_to_slack_are_counted_by_what_became_of_them():
    counts = ApiCounts()

    async def act():
        async with FakeSlack() as slack:
            platform = SlackPlatform(slack_options(slack), FakeCore(), counts)
            await platform.start()
            try:
                slack.faults.plan("chat.postMessage", Fault("429", 0.01), Fault("500"))
                first = await posted(platform, "C1")
                slack.faults.plan("chat.postMessage", Fault("429", 3600))
                return first, await posted(platform, "C1"), await posted(platform, "C_NOWHERE")
            finally:
                await platform.stop()

    assert asyncio.run(act()) == (True, False, False)
    assert (counts.limited, counts.retried, counts.given_up) == (1, 1, 1)
    assert counts.refused >= 1


def test_calls_to_discord_are_counted_by_what_became_of_them():
    counts = ApiCounts()

    async def act():
        async with discord_server() as fake:
            platform = DiscordPlatform(discord_options(fake), FakeCore(), counts)
            await platform.start()
            try:
                fake.faults.plan("drop", "/messages$", times=1)
                first = await posted(platform, str(fake.general))
                return first, counts.refused, await posted(platform, "5")
            finally:
                await platform.stop()

    first, refused_before, elsewhere = asyncio.run(act())
    assert (first, refused_before, elsewhere) == (True, 0, False)
    assert (counts.retried, counts.limited, counts.given_up) == (1, 0, 0)
    assert counts.refused == 1
