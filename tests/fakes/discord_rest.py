"""Discord's REST interface, as far as a bot that answers uses it."""

from __future__ import annotations

from aiohttp import web

from tests.fakes.discord_faults import Buckets, Faults
from tests.fakes.discord_limits import RefusedError, answered, check_commands, check_message, limited
from tests.fakes.discord_world import (
    CREATE_THREADS,
    DIRECT,
    EMBED,
    FORUM,
    HISTORY,
    PRIVATE_THREAD,
    SEND,
    SEND_IN_THREADS,
    TEXT,
    THREAD,
    VIEW,
    moment,
    pings,
    unfolded,
)

_NUMBER = r"{%s:\d+}"


class Rest:
    """Routes of the interface.

    Args:
        world: what is stored.
        gateway: where events go.
        interactions: the answers to interactions.
        token: the only one that is let in.
    """

    def __init__(self, world, gateway, interactions, token):
        self.world = world
        self.gateway = gateway
        self.interactions = interactions
        self.token = token
        self.faults = Faults()
        self.buckets = Buckets()
        self.calls = []
        self.typing = []
        self.synced = []
        self.closed_to_direct = set()
        self._joined = set()
        self._with_nonce = {}
        self.public = False

    def application(self):
        app = web.Application(middlewares=[self._guard])
        channel, message = f"/api/channels/{_NUMBER % 'channel'}", f"/messages/{_NUMBER % 'message'}"
        webhook = "/api/webhooks/{application}/{token}"
        app.add_routes(
            [
                web.get("/gateway", self.gateway.serve),
                web.get("/api/gateway/bot", self._gateway_bot),
                web.get("/api/users/@me", self._me),
                web.get("/api/users/@me/guilds", self._guilds),
                web.get("/api/oauth2/applications/@me", self._application),
                web.get("/api/guilds/{guild}", self._guild),
                web.get("/api/guilds/{guild}/channels", self._channels),
                web.get("/api/guilds/{guild}/members/{user}", self._member),
                web.put("/api/applications/{application}/commands", self._commands),
                web.put("/api/applications/{application}/guilds/{guild}/commands", self._commands),
                web.post("/api/users/@me/channels", self._open_direct),
                web.get(channel, self._channel),
                web.post(f"{channel}/typing", self._typing),
                web.post(f"{channel}/messages", self._post),
                web.get(channel + message, self._show),
                web.patch(channel + message, self._edit),
                web.delete(channel + message, self._delete),
                web.post(f"{channel}{message}/threads", self._thread),
                web.post("/api/interactions/{id}/{token}/callback", self.interactions.callback),
                web.post(webhook, self.interactions.follow_up),
                web.get(webhook + "/messages/{message}", self.interactions.show),
                web.patch(webhook + "/messages/{message}", self.interactions.edit),
                web.delete(webhook + "/messages/{message}", self.interactions.delete),
            ]
        )
        return app

    @web.middleware
    async def _guard(self, request, handler):
        if request.path == "/gateway":
            return await handler(request)
        fault = self.faults.next(request)
        try:
            if fault is not None:
                response = await self.faults.befall(fault, request, handler)
            elif not self._known(request):
                response = answered({"message": "401: Unauthorized", "code": 0}, status=401)
            else:
                response = await self.buckets.limited(request, handler)
        except RefusedError as refused:
            response = answered(refused.body, status=refused.status)
        self.calls.append((request.method, request.path.removeprefix("/api"), response.status))
        return response

    def _known(self, request):
        if request.path.startswith(("/api/webhooks/", "/api/interactions/")):
            return True  # these carry a token of their own
        return request.headers.get("Authorization") == f"Bot {self.token}"

    # Who and where

    async def _gateway_bot(self, _request):
        limit = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
        return answered({"url": self.gateway.url, "shards": 1, "session_start_limit": limit})

    async def _me(self, _request):
        return answered(self.world.users[self.world.bot])

    async def _guilds(self, _request):
        guild = {"id": str(self.world.guild_id), "name": "Example", "owner": False, "permissions": "0", "features": []}
        return answered([guild])

    async def _application(self, _request):
        shown = {
            "id": str(self.world.application),
            "name": "Gaplight",
            "description": "",
            "icon": None,
            "bot_public": self.public,
            "bot_require_code_grant": False,
            "owner": self.world.users[self.world.bot],
            "verify_key": "",
            "flags": self.gateway.flags,
        }
        return answered(shown)

    async def _guild(self, request):
        self._same_guild(request)
        return answered(self.world.guild())

    async def _channels(self, request):
        self._same_guild(request)
        return answered(self.world.guild()["channels"])

    async def _member(self, request):
        self._same_guild(request)
        user = int(request.match_info["user"])
        if user not in self.world.members:
            raise RefusedError(404, 10007, "Unknown Member")
        return answered(self.world.member(user, whole=True))

    def _same_guild(self, request):
        if request.match_info["guild"] != str(self.world.guild_id):
            raise RefusedError(404, 10004, "Unknown Guild")

    async def _commands(self, request):
        body = await request.json()
        check_commands(body)
        guild = request.match_info.get("guild")
        if guild is not None:
            self._same_guild(request)
        self.synced.append((guild, [command["name"] for command in body]))
        kept = [
            {"description": "", "options": []}
            | command
            | {"id": str(self.world.id()), "application_id": str(self.world.application), "version": "1"}
            for command in body
        ]
        self.world.commands |= {(guild, command["name"]): command for command in kept}
        return answered(kept)

    async def _open_direct(self, request):
        user = int((await request.json())["recipient_id"])
        return answered(self.world.channels[self.world.direct(user)])

    async def _channel(self, request):
        return answered(self.world.place(request.match_info["channel"]))

    # Messages

    async def _typing(self, request):
        self._permit(request, SEND)
        self.typing.append(int(request.match_info["channel"]))
        return web.Response(status=204)

    async def _post(self, request):
        number = self._permit(request, VIEW)
        place = self.world.channels[number]
        threaded = place["type"] in {THREAD, PRIVATE_THREAD}
        if place["type"] == FORUM:
            raise RefusedError(400, 50008, "Cannot send messages in a non-text channel")
        self._permit(request, SEND_IN_THREADS if threaded else SEND)
        if place["type"] == DIRECT and int(place["recipients"][0]["id"]) in self.closed_to_direct:
            raise RefusedError(403, 50007, "Cannot send messages to this user")
        body = await request.json()
        if body.get("embeds") and not self.world.allowed(number, EMBED):
            body["embeds"] = []
        check_message(body)
        limited("nonce", body.get("nonce", ""), 25, 0)
        if body.get("enforce_nonce") and (earlier := self._with_nonce.get(body["nonce"])):
            return answered(earlier)
        stored = self._stored(number, body)
        self._with_nonce[body.get("nonce")] = stored
        if threaded and number not in self._joined:
            await self._join(number)
        await self.gateway.message("MESSAGE_CREATE", stored)
        return answered(stored)

    async def _join(self, thread):
        """Whoever writes in a thread becomes a member of it."""
        self._joined.add(thread)
        member = {"id": str(thread), "user_id": str(self.world.bot), "join_timestamp": moment(), "flags": 0}
        data = {"id": str(thread), "guild_id": str(self.world.guild_id), "member_count": 2, "added_members": [member]}
        await self.gateway.dispatch("THREAD_MEMBERS_UPDATE", data)

    def _stored(self, number, body):
        fields = {key: body[key] for key in ("embeds", "components", "flags", "nonce") if body.get(key)}
        reference = body.get("message_reference")
        if reference:
            self._referable(number, reference)
        stored = self.world.message(self.world.bot, number, body.get("content") or "", **fields)
        stored |= {"mentions": [], "mention_roles": [], "pings": pings(body), "unfolded": unfolded(body)}
        if reference and int(reference["message_id"]) in self.world.messages[number]:
            self.world.refer(stored, number, int(reference["message_id"]), ping=False)
        return stored

    def _referable(self, number, reference):
        if not self.world.allowed(number, HISTORY):
            raise RefusedError(403, 160002, "Cannot reply without permission to read message history")
        if int(reference["message_id"]) not in self.world.messages[number] and reference.get(
            "fail_if_not_exists", True
        ):
            raise RefusedError(400, 50035, "Invalid Form Body")

    async def _show(self, request):
        number = self._permit(request, HISTORY)
        return answered(self.world.stored(number, request.match_info["message"]))

    async def _edit(self, request):
        number = int(request.match_info["channel"])
        self.world.place(number)
        stored = self.world.stored(number, request.match_info["message"])
        if stored["author"]["id"] != str(self.world.bot):
            raise RefusedError(403, 50005, "Cannot edit a message authored by another user")
        body = await request.json()
        check_message(body, partial=True)
        stored |= {
            key: body[key] or ("" if key == "content" else [])
            for key in ("content", "embeds", "components")
            if key in body
        }
        stored["pings"] = [*stored.get("pings", ()), *pings(body)]
        stored["unfolded"] = unfolded(stored)
        await self.gateway.message("MESSAGE_UPDATE", stored)
        return answered(stored)

    async def _delete(self, request):
        number = int(request.match_info["channel"])
        stored = self.world.stored(number, request.match_info["message"])
        if stored["author"]["id"] != str(self.world.bot):
            raise RefusedError(403, 50003, "Cannot execute action on this message")
        del self.world.messages[number][int(stored["id"])]
        return web.Response(status=204)

    async def _thread(self, request):
        number = self._permit(request, CREATE_THREADS)
        message = int(request.match_info["message"])
        self.world.stored(number, message)
        if self.world.channels[number]["type"] != TEXT:
            raise RefusedError(400, 50024, "Cannot execute action on this channel type")
        if message in self.world.channels:
            raise RefusedError(400, 160004, "A thread has already been created for this message")
        name = (await request.json())["name"]
        limited("name", name, 100)
        self.world.thread(number, self.world.bot, name, number=message)
        thread = self.world.channels[message]
        await self.gateway.dispatch("THREAD_CREATE", thread | {"newly_created": True})
        return answered(thread)

    def _permit(self, request, permission):
        number = int(request.match_info["channel"])
        self.world.place(number)
        if not self.world.allowed(number, VIEW):
            raise RefusedError(403, 50001, "Missing Access")
        if not self.world.allowed(number, permission):
            raise RefusedError(403, 50013, "Missing Permissions")
        return number
