"""What every chat platform's messages have in common."""

from __future__ import annotations

from dataclasses import dataclass, field

from store.records import Reply, ScopeFilter, Visibility


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message from a person, freed from its platform's markup.

    Attributes:
        text: what was written, without the mention of the bot.
        asker: opaque id with platform prefix.
        conversation: what belongs together: a thread, a direct message channel, a terminal session.
    """

    text: str
    asker: str
    platform: str
    conversation: str
    channel: str = ""
    visibility: Visibility = Visibility.PUBLIC
    collections: tuple[str, ...] = ()
    scope: ScopeFilter = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is sent back: the text in Markdown, and the reply behind it when there is one."""

    text: str
    reply: Reply | None = None
