"""The bot's own page, and the assistant pane before anything was asked."""

from __future__ import annotations

import logging

from bot.chat.messages import Card
from bot.chat.slack_events import NAME, Event
from bot.chat.slack_listening import Parts
from bot.chat.slack_views import home
from bot.chat.wording import UNKNOWN_PERSON
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

_UNKNOWN = Card("notice", "", 0, "Not available at the moment", UNKNOWN_PERSON)
_TITLE = "Ask your documents"
_PROMPTS = (
    ("What can you do?", "help"),
    ("What was asked in vain?", "gaps"),
    ("What do you know?", "status"),
)
"""The questions that a new pane offers: they work whatever the documents are about."""


async def show_home(parts: Parts, user: str) -> None:
    """Draw a person's page; a failure is logged, and Slack shows the page as it was."""
    person = await parts.lookup.person(user)
    if not person.id or (person.outsider and not person.uncertain):
        return
    cards = (_UNKNOWN,) if person.outsider else await parts.core.home(person)
    view = home(cards)
    try:
        await parts.messages.calls.call("views.publish", user_id=user, view=view)
    except UnavailableError as error:
        logger.warning("The page of %s:%s could not be drawn: %s", NAME, user, error)


async def greet_in_pane(parts: Parts, event: Event) -> None:
    """Offer questions in a new thread of the assistant pane."""
    thread = event.get("assistant_thread") or {}
    prompts = [{"title": title, "message": message} for title, message in _PROMPTS]
    try:
        await parts.messages.calls.call(
            "assistant.threads.setSuggestedPrompts",
            channel_id=thread.get("channel_id"),
            thread_ts=thread.get("thread_ts"),
            title=_TITLE,
            prompts=prompts,
        )
    except UnavailableError as error:
        logger.info("No questions could be offered in the assistant pane: %s", error)
