"""GitHub's REST API through PyGithub: one request at a time, remembered by ETag, and never a wait.

PyGithub's objects fetch what they lack behind the caller's back, and its retries sleep for up to an hour in the calling
thread. Here every request is made by name and counted, and a spent limit is an error that says when to come back.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from github import Auth, Github, GithubException
from requests.exceptions import RequestException
from urllib3.util.retry import Retry

from discovery.ports import Clock
from store.errors import ConfigurationError, NotFoundError, UnavailableError, UsageError

logger = logging.getLogger(__name__)

SECONDARY_SECONDS = 60
"""GitHub asks for at least a minute after a secondary limit that names no time; doubled with each that follows."""
LONGEST_WAIT = timedelta(hours=1)
_TIMEOUT = 15
_REMEMBERED = 1000
_GONE = {
    404: "GitHub does not have this, or the token may not see it",
    409: "The repository is empty",
    410: "It was deleted",
    451: "It is blocked for legal reasons",
}
_PERMISSIONS = "x-accepted-github-permissions"


class LimitReachedError(UnavailableError):
    """A limit of GitHub is used up; ``retry_at`` says when it is not any more."""

    def __init__(self, what: str, retry_at: datetime) -> None:
        super().__init__(
            f"GitHub's {what} is used up until {retry_at:%H:%M} UTC.", "The search goes on by itself after that."
        )
        self.retry_at = retry_at


@dataclass(frozen=True, slots=True)
class _Remembered:
    etag: str
    data: Any


class GithubApi:
    """Reads from GitHub; may be used by many threads, which take turns.

    Args:
        url: base address of the REST API, such as ``https://api.github.com`` or ``https://HOST/api/v3``.
        token: empty for requests without one, which cannot search code and have a small quota.
        now: the present moment.
        timeout: seconds for one answer.
    """

    def __init__(self, url: str, token: str, now: Clock, timeout: int = _TIMEOUT) -> None:
        if not url.startswith(("https://", "http://")):
            raise ConfigurationError(f"github.api_url is {url!r}.", "Give it as https://HOST/api/v3.")
        # A gateway that stumbles is asked once more at once; everything else is ours to decide.
        retry = Retry(total=1, status_forcelist=(502, 503, 504), backoff_factor=0, respect_retry_after_header=False)
        self._requester = Github(
            auth=Auth.Token(token) if token else None,
            base_url=url.rstrip("/"),
            timeout=timeout,
            retry=retry,
            seconds_between_requests=None,
        ).requester
        self.has_token = bool(token)
        self._now = now
        self._turn = threading.Lock()
        self._blocked: dict[str, datetime] = {}
        self._secondary = 0
        self._known: OrderedDict[str, _Remembered] = OrderedDict()
        self.requests = 0
        """Requests made so far, answers that had not changed included."""

    def get(self, path: str, /, **parameters: str | int) -> Any:
        """The data at a path.

        Args:
            path: with a leading slash, its parts quoted.
            parameters: of the query.

        Raises:
            LimitReachedError: a limit is used up; no request is made until it is not.
            ConfigurationError: the token is wrong, or lacks a permission; names it.
            NotFoundError: it does not exist, is blocked, or the repository is empty.
            UsageError: GitHub does not accept the query.
            UnavailableError: GitHub does not answer.
        """
        url = f"{path}?{urlencode(parameters, quote_via=quote)}" if parameters else path
        resource = _resource(path)
        with self._turn:
            self._refuse_blocked(resource)
            known = self._known.get(url)
            headers = {"If-None-Match": known.etag} if known else {}
            self.requests += 1
            try:
                answered, data = self._requester.requestJsonAndCheck("GET", url, headers=headers)
            except GithubException as error:
                raise self._translated(error, path, resource) from error
            except RequestException as error:
                raise UnavailableError(
                    f"GitHub does not answer: {type(error).__name__}.", "Check github.api_url and the network."
                ) from error
            except RuntimeError as error:  # PyGithub's word for a redirect to another host
                raise ConfigurationError(f"GitHub leads elsewhere: {error}.", "Check github.api_url.") from error
            self._secondary = 0
            self._note_remaining(answered, resource)
            if known and data is None:
                self._known.move_to_end(url)
                return known.data
            if data is None:  # PyGithub takes a redirect that it does not follow for an empty answer
                raise UnavailableError(f"GitHub gave no data for {path}.", "Check github.api_url, or try again later.")
            self._remember(url, answered.get("etag", ""), data)
            return data

    def _refuse_blocked(self, resource: str) -> None:
        for name in (resource, "everything"):
            until = self._blocked.get(name)
            if until and until > self._now():
                raise LimitReachedError(_limit_name(name), until)
            self._blocked.pop(name, None)

    def _remember(self, url: str, etag: str, data: Any) -> None:
        unfinished = isinstance(data, Mapping) and data.get("incomplete_results")
        if etag and not unfinished:
            self._known[url] = _Remembered(etag, data)
            self._known.move_to_end(url)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    def _note_remaining(self, headers: Mapping[str, Any], resource: str) -> None:
        """A limit whose last request this was is not tried again: a refusal would count as misuse."""
        if str(headers.get("x-ratelimit-remaining", "")) == "0" and (until := self._reset(headers)):
            self._blocked[resource] = until

    def _translated(self, error: GithubException, path: str, resource: str) -> Exception:
        headers = {name.lower(): value for name, value in (error.headers or {}).items()}
        message = str((error.data or {}).get("message", "")) if isinstance(error.data, Mapping) else ""
        if error.status in _GONE:
            return NotFoundError(f"{_GONE[error.status]}: {path}.")
        match error.status:
            case 403 | 429 if _is_limit(error.status, message, headers):
                return self._limited(headers, resource)
            case 401:
                return ConfigurationError("GitHub does not accept the token.", "Set GITHUB_TOKEN to a valid one.")
            case 403:
                needed = str(headers.get(_PERMISSIONS, "")) or "Contents: read, Metadata: read"
                told = message or "no permission"
                return ConfigurationError(f"GitHub refuses {path}: {told}.", f"Give the token {needed}.")
            case 422:
                return UsageError(f"GitHub does not accept the query: {message or 'no reason given'}.")
        return UnavailableError(f"GitHub answered {error.status} for {path}.", "Try again later.")

    def _limited(self, headers: Mapping[str, Any], resource: str) -> LimitReachedError:
        primary = str(headers.get("x-ratelimit-remaining", "")) == "0"
        until = self._retry_after(headers) or (self._reset(headers) if primary else None)
        if until is None:
            until = self._now() + min(LONGEST_WAIT, timedelta(seconds=SECONDARY_SECONDS * 2**self._secondary))
        if not primary:
            self._secondary += 1
        name = resource if primary else "everything"
        self._blocked[name] = until
        logger.warning("GitHub's %s is used up until %s", _limit_name(name), until)
        return LimitReachedError(_limit_name(name), until)

    def _retry_after(self, headers: Mapping[str, Any]) -> datetime | None:
        value = str(headers.get("retry-after", ""))
        return self._now() + min(LONGEST_WAIT, timedelta(seconds=int(value))) if value.isdigit() else None

    def _reset(self, headers: Mapping[str, Any]) -> datetime | None:
        """When the limit is full again; a second later, since it is not said when in that second."""
        value = str(headers.get("x-ratelimit-reset", ""))
        if not value.isdigit():
            return None
        reset = datetime.fromtimestamp(int(value) + 1, UTC)
        return reset if reset > self._now() else None


def _is_limit(status: int, message: str, headers: Mapping[str, Any]) -> bool:
    if status == 429 or "retry-after" in headers or str(headers.get("x-ratelimit-remaining", "")) == "0":  # noqa: PLR2004 - HTTP's number
        return True
    return "rate limit" in message.lower() or "abuse" in message.lower()


def _resource(path: str) -> str:
    if path.startswith("/search/code"):
        return "code_search"
    return "search" if path.startswith("/search") else "core"


def _limit_name(name: str) -> str:
    return {"code_search": "code search limit", "search": "search limit", "core": "request limit"}.get(
        name, "limit against too many requests at once"
    )
