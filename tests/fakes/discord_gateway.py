"""The gateway of Discord: a websocket that greets, keeps alive, identifies, resumes and dispatches events."""

from __future__ import annotations

import json
import uuid
import zlib

from aiohttp import WSMsgType, web

from tests.fakes.discord_world import DIRECT, MESSAGE_CONTENT

HELLO, HEARTBEAT, ACK, IDENTIFY, RESUME, RECONNECT, INVALID = 10, 1, 11, 2, 6, 7, 9
GUILDS, GUILD_MESSAGES, GUILD_REACTIONS, DIRECT_MESSAGES, DIRECT_REACTIONS = 1, 1 << 9, 1 << 10, 1 << 12, 1 << 13
_PRIVILEGED_FLAGS = (1 << 18) | (1 << 19)


class Session:
    """What one identified client has been sent; survives its socket, so that it can be resumed."""

    def __init__(self, intents):
        self.id = uuid.uuid4().hex
        self.intents = intents
        self.sent = []
        self.link = None

    async def dispatch(self, event, data):
        self.sent.append({"op": 0, "t": event, "s": len(self.sent) + 1, "d": data})
        if self.link is not None:
            await self.link.send(self.sent[-1])


class Link:
    """One socket, compressed as the client asked."""

    def __init__(self, socket, *, compressed):
        self.socket = socket
        self._stream = zlib.compressobj() if compressed else None

    async def send(self, payload):
        if self.socket.closed:
            return
        text = json.dumps(payload)
        try:
            if self._stream is None:
                await self.socket.send_str(text)
            else:
                data = self._stream.compress(text.encode()) + self._stream.flush(zlib.Z_SYNC_FLUSH)
                await self.socket.send_bytes(data)
        except ConnectionError:
            return


class Gateway:
    """All sessions.

    Args:
        world: what is stored.
        token: the only one that is let in.
    """

    def __init__(self, world, token):
        self.world = world
        self.token = token
        self.flags = 1 << 19
        self.heartbeat_ms = 45_000
        self.sessions = {}
        self.identified = 0
        self.resumed = 0
        self.heartbeats = 0
        self.silent = False
        self.withholds_content = False
        self.url = ""
        self._links = set()

    @property
    def connected(self):
        return any(session.link is not None for session in self.sessions.values())

    async def serve(self, request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        link = Link(socket, compressed=request.query.get("compress") == "zlib-stream")
        self._links.add(link)
        session = None
        try:
            await link.send({"op": HELLO, "d": {"heartbeat_interval": self.heartbeat_ms}})
            async for frame in socket:
                if frame.type != WSMsgType.TEXT:
                    break
                session = await self._received(link, json.loads(frame.data), session)
        finally:
            self._links.discard(link)
            if session is not None and session.link is link:
                session.link = None
        return socket

    async def _received(self, link, payload, session):
        match payload["op"]:
            case 1:
                self.heartbeats += 1
                if not self.silent:
                    await link.send({"op": ACK})
            case 2:
                return await self._identify(link, payload["d"])
            case 6:
                return await self._resume(link, payload["d"])
        return session

    async def _identify(self, link, data):
        if data["token"] != self.token:
            await link.socket.close(code=4004, message=b"Authentication failed.")
            return None
        granted = self.flags & _PRIVILEGED_FLAGS and not self.withholds_content
        if data["intents"] & MESSAGE_CONTENT and not granted:
            await link.socket.close(code=4014, message=b"Disallowed intent(s).")
            return None
        self.identified += 1
        session = Session(data["intents"])
        self.sessions[session.id] = session
        session.link = link
        world = self.world
        ready = {
            "v": 10,
            "user": world.users[world.bot],
            "guilds": [{"id": str(world.guild_id), "unavailable": True}],
            "session_id": session.id,
            "resume_gateway_url": self.url,
            "application": {"id": str(world.application), "flags": self.flags},
        }
        await session.dispatch("READY", ready)
        if session.intents & GUILDS:
            await session.dispatch("GUILD_CREATE", world.guild())
        return session

    async def _resume(self, link, data):
        session = self.sessions.get(data["session_id"])
        if session is None or data["token"] != self.token:
            await link.send({"op": INVALID, "d": False})
            return None
        self.resumed += 1
        for payload in session.sent[data["seq"] :]:
            await link.send(payload)
        session.link = link
        await session.dispatch("RESUMED", {})
        return session

    async def dispatch(self, event, data):
        for session in list(self.sessions.values()):
            await session.dispatch(event, data)

    async def message(self, event, stored):
        """Tell every session of a message that its intents let it see."""
        direct = self.world.channels[int(stored["channel_id"])]["type"] == DIRECT
        for session in list(self.sessions.values()):
            if session.intents & (DIRECT_MESSAGES if direct else GUILD_MESSAGES):
                await session.dispatch(event, self.world.event(stored, session.intents))

    async def reaction(self, event, data):
        for session in list(self.sessions.values()):
            if session.intents & (GUILD_REACTIONS if "guild_id" in data else DIRECT_REACTIONS):
                await session.dispatch(event, data)

    async def drop(self):
        """Cut every connection without a word."""
        for link in list(self._links):
            transport = link.socket._req.transport
            if transport is not None:
                transport.abort()

    async def ask_to_reconnect(self):
        for link in list(self._links):
            await link.send({"op": RECONNECT, "d": None})

    def forget_sessions(self):
        """Nothing can be resumed any more."""
        self.sessions.clear()

    async def close(self):
        for link in list(self._links):
            await link.socket.close(code=1001)
