"""Who writes to us in direct messages: members of our servers with their roles there, or somebody from outside."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection
from time import monotonic

import discord

from bot.chat.discord_facts import identity, person_of
from bot.chat.discord_outbox import Outbox, RefusedError
from bot.chat.messages import Person
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

_KNOWN_SECONDS = 300.0
_KNOWN_PEOPLE = 5000
_SERVERS = 50
_LOOKUP_SECONDS = 15.0
_NO_MEMBER = frozenset({10004, 10007, 10013})
"""Discord's codes: unknown server, unknown member, unknown user."""


class People:
    """Looks people up, and remembers them for some minutes.

    Args:
        client: the connection.
        outbox: for the calls.
        served: servers whose members are no outsiders; empty for all that the bot is on.
        clock: seconds that only ever grow.
    """

    def __init__(
        self,
        client: discord.Client,
        outbox: Outbox,
        served: Collection[int] = (),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._client = client
        self._outbox = outbox
        self._served = frozenset(served)
        self._clock = clock
        self._known: OrderedDict[int, tuple[float, Person]] = OrderedDict()

    async def of(self, user: discord.abc.User) -> Person:
        """A person; on servers the message itself says what is needed. Never raises."""
        if isinstance(user, discord.Member):
            return self.member(user)
        return Person(identity(user.id)) if user.bot else await self.by_id(user.id)

    def member(self, member: discord.Member) -> Person:
        """A member of a server; elsewhere than on those that are served, somebody from outside."""
        return person_of(member) if self._serves(member.guild) else Person(identity(member.id), outsider=True)

    async def by_id(self, user: int) -> Person:
        """A person of whom only the id is known. Never raises."""
        seen, person = self._known.get(user, (0.0, None))
        if person is not None and self._clock() - seen < _KNOWN_SECONDS:
            return person
        person = await self._looked_up(user)
        if person.uncertain:
            return person
        self._known[user] = (self._clock(), person)
        while len(self._known) > _KNOWN_PEOPLE:
            self._known.popitem(last=False)
        return person

    async def _looked_up(self, user: int) -> Person:
        """Roles of all servers that a person shares with us; somebody who shares none is an outsider."""
        roles: list[str] = []
        shares = uncertain = False
        for guild in [one for one in self._client.guilds if self._serves(one)][:_SERVERS]:
            try:
                member = await self._member(guild, user)
            except UnavailableError as error:
                logger.warning("It is not known whether somebody is a member, which counts as no: %s", error)
                uncertain = True
                continue
            if member is not None:
                shares = True
                roles += person_of(member).groups
        return Person(identity(user), tuple(roles), outsider=not shares, uncertain=uncertain)

    def _serves(self, guild: discord.Guild) -> bool:
        return not self._served or guild.id in self._served

    async def _member(self, guild: discord.Guild, user: int) -> discord.Member | None:
        """A person as a member of a server; None for somebody who is none.

        Raises:
            UnavailableError: that cannot be found out now.
        """
        try:
            async with self._outbox.turn(guild.id):
                return await self._outbox.call("look a member up", lambda: guild.fetch_member(user), _LOOKUP_SECONDS)
        except RefusedError as error:
            if error.code not in _NO_MEMBER:
                raise
            return None
