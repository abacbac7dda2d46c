"""Who writes to us in direct messages: members of our servers with their roles there, or somebody from outside."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
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


class People:
    """Looks people up, and remembers them for some minutes.

    Args:
        client: the connection.
        outbox: for the calls.
        clock: seconds that only ever grow.
    """

    def __init__(self, client: discord.Client, outbox: Outbox, clock: Callable[[], float] = monotonic) -> None:
        self._client = client
        self._outbox = outbox
        self._clock = clock
        self._known: OrderedDict[int, tuple[float, Person]] = OrderedDict()

    async def of(self, user: discord.abc.User) -> Person:
        """A person; on servers the message itself says what is needed. Never raises."""
        if isinstance(user, discord.Member):
            return person_of(user)
        return Person(identity(user.id)) if user.bot else await self.by_id(user.id)

    async def by_id(self, user: int) -> Person:
        """A person of whom only the id is known. Never raises."""
        seen, person = self._known.get(user, (0.0, None))
        if person is not None and self._clock() - seen < _KNOWN_SECONDS:
            return person
        person = await self._looked_up(user)
        self._known[user] = (self._clock(), person)
        while len(self._known) > _KNOWN_PEOPLE:
            self._known.popitem(last=False)
        return person

    async def _looked_up(self, user: int) -> Person:
        """Roles of all servers that a person shares with us; somebody who shares none is an outsider."""
        roles: list[str] = []
        shares = False
        for guild in self._client.guilds[:_SERVERS]:
            member = await self._member(guild, user)
            if member is not None:
                shares = True
                roles += person_of(member).groups
        return Person(identity(user), tuple(roles), outsider=not shares)

    async def _member(self, guild: discord.Guild, user: int) -> discord.Member | None:
        try:
            async with self._outbox.turn(guild.id):
                return await self._outbox.call("look a member up", lambda: guild.fetch_member(user))
        except RefusedError:
            return None
        except UnavailableError as error:
            logger.warning("It is not known whether somebody is a member, which counts as no: %s", error)
            return None
