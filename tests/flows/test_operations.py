"""A bot that runs over PostgreSQL whose line is cut and mended: what its pages say meanwhile."""

from __future__ import annotations

import asyncio
import logging

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import make_url

from bot.app import App
from bot.chat.running import run
from bot.running import run_options, run_parts_of
from bot.settings import Settings
from store.records import Question
from store.sources import IngestRequest
from tests.fakes.relay import Relay

pytestmark = pytest.mark.postgres


@pytest.fixture
def relayed(postgres):
    """A relay to PostgreSQL, and the address of an empty schema behind it."""
    url = make_url(postgres.empty_schema())
    relay = Relay(url.host or "127.0.0.1", url.port or 5432)
    address = url.set(host="127.0.0.1", port=relay.port).update_query_dict({"connect_timeout": "2"})
    yield relay, address.render_as_string(hide_password=False)
    relay.close()


@pytest.fixture
def app(relayed, tmp_path, model_cache):
    (tmp_path / "vpn.md").write_text("# VPN\n\nTo reset the VPN client, press the blue button.\n")
    settings = Settings(
        data=tmp_path / "data",
        embedding={"cache": model_cache},
        database={"url": relayed[1]},
        server={"port": 0},
    )
    made = App(settings)
    made.ingestor.run(IngestRequest(paths=(tmp_path / "vpn.md",)))
    yield made
    made.close()


async def page(session, path):
    async with session.get(path) as response:
        return response.status, await response.text()


async def figures(session):
    _, text = await page(session, "/metrics")
    families = text_string_to_metric_families(text)
    return {(s.name, *(value for _, value in sorted(s.labels.items()))): s.value for f in families for s in f.samples}


async def pages(session):
    """Status of the three pages, and what the metrics say of the database."""
    statuses = [(await page(session, path))[0] for path in ("/livez", "/healthz", "/readyz")]
    return (*statuses, (await figures(session))["gaplight_database_up",])


UP = (200, 200, 200, 1)
DOWN = (200, 200, 503, 0)


def test_ready_goes_bad_while_the_database_is_away_and_comes_back(app, relayed, caplog):
    relay, _ = relayed
    caplog.set_level(logging.CRITICAL)

    async def watch(session):
        assert await pages(session) == UP
        relay.cut()
        assert await pages(session) == DOWN
        relay.mend()
        assert await pages(session) == UP
        relay.hang()
        assert await pages(session) == DOWN
        relay.mend()
        assert await pages(session) == UP

    served(app, watch)


def test_the_pages_show_what_was_asked(app):
    async def watch(session):
        for text in ("How do I reset the VPN client?", "Where is the zanzibar ledger?"):
            await asyncio.to_thread(app.engine.ask, Question(text, platform="slack"))
        return await figures(session)

    found = served(app, watch)
    assert found["gaplight_questions_total", "slack", "answered"] == 1
    assert found["gaplight_questions_total", "slack", "abstained"] == 1
    assert (found["gaplight_gaps", "open"], found["gaplight_gaps_opened_total",]) == (1, 1)
    assert (found["gaplight_documents",], found["gaplight_index_up",]) == (1, 1)
    assert ("gaplight_build_info", app.policy.version, "0.1.0") in found


def served(app, watch):
    """Run the scheduler alone, as ``gaplight run --only scheduler`` does, and look at its pages meanwhile."""

    async def everything():
        stop, port = asyncio.Event(), asyncio.get_running_loop().create_future()
        parts = run_parts_of(app, frozenset({"scheduler"}))
        running = asyncio.create_task(run(parts, run_options(app.settings), stop, port.set_result))
        try:
            base = f"http://127.0.0.1:{await port}"
            async with aiohttp.ClientSession(base) as session, asyncio.timeout(60):
                return await watch(session)
        finally:
            stop.set()
            await running

    return asyncio.run(everything())
