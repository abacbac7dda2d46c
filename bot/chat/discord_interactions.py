"""Commands, buttons and forms on Discord, on their way to the core. Each is acknowledged before all else."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

import aiohttp
import discord

from bot.chat.discord_facts import NAME, Kind, Spot, is_by_bot, jumps_to, plain_text
from bot.chat.discord_interaction_place import Acknowledged, InteractionPlace, Promise, acknowledge
from bot.chat.discord_layout import Page, answer_pages, text_pages
from bot.chat.discord_listening import marked_from
from bot.chat.discord_outbox import ALREADY_ACKNOWLEDGED
from bot.chat.discord_parts import Parts, pages_of
from bot.chat.discord_place import Target
from bot.chat.discord_text import heard_text
from bot.chat.discord_views import FORM_VERBS, form, submitted, verb_of
from bot.chat.handlers import FAILED
from bot.chat.messages import Heard, Outgoing, Person, Press, Verb
from store.errors import GaplightError

logger = logging.getLogger(__name__)

NO_TEXT = "There is no text in this message that I could look for."
NOT_A_PERSON = "Mark a message that a person wrote: what a bot says does not become a document."
UNKNOWN_COMMAND = "I don't know this command. `/gaplight what: help` shows what there is."
_OLD_BUTTON = "This button is from an earlier version and does nothing any more."
_CLICK_AGAIN = "The form could not be opened. Please press the button again."


class Interactions:
    """Does what people ask for by command, button or form.

    Args:
        parts: what it works with.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def ask(self, interaction: discord.Interaction, question: str, collection: str) -> None:
        """``/ask``."""
        promise = await acknowledge(interaction, hidden=False)
        spot = self._parts.spot_of_interaction(interaction)
        text = heard_text(question, {self._parts.own})
        await self._answer(interaction, promise, spot, text, promise.message or interaction.id, collection)

    async def ask_about(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """The entry of a message's menu that asks about it."""
        text = plain_text(message, self._parts.own)
        promise = await acknowledge(interaction, hidden=not text)
        if text:
            spot = self._parts.spot_of_interaction(interaction)
            await self._answer(interaction, promise, spot, text, message.id, "")
        else:
            await self._show(interaction, promise, text_pages(NO_TEXT))

    async def _answer(
        self,
        interaction: discord.Interaction,
        promise: Promise,
        spot: Spot,
        text: str,
        root: int,
        collection: str,
    ) -> None:
        place = self._place(interaction, promise, text, hidden=False)
        heard = Heard(
            platform=NAME,
            channel=str(spot.channel),
            channel_name=spot.name,
            conversation=spot.conversation(root),
            message=str(interaction.id),
            author=await self._person(interaction),
            text=text,
            direct=True,
            in_thread=spot.kind is Kind.THREAD,
            alone=spot.kind is Kind.DIRECT,
            visibility=spot.visibility,
            collections=(collection,) if collection else (),
        )
        try:
            await self._parts.core.hear(heard, place)
        except Exception:
            logger.exception("A command failed")
            await place.deliver(Outgoing(FAILED))

    async def command(self, interaction: discord.Interaction, words: str) -> None:
        """``/gaplight``."""
        promise = await acknowledge(interaction, hidden=True)

        async def pages() -> Sequence[Page]:
            spot = self._parts.spot_of_interaction(interaction)
            person = await self._person(interaction)
            items = await self._parts.core.command(words, person, str(spot.channel), spot.visibility)
            return pages_of(items) or text_pages(UNKNOWN_COMMAND)

        await self._show_what(interaction, promise, pages)

    async def mark(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """The entry of a message's menu that says that it is the answer."""
        promise = await acknowledge(interaction, hidden=True)

        async def pages() -> Sequence[Page]:
            if is_by_bot(message, self._parts.own):
                return text_pages(NOT_A_PERSON)
            marked = await marked_from(self._parts, message, await self._person(interaction))
            return answer_pages(await self._parts.core.adopt(marked)) if marked else text_pages(FAILED)

        await self._show_what(interaction, promise, pages)

    async def collections(self, interaction: discord.Interaction, beginning: str) -> tuple[str, ...]:
        """What completes the name of a collection."""
        spot = self._parts.spot_of_interaction(interaction)
        return await self._parts.core.collections(await self._person(interaction), str(spot.channel), beginning)

    async def press(self, interaction: discord.Interaction, name: str, subject: str) -> None:
        """A button was pressed."""
        verb = verb_of(name)
        if verb is None:
            await self._show(interaction, await acknowledge(interaction, hidden=True), text_pages(_OLD_BUTTON))
        elif verb in FORM_VERBS:
            await self._open_form(interaction, verb, subject)
        else:
            await self._do(interaction, await acknowledge(interaction, hidden=True), verb, subject, "")

    async def sent_form(self, interaction: discord.Interaction) -> None:
        """A form was sent; those that are not ours mean nothing."""
        sent = submitted(dict(interaction.data or {}))
        if sent is not None:
            promise = await acknowledge(interaction, hidden=True)
            await self._do(interaction, promise, sent.verb, sent.subject, sent.note)

    async def _open_form(self, interaction: discord.Interaction, verb: Verb, subject: str) -> None:
        """The form comes first: Discord opens it only within three seconds."""
        try:
            await interaction.response.send_modal(form(verb, subject))
        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
            logger.warning("A form could not be opened: %s", error)
            if isinstance(error, discord.HTTPException) and error.code == ALREADY_ACKNOWLEDGED:
                return
            await self._show(interaction, Promise(Acknowledged.LATE), text_pages(_CLICK_AGAIN))
        if verb is Verb.UNHELPFUL:
            # The vote counts whether or not a reason follows.
            await self._parts.core.press(await self._pressed(interaction, verb, subject, ""))

    async def _do(
        self, interaction: discord.Interaction, promise: Promise, verb: Verb, subject: str, note: str
    ) -> None:
        async def pages() -> Sequence[Page]:
            words = await self._parts.core.press(await self._pressed(interaction, verb, subject, note))
            return answer_pages(words) if words else ()

        await self._show_what(interaction, promise, pages)

    async def _pressed(self, interaction: discord.Interaction, verb: Verb, subject: str, note: str) -> Press:
        spot = self._parts.spot_of_interaction(interaction)
        message = interaction.message
        answered = message.reference.message_id if message and message.reference else None
        root = answered or (message.id if message else 0)
        if verb is Verb.SHARE and spot.kind is Kind.DIRECT and (asked := jumps_to(message.content if message else "")):
            # A private answer in direct messages is shared where its question was asked.
            spot, root = await self._parts.spot(asked[0]) or spot, asked[1]
        return Press(
            platform=NAME,
            verb=verb,
            subject=subject,
            person=await self._person(interaction),
            channel=str(spot.channel),
            message=str(message.id) if message else "",
            conversation=spot.conversation(root),
            note=note,
        )

    async def _person(self, interaction: discord.Interaction) -> Person:
        user = interaction.user
        people = self._parts.people
        return people.member(user) if isinstance(user, discord.Member) else await people.by_id(user.id)

    def _place(
        self, interaction: discord.Interaction, promise: Promise, question: str, *, hidden: bool
    ) -> InteractionPlace:
        target = Target(self._parts.spot_of_interaction(interaction), 0, interaction.user.id, question)
        return InteractionPlace(
            self._parts.outbox, interaction, target, self._parts.place(target), promise, hidden=hidden
        )

    async def _show_what(
        self, interaction: discord.Interaction, promise: Promise, pages: Callable[[], Awaitable[Sequence[Page]]]
    ) -> None:
        """Show what comes out, whatever goes wrong: no click is ever silent."""
        try:
            shown = await pages()
        except Exception:
            logger.exception("An interaction failed")
            shown = text_pages(FAILED)
        await self._show(interaction, promise, shown)

    async def _show(self, interaction: discord.Interaction, promise: Promise, pages: Sequence[Page]) -> None:
        try:
            await self._place(interaction, promise, "", hidden=True).show(pages)
        except GaplightError:
            logger.exception("Words could not be shown to somebody who waits for them")
