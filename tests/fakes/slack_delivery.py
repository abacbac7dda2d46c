"""How Slack brings events to an app: over a websocket or over signed HTTP, again when it is not acknowledged in time."""

import asyncio
import hashlib
import hmac
import json
import time
from contextlib import suppress
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

DEADLINE = 3.0


class SocketMode:
    """The websocket end: hello, envelopes, acknowledgements, deliveries again.

    Args:
        slack: the workspace.
    """

    def __init__(self, slack):
        self.slack = slack
        self.connections = []
        self.greets = True
        self.answers_pings = True
        self.acknowledged = {}
        self.delays = []
        self.deadline = DEADLINE
        self._turn = 0

    async def handle(self, request):
        ticket = request.query.get("ticket", "")
        if not self.slack.use_ticket(ticket):
            raise web.HTTPForbidden
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        self.connections.append(socket)
        if self.greets:
            await socket.send_json({"type": "hello", "num_connections": len(self.connections)})
        self.slack.changed()
        try:
            async for message in socket:
                if message.type is WSMsgType.PING and self.answers_pings:
                    await socket.pong(message.data)
                elif message.type is WSMsgType.TEXT:
                    self._acknowledge(json.loads(message.data))
        finally:
            if socket in self.connections:
                self.connections.remove(socket)
        return socket

    def _acknowledge(self, body):
        waiting = self.acknowledged.get(body.get("envelope_id"))
        if waiting is not None and not waiting.done():
            waiting.set_result(body.get("payload"))

    async def deliver(self, kind, payload, attempts=3):
        """Send an envelope until it is acknowledged; what the app answered with it.

        Connections take turns, as Slack's do.
        """
        for attempt in range(attempts):
            envelope_id = self.slack.next_id("E")
            waiting = self.acknowledged[envelope_id] = asyncio.get_running_loop().create_future()
            envelope = {
                "envelope_id": envelope_id,
                "type": kind,
                "payload": payload,
                "accepts_response_payload": kind != "events_api",
            }
            if attempt:
                envelope |= {"retry_attempt": attempt, "retry_reason": "timeout"}
            started = time.monotonic()
            try:
                socket = await self._socket()
                await socket.send_json(envelope)
                result = await asyncio.wait_for(waiting, self.deadline)
            except (TimeoutError, ConnectionError):
                continue
            else:
                self.delays.append(time.monotonic() - started)
                return result
        raise TimeoutError(f"{kind} was not acknowledged in {attempts} attempts")

    async def _socket(self):
        await self.slack.until(lambda: self.connections, self.deadline)
        self._turn += 1
        return self.connections[self._turn % len(self.connections)]

    async def drop(self, *, close_frame=False):
        """Break all connections, without or with a word."""
        for socket in list(self.connections):
            if close_frame:
                await socket.close()
            elif socket._req is not None and socket._req.transport is not None:
                socket._req.transport.abort()
        self.connections.clear()

    async def ask_to_reconnect(self):
        """Slack refreshes connections now and then."""
        for socket in list(self.connections):
            await socket.send_json({"type": "disconnect", "reason": "refresh_requested"})


class HttpMode:
    """Deliveries as signed requests.

    Args:
        slack: the workspace.
        url: of the app.
        secret: that both share.
    """

    def __init__(self, slack, url, secret):
        self.slack = slack
        self.url = url
        self.secret = secret
        self.deadline = DEADLINE
        self.delays = []
        self.statuses = []

    async def deliver(self, kind, payload, attempts=3):
        """Send a request until it is taken; the parsed answer."""
        if kind == "events_api":
            body, content = json.dumps(payload).encode(), "application/json"
        elif kind == "slash_commands":
            body, content = urlencode(payload).encode(), "application/x-www-form-urlencoded"
        else:
            body, content = urlencode({"payload": json.dumps(payload)}).encode(), "application/x-www-form-urlencoded"
        for attempt in range(attempts):
            headers = {"Content-Type": content}
            if attempt:
                headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": "http_timeout"}
            started = time.monotonic()
            with suppress(TimeoutError, aiohttp.ClientError):
                status, text = await self.request(body, headers)
                if status == 200:
                    self.delays.append(time.monotonic() - started)
                    return json.loads(text) if text.startswith("{") else text
        raise TimeoutError(f"{kind} was not taken in {attempts} attempts")

    async def request(self, body, headers=None, *, timestamp=None, signature=None):
        """One request, rightly signed unless told otherwise; status and text of the answer."""
        stamp = str(int(time.time())) if timestamp is None else timestamp
        digest = hmac.new(self.secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
        signed = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature or f"v0={digest}"}
        signed = {name: value for name, value in signed.items() if value != "none"}
        timeout = aiohttp.ClientTimeout(total=self.deadline)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(self.url, data=body, headers={**signed, **(headers or {})}) as response,
        ):
            self.statuses.append(response.status)
            return response.status, await response.text()
