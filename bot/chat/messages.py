"""What every chat platform's messages have in common. Values only: adapters translate into them and out of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from store.records import Reply, ScopeFilter, Visibility


class Addressed(StrEnum):
    """How a message reached the bot."""

    DIRECTLY = "directly"
    """A mention, a direct message, a command, a shortcut: an answer or a refusal is due."""
    FOLLOWING_UP = "following_up"
    """A message in a thread in which the bot has answered, without a mention."""
    OVERHEARD = "overheard"
    """A message in a channel that opted into automatic answers: silence is right when the gate refuses."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who wrote, pressed a button or gave a command.

    Attributes:
        id: opaque id with platform prefix, such as ``slack:U1``; empty when the platform does not say.
        groups: the platform's user groups or roles that the person is in, as raw ids.
        outsider: from another organisation (Slack Connect), a guest, or not a member of a server that is served.
        uncertain: groups or membership could not be found out, so that more may be allowed than it looks.
    """

    id: str
    groups: tuple[str, ...] = ()
    outsider: bool = False
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as a platform delivered it, in plain words and facts. :mod:`bot.chat.intake` says what to do with it.

    Attributes:
        platform: ``slack``, ``discord``, ``terminal``.
        channel: the platform's id of the channel (of a thread's parent, on Discord).
        channel_name: without ``#``; empty when unknown. Settings may name a channel by either.
        conversation: what belongs together: ``channel:thread``, ``channel`` in a direct message.
        message: the platform's id of the message; copies of one message carry the same. Empty where none exists.
        author: who wrote it.
        text: what was written, without markup and without the mention of the bot.
        by_bot: written by a bot, be it ourselves.
        mentions_bot: the bot was mentioned.
        mentions_others: other people were mentioned.
        direct: sent to the bot and nobody else: direct message, command, shortcut, assistant pane.
        in_thread: stands in a thread, below another message.
        alone: nobody but the author and the bot can read the place.
        visibility: who can read the place that it was written in.
        collections: what the asker chose to search; empty when nothing was chosen.
    """

    platform: str
    channel: str
    conversation: str
    message: str
    author: Person
    text: str
    channel_name: str = ""
    by_bot: bool = False
    mentions_bot: bool = False
    mentions_others: bool = False
    direct: bool = False
    in_thread: bool = False
    alone: bool = False
    visibility: Visibility = Visibility.PUBLIC
    collections: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What copies of one message have in common."""
        return f"{self.platform}:{self.channel}:{self.message}"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A question from a person, on its way to the engine.

    Attributes:
        text: what was written, without the mention of the bot.
        asker: opaque id with platform prefix, such as ``slack:U1``.
        conversation: what belongs together: ``channel:thread`` on chat platforms, a terminal session.
    """

    text: str
    asker: str
    platform: str
    conversation: str
    channel: str = ""
    visibility: Visibility = Visibility.PUBLIC
    collections: tuple[str, ...] = ()
    scope: ScopeFilter = field(default_factory=dict)


class Verb(StrEnum):
    """What a button does; the values are part of the buttons' ids on both platforms."""

    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    MISSING = "missing"
    ASK_PERSON = "ask_person"
    SHARE = "share"
    APPROVE = "approve"
    REJECT = "reject"
    SNOOZE = "snooze"


@dataclass(frozen=True, slots=True)
class Action:
    """A button: what it does, to what (a short opaque id), and what stands on it."""

    verb: Verb
    subject: str
    label: str
    style: str = ""
    """``primary``, ``danger`` or empty."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is sent back.

    Attributes:
        text: Markdown (CommonMark with pipe tables).
        reply: the engine's reply behind it when there is one; its citations become links.
        actions: buttons below it.
        private: only the asker may see it.
    """

    text: str
    reply: Reply | None = None
    actions: tuple[Action, ...] = ()
    private: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """Something to look at and decide on, redrawn when its subject changes.

    Attributes:
        kind: ``candidate``, ``topic``, ``digest``, ``referral``.
        subject: id of what it shows; empty for cards that stand for nothing stored.
        version: which state of the subject it shows.
        title: one plain line.
        body: Markdown.
        facts: short label and value pairs, shown side by side.
        actions: buttons; empty once decided.
    """

    kind: str
    subject: str
    version: int
    title: str
    body: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Press:
    """A button that somebody pressed, or the form that it opened and they sent.

    Attributes:
        verb, subject: what the button carried.
        person: who pressed it.
        channel, message: the message that the button stands on.
        conversation: the thread that it stands in.
        note: what was written into the form; empty for the button itself.
    """

    platform: str
    verb: Verb
    subject: str
    person: Person
    channel: str
    message: str
    conversation: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """A person's message that somebody marked as the answer to what was asked in its thread."""

    platform: str
    channel: str
    conversation: str
    message: str
    author: Person
    text: str
    url: str
    marked_by: Person
    visibility: Visibility = Visibility.PUBLIC
