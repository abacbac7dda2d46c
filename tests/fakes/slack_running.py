"""The real adapter, connected to the fake workspace."""

from contextlib import asynccontextmanager

from aiohttp import web

from bot.chat.slack_app import PATH, SlackOptions, SlackPlatform
from bot.chat.slack_calls import CallOptions
from bot.chat.slack_socket import SocketOptions
from tests.fakes.core import FakeCore
from tests.fakes.slack import FakeSlack

QUICK = CallOptions(patience=5, first_pause=0.01, longest_pause=0.05, seconds_per_message=0.0)
WATCHFUL = SocketOptions(ping=0.1, lost=1.0, rebuild=0.5, connect=2.0, longest_pause=0.2)


def options_for(slack, **changes):
    """How the fake workspace is reached."""
    given = {
        "bot_token": slack.bot_token,
        "app_token": slack.app_token,
        "signing_secret": slack.signing_secret,
        "api_url": slack.api_url,
        "calls": QUICK,
        "request_seconds": 2.0,
        "stop_seconds": 2.0,
    }
    return SlackOptions(**{**given, **changes})


@asynccontextmanager
async def running(core=None, *, mode="socket", slack=None, **changes):
    """A workspace and the adapter in it: (slack, core, platform)."""
    core = core or FakeCore()
    async with slack or FakeSlack() as workspace, connected(workspace, core, mode=mode, **changes) as platform:
        yield workspace, core, platform


@asynccontextmanager
async def connected(slack, core, *, mode="socket", **changes):
    """The adapter, connected to a workspace that is there; over HTTP with a server of its own."""
    platform = SlackPlatform(options_for(slack, mode=mode, **changes), core)
    runner = None
    try:
        if mode == "http":
            app = web.Application()
            app.add_routes(list(platform.routes()))
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = site._server.sockets[0].getsockname()[1]
            slack.deliver_over_http(f"http://127.0.0.1:{port}{PATH}")
        await platform.start()
        yield platform
    finally:
        await platform.stop()
        if runner is not None:
            await runner.cleanup()
