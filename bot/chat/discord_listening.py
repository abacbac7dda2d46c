"""What people write, delete and react with on Discord, on its way to the core."""

from __future__ import annotations

import logging
from dataclasses import replace

import discord

from bot.chat.candidate_cards import is_for_one
from bot.chat.discord_facts import (
    NAME,
    Kind,
    begun_by,
    heard_from,
    is_by_bot,
    is_written,
    jump_url,
    plain_text,
    spot_of,
)
from bot.chat.discord_layout import answer_pages
from bot.chat.discord_outbox import RefusedError
from bot.chat.discord_parts import Parts, pages_of
from bot.chat.discord_place import MessagePlace, Target
from bot.chat.messages import Heard, Marked, Person
from bot.chat.review import DECISIONS
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

_VOTES = {"👍": True, "👎": False}
_ANSWER = "✅"
_DECISIONS = frozenset(verb.value for verb in DECISIONS)


class Listener:
    """Hears what happens on the servers and in direct messages.

    Args:
        parts: what it works with.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def message(self, message: discord.Message) -> None:
        """Somebody wrote something."""
        if not is_written(message):
            return
        parts = self._parts
        spot = spot_of(message.channel) or await parts.spot(message.channel.id)
        # Without the intent to read messages Discord delivers them empty: those are no questions.
        if spot is None or (not message.content and spot.kind is not Kind.DIRECT):
            return
        heard = heard_from(message, spot, await parts.people.of(message.author), parts.own)
        target = Target(spot, message.id, message.author.id, heard.text, heard.in_thread)
        place = parts.place(target)
        if not await self._commanded(heard, place):
            await parts.core.hear(heard, place)

    async def _commanded(self, heard: Heard, place: MessagePlace) -> bool:
        """Do what a message asks for that is a command in words, such as ``@Gaplight help``."""
        words = heard.text.split()
        if heard.by_bot or heard.author.outsider or not (heard.direct or heard.mentions_bot):
            return False
        if not words or (len(words) > 1 and words[0].casefold() not in _DECISIONS):
            return False
        items = await self._parts.core.command(heard.text, heard.author, heard.channel, heard.visibility)
        if items:
            await place.show(pages_of(items), private=any(map(is_for_one, items)))
        return bool(items)

    async def deleted(self, channel: int, messages: set[int]) -> None:
        """Messages are gone."""
        spot = spot_of(self._parts.client.get_channel(channel))
        for message in messages:
            await self._parts.core.withdraw(NAME, str(spot.channel if spot else channel), str(message))

    async def reacted(self, payload: discord.RawReactionActionEvent, *, added: bool) -> None:
        """Somebody put a reaction on a message, or took it away."""
        emoji = payload.emoji.name.rstrip("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
        by_bot = payload.user_id == self._parts.own or (payload.member is not None and payload.member.bot)
        if by_bot or payload.emoji.id is not None:
            return
        if emoji in _VOTES:
            await self._vote(payload, _VOTES[emoji] if added else None)
        elif emoji == _ANSWER and added and payload.member is not None:
            await self._mark(payload, payload.member)

    async def _vote(self, payload: discord.RawReactionActionEvent, helpful: bool | None) -> None:
        spot = await self._parts.spot(payload.channel_id)
        channel = str(spot.channel if spot else payload.channel_id)
        person = await self._person(payload)
        await self._parts.core.react(NAME, channel, str(payload.message_id), person, helpful)

    async def _person(self, payload: discord.RawReactionActionEvent) -> Person:
        if payload.member is not None:
            return self._parts.people.member(payload.member)
        known = await self._parts.people.by_id(payload.user_id)
        return replace(known, outsider=known.outsider and payload.guild_id is None)

    async def _mark(self, payload: discord.RawReactionActionEvent, member: discord.Member) -> None:
        """A tick on a reply in a thread that we take part in says that it is the answer; elsewhere it means nothing."""
        thread = self._parts.client.get_channel(payload.channel_id)
        if not isinstance(thread, discord.Thread) or (thread.owner_id != self._parts.own and thread.me is None):
            return
        target = self._parts.client.get_partial_messageable(thread.id, guild_id=thread.guild.id)
        try:
            message = await self._parts.outbox.call("read a message", lambda: target.fetch_message(payload.message_id))
        except UnavailableError as error:
            logger.warning("A message that was marked as the answer cannot be read: %s", error)
            return
        if is_by_bot(message, self._parts.own):
            return
        await self._adopt(message, member)

    async def _adopt(self, message: discord.Message, member: discord.Member) -> None:
        marked = await marked_from(self._parts, message, self._parts.people.member(member))
        if marked is None:
            return
        outgoing = await self._parts.core.adopt(marked)
        spot = await self._parts.spot(message.channel.id)
        if spot is None:
            return
        place = self._parts.place(Target(spot, message.id, member.id, "", in_thread=True, once=False))
        try:
            await place.show(answer_pages(outgoing), private=True)
        except RefusedError:
            await place.show(answer_pages(outgoing))


async def marked_from(parts: Parts, message: discord.Message, by: Person) -> Marked | None:
    """A message that somebody marked as the answer; None when it is not known where it stands."""
    spot = spot_of(message.channel) or await parts.spot(message.channel.id)
    if spot is None:
        return None
    return Marked(
        platform=NAME,
        channel=str(spot.channel),
        conversation=spot.conversation(begun_by(message, parts.own)),
        message=str(message.id),
        author=await parts.people.of(message.author),
        text=plain_text(message, parts.own),
        url=jump_url(spot, message.id),
        marked_by=by,
        visibility=spot.visibility,
    )
