"""What Slack's events say, as plain facts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.chat.messages import Heard, Person
from bot.chat.slack_text import decode, mentioned
from store.records import Visibility

NAME = "slack"
Event = Mapping[str, Any]

_ANSWERABLE = frozenset({"", "thread_broadcast", "file_share", "me_message", "bot_message"})
_PEOPLE = ("U", "W")


class Kind(StrEnum):
    """Slack's kinds of conversations."""

    CHANNEL = "channel"
    PRIVATE = "group"
    GROUP_MESSAGE = "mpim"
    DIRECT_MESSAGE = "im"


@dataclass(frozen=True, slots=True)
class Own:
    """Who we are: our user, bot, workspace and organisation."""

    user: str
    bot: str
    team: str
    enterprise: str = ""


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation.

    Attributes:
        id: Slack's.
        kind: what it is; private where that is not known.
        name: without ``#``; empty when unknown.
        shared: people from other organisations are in it.
    """

    id: str
    kind: Kind = Kind.PRIVATE
    name: str = ""
    shared: bool = False

    @property
    def visibility(self) -> Visibility:
        """Who can read it."""
        return Visibility.PUBLIC if self.kind is Kind.CHANNEL and not self.direct else Visibility.PRIVATE

    @property
    def direct(self) -> bool:
        """Whether it is between one person and the bot."""
        return self.kind is Kind.DIRECT_MESSAGE or self.id.startswith("D")


def is_message(event: Event) -> bool:
    """Whether an event is something that was said, and not an edit, a deletion or a notice."""
    return str(event.get("subtype") or "") in _ANSWERABLE and not event.get("hidden")


def deletion(event: Event) -> str:
    """The message that an event says was deleted; empty when it says something else."""
    subtype = event.get("subtype")
    if subtype == "message_deleted":
        return str(event.get("deleted_ts", ""))
    changed = event.get("message") or {}
    # A message with replies stays as a tombstone.
    if subtype == "message_changed" and changed.get("subtype") == "tombstone":
        return str(changed.get("ts", ""))
    return ""


def by_bot(event: Event, own: Own) -> bool:
    """Whether a bot wrote it, be it ourselves."""
    return bool(
        event.get("bot_id")
        or event.get("app_id")
        or event.get("bot_profile")
        or event.get("subtype") == "bot_message"
        or event.get("user") == own.user
    )


def team_of(event: Event) -> str:
    """The workspace of who wrote it; empty when the event does not say."""
    return str(event.get("user_team") or event.get("source_team") or event.get("team") or "")


def kind_of(event: Event) -> Kind | None:
    """What kind of conversation an event says it is from; mentions do not say."""
    try:
        return Kind(str(event.get("channel_type", "")))
    except ValueError:
        return None


def conversation(channel: Channel, message: str, thread: str) -> str:
    """What belongs together: a thread; a direct message outside threads is one conversation.

    Args:
        channel: where it was said.
        message: its id.
        thread: the message that it stands below; empty for none.
    """
    if channel.direct and not thread:
        return channel.id
    return f"{channel.id}:{thread or message}"


def personal(channel: str, user: str) -> str:
    """The conversation that one person has with the bot unseen by others in a channel, such as by a command."""
    return f"{channel}:{user}"


def is_personal(thread: str) -> bool:
    """Whether the second part of a conversation's name stands for a person."""
    return thread.startswith(_PEOPLE)


def heard(event: Event, own: Own, channel: Channel, author: Person) -> Heard:
    """A message event as the core hears it."""
    raw = str(event.get("text") or "")
    message, thread = str(event.get("ts", "")), str(event.get("thread_ts") or "")
    names = mentioned(raw)
    return Heard(
        platform=NAME,
        channel=channel.id,
        channel_name=channel.name,
        conversation=conversation(channel, message, thread),
        message=message,
        author=author,
        text=decode(raw, own.user),
        by_bot=by_bot(event, own),
        mentions_bot=own.user in names or event.get("type") == "app_mention",
        mentions_others=bool(names - {own.user}),
        direct=channel.direct,
        in_thread=bool(thread) and thread != message,
        alone=channel.direct,
        visibility=channel.visibility,
    )
