"""Messages, mentions, reactions and deletions on their way from Slack to the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.chat.messages import Heard, Person
from bot.chat.ports import Core, Place
from bot.chat.slack_events import (
    NAME,
    Channel,
    Event,
    Own,
    deletion,
    heard,
    is_message,
    is_personal,
    kind_of,
    personal,
    team_of,
)
from bot.chat.slack_lookup import Lookup
from bot.chat.slack_messages import Messages, Spot
from bot.chat.slack_place import Aside, PersonalPlace, ThreadPlace
from bot.chat.slack_text import decode
from store.records import Visibility

_VOTES = {"+1": True, "thumbsup": True, "-1": False, "thumbsdown": False}
_SKIN_TONE = "::"

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parts:
    """What every handler of deliveries works with.

    Attributes:
        core: what decides.
        own: who we are.
        open_to_outsiders: answers may be read by people from other organisations.
    """

    core: Core
    own: Own
    messages: Messages
    lookup: Lookup
    open_to_outsiders: bool = False

    def aside(self, person: str, spot: Spot, response_url: str = "") -> Aside:
        """The way to one person alone."""
        return Aside(self.messages, self.lookup, person, spot, response_url)

    def place(self, message: Heard, channel: Channel, response_url: str = "", *, again: bool = False) -> Place:
        """Where a message is answered; ``again`` by another process than the one that took it in."""
        thread = message.conversation.partition(":")[2]
        user = message.author.id.removeprefix(f"{NAME}:")
        if is_personal(thread):
            return PersonalPlace(self.aside(user, Spot(channel.id), response_url))
        return ThreadPlace(
            self.aside(user, Spot(channel.id, thread), response_url),
            message.message,
            status=channel.direct and bool(thread),
            hidden=self.hides_answers(channel),
            again=again,
        )

    def hides_answers(self, channel: Channel) -> bool:
        """Whether only the asker may see answers in a channel: other organisations are in it."""
        return channel.shared and not self.open_to_outsiders


async def listen(parts: Parts, event: Event, body: Body) -> None:
    """A message, or a mention: both copies of one message say the same and are told apart by nothing."""
    if not is_message(event) or not event.get("ts"):
        return
    kind = kind_of(event)
    shared = bool(body.get("is_ext_shared_channel"))
    channel = await parts.lookup.channel(str(event.get("channel", "")), kind, shared=shared)
    author = await _author(parts, event)
    message = heard(event, parts.own, channel, author)
    await parts.core.hear(message, parts.place(message, channel))


async def listen_for_deletions(parts: Parts, event: Event) -> None:
    """A message was deleted: its answer is not due any more."""
    if message := deletion(event):
        await parts.core.withdraw(NAME, str(event.get("channel", "")), message)


async def count_reaction(parts: Parts, event: Event, *, added: bool) -> None:
    """A thumb up or down on one of our messages, put there or taken away."""
    vote = _VOTES.get(str(event.get("reaction", "")).partition(_SKIN_TONE)[0])
    item = event.get("item") or {}
    ours = event.get("item_user") in {parts.own.user, None}
    if vote is None or item.get("type") != "message" or not ours or event.get("user") == parts.own.user:
        return
    person = await parts.lookup.person(str(event.get("user") or ""), team_of(event))
    helpful = vote if added else None
    await parts.core.react(NAME, str(item.get("channel", "")), str(item.get("ts", "")), person, helpful)


async def ask_about(parts: Parts, shortcut: Body) -> None:
    """The shortcut "Ask Gaplight about this": the message becomes the question of the one who clicked."""
    message: Event = shortcut.get("message") or {}
    channel = await parts.lookup.channel(str(shortcut["channel"]["id"]))
    author = await clicker(parts, shortcut)
    told = heard({**message, "subtype": None}, parts.own, channel, author)
    told = replace(
        told,
        # Each click asks anew; a second delivery of the same click does not.
        message=str(shortcut.get("trigger_id") or told.message),
        by_bot=False,
        direct=True,
        mentions_bot=False,
    )
    place = parts.place(replace(told, message=str(message.get("ts", ""))), channel, url_of(shortcut))
    await parts.core.hear(told, place)


async def ask_by_command(parts: Parts, command: Body, person: Person, channel: Channel) -> None:
    """``/gaplight`` with a question: nobody else sees question and answer."""
    user = str(command.get("user_id", ""))
    told = Heard(
        platform=NAME,
        channel=channel.id,
        channel_name=channel.name,
        conversation=personal(channel.id, user),
        message=str(command.get("trigger_id") or ""),
        author=person,
        text=decode(str(command.get("text") or "")),
        direct=True,
        alone=True,
        visibility=Visibility.PRIVATE,
    )
    await parts.core.hear(told, parts.place(told, channel, url_of(command)))


def url_of(body: Body) -> str:
    """Where Slack takes words for the one who gave a command or clicked."""
    return str(body.get("response_url") or "")


async def _author(parts: Parts, event: Event) -> Person:
    if event.get("bot_id"):
        return Person(f"{NAME}:{event.get('user') or event['bot_id']}")
    return await parts.lookup.person(str(event.get("user") or ""), team_of(event))


async def clicker(parts: Parts, body: Body) -> Person:
    """The person who clicked or sent a form."""
    user = body.get("user") or {}
    return await parts.lookup.person(str(user.get("id") or ""), str(user.get("team_id") or ""))
