"""A workspace of Slack on 127.0.0.1: Web API, Socket Mode and HTTP deliveries, with the real limits and errors."""

import asyncio
import itertools
import time
from dataclasses import dataclass, field

from aiohttp import web

from tests.fakes import slack_rules as rules
from tests.fakes.slack_api import SCOPES, WebApi
from tests.fakes.slack_delivery import HttpMode, SocketMode
from tests.fakes.slack_faults import Faults
from tests.fakes.slack_people import People

TRIGGER_SECONDS = 3.0
RESPONSES = 5


@dataclass
class Conversation:
    """A channel with everything that was said in it."""

    id: str
    name: str = ""
    kind: str = "channel"
    members: set = field(default_factory=set)
    bot_inside: bool = True
    shared: bool = False
    archived: bool = False
    messages: list = field(default_factory=list)
    slack: object = None
    by_ts: dict = field(default_factory=dict)
    threads: dict = field(default_factory=dict)

    def add(self, message):
        self.messages.append(message)
        self.by_ts[message["ts"]] = message
        self.threads.setdefault(message.get("thread_ts"), []).append(message)
        self.slack.changed()
        return message

    def message(self, ts):
        return self.by_ts.get(ts)

    def thread(self, root):
        return [self.by_ts[root], *(one for one in self.threads.get(root, ()) if one["ts"] != root)]

    def facts(self):
        return {
            "id": self.id,
            "name": self.name,
            "is_channel": self.kind == "channel",
            "is_im": self.kind == "im",
            "is_mpim": self.kind == "mpim",
            "is_private": self.kind != "channel",
            "is_ext_shared": self.shared,
            "is_member": self.bot_inside,
            "is_archived": self.archived,
        }


class FakeSlack(People):
    """The workspace. People are ``U1`` and so on; use as ``async with FakeSlack() as slack``."""

    bot_user, bot_id, app_id, team = "UBOT", "BBOT", "ABOT", "T1"
    bot_token, app_token, signing_secret = "xoxb-fake", "xapp-fake", "signing-fake"

    def __init__(self):
        self.scopes = SCOPES
        self.channels, self.users, self.groups = {}, {}, {}
        self.faults = Faults()
        self.calls, self.whispers, self.statuses, self.prompts = [], [], [], []
        self.homes, self.views, self.responses = {}, {}, {}
        self.socket = SocketMode(self)
        self.delivery = self.socket
        self.trigger_seconds = TRIGGER_SECONDS
        self.rejects_blocks = None
        self._ids = itertools.count(1)
        self._time = itertools.count(1)
        self._tickets, self._triggers = set(), {}
        self._change = asyncio.Event()
        for user in ("U1", "U2", "U3"):
            self.person(user)
        self.channel("C1", "general", members={"U1", "U2", "U3"})

    async def __aenter__(self):
        api = WebApi(self)
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/api/{method}", api.handle)
        app.router.add_get("/link", self.socket.handle)
        app.router.add_post("/response/{token}", self._respond)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        self.api_url = f"http://127.0.0.1:{self.port}/api/"
        return self

    async def __aexit__(self, *_):
        await self.socket.drop()
        await self._runner.cleanup()

    # The workspace

    def channel(self, key, name="", **facts):
        self.channels[key] = Conversation(key, name, slack=self, **facts)
        return self.channels[key]

    def person(self, key, team=None, **facts):
        self.users[key] = {"id": key, "team_id": team or self.team, **facts}

    def direct(self, user):
        return self.channels.get(f"D{user}") or self.channel(f"D{user}", kind="im", members={user})

    def deliver_over_http(self, url):
        self.delivery = HttpMode(self, url, self.signing_secret)
        return self.delivery

    # What people see

    def seen(self, channel, thread=None):
        """Messages of the bot that are there, in order; in a thread, or outside of all."""
        return [
            one
            for one in (self.channels[channel].threads.get(thread, ()) if channel in self.channels else ())
            if one.get("bot_id") == self.bot_id and not one.get("deleted")
        ]

    def texts(self, channel, thread=None):
        return [rules.shown(one) for one in self.seen(channel, thread)]

    def whispers_to(self, user):
        """What only one person was shown, with what came to response addresses."""
        return [message for to, _, message in self.whispers if to == user]

    def outgoing(self):
        """Everything that the bot has ever sent."""
        sent = [
            one for channel in self.channels.values() for one in channel.messages if one.get("bot_id") == self.bot_id
        ]
        return [*sent, *(message for _, _, message in self.whispers), *self.homes.values(), *self.views.values()]

    async def until(self, condition, seconds=10):
        """Wait for something that people can see."""
        async with asyncio.timeout(seconds):
            while not (found := condition()):
                self._change.clear()
                try:
                    await asyncio.wait_for(self._change.wait(), 0.2)
                except TimeoutError:
                    continue
        return found

    # Inner workings, for the other files of the fake

    def changed(self):
        self._change.set()

    def next_id(self, prefix):
        return f"{prefix}{next(self._ids)}"

    def next_ts(self):
        return f"{1_700_000_000 + next(self._time)}.{next(self._ids):06d}"

    def whispered(self, user, channel, message):
        self.whispers.append((user, channel, message))
        self.changed()

    def new_trigger(self):
        trigger = self.next_id("trigger.")
        self._triggers[trigger] = time.monotonic()
        return trigger

    def use_trigger(self, trigger, refusal):
        made = self._triggers.get(trigger)
        if made is None:
            raise refusal("exchanged_trigger_id" if trigger else "invalid_trigger_id")
        del self._triggers[trigger]
        if time.monotonic() - made > self.trigger_seconds:
            raise refusal("expired_trigger_id")

    def opened(self, view):
        identity = self.next_id("V")
        self.views[identity] = {**view, "id": identity}
        self.changed()
        return self.views[identity]

    def new_response_url(self, channel, user):
        token = self.next_id("r")
        self.responses[token] = [channel, user, RESPONSES, None]
        return f"http://127.0.0.1:{self.port}/response/{token}"

    def socket_url(self):
        ticket = self.next_id("ticket")
        self._tickets.add(ticket)
        return f"ws://127.0.0.1:{self.port}/link?ticket={ticket}"

    def use_ticket(self, ticket):
        """Each address is good for one connection."""
        if ticket not in self._tickets:
            return False
        self._tickets.remove(ticket)
        return True

    def extra_block_errors(self, blocks):
        """Complaints that the app cannot foresee."""
        return self.rejects_blocks(blocks) if self.rejects_blocks and blocks else []

    def _team_of(self, user):
        return self.users.get(user, {}).get("team_id")

    async def _respond(self, request):
        state = self.responses.get(request.match_info["token"])
        body = await request.json()
        if state is None or state[2] < 1:
            return web.Response(text="used_url", status=404)
        fault = self.faults.next("response_url")
        if fault is not None:
            return web.Response(text="ratelimited", status=429, headers={"Retry-After": str(fault.value)})
        if rules.block_errors(body.get("blocks") or []) or self.extra_block_errors(body.get("blocks") or []):
            return web.Response(text="invalid_blocks", status=400)
        channel, user, left, last = state
        state[2] = left - 1
        if body.get("delete_original") or (body.get("replace_original") and last is not None):
            self.whispers = [one for one in self.whispers if one[2] is not last]
        if not body.get("delete_original"):
            message = {**body, "ts": self.next_ts(), "to": user}
            state[3] = message
            self.whispered(user, channel, message)
        self.changed()
        return web.Response(text="ok")
