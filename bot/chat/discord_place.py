"""Where a message on Discord is answered: in a thread, else as a reply, else in direct messages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from bot.chat.discord_facts import Kind, Spot, jump_url
from bot.chat.discord_layout import Page, answer_pages, text_pages
from bot.chat.discord_outbox import UNKNOWN_MESSAGE, Outbox, RefusedError
from bot.chat.discord_text import thread_title
from bot.chat.discord_typing import Typing
from bot.chat.messages import Outgoing
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

ANSWERED_PRIVATELY = "I answered in a direct message: only you may read the sources of that answer."
CLOSED = (
    "Only you may read the sources of this answer, and Discord does not let me write to you. Ask me again with `/ask`, "
    "or allow direct messages from this server and ask again here."
)


@dataclass(frozen=True, slots=True)
class Target:
    """What is answered.

    Attributes:
        spot: where it stands.
        message: its id; 0 where there is none that could be replied to (a command).
        author: the person's id.
        question: the words.
        in_thread: it continues a conversation in a channel, so that no thread is opened from it.
        once: all that is said here answers the message, so that Discord may take it once only, whoever says it.
    """

    spot: Spot
    message: int
    author: int
    question: str
    in_thread: bool = False
    once: bool = True


class _WithdrawnError(Exception):
    """The question was deleted: there is nothing to answer any more."""


class MessagePlace:
    """A question that stands in a channel, a thread or direct messages.

    Args:
        outbox: for what is sent.
        typing: for the sign of work.
        target: the question.
    """

    def __init__(self, outbox: Outbox, typing: Typing, target: Target) -> None:
        self._outbox = outbox
        self._typing = typing
        self._target = target
        self._signed = False
        self._noting: asyncio.Task[int] | None = None
        self._sent: list[str] = []

    async def working(self, note: str = "") -> None:
        """See :meth:`bot.chat.ports.Place.working`."""
        channel = self._target.spot.id
        if not self._signed:
            self._signed = True
            self._typing.begin(channel)
        # Where others' answers wait for their turn, a note would only make everybody wait longer.
        if note and self._noting is None and not self._outbox.turn(channel).locked():
            self._noting = asyncio.create_task(self._note(note))

    async def deliver(self, outgoing: Outgoing) -> tuple[str, ...]:
        """See :meth:`bot.chat.ports.Place.deliver`."""
        target = self._target
        try:
            if outgoing.private and target.spot.kind is not Kind.DIRECT:
                asked_at = jump_url(target.spot, target.message or target.spot.id)
                return await self._deliver_to_author(answer_pages(outgoing, target.question, asked_at))
            # Above an answer to a command nobody sees what was asked.
            quoted = target.question if not target.message and target.spot.kind is not Kind.DIRECT else ""
            return await self._deliver_openly(answer_pages(outgoing, quoted))
        except _WithdrawnError:
            return ()
        finally:
            await self.dismiss()

    async def show(self, pages: Sequence[Page], *, private: bool = False) -> None:
        """Post something else than an answer, such as cards.

        Args:
            pages: what is shown.
            private: to the author alone, else where the question stands.

        Raises:
            UnavailableError: it could not be delivered.
        """
        try:
            direct = private and self._target.spot.kind is not Kind.DIRECT
            channel = await self._outbox.direct_channel(self._target.author) if direct else self._target.spot.id
            await self._post(channel, pages, 0 if direct else self._target.message)
        finally:
            await self.dismiss()

    async def dismiss(self) -> None:
        """See :meth:`bot.chat.ports.Place.dismiss`."""
        if self._signed:
            self._signed = False
            self._typing.end(self._target.spot.id)
        noting, self._noting = self._noting, None
        if noting is not None and (note := await noting):
            await self._outbox.remove(self._target.spot.id, note)

    async def _note(self, note: str) -> int:
        try:
            async with self._outbox.turn(self._target.spot.id):
                return await self._outbox.post(
                    self._target.spot.id, text_pages(note)[0], answers=self._target.message or None
                )
        except UnavailableError as error:
            logger.info("That a question waits could not be said: %s", error)
            return 0

    async def _deliver_openly(self, pages: Sequence[Page]) -> tuple[str, ...]:
        refused: RefusedError | None = None
        async for channel, answers in self._ways():
            try:
                await self._post(channel, pages, answers)
            except RefusedError as error:
                logger.warning("An answer cannot be posted in %d: %s", channel, error)
                refused = error
            else:
                return tuple(self._sent)
        raise refused or UnavailableError("There is no way to post an answer on Discord.")

    async def _ways(self) -> AsyncIterator[tuple[int, int]]:
        """Channels in which the answer may be posted, best first, each with the message that it replies to there."""
        target = self._target
        spot = target.spot
        if spot.threads and target.message and not target.in_thread:
            thread = await self._thread()
            if thread:
                yield thread, 0
        yield spot.id, 0 if spot.kind is Kind.DIRECT else target.message
        if spot.kind is not Kind.DIRECT:
            try:
                yield await self._outbox.direct_channel(target.author), 0
            except RefusedError as error:
                logger.warning("Direct messages cannot be opened: %s", error)

    async def _thread(self) -> int:
        """A thread of its own for the answer; 0 when there can be none."""
        target = self._target
        try:
            async with self._outbox.turn(target.spot.id):
                return await self._outbox.open_thread(
                    target.spot.id, target.spot.guild, target.message, thread_title(target.question)
                )
        except RefusedError as error:
            if error.code == UNKNOWN_MESSAGE:
                raise _WithdrawnError from error
            logger.warning("The answer goes into the channel: %s", error)
        except UnavailableError as error:
            logger.warning("The answer goes into the channel: %s", error)
        return 0

    async def _deliver_to_author(self, pages: Sequence[Page]) -> tuple[str, ...]:
        spot = self._target.spot
        try:
            await self._post(await self._outbox.direct_channel(self._target.author), pages, 0)
        except RefusedError as error:
            logger.info("Somebody takes no direct messages: %s", error)
            await self._notice(spot, CLOSED)
            return ()
        await self._notice(spot, ANSWERED_PRIVATELY)
        return tuple(self._sent)

    async def _notice(self, spot: Spot, text: str) -> None:
        """A short word where the question was asked; the answer itself counts, not this."""
        try:
            async with self._outbox.turn(spot.id):
                await self._outbox.post(spot.id, text_pages(text)[0], answers=self._target.message or None)
        except UnavailableError as error:
            logger.warning("It could not be said that an answer went elsewhere: %s", error)

    async def _post(self, channel: int, pages: Sequence[Page], answers: int) -> None:
        """Post what has not been posted yet."""
        async with self._outbox.turn(channel):
            for page in pages[len(self._sent) :]:
                reply_to = answers if answers and not self._sent else None
                # Another process that answers the same message, or did before it died, is recognised by Discord.
                key = f"{self._target.message}-{len(self._sent)}" if self._target.message and self._target.once else ""
                self._sent.append(str(await self._outbox.post(channel, page, answers=reply_to, key=key)))
