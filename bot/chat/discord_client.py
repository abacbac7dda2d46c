"""The connection to Discord: which events are wanted, and where each of them goes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from time import monotonic
from typing import Any

import aiohttp
import discord
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

from bot.chat.api_counts import ApiCounts
from bot.chat.discord_commands import register
from bot.chat.discord_interactions import Interactions
from bot.chat.discord_listening import Listener
from bot.chat.discord_outbox import LONGEST_LIMIT, Outbox, Patience
from bot.chat.discord_parts import Parts
from bot.chat.discord_people import People
from bot.chat.discord_typing import Typing
from bot.chat.discord_views import PressButton
from bot.chat.ports import Core

logger = logging.getLogger(__name__)

# Nobody speaks here: that the parts for voice are not installed is no news.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False

_API = "https://discord.com/api/v10"
_GATEWAY = URL("wss://gateway.discord.gg/")


def wanted_intents() -> discord.Intents:
    """The least that is needed: what is written on servers and to us, and reactions."""
    intents = discord.Intents.none()
    intents.guilds = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = True
    intents.guild_reactions = True
    intents.dm_reactions = True
    return intents


class DiscordClient(discord.Client):
    """One bot's connection. Nobody is called by anything that it sends, unless a message says whom.

    Args:
        core: what events go to.
        guilds: servers that alone are served and get the commands; empty for all.
        patience: how long is waited for what is sent.
        counts: told how calls to Discord went.
    """

    def __init__(self, core: Core, guilds: Sequence[int], patience: Patience, counts: ApiCounts | None = None) -> None:
        super().__init__(
            intents=wanted_intents(),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_ratelimit_timeout=LONGEST_LIMIT,
            # Every frame of the connection is then reported, which tells that it is alive.
            enable_debug_events=True,
        )
        self._guilds_with_commands = tuple(guilds)
        outbox = Outbox(self, patience, counts)
        self.parts = Parts(self, core, outbox, People(self, outbox, guilds), Typing(self))
        self._listener = Listener(self.parts)
        self._interactions = Interactions(self.parts)
        self._tree = app_commands.CommandTree[discord.Client](self)
        self.open = True
        """Whether events are taken in."""
        self.identified = asyncio.Event()
        self.last_frame = float("-inf")
        """When the connection was last alive, in seconds of the monotonic clock."""

    async def setup_hook(self) -> None:
        """Runs once, however often the connection is made anew."""
        self.add_dynamic_items(PressButton)
        register(self._tree, self._interactions)
        await self._sync_commands()

    async def _sync_commands(self) -> None:
        """Tell Discord which commands there are; answers to messages do not depend on it."""
        guilds: list[discord.Object | None] = [discord.Object(guild) for guild in self._guilds_with_commands]
        for guild in guilds:
            if guild is not None:
                self._tree.copy_global_to(guild=guild)
        if guilds:
            # Commands of a server and of all servers would be shown beside each other.
            self._tree.clear_commands(guild=None)
        for guild in (*guilds, None):
            try:
                await self._tree.sync(guild=guild)
            except (discord.DiscordException, aiohttp.ClientError, OSError):
                logger.exception("The commands could not be registered with %s", guild.id if guild else "Discord")

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Pass an event on; frames that keep the connection alive end here."""
        match event:
            case "socket_raw_receive":
                self.last_frame = monotonic()
                return
            case "socket_raw_send":
                return
            case "connect" | "resumed":
                self.identified.set()
        super().dispatch(event, *args, **kwargs)

    async def on_message(self, message: discord.Message) -> None:
        """Somebody wrote something."""
        if self.open:
            await self._listener.message(message)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """A message is gone."""
        await self._listener.deleted(payload.channel_id, {payload.message_id})

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Many messages are gone."""
        await self._listener.deleted(payload.channel_id, payload.message_ids)

    async def on_raw_reaction_add(self, payload: discord.RawReactionActionEvent) -> None:
        """Somebody reacted."""
        if self.open:
            await self._listener.reacted(payload, added=True)

    async def on_raw_reaction_remove(self, payload: discord.RawReactionActionEvent) -> None:
        """Somebody took a reaction away."""
        if self.open:
            await self._listener.reacted(payload, added=False)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Forms are recognised by what they carry: the process that opened one may be gone."""
        if self.open and interaction.type is discord.InteractionType.modal_submit:
            await self._interactions.sent_form(interaction)

    async def pressed(self, interaction: discord.Interaction, verb: str, subject: str) -> None:
        """Somebody pressed one of our buttons."""
        if self.open:
            await self._interactions.press(interaction, verb, subject)


def use_api(url: str) -> None:
    """Have the library talk to another address than Discord's; empty for Discord's. Holds for the whole process."""
    Route.BASE = url.rstrip("/") or _API
    DiscordWebSocket.DEFAULT_GATEWAY = _GATEWAY


async def use_own_gateway(client: discord.Client) -> None:
    """Ask the address in use for its gateway, and connect there.

    Raises:
        discord.GatewayNotFound: it does not say.
    """
    _, url, _ = await client.http.get_bot_gateway()
    DiscordWebSocket.DEFAULT_GATEWAY = URL(url)
