"""Calls to Discord that arrive once: waits where it is told to, tries again what can heal, and says what cannot.

discord.py itself waits for rate limits and repeats after some server errors. What is added here: an end to waiting,
lost connections and calls that hang, and a mark on every message by which Discord knows a repetition.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import aiohttp
import discord

from bot.chat.api_counts import ApiCounts
from bot.chat.discord_layout import Page
from bot.chat.discord_views import arguments_of, embeds_of, view_of
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

LONGEST_LIMIT = 30.0
"""Seconds of a rate limit that discord.py waits for by itself; the least that it can be told."""
_THREAD_SECONDS = 20.0
"""An answer in the channel is better than a thread that takes longer."""
_LONGEST_PAUSE = 15.0
_TOO_MANY, _SERVER_ERROR = 429, 500
_Result = TypeVar("_Result")

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION = 10003, 10008, 10015, 10062
ALREADY_ACKNOWLEDGED, EMPTY_MESSAGE, INVALID_FORM, TOKEN_DEAD = 40060, 50006, 50035, 50027
NO_HISTORY, THREAD_EXISTS = 160002, 160004


class RefusedError(UnavailableError):
    """Discord said no, and will say so again.

    Args:
        what: what was tried.
        error: Discord's answer.
    """

    def __init__(self, what: str, error: discord.HTTPException) -> None:
        super().__init__(f"Discord did not allow it to {what}: {error.text or error.status} (code {error.code}).")
        self.code = error.code
        self.status = error.status


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited.

    Attributes:
        seconds: for one message altogether.
        attempt_seconds: for one call; longer than what discord.py waits for a rate limit.
        pause_seconds: before the first repetition; later ones wait longer.
    """

    seconds: float = 240.0
    attempt_seconds: float = 45.0
    pause_seconds: float = 0.5


class Outbox:
    """Everything that is sent.

    Args:
        client: the connection.
        patience: how long is waited.
        counts: told how calls went.
    """

    def __init__(self, client: discord.Client, patience: Patience, counts: ApiCounts | None = None) -> None:
        self._client = client
        self._counts = counts or ApiCounts()
        self._patience = patience
        self._turns: weakref.WeakValueDictionary[int, asyncio.Lock] = weakref.WeakValueDictionary()

    def turn(self, channel: int) -> asyncio.Lock:
        """To be held for calls that Discord takes one after the other: the parts of an answer then stay together, and
        nobody's patience is used up by waiting behind others.
        """
        lock = self._turns.get(channel)
        if lock is None:
            lock = self._turns[channel] = asyncio.Lock()
        return lock

    async def call(
        self, what: str, function: Callable[[], Awaitable[_Result]], seconds: float | None = None
    ) -> _Result:
        """Do something, again and again while it may yet work.

        Args:
            what: in words, such as ``post a message``.
            function: the call; repeating it must do no harm.
            seconds: how long it is tried; None for what the options say.

        Raises:
            RefusedError: Discord said no.
            UnavailableError: it did not work within the time that is allowed.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (self._patience.seconds if seconds is None else seconds)
        pause = self._patience.pause_seconds
        while True:
            try:
                async with asyncio.timeout(self._patience.attempt_seconds):
                    return await function()
            except (discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError, RuntimeError) as error:
                wait = self._waiting_time(what, error, pause)
                if loop.time() + wait > deadline:
                    self._counts.given_up += 1
                    raise UnavailableError(f"Discord did not {what}: {_named(error)}.") from error
                logger.warning("Discord did not %s (%s); trying again in %.1f s", what, _named(error), wait)
                if _limited(error):
                    self._counts.limited += 1
                else:
                    self._counts.retried += 1
            await asyncio.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _waiting_time(self, what: str, error: Exception, pause: float) -> float:
        try:
            return _wait(what, error, pause)
        except RefusedError:
            self._counts.refused += 1
            raise
        except UnavailableError:
            self._counts.given_up += 1
            raise

    async def post(
        self,
        channel: int,
        page: Page,
        *,
        answers: int | None = None,
        calling: discord.AllowedMentions | None = None,
        key: str = "",
    ) -> int:
        """Post a message; its id. The caller holds the channel's turn.

        Args:
            channel: a channel or thread.
            page: what it shows.
            answers: the message that it replies to; it does not matter when that is gone.
            calling: who is called; nobody when None.
            key: Discord takes only one message with it within some minutes, whichever process sends it; at most 25
                characters. Empty for one of its own.

        Raises:
            RefusedError: Discord said no.
            UnavailableError: it could not be delivered in time.
        """
        target = self._client.get_partial_messageable(channel)
        arguments = arguments_of(page) | {"nonce": key or secrets.token_hex(12), "mention_author": False}
        if calling is not None:
            arguments["allowed_mentions"] = calling
        if answers is not None:
            arguments["reference"] = discord.MessageReference(
                message_id=answers, channel_id=channel, fail_if_not_exists=False
            )
        try:
            sent = await self.call("post a message", lambda: target.send(**arguments))
        except RefusedError as error:
            if error.code != NO_HISTORY or "reference" not in arguments:
                raise
            del arguments["reference"]
            sent = await self.call("post a message", lambda: target.send(**arguments))
        return sent.id

    async def change(self, channel: int, message: int, page: Page) -> None:
        """Show something else in a message's place.

        Raises:
            RefusedError: Discord said no; its code tells whether the message is gone.
            UnavailableError: it could not be delivered in time.
        """
        target = self._client.get_partial_messageable(channel).get_partial_message(message)
        embeds, view = embeds_of(page), view_of(page)
        await self.call("change a message", lambda: target.edit(content=page.content or None, embeds=embeds, view=view))

    async def remove(self, channel: int, message: int) -> None:
        """Delete one of our messages, if it is still there; never raises."""
        target = self._client.get_partial_messageable(channel).get_partial_message(message)
        with suppress(UnavailableError):
            await self.call("delete a message", target.delete)

    async def open_thread(self, channel: int, guild: int, message: int, name: str) -> int:
        """Open a thread from a message; its id. The one that is there already will do.

        The caller holds the channel's turn.

        Raises:
            RefusedError: Discord said no; its code tells whether the message is gone.
            UnavailableError: it did not work soon.
        """
        start = self._client.get_partial_messageable(channel, guild_id=guild).get_partial_message(message)
        try:
            thread = await self.call("open a thread", lambda: start.create_thread(name=name), _THREAD_SECONDS)
        except RefusedError as error:
            if error.code == THREAD_EXISTS:
                return message
            raise
        return thread.id

    async def direct_channel(self, user: int) -> int:
        """The channel of direct messages with a person.

        Raises:
            RefusedError: the person is out of reach.
            UnavailableError: it could not be opened in time.
        """
        channel = await self.call("open direct messages", lambda: self._client.create_dm(discord.Object(user)))
        return channel.id


def _wait(what: str, error: Exception, pause: float) -> float:
    """Seconds until the next attempt.

    Raises:
        RefusedError: there is no use in one.
        UnavailableError: the connection was closed on our side.
    """
    if isinstance(error, discord.RateLimited):
        return error.retry_after
    if isinstance(error, discord.HTTPException) and error.status != _TOO_MANY and error.status < _SERVER_ERROR:
        raise RefusedError(what, error) from error
    if isinstance(error, RuntimeError):
        raise UnavailableError(f"Discord did not {what}: the connection is closed.") from error
    return pause


def _limited(error: Exception) -> bool:
    return isinstance(error, discord.RateLimited) or (
        isinstance(error, discord.HTTPException) and error.status == _TOO_MANY
    )


def _named(error: Exception) -> str:
    if isinstance(error, discord.HTTPException):
        return f"status {error.status}"
    return type(error).__name__
