"""The pages that a supervisor or load balancer looks at: is the process alive, and may it be sent work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from aiohttp import web

from bot.chat.ports import Platform
from bot.chat.service import ChatService


@dataclass(frozen=True, slots=True)
class Health:
    """What the pages tell.

    Attributes:
        platforms: the adapters that run.
        service: the core.
        ready: whether everything below answers; may block.
    """

    platforms: Sequence[Platform]
    service: ChatService
    ready: Callable[[], bool]

    def routes(self) -> list[web.RouteDef]:
        """``/healthz`` (200 while every connection is alive) and ``/readyz`` (200 while questions can be answered)."""
        return [web.get("/healthz", self._alive), web.get("/readyz", self._ready)]

    async def _alive(self, _request: web.Request) -> web.Response:
        alive = {platform.name: platform.healthy() for platform in self.platforms}
        body = {
            "status": "ok" if all(alive.values()) else "disconnected",
            "platforms": alive,
            "in_flight": self.service.in_flight,
            "waiting": self.service.waiting,
            "undelivered": self.service.undelivered,
        }
        return web.json_response(body, status=200 if all(alive.values()) else 503)

    async def _ready(self, _request: web.Request) -> web.Response:
        ready = not self.service.closing and await self.service.check(self.ready)
        return web.json_response({"status": "ready" if ready else "not ready"}, status=200 if ready else 503)


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
