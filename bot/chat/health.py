"""The pages that a supervisor, a load balancer and a monitoring system look at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from aiohttp import web

from bot.chat.ports import Platform
from bot.chat.service import ChatService

_PATIENCE_SECONDS = 3.0
"""How long a page waits for the database; whoever asks gives up after about ten, and wants to be told before."""
_EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"
"""Media type of the text format that Prometheus reads."""
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Scrape:
    """The metrics of the process.

    Attributes:
        read: asks the database for what is told of it; may block, and hang with the database.
        page: everything that is known without asking, in Prometheus' text format.
    """

    read: Callable[[], None]
    page: Callable[[], bytes]


class OneAtATime(Generic[_Result]):
    """A check that may hang: whoever asks while it runs waits for the same run, and nobody waits for ever.

    Args:
        check: what is asked.
        seconds: how long it is waited for.
    """

    def __init__(self, check: Callable[[], Awaitable[_Result]], seconds: float = _PATIENCE_SECONDS) -> None:
        self._check = check
        self._seconds = seconds
        self._running: asyncio.Future[_Result] | None = None

    async def __call__(self) -> _Result | None:
        """What the check says; None when it does not say so in time."""
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._check())
        running = self._running
        await asyncio.wait({running}, timeout=self._seconds)
        return running.result() if running.done() else None


class Health:
    """What the pages tell.

    Args:
        platforms: the adapters that run.
        service: the core.
        ready: whether everything below answers; may block.
        scrape: the metrics; None serves none.
        seconds: how long a page waits for what may block.
    """

    def __init__(
        self,
        platforms: Sequence[Platform],
        service: ChatService,
        ready: Callable[[], bool],
        scrape: Scrape | None = None,
        seconds: float = _PATIENCE_SECONDS,
    ) -> None:
        self._platforms = platforms
        self._service = service
        self._scrape = scrape
        self._below = OneAtATime(lambda: service.check(ready), seconds)
        self._read = OneAtATime(lambda: service.check(self._reading), seconds)

    def routes(self) -> list[web.RouteDef]:
        """The pages.

        ``/livez`` is 200 as long as the process answers at all, ``/healthz`` while every connection is alive,
        ``/readyz`` while questions can be answered; ``/metrics`` is for Prometheus.
        """
        pages = [
            web.get("/livez", self._alive),
            web.get("/healthz", self._connected),
            web.get("/readyz", self._ready),
        ]
        return [*pages, web.get("/metrics", self._metrics)] if self._scrape is not None else pages

    async def _alive(self, _request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _connected(self, _request: web.Request) -> web.Response:
        alive = {platform.name: platform.healthy() for platform in self._platforms}
        body = {
            "status": "ok" if all(alive.values()) else "disconnected",
            "platforms": alive,
            "in_flight": self._service.in_flight,
            "waiting": self._service.waiting,
            "undelivered": self._service.undelivered,
        }
        return web.json_response(body, status=200 if all(alive.values()) else 503)

    async def _ready(self, _request: web.Request) -> web.Response:
        ready = not self._service.closing and bool(await self._below())
        return web.json_response({"status": "ready" if ready else "not ready"}, status=200 if ready else 503)

    async def _metrics(self, _request: web.Request) -> web.Response:
        assert self._scrape is not None
        await self._read()
        return web.Response(body=self._scrape.page(), headers={"Content-Type": _EXPOSITION})

    def _reading(self) -> bool:
        if self._scrape is not None:
            self._scrape.read()
        return True


async def open_server(host: str, port: int, routes: Iterable[web.RouteDef]) -> tuple[web.AppRunner, int]:
    """Serve routes; the runner to clean up, and the port (the one the system chose, where 0 was asked for).

    Raises:
        OSError: the address is taken or not ours.
    """
    application = web.Application()
    application.add_routes(list(routes))
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
    except OSError:
        await runner.cleanup()
        raise
    return runner, int(runner.addresses[0][1])
