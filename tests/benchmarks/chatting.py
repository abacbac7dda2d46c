"""A burst of questions in chat: how fast they are answered beside the engine alone, and whether the loop stays free.

The platforms are the local fakes of the tests, which speak the real protocols to the real adapters.
"""

from __future__ import annotations

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from bot.app import App
from bot.chat.discord_outbox import Patience
from bot.chat.messages import Heard, Person
from bot.chat.service import ChatOptions, ChatService
from bot.settings import Settings
from store.records import Question
from store.sources import IngestRequest
from tests.benchmarks.ingesting import MODEL_CACHE
from tests.fakes import discord_running, slack_running
from tests.fakes.chat import PlainPlatform
from tests.fakes.discord import discord_server
from tests.fakes.slack import FakeSlack

_WORKERS = 2
_LAST = 5
_PATIENCE = 1800
_LAG_STEP = 0.05


def measure(work, folders, questions=1000, people=50):
    """Rows of (what, figure, what it should be)."""
    work.mkdir(parents=True, exist_ok=True)
    app = App(Settings(data=work, embedding={"cache": MODEL_CACHE}, server={"workers": _WORKERS}))
    app.ingestor.run(IngestRequest(paths=tuple(folders)))
    texts = _questions(folders, questions)
    rate = _engine_alone(app.engine, texts)
    rows = [("engine alone, questions a second", f"{rate:.0f}", "")]
    for name, burst in (("no platform", _plain), ("Slack", _slack), ("Discord", _discord)):
        answered, doubled, seconds, lag = asyncio.run(burst(app, texts, people))
        rows += [
            (f"{name}: answered of {questions}, doubled", f"{answered}, {doubled}", f"{questions}, 0"),
            (f"{name}: questions a second, as a ratio to the engine", f"{questions / seconds / rate:.2f}", ""),
            (f"{name}: longest time the loop was blocked, ms", f"{lag * 1000:.0f}", "below 1,000"),
        ]
    app.close()
    return rows


def _questions(folders, wanted):
    """Headings of the documents, each asked as often as it takes."""
    pages = [page for folder in folders for page in sorted(folder.rglob("*.md"))]
    headings = [
        match[1]
        for page in pages
        for match in re.finditer(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    unique = list(dict.fromkeys(headings))
    return [f"How does {unique[number % len(unique)]} work? ({number})" for number in range(wanted)]


def _engine_alone(engine, texts):
    with ThreadPoolExecutor(_WORKERS) as pool:
        list(pool.map(lambda text: engine.ask(Question(text, asker="bench")), texts[:50]))
        started = time.perf_counter()
        list(pool.map(lambda text: engine.ask(Question(text, asker="bench")), texts))
        return len(texts) / (time.perf_counter() - started)


@asynccontextmanager
async def _watched():
    """The longest time for which the loop did nothing else, as a list of one figure."""
    longest = [0.0]

    async def watch():
        while True:
            before = time.perf_counter()
            await asyncio.sleep(_LAG_STEP)
            longest[0] = max(longest[0], time.perf_counter() - before - _LAG_STEP)

    task = asyncio.create_task(watch())
    try:
        yield longest
    finally:
        task.cancel()


async def _plain(app, texts, people):
    service = ChatService(app.chat, ChatOptions())
    platform = PlainPlatform("bench")
    service.connect(platform)
    rooms = [platform.room() for _ in texts]
    async with _watched() as lag:
        started = time.perf_counter()
        heard = [
            Heard("bench", "C1", f"C1:{n}", str(n), Person(f"bench:U{n % people}"), text, mentions_bot=True)
            for n, text in enumerate(texts)
        ]
        await asyncio.gather(*(service.hear(one, room) for one, room in zip(heard, rooms, strict=True)))
        seconds = time.perf_counter() - started
    counts = [len(room.delivered) for room in rooms]
    return sum(count > 0 for count in counts), sum(count > 1 for count in counts), seconds, lag[0]


async def _slack(app, texts, people):
    service = ChatService(app.chat, ChatOptions())
    async with FakeSlack() as slack, slack_running.connected(slack, service) as platform:
        service.connect(platform)
        for person in range(people):
            slack.person(f"UB{person}")
        async with _watched() as lag:
            started = time.perf_counter()
            asked = []
            for n, text in enumerate(texts):
                asked.append(await slack.ask("C1", f"UB{n % people}", text))
                await asyncio.sleep(0)  # the fake shares our loop, the real end does not
            await slack.until(lambda: all(slack.seen("C1", ts) for ts in asked[-_LAST:]), seconds=_PATIENCE)
            await service.settled(_PATIENCE)
            seconds = time.perf_counter() - started
    counts = [len(slack.seen("C1", ts)) for ts in asked]
    return sum(count > 0 for count in counts), sum(count > 1 for count in counts), seconds, lag[0]


async def _discord(app, texts, people):
    service = ChatService(app.chat, ChatOptions())
    async with discord_server() as fake, discord_running.connected(fake, service, patience=Patience()) as platform:
        service.connect(platform)
        crowd = [fake.person(f"Person {number}") for number in range(people)]

        def shown(message):
            thread = fake.thread_of(message)
            return len(fake.texts(thread)) if thread else 0

        async with _watched() as lag:
            started = time.perf_counter()
            asked = []
            for n, text in enumerate(texts):
                asked.append(await fake.mention(crowd[n % people], fake.general, text))
                await asyncio.sleep(0)
            await fake.until(lambda: all(map(shown, asked[-_LAST:])), "the last answers", _PATIENCE)
            await service.settled(_PATIENCE)
            seconds = time.perf_counter() - started
        counts = [shown(message) for message in asked]
    return sum(count > 0 for count in counts), sum(count > 1 for count in counts), seconds, lag[0]
