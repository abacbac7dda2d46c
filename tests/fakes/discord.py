"""Discord on 127.0.0.1: the gateway and the REST interface as discord.py uses them, and what people do in front of them.

It enforces what Discord enforces (lengths, permissions, the time to answer) and keeps everything that was said.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

from aiohttp import web

from tests.fakes.discord_gateway import Gateway
from tests.fakes.discord_interactions import Interactions
from tests.fakes.discord_rest import Rest
from tests.fakes.discord_world import EPHEMERAL, FORUM, World

TOKEN = "token-of-the-bot"
COMMAND, CLICK, COMPLETION, SUBMISSION = 2, 3, 4, 5


class FakeDiscord:
    """A server with one guild; started by :func:`discord_server`."""

    def __init__(self, token=TOKEN):
        self.world = World()
        self.gateway = Gateway(self.world, token)
        self.interactions = Interactions(self.world, self.gateway.message)
        self.rest = Rest(self.world, self.gateway, self.interactions, token)
        self.faults = self.rest.faults
        self.api_url = ""

    @property
    def general(self):
        return self.world.general

    def person(self, name="Ann", roles=(), *, member=True, bot=False):
        user = self.world.user(name, bot=bot)
        if member:
            self.world.join(user, roles)
        return user

    async def role(self, name):
        """A new role, of which the bot is told."""
        number = self.world.role(name)
        role = {"id": str(number), "position": 0} | self.world.roles[number]
        await self.gateway.dispatch("GUILD_ROLE_CREATE", {"guild_id": str(self.world.guild_id), "role": role})
        return number

    # What people do

    async def say(self, user, channel, content, *, reply_to=None, ping=True, **more):
        stored = self.world.message(user, channel, content, **more)
        if reply_to is not None:
            self.world.refer(stored, channel, int(reply_to["id"]), ping=ping)
        await self.gateway.message("MESSAGE_CREATE", stored)
        # Writing to a socket with room in it lets nobody else run; many people write independently of each other.
        await asyncio.sleep(0)
        return stored

    async def mention(self, user, channel, content):
        return await self.say(user, channel, f"<@{self.world.bot}> {content}")

    async def edit(self, message, content):
        message |= {"content": content, "edited_timestamp": message["timestamp"]}
        await self.gateway.message("MESSAGE_UPDATE", message)

    async def delete(self, message):
        channel = int(message["channel_id"])
        del self.world.messages[channel][int(message["id"])]
        guild = self.world.channels[channel].get("guild_id")
        data = {"id": message["id"], "channel_id": str(channel)} | ({"guild_id": guild} if guild else {})
        await self.gateway.dispatch("MESSAGE_DELETE", data)

    async def post_in_forum(self, user, forum, title, content):
        """A new post: a thread whose first message has the same id."""
        thread = self.world.thread(forum, user, title)
        await self.gateway.dispatch("THREAD_CREATE", self.world.channels[thread] | {"newly_created": True})
        stored = self.world.message(user, thread, content)
        del self.world.messages[thread][int(stored["id"])]
        stored["id"] = str(thread)
        self.world.messages[thread][thread] = stored
        await self.gateway.message("MESSAGE_CREATE", stored)
        return stored

    async def react(self, user, message, emoji, *, taken_away=False):
        channel = int(message["channel_id"])
        data = {
            "user_id": str(user),
            "channel_id": str(channel),
            "message_id": message["id"],
            "emoji": {"id": None, "name": emoji},
            "type": 0,
            "burst": False,
        }
        if guild := self.world.channels[channel].get("guild_id"):
            data["guild_id"] = guild
            if not taken_away:
                data["member"] = self.world.member(user, whole=True)
        await self.gateway.reaction("MESSAGE_REACTION_REMOVE" if taken_away else "MESSAGE_REACTION_ADD", data)

    async def command(self, user, channel, name, **options):
        """A slash command; its registered options, by name."""
        given = [{"name": key, "type": 3, "value": value} for key, value in options.items()]
        return await self._interact(user, channel, COMMAND, self._invoked(name, 1) | {"options": given})

    async def complete(self, user, channel, name, option, beginning):
        """What is offered while an option is typed."""
        given = [{"name": option, "type": 3, "value": beginning, "focused": True}]
        interaction = await self._interact(user, channel, COMPLETION, self._invoked(name, 1) | {"options": given})
        await self.until(lambda: interaction.choices is not None, "choices")
        return interaction.choices

    async def menu(self, user, message, name):
        """An entry of a message's context menu."""
        data = self._invoked(name, 3) | {"target_id": message["id"]}
        data["resolved"] = {"messages": {message["id"]: message}}
        return await self._interact(user, int(message["channel_id"]), COMMAND, data)

    def _invoked(self, name, kind):
        for (guild, known), command in self.world.commands.items():
            if known == name and command["type"] == kind:
                found = {"id": command["id"], "name": name, "type": kind}
                return found | ({"guild_id": guild} if guild else {})
        raise AssertionError(f"There is no command {name!r}: {sorted(self.world.commands)}")

    async def click(self, user, message, label):
        """Press the button with a label; fails when there is none that can be seen."""
        buttons = [button for row in message["components"] for button in row["components"]]
        found = [button for button in buttons if button["label"] == label]
        assert found, f"No button {label!r} among {[button['label'] for button in buttons]}"
        data = {"custom_id": found[0]["custom_id"], "component_type": 2}
        return await self._interact(user, int(message["channel_id"]), CLICK, data, message)

    async def submit(self, interaction, text, message=None):
        """Send the form that an interaction opened."""
        form = interaction.form
        row = form["components"][0]
        field = row["components"][0] if row["type"] == 1 else row["component"]
        value = {"type": 4, "custom_id": field["custom_id"], "value": text}
        rows = [{"type": 1, "components": [value]} if row["type"] == 1 else {"type": 18, "component": value}]
        data = {"custom_id": form["custom_id"], "components": rows}
        return await self._interact(interaction.user, interaction.channel, SUBMISSION, data, message)

    async def _interact(self, user, channel, kind, data, message=None):
        interaction = self.interactions.open(user, channel)
        await self.gateway.dispatch("INTERACTION_CREATE", self.interactions.payload(interaction, kind, data, message))
        return interaction

    # What people see

    def seen(self, channel, user=None):
        """The messages of the bot in a channel, oldest first; hidden ones only by the one who may see them."""
        own = str(self.world.bot)
        return [
            one
            for one in self.world.messages[int(channel)].values()
            if one["author"]["id"] == own and (not one["flags"] & EPHEMERAL or (user and one.get("seen_by") == user))
        ]

    def texts(self, channel, user=None):
        return [one["content"] for one in self.seen(channel, user)]

    def everything(self):
        """All messages of the bot, wherever they are."""
        own = str(self.world.bot)
        return [one for held in self.world.messages.values() for one in held.values() if one["author"]["id"] == own]

    def thread_of(self, message):
        """The thread that was opened from a message; None when there is none."""
        return int(message["id"]) if int(message["id"]) in self.world.channels else None

    def forum(self, name="questions"):
        return self.world.channel(name, FORUM)

    async def until(self, condition, what="it", seconds=20.0):
        """Wait until something holds."""
        for _ in range(int(seconds / 0.005)):
            if condition():
                return
            await asyncio.sleep(0.005)
        raise AssertionError(f"Waited in vain for {what}. Calls: {self.rest.calls[-15:]}")

    async def quiet(self, seconds=0.15):
        """Let everything that is under way happen."""
        await asyncio.sleep(seconds)

    def called(self, method, path):
        """The statuses with which calls of a path were answered."""
        return [status for verb, where, status in self.rest.calls if verb == method and where == path]


@asynccontextmanager
async def discord_server(token=TOKEN):
    """A fake Discord that listens; everything is closed afterwards."""
    fake = FakeDiscord(token)
    runner = web.AppRunner(fake.rest.application(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    fake.api_url = f"http://127.0.0.1:{port}/api"
    fake.gateway.url = f"ws://127.0.0.1:{port}/gateway"
    try:
        yield fake
    finally:
        fake.faults.close()
        await fake.gateway.close()
        await runner.cleanup()
