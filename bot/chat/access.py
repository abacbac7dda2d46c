"""Who may read and decide what. Pure; whatever is not allowed in so many words is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from bot.chat.messages import Person
from store.records import ScopeFilter, Visibility

DEFAULT_CHANNEL = "default"
"""Name of the table that holds for channels without one of their own."""


@dataclass(frozen=True, slots=True)
class Channel:
    """What is configured for a channel; see ``[channels.NAME]``."""

    collections: tuple[str, ...] = ()
    scope: ScopeFilter = field(default_factory=dict)
    auto_answer: bool = False
    auto_answers_per_hour: int = 20
    experts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """Which collections one question may be answered from.

    Attributes:
        shared: what everybody in the place may see.
        personal: what only the asker may see; an answer from there is shown to the asker alone.
    """

    shared: tuple[str, ...]
    personal: tuple[str, ...] = ()


def channel_of(channels: Mapping[str, Channel], channel_id: str, name: str) -> Channel:
    """The settings of a channel: by id, then by name, then those of ``default``."""
    for key in (channel_id, name, name.removeprefix("#"), DEFAULT_CHANNEL):
        if key and key in channels:
            return channels[key]
    return Channel()


def names_of(person: Person) -> frozenset[str]:
    """All names under which a list may hold a person: the id and the groups, each with the platform's prefix."""
    platform = person.id.partition(":")[0]
    return frozenset({person.id, *(f"{platform}:{group}" for group in person.groups)}) - {""}


def is_admin(person: Person, admins: Collection[str]) -> bool:
    """Whether a person may decide on sources.

    Args:
        person: who asks; somebody from outside never may.
        admins: ids with platform prefix of people, groups and roles. Empty means nobody.
    """
    return bool(person.id) and not person.outsider and not names_of(person).isdisjoint(admins)


def reach(
    channel: Channel,
    person: Person,
    collections: Mapping[str, Visibility],
    readers: Mapping[str, Sequence[str]],
    chosen: Sequence[str] = (),
    *,
    alone: bool = False,
) -> Reach:
    """What a question may be answered from.

    Args:
        channel: the settings of where it was asked; without collections of its own, all public ones are meant.
        person: who asked.
        collections: everything that is indexed.
        readers: who may read a private collection wherever they ask.
        chosen: what the asker wants to search; empty for everything within reach.
        alone: nobody but the asker can read the place.
    """
    public = [name for name, visibility in collections.items() if visibility is Visibility.PUBLIC]
    shared = [name for name in channel.collections or public if name in collections]
    known = names_of(person)
    personal = []
    if not person.outsider:
        personal = [
            name
            for name, visibility in collections.items()
            if visibility is Visibility.PRIVATE and name not in shared and not known.isdisjoint(readers.get(name, ()))
        ]
    if chosen:
        shared = [name for name in shared if name in chosen]
        personal = [name for name in personal if name in chosen]
    if alone:
        return Reach((*shared, *personal))
    return Reach(tuple(shared), tuple(personal))


def visibility_of(place: Visibility, searched: Sequence[str], collections: Mapping[str, Visibility]) -> Visibility:
    """Who may see a question later, in digests and reports: no more people than could see place and documents."""
    private = place is Visibility.PRIVATE or any(collections.get(name) is not Visibility.PUBLIC for name in searched)
    return Visibility.PRIVATE if private else Visibility.PUBLIC
