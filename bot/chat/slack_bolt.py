"""Bolt: everything that Slack can deliver is acknowledged at once, and worked on afterwards."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.middleware.assistant.async_assistant import AsyncAssistant
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.slack_actions import click, send
from bot.chat.slack_commands import COMMAND, command, mark_as_answer
from bot.chat.slack_events import deletion
from bot.chat.slack_home import greet_in_pane, show_home
from bot.chat.slack_listening import Body, Parts, ask_about, count_reaction, listen, listen_for_deletions
from bot.chat.slack_tasks import Tasks
from bot.chat.slack_views import FORM

ASK_SHORTCUT = "gaplight_ask"
ANSWER_SHORTCUT = "gaplight_answer"
EVENTS = (
    "app_home_opened",
    "app_mention",
    "assistant_thread_context_changed",
    "assistant_thread_started",
    "message",
    "reaction_added",
    "reaction_removed",
)
"""Events that are handled; the manifest subscribes to them."""

logger = logging.getLogger(__name__)

_UNAVAILABLE = 503
_Next = Callable[[], Awaitable[Any]]


def build_app(
    parts: Parts, tasks: Tasks, token: str, client: AsyncWebClient, takes_deliveries: Callable[[], bool]
) -> AsyncApp:
    """Bolt with all handlers.

    Args:
        parts: what the handlers work with.
        tasks: where the work goes on.
        token: the bot's.
        client: reaches the Web API.
        takes_deliveries: whether anything is taken at the moment; otherwise it is not acknowledged.
    """
    app = _bare_app(parts, token, client)

    async def gate(body: dict[str, Any], next: _Next) -> BoltResponse | None:  # noqa: A002 - Bolt's name
        if not takes_deliveries():
            return BoltResponse(status=_UNAVAILABLE, body="")
        event = body.get("event") or {}
        # Before the assistant, which keeps deletions in its threads to itself.
        if event.get("type") == "message" and deletion(event):
            tasks.start(listen_for_deletions(parts, event), "deletion")
        await next()
        return None

    app.middleware(gate)
    app.assistant(_assistant(parts, tasks))
    _listen_to_events(app, parts, tasks)
    _listen_to_people(app, parts, tasks)
    return app


def _bare_app(parts: Parts, token: str, client: AsyncWebClient) -> AsyncApp:
    async def authorize() -> AuthorizeResult:
        own = parts.own
        return AuthorizeResult(
            enterprise_id=own.enterprise or None,
            team_id=own.team,
            bot_id=own.bot,
            bot_user_id=own.user,
            bot_token=token,
        )

    sdk = logging.getLogger("gaplight.slack.bolt")
    # While it is built, Bolt warns of each credential in the environment that it was told not to use.
    sdk.setLevel(logging.ERROR)
    nameless = AsyncWebClient(base_url=client.base_url, session=client.session, logger=client.logger, retry_handlers=[])
    app = AsyncApp(
        name="gaplight",
        logger=sdk,
        client=nameless,
        authorize=authorize,
        # Checked over the raw bytes, before Bolt sees a request.
        request_verification_enabled=False,
        signing_secret="",
        attaching_conversation_kwargs_enabled=False,
    )
    sdk.setLevel(logging.INFO)
    return app


def _listen_to_events(app: AsyncApp, parts: Parts, tasks: Tasks) -> None:
    async def message(event: dict[str, Any], body: Body) -> None:
        tasks.start(listen(parts, event, body), "message")

    async def home(event: dict[str, Any]) -> None:
        if event.get("tab", "home") == "home":
            tasks.start(show_home(parts, str(event.get("user", ""))), "home page")

    async def reaction_added(event: dict[str, Any]) -> None:
        tasks.start(count_reaction(parts, event, added=True), "reaction")

    async def reaction_removed(event: dict[str, Any]) -> None:
        tasks.start(count_reaction(parts, event, added=False), "reaction")

    async def other(event: dict[str, Any]) -> None:
        # Acknowledged all the same: Slack delivers again, and in the end nothing at all, to an app that doesn't.
        logger.info("Slack delivered %s, which is not listened for", event.get("type"))

    app.event("message")(message)
    app.event("app_mention")(message)
    app.event("app_home_opened")(home)
    app.event("reaction_added")(reaction_added)
    app.event("reaction_removed")(reaction_removed)
    app.event(re.compile(".*"))(other)


def _listen_to_people(app: AsyncApp, parts: Parts, tasks: Tasks) -> None:
    async def refresh(user: str) -> None:
        await show_home(parts, user)

    def taking(work: Callable[[Body], Coroutine[Any, Any, None]], name: str) -> Callable[..., Awaitable[None]]:
        async def take(ack: AsyncAck, body: Body) -> None:
            await ack()
            if tasks.first(_delivery(body)):
                tasks.start(work(body), name)

        return take

    app.command(COMMAND)(taking(lambda body: command(parts, body), "command"))
    app.message_shortcut(ASK_SHORTCUT)(taking(lambda body: ask_about(parts, body), "shortcut"))
    app.message_shortcut(ANSWER_SHORTCUT)(taking(lambda body: mark_as_answer(parts, body), "shortcut"))
    app.action(re.compile(".*"))(taking(lambda body: click(parts, body, refresh), "click"))
    app.view(FORM)(taking(lambda body: send(parts, body, refresh), "form"))


def _delivery(body: Body) -> str:
    """What two deliveries of one click, command or form have in common."""
    view: Body = body.get("view") or {}
    return str(view.get("id") if body.get("type") == "view_submission" else body.get("trigger_id") or "")


def _assistant(parts: Parts, tasks: Tasks) -> AsyncAssistant:
    assistant = AsyncAssistant(app_name="gaplight")

    async def started(event: dict[str, Any]) -> None:
        tasks.start(greet_in_pane(parts, event), "assistant pane")

    async def context_changed() -> None:
        """Which channel somebody looks at beside the pane changes nothing about the documents."""

    async def message(event: dict[str, Any], body: Body) -> None:
        tasks.start(listen(parts, event, body), "message")

    assistant.thread_started(started)
    assistant.thread_context_changed(context_changed)
    assistant.user_message(message)
    return assistant
