"""Buttons, forms and frames as discord.py takes them. A button carries all that it needs: it works after a restart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import discord

from bot.chat.discord_layout import BUTTON_PREFIX, Box, Page, button_id, button_label
from bot.chat.messages import Action, Verb

FORM_PREFIX = f"{BUTTON_PREFIX}-form"
NOTE_LIMIT = 2000
_NOTE = "note"
_COLOUR = 0x2F6FDE
_FORM_SECONDS = 900.0
_BUTTON = re.compile(rf"{BUTTON_PREFIX}:(?P<verb>[a-z_]+):(?P<subject>[^\n]*)")
_FORM = re.compile(rf"{FORM_PREFIX}:(?P<verb>[a-z_]+):(?P<subject>[^\n]*)")
_STYLES = {"primary": discord.ButtonStyle.success, "danger": discord.ButtonStyle.danger}


@runtime_checkable
class PressTaker(Protocol):
    """A client that does what a button says."""

    async def pressed(self, interaction: discord.Interaction, verb: str, subject: str) -> None:
        """Somebody pressed a button."""


class PressButton(discord.ui.DynamicItem[discord.ui.Button[discord.ui.View]], template=_BUTTON):
    """A button that is known by its id alone."""

    def __init__(self, verb: str, subject: str, button: discord.ui.Button[discord.ui.View]) -> None:
        super().__init__(button)
        self.verb = verb
        self.subject = subject

    @classmethod
    async def from_custom_id(
        cls,
        interaction: discord.Interaction,  # noqa: ARG003 - the signature is the library's
        item: discord.ui.Item[Any],
        match: re.Match[str],
        /,
    ) -> Self:
        """The button that was pressed, whichever process posted it."""
        assert isinstance(item, discord.ui.Button)
        return cls(match["verb"], match["subject"], item)

    async def callback(self, interaction: discord.Interaction) -> None:
        """Hand the press on."""
        if isinstance(interaction.client, PressTaker):
            await interaction.client.pressed(interaction, self.verb, self.subject)


@dataclass(frozen=True, slots=True)
class _Wording:
    title: str
    label: str
    hint: str
    optional: bool


_FORMS = {
    Verb.UNHELPFUL: _Wording(
        "What was wrong?", "What was wrong with the answer?", "Out of date, beside the point, incomplete ...", True
    ),
    Verb.REJECT: _Wording("Reject this source", "Why is it rejected?", "The reason is kept with the decision.", False),
}
FORM_VERBS = frozenset(_FORMS)
"""Buttons that open a form."""


def form(verb: Verb, subject: str) -> discord.ui.Modal:
    """The form that a button opens."""
    wording = _FORMS[verb]
    modal = discord.ui.Modal(title=wording.title, custom_id=f"{FORM_PREFIX}:{verb}:{subject}", timeout=_FORM_SECONDS)
    field = discord.ui.TextInput[discord.ui.View](
        custom_id=_NOTE,
        style=discord.TextStyle.paragraph,
        placeholder=wording.hint,
        required=not wording.optional,
        max_length=NOTE_LIMIT,
    )
    modal.add_item(discord.ui.Label(text=wording.label, component=field))
    return modal


@dataclass(frozen=True, slots=True)
class Submitted:
    """A form that was sent."""

    verb: Verb
    subject: str
    note: str


def submitted(data: Mapping[str, Any]) -> Submitted | None:
    """What was written into one of our forms; None for anything else."""
    match = _FORM.fullmatch(str(data.get("custom_id", "")))
    verb = verb_of(match["verb"]) if match else None
    if match is None or verb is None:
        return None
    return Submitted(verb, match["subject"], _written(data.get("components", ())))


def verb_of(name: str) -> Verb | None:
    """A verb by its value; None for one that there is no more."""
    try:
        return Verb(name)
    except ValueError:
        return None


def _written(components: Any) -> str:
    for row in components:
        for field in row.get("components") or [row.get("component") or {}]:
            if field.get("custom_id") == _NOTE:
                return str(field.get("value") or "").strip()
    return ""


def view_of(page: Page) -> discord.ui.View | None:
    """The buttons of a message; None when it has none."""
    if not page.actions:
        return None
    view = discord.ui.View(timeout=None)
    for action in page.actions:
        view.add_item(_button(action))
    return view


def _button(action: Action) -> PressButton:
    button = discord.ui.Button[discord.ui.View](
        label=button_label(action),
        custom_id=button_id(action),
        style=_STYLES.get(action.style, discord.ButtonStyle.secondary),
    )
    return PressButton(action.verb, action.subject, button)


def embeds_of(page: Page) -> list[discord.Embed]:
    """The frames of a message."""
    return [_embed(box) for box in page.boxes]


def _embed(box: Box) -> discord.Embed:
    embed = discord.Embed(title=box.title or None, description=box.text or None, colour=_COLOUR)
    for name, value in box.fields:
        embed.add_field(name=name, value=value)
    return embed


def arguments_of(page: Page) -> dict[str, Any]:
    """A message as the library's methods that send take it."""
    arguments: dict[str, Any] = {}
    if page.content:
        arguments["content"] = page.content
    if page.boxes:
        arguments["embeds"] = embeds_of(page)
    else:
        # The links carry no preview anyhow; this also holds for whatever Discord takes for a link one day.
        arguments["suppress_embeds"] = True
    view = view_of(page)
    if view is not None:
        arguments["view"] = view
    return arguments
