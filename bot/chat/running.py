"""The bot as a process: connects the platforms, keeps the cards up to date, and stops without losing an answer."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from aiohttp import web

from bot.chat.cards import CardKeeper
from bot.chat.digest_posting import DigestPosting
from bot.chat.health import Health, Scrape, open_server
from bot.chat.notifying import Notifier
from bot.chat.ports import Platform
from bot.chat.service import ChatService
from store.errors import ConfigurationError, GaplightError, UnavailableError

logger = logging.getLogger(__name__)

_REDRAW_SECONDS = 2.0
_RESUME_SECONDS = 30.0
_NOTIFY_SECONDS = 20.0
_WATCH_SECONDS = 15.0
GIVE_UP_SECONDS = 600.0
"""A platform that was disconnected for so long is not coming back by itself: the supervisor starts us afresh."""


class Background(Protocol):
    """Something that runs beside the chat, such as the scheduler."""

    def start(self) -> None:
        """Begin; returns at once."""

    def stop(self) -> None:
        """End; returns when nothing runs any more."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How the process runs.

    Attributes:
        host, port: of the health pages and of deliveries over HTTP.
        stop_seconds: how long answers in flight are waited for.
        give_up_seconds: see :data:`GIVE_UP_SECONDS`.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    stop_seconds: float = 30.0
    give_up_seconds: float = GIVE_UP_SECONDS


@dataclass(frozen=True, slots=True)
class RunParts:
    """What runs.

    Attributes:
        ready: whether database and indexes answer; may block.
        notifier: tells askers of closed gaps.
        digests: posts what the scheduler's thread brings.
        routes: what platforms want delivered over HTTP.
        background: the scheduler and the like.
        scrape: the metrics.
    """

    service: ChatService
    cards: CardKeeper
    platforms: Sequence[Platform]
    ready: Callable[[], bool]
    notifier: Notifier | None = None
    digests: DigestPosting | None = None
    routes: Sequence[web.RouteDef] = ()
    background: Sequence[Background] = ()
    scrape: Scrape | None = None


async def run(parts: RunParts, options: RunOptions, stop: asyncio.Event, started: Callable[[int], None]) -> None:
    """Run until ``stop`` is set.

    Args:
        parts: what runs.
        options: how.
        stop: set it to end; answers in flight are finished.
        started: told the port of the health pages as soon as everything is connected.

    Raises:
        ConfigurationError: a platform's token, scope or intent is missing, or the port is taken.
        UnavailableError: a platform could not be reached, or has been lost for too long.
    """
    server, port = await _server(parts, options)
    connected: list[Platform] = []
    running: list[Background] = []
    tasks: list[asyncio.Task[None]] = []
    try:
        await connect(parts, connected)
        for background in parts.background:
            background.start()
            running.append(background)
        tasks = _tasks(parts, options)
        started(port)
        await _until_stopped(stop, tasks)
    finally:
        await _stop(parts, options, connected, running, tasks)
        await server.cleanup()


async def connect(parts: RunParts, connected: list[Platform]) -> None:
    """Start the platforms and make them known to everything that posts.

    Args:
        parts: the platforms with what posts to them.
        connected: each platform is added as soon as it runs, so that the caller stops it whatever happens next.

    Raises:
        ConfigurationError: a token, scope or intent is missing.
        UnavailableError: a platform cannot be reached.
    """
    if parts.digests is not None:
        parts.digests.attach()
    for platform in parts.platforms:
        parts.service.connect(platform)
        for listener in (parts.notifier, parts.digests):
            if listener is not None:
                listener.connect(platform)
        await platform.start()
        connected.append(platform)


def stop_on_signals(stop: asyncio.Event) -> None:
    """Set ``stop`` on SIGINT and SIGTERM; a second signal ends the process at once."""
    loop = asyncio.get_running_loop()

    def asked(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows has no such handlers
            loop.add_signal_handler(number, asked, number)


async def _server(parts: RunParts, options: RunOptions) -> tuple[web.AppRunner, int]:
    health = Health(parts.platforms, parts.service, parts.ready, parts.scrape)
    try:
        return await open_server(options.host, options.port, [*health.routes(), *parts.routes])
    except OSError as error:
        raise ConfigurationError(
            f"Nothing can be served on {options.host}:{options.port}: {error.strerror or error}.",
            "Choose another server.host or server.port, or stop what runs there.",
        ) from error


def _tasks(parts: RunParts, options: RunOptions) -> list[asyncio.Task[None]]:
    steps = [(parts.notifier.tell, _NOTIFY_SECONDS)] if parts.notifier is not None else []
    return [
        *(asyncio.create_task(_repeated(step, seconds)) for step, seconds in steps),
        asyncio.create_task(_repeated(parts.cards.redraw_outdated, _REDRAW_SECONDS)),
        asyncio.create_task(_repeated(parts.service.resume_lost, _RESUME_SECONDS)),
        asyncio.create_task(_watch(parts.platforms, options.give_up_seconds)),
    ]


async def _until_stopped(stop: asyncio.Event, tasks: Sequence[asyncio.Task[None]]) -> None:
    stopping = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        stopping.cancel()


async def _repeated(step: Callable[[], Awaitable[int]], seconds: float) -> None:
    """Do something again and again; a failure is logged and does not end it."""
    while True:
        try:
            await step()
        except GaplightError as error:
            logger.warning("%s", error)
        except Exception:
            logger.exception("A background step failed")
        await asyncio.sleep(seconds)


async def _watch(platforms: Sequence[Platform], give_up_seconds: float) -> None:
    """Raise when a platform has been disconnected for too long."""
    last_healthy = {platform.name: monotonic() for platform in platforms}
    while True:
        for platform in platforms:
            if platform.healthy():
                last_healthy[platform.name] = monotonic()
            elif (lost := monotonic() - last_healthy[platform.name]) > give_up_seconds:
                raise UnavailableError(
                    f"{platform.name} has been disconnected for {lost / 60:.0f} minutes.",
                    "Check the network and the token with: gaplight doctor",
                )
        await asyncio.sleep(min(_WATCH_SECONDS, give_up_seconds / 4))


async def _stop(
    parts: RunParts,
    options: RunOptions,
    connected: Sequence[Platform],
    running: Sequence[Background],
    tasks: Sequence[asyncio.Task[None]],
) -> None:
    parts.service.close()
    for background in running:
        await asyncio.to_thread(background.stop)
    if not await parts.service.settled(options.stop_seconds):
        logger.warning("%d answers were not finished in time", parts.service.in_flight)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for platform in connected:
        try:
            await platform.stop()
        except Exception:
            logger.exception("%s could not be disconnected cleanly", platform.name)
