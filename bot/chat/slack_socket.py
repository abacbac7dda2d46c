"""Socket Mode: a connection that is watched, and built anew when it looks alive but is not."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from dataclasses import dataclass

from aiohttp import WSMessage, WSMsgType
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.slack_calls import RefusedError, SlackCalls
from store.errors import ConfigurationError, UnavailableError

logger = logging.getLogger(__name__)

SOCKET_STEPS = (
    "On https://api.slack.com/apps choose the app, then Basic Information › App-Level Tokens › Generate Token and "
    "Scopes, add the scope connections:write, and set the token as SLACK_APP_TOKEN."
)
_CLOSING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class SocketOptions:
    """How the connection is watched, in seconds.

    Attributes:
        ping: between two pings.
        lost: without a sign of life after which the connection counts as lost.
        rebuild: without a sign of life after which it is built anew; the SDK's own attempts come before.
        connect: for building it.
        longest_pause: between two attempts; they start at ``ping`` and grow.
    """

    ping: float = 10.0
    lost: float = 60.0
    rebuild: float = 45.0
    connect: float = 30.0
    longest_pause: float = 60.0


class SocketLink:
    """The connection to Slack.

    Args:
        app: handles what arrives.
        app_token: starts with ``xapp-``.
        calls: for asking where to connect.
        client: the web client that the SDK uses when it connects again.
        options: how the connection is watched.
    """

    def __init__(
        self, app: AsyncApp, app_token: str, calls: SlackCalls, client: AsyncWebClient, options: SocketOptions
    ) -> None:
        self._app = app
        self._token = app_token
        self._calls = calls
        self._client = client
        self._options = options
        self._handler: AsyncSocketModeHandler | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._last_sign = 0.0
        self._last_pong: float | None = None
        self._greeted = False

    async def start(self) -> None:
        """Connect.

        Raises:
            ConfigurationError: the token is wrong.
            UnavailableError: Slack cannot be reached.
        """
        await self._build()
        self._watcher = asyncio.create_task(self._watch(), name="slack socket watch")

    async def stop(self) -> None:
        """Disconnect."""
        if self._watcher is not None:
            self._watcher.cancel()
            with suppress(asyncio.CancelledError):
                await self._watcher
        await self._close()

    def healthy(self) -> bool:
        """Whether there was a sign of life lately."""
        return self._handler is not None and _now() - self._last_sign < self._options.lost

    async def _build(self) -> None:
        url = await self._address()
        handler = AsyncSocketModeHandler(
            self._app, self._token, web_client=self._client, ping_interval=self._options.ping, logger=self._app.logger
        )
        handler.client.wss_uri = url
        handler.client.on_message_listeners.append(self._signed)
        self._handler = handler
        self._last_pong = None
        try:
            # The SDK tries one address for ever; each address is good for one attempt.
            async with asyncio.timeout(self._options.connect):
                await handler.client.connect()  # type: ignore[no-untyped-call]
        except TimeoutError as error:
            await self._close()
            raise UnavailableError("The connection to Slack was not established in time.", "Try again.") from error
        self._last_sign = _now()

    async def _address(self) -> str:
        try:
            opened = await self._calls.once("apps.connections.open", token=self._token)
        except RefusedError as error:
            raise ConfigurationError(f"Slack does not take SLACK_APP_TOKEN ({error.code}).", SOCKET_STEPS) from error
        return str(opened["url"])

    async def _signed(self, message: WSMessage) -> None:
        self._last_sign = _now()
        if not self._greeted and message.type is WSMsgType.TEXT:
            self._greeted = True
            if warning := crowd(str(message.data)):
                logger.warning(warning)

    async def _watch(self) -> None:
        pause = self._options.ping
        while True:
            await asyncio.sleep(pause)
            self._look_for_pong()
            if _now() - self._last_sign < self._options.rebuild:
                pause = self._options.ping
                continue
            logger.warning("No sign of life from Slack for %.0f seconds; connecting anew", _now() - self._last_sign)
            await self._close()
            try:
                await self._build()
            except (ConfigurationError, UnavailableError) as error:
                pause = min(pause * 2, self._options.longest_pause)
                logger.warning("%s Trying again in %.0f seconds", error, pause)
            except Exception:
                pause = min(pause * 2, self._options.longest_pause)
                logger.exception("Connecting to Slack failed; trying again in %.0f seconds", pause)

    def _look_for_pong(self) -> None:
        """The SDK notes the time of each ping that was answered, but also sets it by itself where none was."""
        pong = self._handler.client.last_ping_pong_time if self._handler else None
        if pong is not None and self._last_pong is not None and pong != self._last_pong:
            self._last_sign = _now()
        self._last_pong = pong

    async def _close(self) -> None:
        handler, self._handler = self._handler, None
        if handler is None:
            return
        try:
            async with asyncio.timeout(_CLOSING_SECONDS):
                await handler.client.close()  # type: ignore[no-untyped-call]
        except Exception as error:  # noqa: BLE001 - a broken connection may fail to close in any way
            logger.info("A connection to Slack did not close cleanly: %s", error)


def crowd(greeting: str) -> str:
    """What to say of other connections, if the first message of a new one tells of any.

    Slack hands every event to one of the connections that an app token has open, whoever opened them. Later greetings
    tell nothing: while a connection is renewed, the former one still counts.
    """
    try:
        told = json.loads(greeting)
        connections = int(told["num_connections"]) if told["type"] == "hello" else 1
    except (ValueError, TypeError, KeyError):
        return ""
    if connections < 2:  # noqa: PLR2004 - one is ours
        return ""
    return (
        f"Slack counts {connections} open connections with this SLACK_APP_TOKEN and deals events out among them. That "
        "is right for several bots on one database. Any other process with this token, such as a forgotten test "
        "instance, takes questions away from this one: stop it, or give it an app of its own."
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
