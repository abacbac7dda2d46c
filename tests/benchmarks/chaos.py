"""Two bots under load while everything is killed: ``python -m tests.benchmarks.chaos FOLDER... [--minutes 10]``.

Two `gaplight run` processes with their schedulers share a PostgreSQL cluster and a Chroma server of their own; questions
arrive from a fake Slack. One of the four is killed with ``kill -9`` at random moments; Chroma is away for two minutes once.
In the end every question must have exactly one answer in its thread, no placeholder may be left, and no gap may be open
that was not opened by the same questions before anything was killed. Exit code 1 when that is not so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks import servers
from tests.benchmarks.ingesting import MODEL_CACHE
from tests.fakes.server_process import ServerProcess, free_port, listens
from tests.fakes.slack import FakeSlack

_CHANNELS = 12
_DELIVERIES = (0, 5, 60, 300)
"""Seconds after which Slack delivers what nobody has acknowledged."""
_OUTAGE_OF_CHROMA = 120
_LAST_WAIT = 400
_UNANSWERABLE = (
    "What is the per diem for a trip to Norway?",
    "Who approves parental leave in the Lisbon office?",
    "How do I book the squash court?",
    "What does the canteen serve on Fridays?",
    "Which law firm handles our trademark disputes?",
)


class Installation:
    """Two bots on one database and one vector store."""

    def __init__(self, work, slack):
        self.work = work
        self.database, url = servers.postgresql(work / "pg")
        self.chroma = servers.chroma(work / "vectors")
        self.environment = {
            **os.environ,
            "DATABASE_URL": url,
            "GAPLIGHT_VECTORS__URL": self.chroma.url,
            "GAPLIGHT_EMBEDDING__CACHE": str(MODEL_CACHE),
            "GAPLIGHT_SLACK__API_URL": slack.api_url,
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
        }
        self.bots = [self._bot(name) for name in ("first bot", "second bot")]

    def _bot(self, name):
        port = free_port()
        data = self.work / name.split()[0]
        data.mkdir()
        command = [sys.executable, "-m", "bot", "--data", str(data), "run"]
        environment = {**self.environment, "GAPLIGHT_SERVER__PORT": str(port)}
        return ServerProcess(name, command, lambda: listens(port), data / "log", env=environment)

    def command(self, *arguments):
        """What a command prints as JSON."""
        done = subprocess.run(
            [sys.executable, "-m", "bot", "--data", str(self.work / "command"), *arguments, "--json"],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in {0, 3}:
            raise RuntimeError(done.stderr)
        return (
            [json.loads(line) for line in done.stdout.splitlines()]
            if "--batch" in arguments
            else json.loads(done.stdout)
        )

    def close(self):
        for server in (*self.bots, self.chroma, self.database):
            server.kill()


class Load:
    """Questions, each asked once in a thread of its own and delivered again until a bot has taken it."""

    def __init__(self, slack, texts, choice):
        self._slack = slack
        self._texts = texts
        self._choice = choice
        self.asked = []
        self.never_taken = []
        self._open = set()

    async def run(self, seconds, pause):
        """Ask one question after another for so long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            channel = f"C{100 + len(self.asked) % _CHANNELS}"
            text = self._choice.choice(self._texts)
            event = self._slack.write(channel, "U1", f"<@{self._slack.bot_user}> {text}")
            self.asked.append((channel, event["ts"], text))
            task = asyncio.create_task(self._deliver(event))
            self._open.add(task)
            task.add_done_callback(self._open.discard)
            await asyncio.sleep(pause * self._choice.uniform(0.5, 1.5))
        await asyncio.gather(*self._open)

    async def _deliver(self, event):
        begun = time.monotonic()
        for after in _DELIVERIES:
            await asyncio.sleep(max(0.0, begun + after - time.monotonic()))
            try:
                mention = {name: value for name, value in event.items() if name != "channel_type"}
                body = self._slack.event_body({**mention, "type": "app_mention"})
                await self._slack.delivery.deliver("events_api", body, attempts=1)
            except (TimeoutError, ConnectionError, RuntimeError):
                continue
            return
        self.never_taken.append(event["ts"])

    def answers(self, channel, ts):
        """What stands in the thread of a question, placeholders included."""
        return self._slack.texts(channel, ts)


async def _kill_at_random(here, minutes, choice, log):
    """Kill one of the four every 15 to 40 seconds and start it again."""
    begun, killed = time.monotonic(), []
    outage = begun + 60 * minutes * 0.3
    while time.monotonic() - begun < 60 * minutes:
        await asyncio.sleep(choice.uniform(15, 40))
        long = outage and time.monotonic() > outage
        victim = here.chroma if long else choice.choice([*here.bots, *here.bots, here.database, here.chroma])
        pause = _OUTAGE_OF_CHROMA if long else choice.uniform(0.5, 6)
        outage = 0 if long else outage
        killed.append(victim.name)
        log(f"{time.monotonic() - begun:5.0f} s  kill -9 {victim.name}, away for {pause:.0f} s")
        await asyncio.to_thread(victim.kill)
        await asyncio.sleep(pause)
        await asyncio.to_thread(victim.start)
    return killed


async def _everything_said(load, seconds):
    """Wait until every question has an answer that is no placeholder."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if all(_final(load.answers(channel, ts)) for channel, ts, _ in load.asked):
            return
        await asyncio.sleep(1)


def _final(texts):
    return [text for text in texts if "Looking through the documents" not in text]


async def _run(options, work, log):
    choice = random.Random(options.seed)
    async with FakeSlack() as slack:
        for number in range(_CHANNELS):
            slack.channel(f"C{100 + number}", f"channel-{number}", members={"U1"})
        here = Installation(work, slack)
        try:
            for server in (here.database, here.chroma):
                await asyncio.to_thread(server.start)
            found = await asyncio.to_thread(here.command, "ingest", *map(str, options.folders))
            log(f"{found['documents']} documents, {found['chunks']} chunks")
            texts = [*_titles(options.folders, choice), *_UNANSWERABLE]
            expected = await asyncio.to_thread(_gaps_of, here, work, texts)
            for bot in here.bots:
                await asyncio.to_thread(bot.start)
            log("Both bots are up.")
            load = Load(slack, texts, choice)
            killing = asyncio.create_task(_kill_at_random(here, options.minutes, choice, log))
            await load.run(60 * options.minutes, options.pause)
            killed = await killing
            log("No more kills; waiting for what is under way.")
            await _everything_said(load, _LAST_WAIT)
            gaps = {gap["question"] for gap in await asyncio.to_thread(here.command, "gaps", "list")}
        finally:
            await asyncio.to_thread(here.close)
    return _report(load, killed, expected, gaps)


def _titles(folders, choice):
    """Questions made of the titles of documents."""
    titles = []
    for folder in folders:
        for path in sorted(folder.rglob("*.md")):
            match = re.search(r"(?m)^#\s+(.{12,80})$", path.read_text(encoding="utf-8", errors="replace"))
            if match:
                titles.append(f"How does this work: {match[1].strip()}?")
    return choice.sample(titles, min(60, len(titles)))


def _gaps_of(here, work, texts):
    """The gaps that these questions open while everything works."""
    batch = work / "batch.jsonl"
    batch.write_text("".join(json.dumps({"id": str(n), "question": text}) + "\n" for n, text in enumerate(texts)))
    here.command("ask", "--batch", str(batch))
    return {gap["question"] for gap in here.command("gaps", "list")}


def _report(load, killed, expected, gaps):
    said = {(channel, ts): load.answers(channel, ts) for channel, ts, _ in load.asked}
    lost = [text for channel, ts, text in load.asked if not _final(said[channel, ts])]
    doubled = [text for channel, ts, text in load.asked if len(_final(said[channel, ts])) > 1]
    left = [text for channel, ts, text in load.asked if len(_final(said[channel, ts])) < len(said[channel, ts])]
    apologies = sum("not available at the moment" in text for texts in said.values() for text in texts)
    print(f"killed: {', '.join(f'{name} {killed.count(name)}x' for name in sorted(set(killed)))}")
    print(f"questions: {len(load.asked)}; never acknowledged in four deliveries: {len(load.never_taken)}")
    print(f"without an answer: {len(lost)}; answered twice: {len(doubled)}; placeholders left: {len(left)}")
    print(f"answered with an apology, because nothing could be searched: {apologies}")
    print(f"gaps: {len(gaps)}, of them invented: {len(gaps - expected)}")
    for name, found in (("lost", lost), ("doubled", doubled), ("placeholder", left), ("invented", gaps - expected)):
        for text in list(found)[:5]:
            print(f"  {name}: {text}")
    return not (lost or doubled or left or gaps - expected)


def main() -> None:
    """Run it and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between questions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, help="keep logs and data here")
    options = parser.parse_args()

    def log(text):
        print(text, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="gaplight-chaos-") as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        fine = asyncio.run(_run(options, work, log))
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
