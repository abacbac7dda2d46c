"""Clicks on buttons and the forms that they open."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from bot.chat.messages import Person, Press, Verb
from bot.chat.slack_blocks import ACTION_PREFIX, answer_posts, text_posts
from bot.chat.slack_events import NAME, Channel, conversation
from bot.chat.slack_listening import Body, Parts, clicker, url_of
from bot.chat.slack_messages import Spot
from bot.chat.slack_place import Aside
from bot.chat.slack_views import FORM_VERBS, Origin, form, note_of
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

_UNKNOWN = "I don't know this button any more; it stands on a message from an earlier version of me."
_NO_FORM = "Slack did not open the form in time. Nothing has been decided; please click again."
_ONLY_WITH_NOTE = frozenset({Verb.REJECT})
"""Nothing is done before the form was sent: a half-finished rejection would be worse than none."""

Refresh = Callable[[str], Awaitable[None]]


async def click(parts: Parts, body: Body, refresh: Refresh) -> None:
    """A button was pressed. Its form, if it has one, opens before anything else is done.

    Args:
        parts: what is worked with.
        body: Slack's payload.
        refresh: draws a person's page of the bot again.
    """
    user = str((body.get("user") or {}).get("id", ""))
    try:
        origin = _origin(body)
    except ValueError:
        logger.warning("A button is unknown: %s", (body.get("actions") or [{}])[0].get("action_id"))
        spot = Spot(str((body.get("channel") or {}).get("id", "")))
        await parts.aside(user, spot, url_of(body)).say(text_posts(_UNKNOWN))
        return
    if origin.verb in FORM_VERBS and not await _opened(parts, str(body.get("trigger_id", "")), origin):
        await _aside(parts, user, origin).say(text_posts(_NO_FORM))
        return
    if origin.verb not in _ONLY_WITH_NOTE:
        await _press(parts, origin, await clicker(parts, body), "", silent=origin.verb in FORM_VERBS)
        await _refreshed(origin, user, refresh)


async def send(parts: Parts, body: Body, refresh: Refresh) -> None:
    """A form was sent; the arguments are those of :func:`click`."""
    view: Mapping[str, Any] = body.get("view") or {}
    user = str((body.get("user") or {}).get("id", ""))
    try:
        origin = Origin.unpacked(str(view.get("private_metadata", "")))
    except ValueError:
        logger.warning("A form is unknown")
        await parts.aside(user, Spot("")).say(text_posts(_UNKNOWN))
        return
    await _press(parts, origin, await clicker(parts, body), note_of(view))
    await _refreshed(origin, user, refresh)


async def _opened(parts: Parts, trigger: str, origin: Origin) -> bool:
    try:
        await parts.messages.calls.once("views.open", trigger_id=trigger, view=form(origin))
    except UnavailableError as error:
        logger.warning("A form could not be opened: %s", error)
        return False
    return True


async def _press(parts: Parts, origin: Origin, person: Person, note: str, *, silent: bool = False) -> None:
    """Tell the core, and show its words to the one who pressed; after a form was opened, only once it is sent."""
    press = Press(
        platform=NAME,
        verb=origin.verb,
        subject=origin.subject,
        person=person,
        channel=origin.channel,
        message=origin.message,
        conversation=_conversation(origin),
        note=note,
    )
    outgoing = await parts.core.press(press)
    if outgoing is not None and not silent:
        await _aside(parts, person.id.removeprefix(f"{NAME}:"), origin).say(answer_posts(outgoing))


def _aside(parts: Parts, user: str, origin: Origin) -> Aside:
    return parts.aside(user, Spot(origin.channel, origin.thread), origin.response_url)


async def _refreshed(origin: Origin, user: str, refresh: Refresh) -> None:
    if not origin.channel:
        await refresh(user)


def _origin(body: Body) -> Origin:
    """Where a button stands and what it carries.

    Raises:
        ValueError: it is none of ours.
    """
    action = (body.get("actions") or [{}])[0]
    verb = Verb(str(action.get("action_id", "")).removeprefix(ACTION_PREFIX))
    container: Body = body.get("container") or {}
    message: Body = body.get("message") or {}
    origin = Origin(verb, str(action.get("value") or ""), response_url=url_of(body))
    if container.get("type") == "view":
        return origin
    return replace(
        origin,
        channel=str((body.get("channel") or {}).get("id") or container.get("channel_id") or ""),
        message=str(container.get("message_ts") or message.get("ts") or ""),
        thread=str(message.get("thread_ts") or container.get("thread_ts") or ""),
        seen_by_one=bool(container.get("is_ephemeral")),
    )


def _conversation(origin: Origin) -> str:
    if origin.seen_by_one and not origin.thread:
        # What only one person saw is no message that others could reply to.
        return origin.channel
    return conversation(Channel(origin.channel), origin.message, origin.thread)
