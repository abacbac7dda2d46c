"""Whether Slack is set up: tokens, scopes and channels, each with the click that mends it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.slack_app import INSTALL_STEPS, SlackOptions
from bot.chat.slack_calls import CallOptions, RefusedError, SlackCalls
from bot.chat.slack_socket import SOCKET_STEPS
from store.errors import UnavailableError

SCOPES: Mapping[str, str] = {
    "app_mentions:read": "mentions are not heard",
    "assistant:write": "the assistant pane shows neither questions nor progress",
    "channels:history": "follow-ups in threads of public channels are not heard",
    "channels:read": "public channels count as private",
    "chat:write": "nothing can be answered",
    "commands": "/gaplight and the shortcuts do not exist",
    "groups:history": "follow-ups in private channels are not heard",
    "groups:read": "names of private channels are unknown",
    "im:history": "direct messages are not heard",
    "im:read": "facts about direct messages are unknown",
    "im:write": "nobody can be written to directly",
    "mpim:history": "group messages are not heard",
    "mpim:read": "facts about group messages are unknown",
    "reactions:read": "thumbs are not counted",
    "reactions:write": "questions get no sign of work while a channel is busy",
    "usergroups:read": "admins and readers cannot be named by user group",
    "users:read": "members cannot be told from people of other organisations",
}
"""The bot's scopes, and what is missing without each."""

_PATIENCE = CallOptions(patience=10)
_SCOPE_STEPS = (
    "On https://api.slack.com/apps choose the app, then OAuth & Permissions › Scopes › Bot Token Scopes › Add an OAuth "
    "Scope; after that Install App › Reinstall to Workspace."
)
_INVITE = "Write `/invite @Gaplight` in that channel."
_UNKNOWN_CHANNEL = (
    "Give the channel's id (in Slack: click on the channel's name › About, at the bottom). A private channel is "
    "invisible until the bot is in it: write `/invite @Gaplight` there."
)
_NETWORK = "Check the network and slack.api_url, and https://status.slack.com."


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        subject: what was looked at.
        good: it is as it should be.
        text: what was found.
        next_step: the click that mends it; empty when nothing is wrong.
    """

    subject: str
    good: bool
    text: str
    next_step: str = ""


async def check(options: SlackOptions, channels: Sequence[str] = ()) -> list[Finding]:
    """Look at everything that Slack must be set up with; never raises.

    Args:
        options: as the bot would run with.
        channels: ids of channels that the bot is to post in.
    """
    timeout = aiohttp.ClientTimeout(total=options.request_seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        quiet = logging.getLogger("gaplight.slack.sdk")
        quiet.setLevel(logging.INFO)
        client = AsyncWebClient(
            options.bot_token, base_url=options.api_url, session=session, logger=quiet, retry_handlers=[]
        )
        calls = SlackCalls(client, _PATIENCE)
        findings = await _bot(calls)
        if findings[0].good:
            findings += [await _channel(calls, channel) for channel in channels]
        return [*findings, await _delivery(calls, options)]


async def _bot(calls: SlackCalls) -> list[Finding]:
    subject = "SLACK_BOT_TOKEN"
    try:
        found = await calls.call("auth.test")
    except RefusedError as error:
        return [Finding(subject, good=False, text=f"Slack does not take it ({error.code}).", next_step=INSTALL_STEPS)]
    except UnavailableError as error:
        return [Finding(subject, good=False, text=error.problem, next_step=_NETWORK)]
    if not found.get("bot_id"):
        return [Finding(subject, good=False, text="It belongs to a person, not to a bot.", next_step=INSTALL_STEPS)]
    text = (
        f"Bot {found.get('user') or found.get('user_id')} in the workspace {found.get('team') or found.get('team_id')}."
    )
    return [Finding(subject, good=True, text=text), *_scopes(str(found["_headers"].get("x-oauth-scopes", "")))]


def _scopes(header: str) -> list[Finding]:
    given = {scope.strip() for scope in header.split(",") if scope.strip()}
    missing = [
        Finding(f"scope {scope}", good=False, text=f"It is missing: {lack}.", next_step=_SCOPE_STEPS)
        for scope, lack in SCOPES.items()
        if scope not in given
    ]
    return missing or [Finding("scopes", good=True, text=f"All {len(SCOPES)} are there.")]


async def _channel(calls: SlackCalls, channel: str) -> Finding:
    subject = f"channel {channel}"
    try:
        found = await calls.call("conversations.info", channel=channel)
    except RefusedError as error:
        step = _SCOPE_STEPS if error.code == "missing_scope" else _UNKNOWN_CHANNEL
        return Finding(subject, good=False, text=f"Slack does not show it ({error.code}).", next_step=step)
    except UnavailableError as error:
        return Finding(subject, good=False, text=error.problem, next_step=_NETWORK)
    facts = found["channel"]
    named = f"#{facts['name']}" if facts.get("name") else channel
    if facts.get("is_archived"):
        step = "Open the channel, click on its name › Settings › Unarchive, or name another channel in the settings."
        return Finding(subject, good=False, text=f"{named} is archived.", next_step=step)
    if not facts.get("is_im") and not facts.get("is_member"):
        return Finding(subject, good=False, text=f"The bot is not a member of {named}.", next_step=_INVITE)
    return Finding(subject, good=True, text=f"The bot is in {named}.")


async def _delivery(calls: SlackCalls, options: SlackOptions) -> Finding:
    if options.mode == "http":
        good = bool(options.signing_secret.strip())
        step = (
            "On https://api.slack.com/apps choose the app, then Basic Information › App Credentials › Signing Secret › "
            "Show, and set it as SLACK_SIGNING_SECRET."
        )
        return Finding("SLACK_SIGNING_SECRET", good, "It is set." if good else "It is not set.", "" if good else step)
    subject = "SLACK_APP_TOKEN"
    if not options.app_token:
        return Finding(subject, good=False, text="It is not set.", next_step=SOCKET_STEPS)
    try:
        await calls.call("apps.connections.open", token=options.app_token)
    except RefusedError as error:
        return Finding(subject, good=False, text=f"Slack does not take it ({error.code}).", next_step=SOCKET_STEPS)
    except UnavailableError as error:
        return Finding(subject, good=False, text=error.problem, next_step=_NETWORK)
    return Finding(subject, good=True, text="A connection can be opened.")
