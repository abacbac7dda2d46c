"""Interactions: commands, clicks and forms, the three seconds and the fifteen minutes that an answer has."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field

from aiohttp import web

from tests.fakes.discord_limits import RefusedError, answered, check_choices, check_form, check_message
from tests.fakes.discord_world import EPHEMERAL, LOADING, pings, unfolded

PONG, SAY, DEFER, DEFER_UPDATE, UPDATE, CHOICES, FORM = 1, 4, 5, 6, 7, 8, 9
ACKNOWLEDGE_SECONDS, TOKEN_SECONDS = 3.0, 900.0


@dataclass
class Interaction:
    """One interaction, as the one who caused it sees it."""

    id: int
    token: str
    user: int
    channel: int
    created: float
    response: int = 0
    original: int = 0
    form: dict | None = None
    choices: list | None = None
    messages: list = field(default_factory=list)

    @property
    def texts(self):
        """What is shown, without what was deleted."""
        return [one["content"] for one in self.messages]


class Interactions:
    """All interactions.

    Args:
        world: what is stored.
        announce: tells the gateway of a message.
    """

    def __init__(self, world, announce):
        self._world = world
        self._announce = announce
        self._by_token = {}
        self.skipped = 0.0

    def now(self):
        return time.monotonic() + self.skipped

    def open(self, user, channel):
        interaction = Interaction(self._world.id(), uuid.uuid4().hex, user, channel, self.now())
        self._by_token[interaction.token] = interaction
        return interaction

    def payload(self, interaction, kind, data, message=None):
        """The event that a bot gets."""
        place = self._world.channels[interaction.channel]
        shown = {
            "id": str(interaction.id),
            "application_id": str(self._world.application),
            "type": kind,
            "data": data,
            "token": interaction.token,
            "version": 1,
            "channel_id": str(interaction.channel),
            "channel": place,
            "locale": "en-US",
            "entitlements": [],
            "attachment_size_limit": 10_000_000,
            "authorizing_integration_owners": {},
            "context": 0,
        }
        if "guild_id" in place:
            member = self._world.member(interaction.user, whole=True) | {"permissions": "0"}
            shown |= {"guild_id": place["guild_id"], "member": member, "guild": {"id": place["guild_id"]}}
        else:
            shown |= {"user": self._world.users[interaction.user], "context": 1}
        return shown | ({"message": message} if message else {})

    async def callback(self, request):
        interaction = self._by_token.get(request.match_info["token"])
        if interaction is None or self.now() - interaction.created > ACKNOWLEDGE_SECONDS:
            raise RefusedError(404, 10062, "Unknown interaction")
        if interaction.response:
            raise RefusedError(400, 40060, "Interaction has already been acknowledged.")
        body = await request.json()
        await self._respond(interaction, body["type"], body.get("data") or {})
        interaction.response = body["type"]
        shown = {"id": str(interaction.id), "type": 2}
        if interaction.original:
            shown["response_message_id"] = str(interaction.original)
        return answered({"interaction": shown})

    async def _respond(self, interaction, kind, data):
        match kind:
            case 4 | 5:
                if kind == SAY:
                    check_message(data)
                flags = data.get("flags", 0) | (LOADING if kind == DEFER else 0)
                interaction.original = int((await self._show(interaction, data, flags))["id"])
            case 8:
                check_choices(data["choices"])
                interaction.choices = [choice["value"] for choice in data["choices"]]
            case 9:
                check_form(data)
                interaction.form = data

    async def _show(self, interaction, data, flags):
        stored = self._world.message(
            self._world.bot,
            interaction.channel,
            data.get("content") or "",
            embeds=data.get("embeds") or [],
            components=data.get("components") or [],
            flags=flags,
            type=20,
            webhook_id=str(self._world.application),
            application_id=str(self._world.application),
            pings=pings(data),
            unfolded=unfolded(data | {"flags": flags}),
            seen_by=interaction.user if flags & EPHEMERAL else None,
        )
        stored["mentions"], stored["mention_roles"] = [], []
        interaction.messages.append(stored)
        if not flags & EPHEMERAL:
            await self._announce("MESSAGE_CREATE", stored)
        return stored

    async def follow_up(self, request):
        interaction = self._alive(request)
        body = await request.json()
        check_message(body)
        original = self._of(interaction, interaction.original)
        if original is not None and original["flags"] & LOADING:
            # The first message after a deferral takes its place, and is as visible as the deferral said.
            return answered(await self._change(original, body))
        return answered(await self._show(interaction, body, body.get("flags", 0)))

    async def edit(self, request):
        interaction = self._alive(request)
        body = await request.json()
        stored = self._named(interaction, request.match_info["message"])
        check_message(body, partial=not stored["flags"] & LOADING)
        return answered(await self._change(stored, body))

    async def delete(self, request):
        interaction = self._alive(request)
        stored = self._named(interaction, request.match_info["message"])
        interaction.messages.remove(stored)
        del self._world.messages[interaction.channel][int(stored["id"])]
        return web.Response(status=204)

    async def show(self, request):
        return answered(self._named(self._alive(request), request.match_info["message"]))

    async def _change(self, stored, body):
        stored |= {key: body[key] for key in ("embeds", "components") if key in body}
        if "content" in body:
            stored["content"] = body["content"] or ""
        stored["flags"] &= ~LOADING
        stored["pings"] = [*stored["pings"], *pings(body)]
        stored["unfolded"] = unfolded(stored)
        if not stored["flags"] & EPHEMERAL:
            await self._announce("MESSAGE_UPDATE", stored)
        return stored

    def _alive(self, request):
        interaction = self._by_token.get(request.match_info["token"])
        if interaction is None or not interaction.response:
            raise RefusedError(404, 10015, "Unknown Webhook")
        if self.now() - interaction.created > TOKEN_SECONDS:
            raise RefusedError(401, 50027, "Invalid Webhook Token")
        return interaction

    def _named(self, interaction, name):
        number = interaction.original if name == "@original" else int(name)
        stored = self._of(interaction, number)
        if stored is None:
            raise RefusedError(404, 10008, "Unknown Message")
        return stored

    def _of(self, interaction, number):
        return next((one for one in interaction.messages if int(one["id"]) == number), None)
