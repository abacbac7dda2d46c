"""Calls of Slack's Web API: paced, patient with rate limits, and told apart by whether trying again can help."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chat.api_counts import ApiCounts
from store.errors import UnavailableError
from store.net_addresses import same_host

logger = logging.getLogger(__name__)

_RATE_LIMITED = frozenset({"ratelimited", "rate_limited"})
_TRANSIENT = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})
_READING = frozenset(
    {
        "auth.test",
        "apps.connections.open",
        "chat.getPermalink",
        "conversations.history",
        "conversations.info",
        "conversations.replies",
        "usergroups.list",
        "users.info",
    }
)
"""Methods that don't take JSON."""
_READING_BY_POST = frozenset({"auth.test", "apps.connections.open"})
_LATER = "See https://status.slack.com, and check the set-up with: gaplight doctor"
_OK = 200
_SERVER_ERROR = 500
_TOO_MANY = 429
_REMEMBERED_CHANNELS = 10_000

Data = Mapping[str, Any]


class RefusedError(UnavailableError):
    """Slack refused a call for a reason that trying again does not change.

    Attributes:
        code: Slack's name of the error, such as ``not_in_channel``.
        details: Slack's remarks, such as which block is invalid.
    """

    def __init__(self, method: str, code: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(f"Slack refused {method}: {code}.", "Check the set-up with: gaplight doctor")
        self.code = code
        self.details = details


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How patient calls are.

    Attributes:
        patience: seconds after which a call is given up, waits included.
        first_pause: seconds before the first repetition; doubled for each further one.
        longest_pause: the most seconds between repetitions; a rate limit's own wait may be longer.
        seconds_per_message: Slack's pace for messages in one channel.
        burst: messages that may go out at once in a channel that was quiet.
        at_once: calls under way at the same time.
    """

    patience: float = 300.0
    first_pause: float = 0.5
    longest_pause: float = 20.0
    seconds_per_message: float = 1.0
    burst: int = 4
    at_once: int = 32


class _Pacer:
    """Spreads messages over time, channel by channel."""

    def __init__(self, options: CallOptions) -> None:
        self._interval = options.seconds_per_message
        self._slack = (options.burst - 1) * options.seconds_per_message
        self._due: dict[str, float] = {}

    def wait(self, channel: str, now: float) -> float:
        """Seconds until the next message may go out; does not take the turn."""
        return max(0.0, self._due.get(channel, 0.0) - self._slack - now)

    def take(self, channel: str, now: float) -> float:
        """Take the next turn; seconds to wait for it."""
        wait = self.wait(channel, now)
        self._due[channel] = max(self._due.get(channel, 0.0), now) + self._interval
        if len(self._due) > _REMEMBERED_CHANNELS:
            self._due = {name: due for name, due in self._due.items() if due > now}
        return wait

    def hold(self, channel: str, until: float) -> None:
        """Let nothing out before a point in time."""
        self._due[channel] = max(self._due.get(channel, 0.0), until + self._slack)


class SlackCalls:
    """The Web API as the adapter uses it.

    Args:
        client: with the bot's token and the base URL.
        options: how patient calls are.
        counts: told how calls went.
    """

    def __init__(
        self, client: AsyncWebClient, options: CallOptions | None = None, counts: ApiCounts | None = None
    ) -> None:
        self.client = client
        self._counts = counts or ApiCounts()
        self._options = options or CallOptions()
        self._pacer = _Pacer(self._options)
        self._open = asyncio.Semaphore(self._options.at_once)

    def busy(self, channel: str) -> bool:
        """Whether a message to a channel would have to wait."""
        return self._pacer.wait(channel, _now()) > 0

    async def once(self, method: str, *, pace: str = "", **arguments: Any) -> Data:
        """Call without waiting or repeating; with ``pace`` it counts as a message to that channel.

        Raises:
            UnavailableError: it failed; as RefusedError when Slack said why.
        """
        if pace:
            self._pacer.take(pace, _now())
        try:
            return await self._send(method, arguments)
        except _Passing as error:
            self._count(error, again=False)
            raise UnavailableError(f"Slack did not answer {method}: {error}.", "") from error

    async def call(
        self,
        method: str,
        *,
        pace: str = "",
        patience: float | None = None,
        done_already: Callable[[], Awaitable[Data | None]] | None = None,
        **arguments: Any,
    ) -> Data:
        """Call until it works, waiting as long as Slack asks for.

        Args:
            method: such as ``chat.postMessage``.
            pace: the channel whose pace is kept, for messages.
            patience: seconds after which the call is given up; None for what the options say.
            done_already: looks whether a call that failed without a clear answer had its effect nevertheless.
            arguments: of the method.

        Raises:
            RefusedError: Slack said no.
            UnavailableError: it did not work within the time that is allowed.
        """
        deadline = _now() + (self._options.patience if patience is None else patience)
        pause = self._options.first_pause
        if pace:
            await asyncio.sleep(self._pacer.take(pace, _now()))
        while True:
            try:
                return await self._send(method, arguments)
            except _Passing as error:
                wait = pause if error.retry_after is None else error.retry_after
                again = _now() + wait <= deadline
                self._count(error, again=again)
                if not again:
                    raise UnavailableError(f"Slack did not take {method}: {error}.", _LATER) from error
                if error.retry_after is not None and pace:
                    self._pacer.hold(pace, _now() + wait)
                logger.warning("Slack did not take %s (%s); trying again in %.1f s", method, error, wait)
                await asyncio.sleep(wait)
                pause = min(pause * 2, self._options.longest_pause)
                if error.unclear and done_already and (done := await done_already()) is not None:
                    return done

    async def respond(self, url: str, body: Mapping[str, Any]) -> None:
        """Post to the address that came with a command or a click, if it is Slack's.

        Raises:
            RefusedError: the address is no longer good, or leads elsewhere.
            UnavailableError: it did not work within the time that is allowed.
        """
        if not (_is_slack(url) or same_host(url, self.client.base_url)):
            raise RefusedError("a response", "foreign_address")
        deadline = _now() + self._options.patience
        pause = self._options.first_pause
        while True:
            try:
                return await self._post(url, body)
            except _Passing as error:
                wait = pause if error.retry_after is None else error.retry_after
                again = _now() + wait <= deadline
                self._count(error, again=again)
                if not again:
                    raise UnavailableError(f"Slack did not take a response: {error}.", "") from error
                await asyncio.sleep(wait)
                pause = min(pause * 2, self._options.longest_pause)

    async def _send(self, method: str, arguments: Mapping[str, Any]) -> Data:
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            # Whoever waits here has not asked Slack yet: its time to answer does not run.
            async with self._open:
                response = await self._request(method, given)
        except SlackApiError as error:
            explained = _explained(method, error)
            if isinstance(explained, RefusedError):
                self._counts.refused += 1
            raise explained from error
        except (aiohttp.ClientError, TimeoutError, OSError, SlackClientError) as error:
            raise _Passing(type(error).__name__, unclear=True) from error
        data = response.data
        if not isinstance(data, dict):
            raise _Passing("an answer that is no JSON", unclear=True)
        return data | {"_headers": response.headers}

    async def _request(self, method: str, given: Mapping[str, Any]) -> AsyncSlackResponse:
        if method not in _READING:
            return await self.client.api_call(method, json=dict(given))
        verb = "POST" if method in _READING_BY_POST else "GET"
        query = {name: _query(value) for name, value in given.items()}
        return await self.client.api_call(method, http_verb=verb, params=query)

    async def _post(self, url: str, body: Mapping[str, Any]) -> None:
        session = self.client.session
        if session is None:
            raise UnavailableError("The connection to Slack is closed.", "")
        try:
            async with self._open, session.post(url, json=body, allow_redirects=False) as response:
                text = await response.text()
                status, retry_after = response.status, response.headers.get("Retry-After")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _Passing(type(error).__name__, unclear=True) from error
        if status == _TOO_MANY:
            raise _Passing("rate limited", retry_after=_seconds(retry_after))
        if status >= _SERVER_ERROR:
            raise _Passing(f"status {status}", unclear=True)
        if status != _OK:
            self._counts.refused += 1
            raise RefusedError("a response", text[:100] or str(status))

    def _count(self, error: _Passing, *, again: bool) -> None:
        if not again:
            self._counts.given_up += 1
        elif error.retry_after is not None:
            self._counts.limited += 1
        else:
            self._counts.retried += 1


class _Passing(Exception):  # noqa: N818 - a state, not a fault of ours
    """A call that failed and may work later.

    Attributes:
        unclear: it may have had its effect.
        retry_after: seconds that Slack asked to wait for; None when it did not say.
    """

    def __init__(self, problem: str, *, unclear: bool = False, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.unclear = unclear
        self.retry_after = retry_after


def _is_slack(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and (parts.hostname or "").endswith(".slack.com")


def _explained(method: str, error: SlackApiError) -> Exception:
    response: Any = error.response
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0))
    data = getattr(response, "data", None)
    data = data if isinstance(data, dict) else {}
    code = str(data.get("error", ""))
    if status == _TOO_MANY or code in _RATE_LIMITED:
        return _Passing("rate limited", retry_after=_seconds(response.headers.get("Retry-After")))
    if status >= _SERVER_ERROR or code in _TRANSIENT or not code:
        return _Passing(code or f"status {status}", unclear=True)
    metadata = data.get("response_metadata") or {}
    details = (*map(str, data.get("errors") or ()), *map(str, metadata.get("messages") or ()))
    return RefusedError(method, code, details)


def _seconds(header: str | None) -> float:
    try:
        return max(0.0, float(header or 1))
    except ValueError:
        return 1.0


def _query(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _now() -> float:
    return asyncio.get_running_loop().time()
