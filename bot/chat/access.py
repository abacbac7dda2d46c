"""Who may read and decide what. Pure; whatever is not allowed in so many words is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.chat.messages import Person
from store.records import ScopeFilter, Visibility

DEFAULT_CHANNEL = "default"
"""Name of the table that holds for channels without one of their own."""


@dataclass(frozen=True, slots=True)
class Channel:
    """What is configured for a channel; see ``[channels.NAME]``.

    Attributes:
        opens_private: its private collections may be searched; not when the channel was found by its name, which
            whoever makes or renames a channel can choose.
    """

    collections: tuple[str, ...] = ()
    scope: ScopeFilter = field(default_factory=dict)
    auto_answer: bool = False
    auto_answers_per_hour: int = 20
    experts: tuple[str, ...] = ()
    opens_private: bool = True


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
    if channel_id and channel_id in channels:
        return channels[channel_id]
    for key in (name, name.removeprefix("#")):
        if key and key != DEFAULT_CHANNEL and key in channels:
            return replace(channels[key], opens_private=False)
    return channels.get(DEFAULT_CHANNEL, Channel())


def names_of(person: Person) -> frozenset[str]:
    """All names under which a list may hold a person: the id and the groups, each with the platform's prefix."""
    platform = person.id.partition(":")[0]
    return frozenset({person.id, *(f"{platform}:{group}" for group in person.groups)}) - {""}


def is_admin(person: Person, admins: Collection[str]) -> bool:
    """Whether a person may decide on sources; see :func:`admin_as`."""
    return bool(admin_as(person, admins))


def admin_as(person: Person, admins: Collection[str]) -> str:
    """As what a person may decide on sources: the id, group or role that is named; empty for who may not.

    Args:
        person: who asks; somebody from outside never may.
        admins: ids with platform prefix of people, groups and roles. Empty means nobody.
    """
    if not person.id or person.outsider:
        return ""
    return person.id if person.id in admins else min(names_of(person).intersection(admins), default="")


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
        person: who asked; somebody from outside reaches what is public, whatever the channel is set to.
        collections: everything that is indexed.
        readers: who may read a private collection wherever they ask.
        chosen: what the asker wants to search; empty for everything within reach.
        alone: nobody but the asker can read the place.
    """
    public = [name for name, visibility in collections.items() if visibility is Visibility.PUBLIC]
    open_here = collections if channel.opens_private and not person.outsider else public
    shared = [name for name in channel.collections or public if name in open_here]
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


def may_have_missed(
    person: Person,
    within: Reach,
    collections: Mapping[str, Visibility],
    readers: Mapping[str, Sequence[str]],
) -> bool:
    """Whether groups that could not be found out might have opened another collection to a person."""
    if not person.uncertain:
        return False
    platform = person.id.partition(":")[0]
    others = set(collections) - {*within.shared, *within.personal}
    return any(entry.startswith(f"{platform}:") for name in others for entry in readers.get(name, ()))


def visibility_of(place: Visibility, searched: Sequence[str], collections: Mapping[str, Visibility]) -> Visibility:
    """Who may see a question later, in digests and reports: no more people than could see place and documents."""
    private = place is Visibility.PRIVATE or any(collections.get(name) is not Visibility.PUBLIC for name in searched)
    return Visibility.PRIVATE if private else Visibility.PUBLIC
