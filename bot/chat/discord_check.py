"""What ``gaplight doctor`` looks at on Discord: each finding says the click that mends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import aiohttp
import discord

from bot.chat.discord_app import (
    GET_TOKEN,
    GRANT_INTENT,
    MISSING_INTENT,
    REFUSED,
    DiscordOptions,
    has_message_content,
)
from bot.chat.discord_client import use_api

_NEEDED = {
    "view_channel": "View Channel",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "create_public_threads": "Create Public Threads",
    "read_message_history": "Read Message History",
    "embed_links": "Embed Links",
}
_UNREACHABLE = "Check the network and the proxy."
_SETTINGS = "Open https://discord.com/developers/applications, choose the application, then"


class Level(StrEnum):
    """How serious a finding is."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DiscordFinding:
    """What was found; ``advice`` is the step that mends it, empty when all is well."""

    level: Level
    text: str
    advice: str = ""


def needed_permissions() -> discord.Permissions:
    """The least with which the bot can answer."""
    return discord.Permissions(**dict.fromkeys(_NEEDED, True))


def invite_link(application_id: int) -> str:
    """The address that takes the bot to a server, with the least permissions."""
    return discord.utils.oauth_url(
        application_id, permissions=needed_permissions(), scopes=("bot", "applications.commands")
    )


async def check(options: DiscordOptions, channels: Sequence[str] = ()) -> list[DiscordFinding]:
    """Look at token, intents, servers and channels without connecting to the gateway. Never raises for what it finds.

    Args:
        options: how the bot is connected.
        channels: ids of the channels that the settings name.
    """
    use_api(options.api_url)
    client = discord.Client(intents=discord.Intents(guilds=True), max_ratelimit_timeout=30.0)
    try:
        async with asyncio.timeout(options.connect_seconds):
            await client.login(options.token)
            return [*_application(client), *await _servers(client, options.guilds, channels)]
    except discord.LoginFailure:
        return [DiscordFinding(Level.FAILED, REFUSED, GET_TOKEN)]
    except TimeoutError:
        text = f"Discord gave no answer within {options.connect_seconds:g} s."
        return [DiscordFinding(Level.FAILED, text, _UNREACHABLE)]
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        reason = str(error) or type(error).__name__
        return [DiscordFinding(Level.FAILED, f"Discord cannot be asked: {reason}.", _UNREACHABLE)]
    finally:
        await client.close()


def _application(client: discord.Client) -> list[DiscordFinding]:
    application = client.application
    assert application is not None
    findings = [DiscordFinding(Level.OK, f"The token belongs to the application {application.name}.")]
    if has_message_content(application.flags):
        findings.append(DiscordFinding(Level.OK, "The Message Content Intent is on."))
    else:
        findings.append(DiscordFinding(Level.FAILED, MISSING_INTENT, GRANT_INTENT))
    if application.interactions_endpoint_url:
        findings.append(
            DiscordFinding(
                Level.FAILED,
                f"Commands and clicks go to {application.interactions_endpoint_url}, not to the bot.",
                f"{_SETTINGS} General Information → Interactions Endpoint URL: empty it and save.",
            )
        )
    if application.bot_public:
        findings.append(
            DiscordFinding(
                Level.WARNING,
                "Anybody can take the bot to a server of their own, and its members could ask it there.",
                f"{_SETTINGS} Bot → Public Bot: switch it off (Installation → Install Link has to be None).",
            )
        )
    return findings


async def _servers(client: discord.Client, wanted: Iterable[int], channels: Sequence[str]) -> list[DiscordFinding]:
    link = invite_link(client.application_id or 0)
    guilds = {guild.id: guild async for guild in client.fetch_guilds(limit=200)}
    findings = [
        DiscordFinding(Level.FAILED, f"The bot is not on the server {guild} (discord.guilds).", f"Invite it: {link}")
        for guild in wanted
        if guild not in guilds
    ]
    if not guilds:
        return [*findings, DiscordFinding(Level.FAILED, "The bot is on no server.", f"Invite it: {link}")]
    names = ", ".join(sorted(guild.name for guild in guilds.values()))
    findings.append(DiscordFinding(Level.OK, f"The bot is on: {names}."))
    return [*findings, *await _channels(client, list(guilds), channels)]


async def _channels(client: discord.Client, guilds: Sequence[int], wanted: Sequence[str]) -> list[DiscordFinding]:
    missing = dict.fromkeys(wanted)
    findings = []
    for guild_id in guilds:
        if not missing:
            break
        guild = await client.fetch_guild(guild_id)
        me = await guild.fetch_member(client.user.id if client.user else 0)
        for channel in await guild.fetch_channels():
            if str(channel.id) in missing:
                del missing[str(channel.id)]
                findings.append(_channel(channel, me))
    advice = "Copy the id again (developer mode, right-click the channel), and give the bot access to the channel."
    return [
        *findings,
        *(DiscordFinding(Level.FAILED, f"There is no channel {one} in reach.", advice) for one in missing),
    ]


def _channel(channel: discord.abc.GuildChannel, me: discord.Member) -> DiscordFinding:
    granted = channel.permissions_for(me)
    lacking = [words for name, words in _NEEDED.items() if not getattr(granted, name)]
    if not lacking:
        return DiscordFinding(Level.OK, f"The bot may do all that it needs in #{channel.name}.")
    return DiscordFinding(
        Level.FAILED,
        f"The bot lacks permissions in #{channel.name}: {', '.join(lacking)}.",
        f"In #{channel.name}: Edit Channel → Permissions → Advanced → add the bot's role, and allow them.",
    )
