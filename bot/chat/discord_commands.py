"""The commands that Discord offers: what they are called, and what they take."""

from __future__ import annotations

from typing import Protocol

import discord
from discord import app_commands

ASK_ABOUT = "Ask Gaplight about this"
MARK = "This is the answer"
_QUESTION_LIMIT = 2000
_WORDS = ("help", "gaps", "digest", "candidates", "status", "approve", "reject", "snooze")
_CHOICE_LIMIT = 100


class Commanded(Protocol):
    """What does what a command says; see :class:`bot.chat.discord_interactions.Interactions`."""

    async def ask(self, interaction: discord.Interaction, question: str, collection: str) -> None:
        """A question."""

    async def ask_about(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """A question about a message."""

    async def command(self, interaction: discord.Interaction, words: str) -> None:
        """Everything else that is written."""

    async def mark(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """A message that is the answer."""

    async def collections(self, interaction: discord.Interaction, beginning: str) -> tuple[str, ...]:
        """Names that complete what was typed."""


def register(tree: app_commands.CommandTree[discord.Client], commanded: Commanded) -> None:
    """Add all commands to a tree, for servers and direct messages."""
    collection = _Collections(commanded)

    @app_commands.describe(question="What do you want to know?", collection="Search only this collection")
    @app_commands.autocomplete(collection=collection.complete)
    async def ask(
        interaction: discord.Interaction,
        question: app_commands.Range[str, 1, _QUESTION_LIMIT],
        collection: str = "",
    ) -> None:
        await commanded.ask(interaction, question, collection)

    @app_commands.describe(what="What to show or do", details="To approve, reject or snooze: the id, and why")
    @app_commands.choices(what=[app_commands.Choice(name=word, value=word) for word in _WORDS])
    async def gaplight(interaction: discord.Interaction, what: str, details: str = "") -> None:
        await commanded.command(interaction, f"{what} {details}".strip())

    async def ask_about(interaction: discord.Interaction, message: discord.Message) -> None:
        await commanded.ask_about(interaction, message)

    async def mark(interaction: discord.Interaction, message: discord.Message) -> None:
        await commanded.mark(interaction, message)

    everywhere = app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False)
    installed = app_commands.AppInstallationType(guild=True, user=False)
    for name, description, callback in (
        ("ask", "Ask a question about your team's documents", ask),
        ("gaplight", "Open questions, sources to decide on, and how I am doing", gaplight),
    ):
        tree.add_command(
            app_commands.Command(
                name=name,
                description=description,
                callback=callback,
                allowed_contexts=everywhere,
                allowed_installs=installed,
            )
        )
    for name, act in ((ASK_ABOUT, ask_about), (MARK, mark)):
        tree.add_command(
            app_commands.ContextMenu(name=name, callback=act, allowed_contexts=everywhere, allowed_installs=installed)
        )


class _Collections:
    def __init__(self, commanded: Commanded) -> None:
        self._commanded = commanded

    async def complete(self, interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        names = await self._commanded.collections(interaction, current)
        return [app_commands.Choice(name=name, value=name) for name in names[:25] if len(name) <= _CHOICE_LIMIT]
