"""Discord as a platform: connects, and does what the core and the scheduler want posted."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from time import monotonic

import aiohttp
import discord
from aiohttp import web

from bot.chat.api_counts import ApiCounts
from bot.chat.discord_client import DiscordClient, use_api, use_own_gateway
from bot.chat.discord_facts import NAME, Kind, Spot
from bot.chat.discord_layout import Page, card_as_text, card_pages, text_pages
from bot.chat.discord_outbox import EMPTY_MESSAGE, UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, Patience, RefusedError
from bot.chat.discord_place import Target
from bot.chat.messages import Card, Heard
from bot.chat.ports import Core, Place
from store.errors import ConfigurationError, GaplightError, NotFoundError, UnavailableError

logger = logging.getLogger(__name__)

_PORTAL = "Open https://discord.com/developers/applications, choose the application, then Bot → "
REFUSED = "Discord does not accept the bot's token (DISCORD_TOKEN)."
GET_TOKEN = f"{_PORTAL}Reset Token, and put the new token into DISCORD_TOKEN."
MISSING_INTENT = "The bot may not read what is written: its Message Content Intent is off."
GRANT_INTENT = (
    f"{_PORTAL}Privileged Gateway Intents → Message Content Intent: switch it on, save the changes, and start again."
)
_UNREACHABLE = "Check the network, and https://discordstatus.com."
_ALIVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class DiscordOptions:
    """How the bot is connected.

    Attributes:
        token: of the bot.
        api_url: base of the REST interface with its version, which also names the gateway; empty for Discord's own.
        guilds: servers that alone get the commands; empty for all servers and direct messages.
        connect_seconds: how long starting may take.
        patience: how long is waited for what is sent.
    """

    token: str
    api_url: str = ""
    guilds: tuple[int, ...] = ()
    connect_seconds: float = 60.0
    patience: Patience = field(default_factory=Patience)


def has_message_content(flags: discord.ApplicationFlags) -> bool:
    """Whether an application may read what is written; small ones have it by a switch, large ones by permission."""
    return flags.gateway_message_content or flags.gateway_message_content_limited


class DiscordPlatform:
    """A running bot on Discord. Implements :class:`bot.chat.ports.Platform`.

    Args:
        options: how it is connected.
        core: what messages go to.
        counts: told how calls to Discord went.
    """

    name = NAME

    def __init__(self, options: DiscordOptions, core: Core, counts: ApiCounts | None = None) -> None:
        self._options = options
        self._core = core
        self._counts = counts
        self._running: DiscordClient | None = None
        self._connection: asyncio.Task[None] | None = None

    def routes(self) -> tuple[web.RouteDef, ...]:
        """Nothing is delivered over HTTP."""
        return ()

    # Connection

    async def start(self) -> None:
        """See :meth:`bot.chat.ports.Platform.start`."""
        use_api(self._options.api_url)
        client = DiscordClient(self._core, self._options.guilds, self._options.patience, self._counts)
        self._running = client
        try:
            async with asyncio.timeout(self._options.connect_seconds):
                await self._log_in(client)
                self._connection = asyncio.create_task(self._connect(client))
                await self._identified(client, self._connection)
        except BaseException as error:
            await self.stop()
            explained = _explained(error)
            if explained is None:
                raise
            raise explained from error
        self._connection.add_done_callback(_say_lost)

    async def _log_in(self, client: DiscordClient) -> None:
        await client.login(self._options.token)
        assert client.application is not None
        if not has_message_content(client.application.flags):
            raise ConfigurationError(MISSING_INTENT, GRANT_INTENT)
        if self._options.api_url:
            await use_own_gateway(client)

    async def _connect(self, client: DiscordClient) -> None:
        try:
            await client.connect()
        except AttributeError as error:
            if client.ws is not None:
                raise
            # The library can only make a lost connection anew, and trips over a first one that fails.
            raise UnavailableError("Discord's gateway cannot be reached.", _UNREACHABLE) from error

    async def _identified(self, client: DiscordClient, connection: asyncio.Task[None]) -> None:
        waiting = asyncio.create_task(client.identified.wait())
        try:
            await asyncio.wait([waiting, connection], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if connection.done():
            await connection

    async def stop(self) -> None:
        """See :meth:`bot.chat.ports.Platform.stop`."""
        client = self._running
        if client is None:
            return
        client.open = False
        await client.parts.typing.close()
        await client.close()
        if self._connection is not None:
            self._connection.cancel()
            await asyncio.gather(self._connection, return_exceptions=True)

    def healthy(self) -> bool:
        """See :meth:`bot.chat.ports.Platform.healthy`."""
        client = self._running
        return client is not None and not client.is_closed() and monotonic() - client.last_frame < _ALIVE_SECONDS

    # What the core wants

    async def place(self, heard: Heard) -> Place:
        """See :meth:`bot.chat.ports.Platform.place`."""
        parts = self._client.parts
        channel, _, thread = heard.conversation.partition(":")
        spot: Spot | None = None
        if heard.alone:
            spot = Spot(int(channel), Kind.DIRECT, int(channel))
        elif heard.in_thread and thread:
            spot = await parts.spot(int(thread))
        spot = spot or await parts.spot(int(channel)) or Spot(int(channel), Kind.CHANNEL, int(channel))
        by_command = heard.direct and not heard.alone
        message = 0 if by_command else int(heard.message or 0)
        author = int(heard.author.id.removeprefix(f"{NAME}:"))
        return parts.place(Target(spot, message, author, heard.text, heard.in_thread))

    async def post_card(self, channel: str, card: Card, thread: str = "") -> str:
        """See :meth:`bot.chat.ports.Platform.post_card`."""
        outbox = self._client.parts.outbox
        where = _number(thread or channel)
        async with outbox.turn(where):
            pages = card_pages(card)
            try:
                first = await outbox.post(where, pages[0])
            except RefusedError as error:
                if error.code != EMPTY_MESSAGE:
                    raise
                # Without the permission to embed links Discord takes the frames away, and nothing is left.
                pages = card_as_text(card)
                first = await outbox.post(where, pages[0])
            try:
                for page in pages[1:]:
                    await outbox.post(where, page)
            except UnavailableError:
                logger.exception("The rest of a long card could not be posted")
        return str(first)

    async def redraw(self, channel: str, message: str, card: Card) -> None:
        """See :meth:`bot.chat.ports.Platform.redraw`."""
        try:
            await self._change(_number(channel), _number(message), card)
        except RefusedError as error:
            if error.code in {UNKNOWN_CHANNEL, UNKNOWN_MESSAGE}:
                raise NotFoundError(f"The message {message} is gone.") from error
            raise

    async def _change(self, channel: int, message: int, card: Card) -> None:
        outbox = self._client.parts.outbox
        try:
            await outbox.change(channel, message, card_pages(card)[0])
        except RefusedError as error:
            if error.code != EMPTY_MESSAGE:
                raise
            await outbox.change(channel, message, card_as_text(card)[0])

    async def tell(
        self,
        conversation: str,
        text: str,
        mention: str = "",
        *,
        internal: bool = False,  # noqa: ARG002 - nobody from outside reads along on a server
    ) -> str:
        """See :meth:`bot.chat.ports.Platform.tell`."""
        channel, _, below = conversation.partition(":")
        calling, allowed = self._called(mention)
        pages = text_pages(text, calling)
        if below:
            try:
                return await self._say(_number(below), pages, allowed, 0)
            except RefusedError as error:
                logger.info("There is no thread %s: %s", below, error)
        return await self._say(_number(channel), pages, allowed, _number(below) if below else 0)

    async def _say(self, channel: int, pages: tuple[Page, ...], allowed: discord.AllowedMentions, answers: int) -> str:
        outbox = self._client.parts.outbox
        async with outbox.turn(channel):
            first = await outbox.post(channel, pages[0], answers=answers or None, calling=allowed)
            for page in pages[1:]:
                await outbox.post(channel, page)
        return str(first)

    def _called(self, mention: str) -> tuple[str, discord.AllowedMentions]:
        """The words that call people and roles, and the permission to do so."""
        users: list[discord.abc.Snowflake] = []
        roles: list[discord.abc.Snowflake] = []
        words = []
        for number in (int(part) for part in mention.split(",") if part.strip().isdecimal()):
            if self._client.get_guild(number) is not None:
                continue  # the role of all members has the id of its server
            if any(guild.get_role(number) for guild in self._client.guilds):
                roles.append(discord.Object(number))
                words.append(f"<@&{number}>")
            else:
                users.append(discord.Object(number))
                words.append(f"<@{number}>")
        return " ".join(words), discord.AllowedMentions(everyone=False, users=users, roles=roles, replied_user=False)

    @property
    def _client(self) -> DiscordClient:
        if self._running is None:
            raise UnavailableError("The bot is not connected to Discord.")
        return self._running


def _number(identifier: str) -> int:
    if not identifier.isdecimal():
        raise UnavailableError(
            f"{identifier!r} is not the id of a channel or message on Discord.",
            "Switch on developer mode in Discord's settings, right-click the channel, and copy its id.",
        )
    return int(identifier)


def _explained(error: BaseException) -> GaplightError | None:
    """What went wrong while connecting, in our own words; None for what has nothing to do with it."""
    if isinstance(error, discord.LoginFailure):
        return ConfigurationError(REFUSED, GET_TOKEN)
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return ConfigurationError(MISSING_INTENT, GRANT_INTENT)
    if isinstance(error, discord.DiscordException | aiohttp.ClientError | OSError):
        return UnavailableError(f"Discord cannot be reached: {str(error) or type(error).__name__}.", _UNREACHABLE)
    return None


def _say_lost(connection: asyncio.Task[None]) -> None:
    if not connection.cancelled() and (error := connection.exception()):
        logger.error("The connection to Discord has ended for good: %s", error)
