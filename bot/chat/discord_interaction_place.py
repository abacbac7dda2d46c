"""Where a command on Discord is answered: in the response that was promised, or in a message when it comes too late."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import partial

import aiohttp
import discord

from bot.chat.discord_facts import Kind
from bot.chat.discord_layout import Page, answer_pages, text_pages
from bot.chat.discord_outbox import ALREADY_ACKNOWLEDGED, Outbox, RefusedError
from bot.chat.discord_place import MessagePlace, Target
from bot.chat.discord_views import arguments_of, embeds_of, view_of
from bot.chat.messages import Outgoing
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

ASIDE = "Only you may read the sources of this answer, so I show it to nobody else."
_SAFE_AGE = timedelta(minutes=14)
"""Discord forgets an interaction after fifteen."""


class Acknowledged(StrEnum):
    """What became of the promise to answer."""

    YES = "yes"
    LATE = "late"
    """Discord no longer takes a response: words have to go another way."""
    TAKEN = "taken"
    """It was acknowledged before: by another process, or by a call whose answer was lost."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A promised response: what became of it, and the id of its message; 0 when that is not known."""

    state: Acknowledged
    message: int = 0


async def acknowledge(interaction: discord.Interaction, *, hidden: bool) -> Promise:
    """Promise an answer within the three seconds that Discord allows; to be awaited before anything else.

    Args:
        interaction: a command, a button or a form.
        hidden: only the one who caused it will see the answer.
    """
    try:
        response = await interaction.response.defer(ephemeral=hidden, thinking=True)
    except discord.HTTPException as error:
        if error.code == ALREADY_ACKNOWLEDGED:
            return Promise(Acknowledged.TAKEN)
        logger.warning("An interaction could not be acknowledged in time: %s", error)
        return Promise(Acknowledged.LATE)
    except (aiohttp.ClientError, OSError) as error:
        logger.warning("Whether an interaction was acknowledged is not known: %s", error)
        return Promise(Acknowledged.TAKEN)
    return Promise(Acknowledged.YES, (response.message_id if response else 0) or 0)


class InteractionPlace:
    """A question that was asked by command.

    Args:
        outbox: for what is sent.
        interaction: after it was acknowledged.
        target: the question, and where messages go when the response is no longer taken.
        otherwise: answers in that case.
        promise: what became of the acknowledgement.
        hidden: the response is seen by the asker alone.
    """

    def __init__(
        self,
        outbox: Outbox,
        interaction: discord.Interaction,
        target: Target,
        otherwise: MessagePlace,
        promise: Promise,
        *,
        hidden: bool = False,
    ) -> None:
        self._outbox = outbox
        self._interaction = interaction
        self._target = target
        self._otherwise = otherwise
        self._alone = hidden or target.spot.kind is Kind.DIRECT
        self._hidden = hidden
        self._alive = promise.state is not Acknowledged.LATE
        self._perhaps_others = promise.state is Acknowledged.TAKEN
        self._sent: list[str] = []

    async def working(self, note: str = "") -> None:
        """See :meth:`bot.chat.ports.Place.working`; Discord itself says that we are thinking."""
        if not self._alive:
            await self._otherwise.working(note)
        elif note:
            with suppress(discord.DiscordException, aiohttp.ClientError, OSError, RuntimeError):
                await self._interaction.edit_original_response(content=text_pages(note)[0].content)

    async def deliver(self, outgoing: Outgoing) -> tuple[str, ...]:
        """See :meth:`bot.chat.ports.Place.deliver`."""
        pages = answer_pages(outgoing, self._target.question)
        try:
            if not self._usable():
                return await self._otherwise.deliver(outgoing)
            if outgoing.private and not self._alone:
                await self._fill(text_pages(ASIDE)[0])
                self._sent.clear()
                await self._follow(pages, hidden=True)
            else:
                await self._show(pages)
        except RefusedError as error:
            if self._sent:
                raise
            logger.info("A response is no longer taken: %s", error)
            return await self._otherwise.deliver(outgoing)
        return tuple(self._sent)

    async def show(self, pages: Sequence[Page]) -> None:
        """Show something else than an answer, such as cards, or nothing; if it is hidden, to the one who asked alone.

        Raises:
            UnavailableError: it could not be delivered.
        """
        try:
            if self._usable() and not await self._done_by_others():
                await (self._show(pages) if pages else self.dismiss())
        except RefusedError as error:
            if self._sent:
                raise
            logger.info("A response is no longer taken: %s", error)
            self._alive = False
        if not self._alive and pages:
            await self._otherwise.show(pages, private=self._hidden)

    async def dismiss(self) -> None:
        """See :meth:`bot.chat.ports.Place.dismiss`."""
        await self._otherwise.dismiss()
        if self._usable():
            with suppress(UnavailableError):
                await self._outbox.call("take a response back", self._interaction.delete_original_response)

    def _usable(self) -> bool:
        if discord.utils.utcnow() - self._interaction.created_at > _SAFE_AGE:
            self._alive = False
        return self._alive

    async def _done_by_others(self) -> bool:
        """Whether another process has answered what we both got."""
        if not self._perhaps_others:
            return False
        response = await self._outbox.call("look at a response", self._interaction.original_response)
        return not response.flags.loading

    async def _show(self, pages: Sequence[Page]) -> None:
        first, *rest = pages
        if not self._sent:
            await self._fill(first)
        if self._hidden:
            await self._follow(rest, hidden=True)
            return
        # Messages of the bot are known to Discord when they are repeated; further responses are not.
        async with self._outbox.turn(self._target.spot.id):
            for page in rest:
                await self._further(page)

    async def _further(self, page: Page) -> None:
        try:
            self._sent.append(str(await self._outbox.post(self._target.spot.id, page)))
        except RefusedError as error:
            logger.info("The rest of an answer goes with the response: %s", error)
            await self._follow([page], hidden=False)

    async def _fill(self, page: Page) -> None:
        sent = await self._outbox.call(
            "answer a command",
            lambda: self._interaction.edit_original_response(
                content=page.content or None, embeds=embeds_of(page), view=view_of(page)
            ),
        )
        self._sent.append(str(sent.id))

    async def _follow(self, pages: Sequence[Page], *, hidden: bool) -> None:
        for page in pages:
            arguments = arguments_of(page) | {"ephemeral": hidden, "wait": True}
            sent = await self._outbox.call("answer a command", partial(self._interaction.followup.send, **arguments))
            self._sent.append(str(sent.id))
