"""Facts about channels and people that events leave out, remembered for a while."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar

from bot.chat.messages import Person
from bot.chat.slack_calls import RefusedError, SlackCalls
from bot.chat.slack_events import NAME, Channel, Kind, Own
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

_CHANNEL_SECONDS = 300.0
_PERSON_SECONDS = 1800.0
_GROUPS_SECONDS = 60.0
_DIRECT_SECONDS = 3600.0
_PATIENCE = 15.0
_REMEMBERED = 5000
_UNKNOWN_PEOPLE = frozenset({"user_not_found", "user_not_visible", "users_not_found", "account_inactive"})
_NO_GROUPS = frozenset({"paid_teams_only", "plan_upgrade_required", "team_not_eligible"})
"""Errors of workspaces that have no user groups at all; whatever else Slack says leaves open which there are."""

_Value = TypeVar("_Value")


class _Memory(Generic[_Value]):
    """Values by key that are good for some seconds; whoever asks for one that is on its way waits for it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._known: dict[str, tuple[float, asyncio.Task[_Value]]] = {}

    async def get(self, key: str, find: Callable[[], Awaitable[_Value]]) -> _Value:
        now = asyncio.get_running_loop().time()
        known = self._known.get(key)
        if known is None or known[0] < now:
            if len(self._known) > _REMEMBERED:
                self._known = {name: kept for name, kept in self._known.items() if kept[0] >= now}
            known = now + self._seconds, asyncio.ensure_future(_task(find))
            self._known[key] = known
        try:
            return await asyncio.shield(known[1])
        except UnavailableError:
            if self._known.get(key) == known:
                del self._known[key]
            raise


async def _task(find: Callable[[], Awaitable[_Value]]) -> _Value:
    return await find()


class Lookup:
    """What is known about channels and people.

    Args:
        calls: the Web API.
        own: who we are.
    """

    def __init__(self, calls: SlackCalls, own: Own) -> None:
        self._calls = calls
        self._own = own
        self._channels: _Memory[Channel] = _Memory(_CHANNEL_SECONDS)
        self._outsiders: _Memory[bool] = _Memory(_PERSON_SECONDS)
        self._groups: _Memory[Mapping[str, tuple[str, ...]] | None] = _Memory(_GROUPS_SECONDS)
        self._direct: _Memory[str] = _Memory(_DIRECT_SECONDS)

    async def channel(self, channel: str, kind: Kind | None = None, *, shared: bool = False) -> Channel:
        """A channel; what cannot be found out counts as private.

        Args:
            channel: its id.
            kind: what the event says that it is.
            shared: the event says that other organisations are in it.
        """
        if kind is Kind.DIRECT_MESSAGE or channel.startswith("D"):
            return Channel(channel, Kind.DIRECT_MESSAGE)
        try:
            known = await self._channels.get(channel, lambda: self._find_channel(channel))
        except UnavailableError as error:
            logger.warning("Nothing could be found out about the channel %s: %s", channel, error)
            known = Channel(channel)
        return Channel(channel, kind or known.kind, known.name, shared or known.shared)

    async def person(self, user: str, team: str = "") -> Person:
        """A person with groups.

        Args:
            user: Slack's id; empty gives nobody.
            team: the workspace that the event names; empty when it names none.
        """
        if not user:
            return Person("")
        try:
            outsider = await self._outsider(user, team)
        except UnavailableError as error:
            logger.warning("Nothing could be found out about %s, who counts as an outsider: %s", user, error)
            return Person(f"{NAME}:{user}", outsider=True, uncertain=True)
        if outsider:
            return Person(f"{NAME}:{user}", outsider=True)
        groups = await self._groups_of(user)
        return Person(f"{NAME}:{user}", groups or (), uncertain=groups is None)

    async def direct_channel(self, user: str) -> str:
        """The direct messages with a person.

        Raises:
            UnavailableError: they cannot be opened.
        """

        async def find() -> str:
            opened = await self._calls.call("conversations.open", patience=_PATIENCE, users=user)
            return str(opened["channel"]["id"])

        return await self._direct.get(user, find)

    async def _find_channel(self, channel: str) -> Channel:
        found = await self._calls.call("conversations.info", patience=_PATIENCE, channel=channel)
        facts: Mapping[str, Any] = found["channel"]
        if facts.get("is_im"):
            kind = Kind.DIRECT_MESSAGE
        elif facts.get("is_mpim"):
            kind = Kind.GROUP_MESSAGE
        else:
            kind = Kind.PRIVATE if facts.get("is_private", True) else Kind.CHANNEL
        shared = bool(facts.get("is_ext_shared"))
        return Channel(channel, kind, str(facts.get("name") or ""), shared)

    async def _outsider(self, user: str, team: str) -> bool:
        """Whether somebody is from another organisation, or a guest of ours, which no event tells.

        Raises:
            UnavailableError: that cannot be found out now.
        """
        if team and team not in {self._own.team, self._own.enterprise} and not self._own.enterprise:
            return True
        return await self._outsiders.get(user, lambda: self._find_outsider(user))

    async def _find_outsider(self, user: str) -> bool:
        try:
            found = await self._calls.call("users.info", patience=_PATIENCE, user=user)
        except RefusedError as error:
            if error.code not in _UNKNOWN_PEOPLE:
                raise
            # Slack does not know removed people and those of other organisations.
            logger.info("Slack does not tell who %s is (%s): counts as an outsider", user, error.code)
            return True
        return self._is_outsider(found)

    def _is_outsider(self, found: Mapping[str, Any]) -> bool:
        facts: Mapping[str, Any] = found["user"]
        enterprise = (facts.get("enterprise_user") or {}).get("enterprise_id", "")
        ours = facts.get("team_id") == self._own.team or (enterprise and enterprise == self._own.enterprise)
        guest = facts.get("is_restricted") or facts.get("is_ultra_restricted")
        return bool(facts.get("is_stranger") or guest) or not ours

    async def _groups_of(self, user: str) -> tuple[str, ...] | None:
        """The user groups that somebody is in; None when they cannot be found out now."""
        try:
            groups = await self._groups.get("", self._find_groups)
        except UnavailableError as error:
            logger.warning("The user groups could not be listed: %s", error)
            return None
        return None if groups is None else groups.get(user, ())

    async def _find_groups(self) -> Mapping[str, tuple[str, ...]] | None:
        """Groups by person; None when Slack does not tell, which asking again with every message would not change."""
        members: dict[str, tuple[str, ...]] = {}
        try:
            found = await self._calls.call("usergroups.list", patience=_PATIENCE, include_users=True)
        except RefusedError as error:
            logger.info("Slack lists no user groups (%s)", error.code)
            return members if error.code in _NO_GROUPS else None
        for group in found.get("usergroups", ()):
            for user in group.get("users") or ():
                members[user] = (*members.get(user, ()), str(group["id"]))
        return members
