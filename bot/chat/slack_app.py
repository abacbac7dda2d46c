"""Slack: what arrives over Bolt goes to the shared core, and what the core says goes back."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import aiohttp
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.api_counts import ApiCounts
from bot.chat.messages import Card, Heard
from bot.chat.ports import Core, Place
from bot.chat.slack_blocks import card_posts, text_posts
from bot.chat.slack_bolt import build_app
from bot.chat.slack_calls import CallOptions, RefusedError, SlackCalls
from bot.chat.slack_events import NAME, Own, is_personal
from bot.chat.slack_http import Door
from bot.chat.slack_listening import Parts
from bot.chat.slack_lookup import Lookup
from bot.chat.slack_messages import Messages, Spot
from bot.chat.slack_socket import SocketLink, SocketOptions
from bot.chat.slack_tasks import Tasks
from store.errors import ConfigurationError, UnavailableError, UsageError

logger = logging.getLogger(__name__)

PATH = "/slack/events"
"""Where Slack delivers in HTTP mode."""
INSTALL_STEPS = (
    "On https://api.slack.com/apps choose the app, then OAuth & Permissions › Install to Workspace, and set the "
    "Bot User OAuth Token as SLACK_BOT_TOKEN."
)
_NOT_STARTED = "Slack is not connected."


@dataclass(frozen=True, slots=True)
class SlackOptions:
    """How Slack is reached.

    Attributes:
        bot_token: starts with ``xoxb-``.
        app_token: starts with ``xapp-``; for Socket Mode.
        signing_secret: for HTTP mode.
        api_url: base of the Web API.
        mode: how deliveries come: over a connection that we open, or over HTTP to :data:`PATH`.
        answer_outsiders: people from other organisations may read answers.
        calls, socket: patience and watching.
        request_seconds: after which a call counts as unanswered.
        stop_seconds: how long work in flight is waited for at the end.
    """

    bot_token: str = field(repr=False)
    app_token: str = field(default="", repr=False)
    signing_secret: str = field(default="", repr=False)
    api_url: str = "https://slack.com/api/"
    mode: Literal["socket", "http"] = "socket"
    answer_outsiders: bool = False
    calls: CallOptions = field(default_factory=CallOptions)
    socket: SocketOptions = field(default_factory=SocketOptions)
    request_seconds: float = 30.0
    stop_seconds: float = 10.0


class SlackPlatform:
    """The adapter. Implements :class:`bot.chat.ports.Platform`.

    Args:
        options: how Slack is reached.
        core: decides what is done.
        counts: told how calls to Slack went.

    Raises:
        ConfigurationError: the token or secret that the mode needs is missing.
    """

    name = NAME

    def __init__(self, options: SlackOptions, core: Core, counts: ApiCounts | None = None) -> None:
        if options.mode == "socket" and not options.app_token:
            raise ConfigurationError("Socket Mode needs SLACK_APP_TOKEN.", "docs/slack.md says where to find it.")
        if options.mode == "http" and not options.signing_secret.strip():
            raise ConfigurationError("HTTP mode needs SLACK_SIGNING_SECRET.", "docs/slack.md says where to find it.")
        self._options = options
        self._core = core
        self._counts = counts
        self._tasks = Tasks()
        self._session: aiohttp.ClientSession | None = None
        self._parts: Parts | None = None
        self._door: Door | None = None
        self._socket: SocketLink | None = None
        self._stopping = False

    async def start(self) -> None:
        """See :meth:`bot.chat.ports.Platform.start`."""
        timeout = aiohttp.ClientTimeout(total=self._options.request_seconds)
        self._session = aiohttp.ClientSession(timeout=timeout)
        try:
            await self._connect(self._session)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """See :meth:`bot.chat.ports.Platform.stop`."""
        self._stopping = True
        if self._socket is not None:
            await self._socket.stop()
        await self._tasks.finish(self._options.stop_seconds)
        if self._session is not None:
            await self._session.close()

    def healthy(self) -> bool:
        """See :meth:`bot.chat.ports.Platform.healthy`. Over HTTP Slack comes to us: ready is all that can be known."""
        if self._options.mode == "http":
            return self._takes_deliveries()
        return self._socket is not None and self._socket.healthy()

    def routes(self) -> Sequence[web.RouteDef]:
        """What is served over HTTP; nothing in Socket Mode."""
        return [web.post(PATH, self._enter)] if self._options.mode == "http" else []

    async def place(self, heard: Heard) -> Place:
        """See :meth:`bot.chat.ports.Platform.place`."""
        parts = self._running()
        return parts.place(heard, await parts.lookup.channel(heard.channel), again=True)

    async def post_card(self, channel: str, card: Card, thread: str = "") -> str:
        """See :meth:`bot.chat.ports.Platform.post_card`; what does not fit on the card follows in its thread."""
        messages = self._running().messages
        first, *more = card_posts(card)
        message, *plain = await messages.post(Spot(channel, thread), first)
        for post in more:
            await messages.post(Spot(channel, thread or message), post)
        if plain:
            logger.warning("A card in %s had to be posted as %d plain messages", channel, len(plain) + 1)
        return message

    async def redraw(self, channel: str, message: str, card: Card) -> None:
        """See :meth:`bot.chat.ports.Platform.redraw`."""
        await self._running().messages.change(channel, message, card_posts(card)[0])

    async def tell(self, conversation: str, text: str, mention: str = "", *, internal: bool = False) -> str:
        """See :meth:`bot.chat.ports.Platform.tell`; the id of the first message.

        What only one person saw stays between the two: it is told in their direct messages.
        """
        parts = self._running()
        channel, _, thread = conversation.partition(":")
        spot = Spot(await parts.lookup.direct_channel(thread)) if is_personal(thread) else Spot(channel, thread)
        if internal and parts.hides_answers(await parts.lookup.channel(spot.channel)):
            if not is_personal(mention) or "," in mention:
                raise UsageError("People from other organisations read this channel.", "Share it elsewhere.")
            spot = Spot(await parts.lookup.direct_channel(mention))
        ids = [one for post in text_posts(text, _calling(mention)) for one in await parts.messages.post(spot, post)]
        return ids[0]

    async def _connect(self, session: aiohttp.ClientSession) -> None:
        client = _client(self._options, session)
        calls = SlackCalls(client, self._options.calls, self._counts)
        own = await _own(calls)
        messages, lookup = Messages(calls), Lookup(calls, own)
        self._parts = Parts(self._core, own, messages, lookup, self._options.answer_outsiders)
        app = build_app(self._parts, self._tasks, self._options.bot_token, client, self._takes_deliveries)
        if self._options.mode == "http":
            self._door = Door(app, self._options.signing_secret, self._takes_deliveries)
            return
        self._socket = SocketLink(app, self._options.app_token, calls, client, self._options.socket)
        await self._socket.start()

    def _takes_deliveries(self) -> bool:
        """What comes while we stop is left to whoever Slack delivers it to next."""
        return not self._stopping and not self._core.closing and self._parts is not None

    async def _enter(self, request: web.Request) -> web.Response:
        if self._door is None:
            return web.json_response({"error": "not ready"}, status=503)
        return await self._door.enter(request)

    def _running(self) -> Parts:
        if self._parts is None:
            raise UnavailableError(_NOT_STARTED, "")
        return self._parts


def _client(options: SlackOptions, session: aiohttp.ClientSession) -> AsyncWebClient:
    sdk = logging.getLogger("gaplight.slack.sdk")
    # The SDK logs what people wrote at DEBUG, which no log of ours may hold.
    sdk.setLevel(logging.INFO)
    return AsyncWebClient(
        options.bot_token,
        base_url=options.api_url,
        session=session,
        logger=sdk,
        retry_handlers=[],
    )


async def _own(calls: SlackCalls) -> Own:
    try:
        found = await calls.once("auth.test")
    except RefusedError as error:
        raise ConfigurationError(f"Slack does not take SLACK_BOT_TOKEN ({error.code}).", INSTALL_STEPS) from error
    user, bot, team, enterprise = (
        str(found.get(key) or "") for key in ("user_id", "bot_id", "team_id", "enterprise_id")
    )
    if not bot:
        raise ConfigurationError("SLACK_BOT_TOKEN belongs to a person, not to a bot.", INSTALL_STEPS)
    return Own(user, bot, team, enterprise)


def _calling(mention: str) -> str:
    """Tokens that call people and user groups, from their raw ids."""
    ids = [one.strip().removeprefix(f"{NAME}:") for one in mention.split(",")]
    return " ".join(
        f"<!subteam^{one}>" if one.startswith("S") else f"<@{one}>"
        for one in ids
        if one.isalnum() and one.isascii() and one.startswith(("S", "U", "W"))
    )
