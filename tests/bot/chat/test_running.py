"""The bot as a process: what it needs to start, what it tells of itself, and how it stops."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request

import pytest

from bot.chat.messages import Heard, Person
from bot.chat.running import RunOptions, RunParts, run
from store.errors import ConfigurationError, UnavailableError
from tests.fakes.chat import PlainPlatform, service_over
from tests.fakes.installation import Installation

HEARD = Heard("slack", "C1", "C1:1.0", "1.0", Person("slack:U1"), "How do I reset the VPN?", mentions_bot=True)


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path)
    installation.write({"vpn.md": "# VPN\n\nTo reset the VPN, press the blue button.\n"})
    yield installation
    installation.close()


class Beside:
    """Something that runs beside the chat."""

    def __init__(self):
        self.happened = []

    def start(self):
        self.happened.append("start")

    def stop(self):
        self.happened.append("stop")


def parts_of(here, *platforms, ready=lambda: True, **more):
    service = service_over(here)
    return RunParts(service, service.cards, platforms, ready, **more)


def running(parts, meanwhile, **options):
    """Run until ``meanwhile(port)`` is over."""

    async def everything():
        stop = asyncio.Event()
        port = asyncio.get_running_loop().create_future()
        options.setdefault("port", 0)
        task = asyncio.create_task(run(parts, RunOptions(**options), stop, port.set_result))
        await asyncio.wait([task, port], return_when=asyncio.FIRST_COMPLETED)
        try:
            result = await meanwhile(port.result()) if port.done() else None
        finally:
            stop.set()
            await task
        return result

    return asyncio.run(everything())


async def fetched(port, path):
    def get():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    return await asyncio.to_thread(get)


def test_everything_is_started_once_and_stopped(here):
    platform, beside = PlainPlatform(), Beside()

    async def nothing(_port):
        return (platform.started, platform.stopped, list(beside.happened))

    assert running(parts_of(here, platform, background=(beside,)), nothing) == (1, 0, ["start"])
    assert (platform.started, platform.stopped, beside.happened) == (1, 1, ["start", "stop"])


def test_the_health_page_names_the_platform_that_is_disconnected(here):
    slack, discord = PlainPlatform("slack"), PlainPlatform("discord")

    async def look(port):
        well = await fetched(port, "/healthz")
        discord.alive = False
        return well, await fetched(port, "/healthz")

    well, ill = running(parts_of(here, slack, discord), look)
    assert (well[0], well[1]["status"]) == (200, "ok")
    assert (ill[0], ill[1]["platforms"]) == (503, {"slack": True, "discord": False})


@pytest.mark.parametrize(("ready", "expected"), [(lambda: True, 200), (lambda: False, 503)])
def test_readiness_is_what_database_and_index_say(here, ready, expected):
    async def look(port):
        return await fetched(port, "/readyz")

    assert running(parts_of(here, PlainPlatform(), ready=ready), look)[0] == expected


def test_a_database_that_is_down_makes_it_unready_not_dead(here):
    def down():
        raise UnavailableError("The database does not answer.")

    async def look(port):
        return (await fetched(port, "/readyz"))[0], (await fetched(port, "/healthz"))[0]

    assert running(parts_of(here, PlainPlatform(), ready=down), look) == (503, 200)


def test_an_answer_in_flight_is_finished_before_the_end(here):
    platform = PlainPlatform()
    parts = parts_of(here, platform)
    room = platform.room()

    async def ask(_port):
        task = asyncio.create_task(parts.service.hear(HEARD, room))
        await asyncio.sleep(0)
        return task

    running(parts, ask)
    assert "blue button" in room.texts[0]
    assert platform.stopped == 1


def test_a_platform_that_cannot_start_ends_the_run_and_disconnects_the_others(here):
    slack, discord = PlainPlatform("slack"), PlainPlatform("discord")

    async def refuse():
        raise ConfigurationError("The token is wrong.")

    discord.start = refuse

    async def never(_port):
        raise AssertionError

    with pytest.raises(ConfigurationError):
        running(parts_of(here, slack, discord), never)
    assert slack.stopped == 1


def test_a_platform_that_stays_away_ends_the_process_so_that_it_is_started_afresh(here):
    platform = PlainPlatform()
    platform.alive = False

    async def wait(_port):
        await asyncio.sleep(0.5)

    with pytest.raises(UnavailableError, match="disconnected"):
        running(parts_of(here, platform), wait, give_up_seconds=0.1)


def test_a_port_that_is_taken_is_named(here):
    async def start_another(port):
        with pytest.raises(ConfigurationError, match=str(port)):
            await run(parts_of(here, PlainPlatform()), RunOptions(port=port), asyncio.Event(), lambda _port: None)

    running(parts_of(here, PlainPlatform()), start_another)
