"""Connecting to Discord: what is missing is named with the click that mends it, and a lost connection comes back."""

import asyncio

import pytest

from bot.chat.discord_app import DiscordPlatform
from bot.chat.discord_client import wanted_intents
from store.errors import ConfigurationError, UnavailableError
from tests.fakes.core import FakeCore
from tests.fakes.discord import discord_server
from tests.fakes.discord_running import connected, options_for, running


def starting_fails(error, prepare=lambda fake: None, **changes):
    async def go():
        async with discord_server() as fake:
            prepare(fake)
            platform = DiscordPlatform(options_for(fake, **changes), FakeCore())
            with pytest.raises(error) as raised:
                await platform.start()
            assert not platform.healthy()
            return str(raised.value)

    return asyncio.run(go())


def test_a_wrong_token_is_named_with_the_page_that_gives_a_new_one():
    said = starting_fails(ConfigurationError, token="wrong")
    assert "DISCORD_TOKEN" in said
    assert "Bot → Reset Token" in said


def test_a_missing_intent_is_named_with_its_switch():
    def switch_off(fake):
        fake.gateway.flags = 0

    assert "Privileged Gateway Intents → Message Content Intent" in starting_fails(ConfigurationError, switch_off)


def test_an_intent_that_only_the_gateway_refuses_is_named_with_its_switch():
    def withhold(fake):
        fake.gateway.withholds_content = True

    assert "Message Content Intent" in starting_fails(ConfigurationError, withhold)


def test_an_unreachable_discord_is_said():
    said = starting_fails(UnavailableError, api_url="http://127.0.0.1:9/api")
    assert "cannot be reached" in said


def test_a_gateway_that_never_answers_is_not_waited_for_without_end():
    def deaf(fake):
        fake.gateway.url = fake.api_url.replace("http", "ws").replace("/api", "/nowhere")

    starting_fails(UnavailableError, deaf, connect_seconds=0.5)


def test_no_more_is_asked_for_than_is_needed():
    granted = {name for name, so in wanted_intents() if so}
    assert granted == {
        "guilds",
        "guild_messages",
        "dm_messages",
        "message_content",
        "guild_reactions",
        "dm_reactions",
    }


def test_commands_are_registered_once_however_often_the_connection_is_made_anew():
    async def go():
        async with running() as (fake, core, platform):
            client = platform._client
            for count in range(1, 3):
                await fake.gateway.ask_to_reconnect()
                await fake.until(lambda count=count: fake.gateway.resumed == count, "a resumption")
            for _ in range(3):
                client.dispatch("ready")
                client.dispatch("connect")
            await fake.mention(fake.person(), fake.general, "once?")
            await fake.until(lambda: core.delivered)
            await fake.quiet()
            assert len(core.delivered) == 1
            assert fake.rest.synced == [(None, ["ask", "gaplight", "Ask Gaplight about this", "This is the answer"])]

    asyncio.run(go())


def test_commands_can_be_given_to_chosen_servers_alone():
    async def go():
        async with discord_server() as fake, connected(fake, FakeCore(), guilds=(fake.world.guild_id,)):
            assert [(guild, len(names)) for guild, names in fake.rest.synced] == [
                (str(fake.world.guild_id), 4),
                (None, 0),
            ]

    asyncio.run(go())


def test_a_server_that_refuses_the_commands_does_not_stop_the_bot():
    async def go():
        async with discord_server() as fake:
            core = FakeCore()
            async with connected(fake, core, guilds=(5,)) as platform:
                assert platform.healthy()
                await fake.mention(fake.person(), fake.general, "still there?")
                await fake.until(lambda: core.delivered)

    asyncio.run(go())


@pytest.mark.parametrize("lost", ["dropped", "asked to reconnect", "session forgotten"])
def test_what_was_written_while_the_connection_was_lost_is_answered_once(lost):
    async def go():
        async with running() as (fake, core, platform):
            ann = fake.person()
            await fake.mention(ann, fake.general, "before?")
            await fake.until(lambda: len(core.delivered) == 1)
            if lost == "session forgotten":
                platform._client._connection.hooks.clear()  # the library waits five seconds before it identifies anew
                fake.gateway.forget_sessions()
            before = fake.gateway.resumed + fake.gateway.identified
            if lost == "asked to reconnect":
                await fake.gateway.ask_to_reconnect()
            else:
                await fake.gateway.drop()
            if lost != "session forgotten":
                await fake.mention(ann, fake.general, "meanwhile?")
            await fake.until(lambda: fake.gateway.resumed + fake.gateway.identified > before, "a new connection")
            await fake.mention(ann, fake.general, "after?")
            expected = 2 if lost == "session forgotten" else 3
            await fake.until(lambda: len(core.delivered) == expected, "answers")
            await fake.quiet()
            assert len(core.delivered) == expected
            assert platform.healthy()

    asyncio.run(go())


def test_health_is_told_by_the_last_sign_of_life():
    async def go():
        async with running() as (fake, _, platform):
            assert platform.healthy()
            platform._client.last_frame -= 61
            assert not platform.healthy()
            await fake.say(fake.person(), fake.general, "a sign of life")
            await fake.until(platform.healthy)
        assert platform.routes() == ()

    asyncio.run(go())


def test_the_connection_is_kept_alive():
    async def go():
        async with discord_server() as fake:
            fake.gateway.heartbeat_ms = 50
            async with connected(fake, FakeCore()) as platform:
                await fake.until(lambda: fake.gateway.heartbeats > 3, "heartbeats")
                assert platform.healthy()

    asyncio.run(go())


def test_nothing_is_taken_in_once_it_stops_and_stopping_twice_is_fine():
    async def go():
        async with running() as (fake, core, platform):
            await platform.stop()
            await fake.mention(fake.person(), fake.general, "too late?")
            await platform.stop()
            await fake.quiet()
            assert core.heard == []
        never = DiscordPlatform(options_for(fake), FakeCore())
        await never.stop()
        with pytest.raises(UnavailableError):
            await never.tell("1:2", "words")

    asyncio.run(go())


def test_heavy_work_elsewhere_does_not_hold_up_the_connection():
    async def go():
        import time

        core = FakeCore()

        async def slow(_heard):
            await asyncio.to_thread(time.sleep, 1.0)

        core.before_answer = slow
        async with discord_server() as fake:
            fake.gateway.heartbeat_ms = 50
            async with connected(fake, core):
                await fake.mention(fake.person(), fake.general, "slow?")
                await fake.until(lambda: core.heard)
                before = fake.gateway.heartbeats
                await fake.until(lambda: core.delivered)
                assert fake.gateway.heartbeats > before + 2

    asyncio.run(go())
