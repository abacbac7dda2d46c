"""What is wrong with the set-up on Discord is found before anybody asks, with the click that mends it."""

import asyncio
import socket
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from bot.chat.discord_app import DiscordOptions
from bot.chat.discord_check import Level, check, invite_link, needed_permissions
from tests.fakes.discord import discord_server
from tests.fakes.discord_running import options_for
from tests.fakes.discord_world import CREATE_THREADS, EVERYTHING


def checked(prepare=lambda fake: None, channels=lambda fake: [], **changes):
    async def go():
        async with discord_server() as fake:
            prepare(fake)
            return await check(options_for(fake, **changes), channels(fake))

    return asyncio.run(go())


def failures(findings):
    return [finding for finding in findings if finding.level is not Level.OK]


def test_all_is_well():
    findings = checked(channels=lambda fake: [str(fake.general)])
    assert failures(findings) == []
    assert [finding.advice for finding in findings] == [""] * 4
    assert "#general" in findings[-1].text


def test_a_server_that_takes_connections_and_never_answers_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        (finding,) = asyncio.run(check(DiscordOptions("t", api_url=address, connect_seconds=0.2)))
    assert finding.level is Level.FAILED
    assert "no answer within 0.2 s" in finding.text
    assert finding.advice


def test_a_wrong_token():
    (finding,) = checked(token="wrong")
    assert finding.level is Level.FAILED
    assert "Reset Token" in finding.advice


def test_a_missing_intent():
    (finding,) = failures(checked(lambda fake: setattr(fake.gateway, "flags", 0)))
    assert "Message Content Intent" in finding.advice


def test_a_bot_that_anybody_can_invite_is_a_warning():
    (finding,) = failures(checked(lambda fake: setattr(fake.rest, "public", True)))
    assert finding.level is Level.WARNING
    assert "Public Bot" in finding.advice


def test_a_permission_that_is_missing_in_a_channel():
    (finding,) = failures(
        checked(lambda fake: fake.world.deny(fake.general, CREATE_THREADS), lambda fake: [str(fake.general)])
    )
    assert "#general: Create Public Threads" in finding.text
    assert "Edit Channel → Permissions" in finding.advice


def test_a_channel_and_a_server_that_are_out_of_reach():
    channel, server = sorted(failures(checked(channels=lambda _: ["5"], guilds=(7,))), key=lambda one: one.text)[::-1]
    assert "no channel 5" in channel.text
    assert "server 7" in server.text
    assert "https://discord.com/oauth2/authorize" in server.advice


def test_an_unreachable_discord():
    (finding,) = checked(api_url="http://127.0.0.1:9/api")
    assert finding.level is Level.FAILED


def test_the_invitation_asks_for_no_more_than_is_needed():
    query = parse_qs(urlsplit(invite_link(5)).query)
    assert query["client_id"] == ["5"]
    assert query["scope"] == ["bot applications.commands"]
    assert int(query["permissions"][0]) == needed_permissions().value == EVERYTHING


def test_the_guide_has_the_same_invitation():
    guide = (Path(__file__).parents[3] / "docs" / "discord.md").read_text(encoding="utf-8")
    assert invite_link(0).replace("client_id=0", "client_id=APPLICATION_ID") in guide
