"""The slash command, and marking a person's message as the answer."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bot.chat.messages import Card, Marked, Outgoing
from bot.chat.slack_blocks import Post, answer_posts, card_posts
from bot.chat.slack_events import NAME, Event, conversation, team_of
from bot.chat.slack_listening import Body, Parts, ask_by_command, clicker, url_of
from bot.chat.slack_messages import Spot
from bot.chat.slack_text import decode
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

COMMAND = "/gaplight"
_HELP = "help"


async def command(parts: Parts, body: Body) -> None:
    """``/gaplight``: what the core knows as a command, else a question; alone it asks for help."""
    channel = await parts.lookup.channel(str(body.get("channel_id", "")))
    user = str(body.get("user_id", ""))
    person = await parts.lookup.person(user, str(body.get("team_id") or ""))
    words = decode(str(body.get("text") or "")) or _HELP
    shown = await parts.core.command(words, person, channel.id, channel.visibility)
    if not shown:
        await ask_by_command(parts, body, person, channel)
        return
    await parts.aside(user, Spot(channel.id), url_of(body)).say(posts_of(shown))


async def mark_as_answer(parts: Parts, shortcut: Body) -> None:
    """The shortcut "This is the answer": a person's reply becomes a draft document."""
    message: Event = shortcut.get("message") or {}
    channel = await parts.lookup.channel(str(shortcut["channel"]["id"]))
    identity, thread = str(message.get("ts", "")), str(message.get("thread_ts") or "")
    marked = Marked(
        platform=NAME,
        channel=channel.id,
        conversation=conversation(channel, identity, thread),
        message=identity,
        author=await parts.lookup.person(str(message.get("user") or ""), team_of(message)),
        text=decode(str(message.get("text") or ""), parts.own.user),
        url=await _permalink(parts, channel.id, identity),
        marked_by=await clicker(parts, shortcut),
        visibility=channel.visibility,
    )
    outgoing = await parts.core.adopt(marked)
    spot = Spot(channel.id, thread)
    await parts.aside(str(shortcut["user"]["id"]), spot, url_of(shortcut)).say(answer_posts(outgoing))


def posts_of(shown: Sequence[Outgoing | Card]) -> list[Post]:
    """Messages for what a command shows."""
    return [post for one in shown for post in (card_posts(one) if isinstance(one, Card) else answer_posts(one))]


async def _permalink(parts: Parts, channel: str, message: str) -> str:
    try:
        found = await parts.messages.calls.call("chat.getPermalink", patience=10, channel=channel, message_ts=message)
    except UnavailableError as error:
        logger.info("A message has no link: %s", error)
        return ""
    return str(found.get("permalink", ""))
