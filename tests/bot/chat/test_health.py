"""The pages for supervisors: alive, connected, ready, measured; each tells the truth and none hangs."""

from __future__ import annotations

import asyncio
import threading

import aiohttp
import pytest

from bot.chat.health import Health, OneAtATime, Scrape, open_server
from store.errors import UnavailableError
from tests.fakes.chat import PlainPlatform, service_over
from tests.fakes.installation import Installation


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("data"))
    yield installation
    installation.close()


def looked_at(health, *paths):
    """Status and text of pages, fetched one after the other."""

    async def look():
        server, port = await open_server("127.0.0.1", 0, health.routes())
        found = []
        try:
            async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
                for path in paths:
                    async with session.get(path) as response:
                        found.append((response.status, await response.text()))
        finally:
            await server.cleanup()
        return found

    return asyncio.run(look())


def statuses(health, *paths):
    return [status for status, _ in looked_at(health, *paths)]


def test_a_lost_platform_shows_and_does_not_get_the_process_killed(here):
    platform = PlainPlatform("slack")
    platform.alive = False
    health = Health([platform], service_over(here), lambda: True)
    assert statuses(health, "/healthz", "/livez", "/readyz") == [503, 200, 200]


def test_readiness_follows_what_is_below_and_comes_back(here):
    answers = iter([True, False, UnavailableError("down"), ValueError("unforeseen"), True])

    def below():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    health = Health([], service_over(here), below)
    assert statuses(health, *["/readyz"] * 5) == [200, 503, 503, 503, 200]


def test_a_bot_that_stops_is_sent_no_more_work(here):
    service = service_over(here)
    service.close()
    assert statuses(Health([], service, lambda: True), "/readyz", "/livez") == [503, 200]


def test_a_check_that_hangs_is_not_ready_and_takes_one_thread_only(here):
    release, asked = threading.Event(), []

    def hang():
        asked.append(1)
        release.wait(30)
        return True

    health = Health([], service_over(here), hang, seconds=0.05)
    try:
        assert statuses(health, *["/readyz"] * 6) == [503] * 6
        assert len(asked) == 1
    finally:
        release.set()


def test_whoever_asks_meanwhile_waits_for_the_same_check():
    async def ask():
        runs = []

        async def check():
            runs.append(1)
            await asyncio.sleep(0)
            return len(runs)

        once = OneAtATime(check)
        return await asyncio.gather(once(), once()), await once()

    assert asyncio.run(ask()) == ([1, 1], 2)


def test_the_metrics_are_served_even_while_the_database_hangs(here):
    release = threading.Event()
    scrape = Scrape(lambda: release.wait(30), lambda: b"gaplight_database_up 0.0\n")
    health = Health([], service_over(here), lambda: True, scrape, seconds=0.05)
    try:
        assert looked_at(health, "/metrics") == [(200, "gaplight_database_up 0.0\n")]
    finally:
        release.set()


def test_without_metrics_there_is_no_page_for_them(here):
    assert statuses(Health([], service_over(here), lambda: True), "/metrics") == [404]
