"""What the Discord adapter's parts work with, and how they find out where something happens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import discord

from bot.chat.discord_facts import Kind, Spot, spot_of
from bot.chat.discord_layout import Page, answer_pages, card_pages
from bot.chat.discord_outbox import Outbox
from bot.chat.discord_people import People
from bot.chat.discord_place import MessagePlace, Target
from bot.chat.discord_typing import Typing
from bot.chat.messages import Card, Outgoing
from bot.chat.ports import Core
from store.errors import UnavailableError


@dataclass(frozen=True, slots=True)
class Parts:
    """One connection, and what it is used through."""

    client: discord.Client
    core: Core
    outbox: Outbox
    people: People
    typing: Typing

    @property
    def own(self) -> int:
        """The bot's user id; 0 before it is logged in."""
        return self.client.user.id if self.client.user else 0

    def place(self, target: Target) -> MessagePlace:
        """Where a message is answered."""
        return MessagePlace(self.outbox, self.typing, target)

    async def spot(self, channel: int) -> Spot | None:
        """What a channel or thread is, from what is known, else from Discord; None when it is out of reach."""
        known = spot_of(self.client.get_channel(channel))
        if known is not None:
            return known
        try:
            return spot_of(await self.outbox.call("look a channel up", lambda: self.client.fetch_channel(channel)))
        except UnavailableError:
            return None

    def spot_of_interaction(self, interaction: discord.Interaction) -> Spot:
        """Where a command was given or a button stands; nothing is looked up, since that takes time."""
        known = spot_of(interaction.channel)
        channel = interaction.channel_id or 0
        if known is not None:
            return known
        return Spot(channel, Kind.CHANNEL if interaction.guild_id else Kind.DIRECT, channel)


def pages_of(items: Iterable[Outgoing | Card]) -> list[Page]:
    """What a command shows."""
    return [page for item in items for page in (card_pages(item) if isinstance(item, Card) else answer_pages(item))]
