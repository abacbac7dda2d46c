"""What Discord's objects say, as plain facts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

import discord

from bot.chat.discord_text import heard_text
from bot.chat.intake import asks
from bot.chat.messages import Heard, Person
from store.records import Visibility

NAME = "discord"
_JUMP = re.compile(r"https://discord\.com/channels/\d+/(\d+)/(\d+)")
_WRITTEN = frozenset({discord.MessageType.default, discord.MessageType.reply})
_THREADED = (discord.ChannelType.text, discord.ChannelType.news)


class Kind(StrEnum):
    """Where people talk."""

    DIRECT = "direct"
    CHANNEL = "channel"
    THREAD = "thread"


@dataclass(frozen=True, slots=True)
class Spot:
    """A place where messages go.

    Attributes:
        id: of the channel or thread.
        kind: what it is.
        channel: the same, or the channel that a thread belongs to.
        name: of that channel, without ``#``; empty when unknown.
        guild: id of the server; 0 in direct messages.
        threads: threads can be opened from its messages.
        visibility: who can read it; private where that is not known.
    """

    id: int
    kind: Kind
    channel: int
    name: str = ""
    guild: int = 0
    threads: bool = False
    visibility: Visibility = Visibility.PRIVATE

    def conversation(self, root: int) -> str:
        """What belongs together: a thread, a direct message, or in a channel what was said below a message.

        A thread has the id of the message that it was opened from, so that both have the same conversation.
        """
        match self.kind:
            case Kind.DIRECT:
                return str(self.id)
            case Kind.THREAD:
                return f"{self.channel}:{self.id}"
        return f"{self.channel}:{root}"


def jump_url(spot: Spot, message: int) -> str:
    """The address of a message."""
    return f"https://discord.com/channels/{spot.guild or '@me'}/{spot.id}/{message}"


def jumps_to(text: str) -> tuple[int, int] | None:
    """Channel and message of the last such address in a text of ours; None when there is none."""
    found = _JUMP.findall(text)
    return (int(found[-1][0]), int(found[-1][1])) if found else None


def spot_of(channel: object) -> Spot | None:
    """Where a message stands; None for places that are not known (yet)."""
    if isinstance(channel, discord.DMChannel):
        return Spot(channel.id, Kind.DIRECT, channel.id)
    if isinstance(channel, discord.Thread):
        parent = channel.parent
        open_to_all = parent is not None and not channel.is_private() and _readable_by_all(parent)
        return Spot(
            channel.id,
            Kind.THREAD,
            channel.parent_id,
            parent.name if parent else "",
            channel.guild.id,
            visibility=Visibility.PUBLIC if open_to_all else Visibility.PRIVATE,
        )
    if isinstance(channel, discord.abc.GuildChannel):
        return Spot(
            channel.id,
            Kind.CHANNEL,
            channel.id,
            channel.name,
            channel.guild.id,
            threads=channel.type in _THREADED,
            visibility=Visibility.PUBLIC if _readable_by_all(channel) else Visibility.PRIVATE,
        )
    return None


def _readable_by_all(channel: discord.abc.GuildChannel) -> bool:
    everyone = channel.guild.get_role(channel.guild.id)
    return everyone is not None and channel.permissions_for(everyone).view_channel


def person_of(member: discord.Member) -> Person:
    """A member of a server, with the roles there."""
    return Person(identity(member.id), tuple(str(role) for role in role_ids(member)))


def identity(user: int) -> str:
    """A person's id with the platform in front."""
    return f"{NAME}:{user}"


def role_ids(member: discord.Member) -> tuple[int, ...]:
    """Ids of a member's roles, without the one that everybody has."""
    return tuple(role.id for role in member.roles if not role.is_default())


def is_written(message: discord.Message) -> bool:
    """Whether somebody wrote it; Discord also reports as messages that somebody joined, pinned or renamed."""
    return message.type in _WRITTEN


def is_by_bot(message: discord.Message, own: int) -> bool:
    """Whether a bot wrote it, be it ourselves."""
    return message.author.bot or message.webhook_id is not None or message.author.id == own


def replied_to(message: discord.Message) -> discord.Message | None:
    """The message that another one replies to, if it is still there."""
    resolved = message.reference.resolved if message.reference else None
    return resolved if isinstance(resolved, discord.Message) else None


def root_of(message: discord.Message, own: int) -> int:
    """The message that began what a message belongs to, within a channel: replies to our answers lead back there."""
    original = replied_to(message)
    if original is None or original.author.id != own:
        return message.id
    begun = original.reference.message_id if original.reference else None
    return begun or original.id


def begun_by(message: discord.Message, own: int) -> int:
    """The question that a message in a channel is about: what it replies to, else itself."""
    original = replied_to(message)
    if original is not None and original.author.id == own:
        return root_of(message, own)
    return (message.reference.message_id if message.reference else None) or message.id


def plain_text(message: discord.Message, own: int) -> str:
    """What was written, in plain words and without the mention of the bot."""
    return heard_text(message.content, _own_ids(message, own), _names(message))


def heard_from(message: discord.Message, spot: Spot, author: Person, own: int) -> Heard:
    """A message as the core hears it.

    Args:
        message: as discord.py delivers it.
        spot: where it stands.
        author: who wrote it.
        own: the bot's user id.
    """
    text = plain_text(message, own)
    original = replied_to(message)
    to_us = original is not None and original.author.id == own
    called = _calls_bot(message, own)
    if called and not text and original is not None and not to_us:
        # "@Gaplight" alone, as a reply to somebody's question.
        text = plain_text(original, own)
    begins_post = message.id == spot.id
    if begins_post and isinstance(message.channel, discord.Thread) and text:
        text = f"{message.channel.name}\n{text}"
    pinged = to_us and any(user.id == own for user in message.mentions)
    return Heard(
        platform=NAME,
        channel=str(spot.channel),
        channel_name=spot.name,
        conversation=spot.conversation(root_of(message, own)),
        message=str(message.id),
        author=author,
        text=text,
        by_bot=is_by_bot(message, own),
        mentions_bot=called or (pinged and asks(text)),
        mentions_others=_calls_others(message, own) or _answers_another(message, original, own),
        direct=spot.kind is Kind.DIRECT,
        in_thread=(spot.kind is Kind.THREAD and not begins_post) or (spot.kind is Kind.CHANNEL and to_us),
        alone=spot.kind is Kind.DIRECT,
        visibility=spot.visibility,
    )


def _own_ids(message: discord.Message, own: int) -> set[int]:
    role = message.guild.self_role if message.guild else None
    return {own, role.id} if role else {own}


def _calls_bot(message: discord.Message, own: int) -> bool:
    """Whether the text names the bot, or its role, which looks the same to people."""
    ids = _own_ids(message, own)
    return not ids.isdisjoint({*message.raw_mentions, *message.raw_role_mentions})


def _calls_others(message: discord.Message, own: int) -> bool:
    ids = _own_ids(message, own)
    called = {*message.raw_mentions, *message.raw_role_mentions} - ids
    return bool(called) or message.mention_everyone


def _answers_another(message: discord.Message, original: discord.Message | None, own: int) -> bool:
    return original is not None and original.author.id not in {own, message.author.id}


def _names(message: discord.Message) -> dict[int, str]:
    return {channel.id: channel.name for channel in message.channel_mentions}
