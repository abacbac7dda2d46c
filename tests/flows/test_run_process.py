"""``gaplight run`` as a process of its own: both platforms, health, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from contextlib import contextmanager

import pytest

from bot.app import App
from bot.settings import Settings
from store.sources import IngestRequest
from tests.fakes.discord import TOKEN, discord_server
from tests.fakes.slack import FakeSlack

QUESTION = "How do I reset the VPN client?"


class Served:
    """Fakes that a loop in a thread of its own serves."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self._open = []

    def enter(self, manager):
        self._open.append(manager)
        return self.run(manager.__aenter__())

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(120)

    def close(self):
        for manager in reversed(self._open):
            self.run(manager.__aexit__(None, None, None))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def served():
    serving = Served()
    yield serving
    serving.close()


@pytest.fixture
def data(tmp_path, model_cache):
    (tmp_path / "vpn.md").write_text("# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button.\n")
    app = App(Settings(data=tmp_path / "data", embedding={"cache": model_cache}))
    app.ingestor.run(IngestRequest(paths=(tmp_path / "vpn.md",)))
    app.close()
    return tmp_path / "data"


@contextmanager
def process(data, model_cache, **environment):
    """The bot; yields the process and the port of its health pages."""
    started = subprocess.Popen(
        [sys.executable, "-m", "bot", "--data", str(data), "run"],
        env={
            **os.environ,
            "GAPLIGHT_SERVER__PORT": "0",
            "GAPLIGHT_EMBEDDING__CACHE": str(model_cache),
            **environment,
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = ""
        while not (found := re.search(r":(\d+)/healthz", said)):
            line = started.stderr.readline()
            assert line, f"The bot ended: {said}"
            said += line
        yield started, int(found[1])
    finally:
        started.kill()
        started.wait()
        started.stderr.close()


@pytest.mark.slow
def test_both_platforms_are_answered_and_the_end_is_graceful(served, data, model_cache):
    slack, discord = served.enter(FakeSlack()), served.enter(discord_server())
    person = discord.person("Ann")
    environment = {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "DISCORD_TOKEN": TOKEN,
        "GAPLIGHT_SLACK__API_URL": slack.api_url,
        "GAPLIGHT_DISCORD__API_URL": discord.api_url,
    }
    with process(data, model_cache, **environment) as (bot, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as page:
            assert json.load(page)["platforms"] == {"slack": True, "discord": True}
        asked = served.run(slack.ask("C1", "U1", QUESTION))
        message = served.run(discord.mention(person, discord.general, QUESTION))
        served.run(slack.until(lambda: any("blue button" in text for text in slack.texts("C1", asked)), 60))
        thread = int(message["id"])
        served.run(discord.until(lambda: _shows(discord, thread, "blue button"), "the answer", 60))
        bot.send_signal(signal.SIGTERM)
        rest = bot.stderr.read()
        assert bot.wait(60) == 0
        assert "Stopped." in rest
        assert "Traceback" not in rest


def _shows(discord, thread, words):
    return thread in discord.world.channels and any(words in text for text in discord.texts(thread))


@pytest.mark.slow
def test_where_a_machine_reads_the_log_every_line_is_json_to_the_last(tmp_path, data, model_cache):
    (tmp_path / "token").write_text("xoxb-1\n")
    environment = {
        **os.environ,
        "GAPLIGHT_SERVER__LOG_FORMAT": "json",
        "GAPLIGHT_SERVER__PORT": "0",
        "GAPLIGHT_EMBEDDING__CACHE": str(model_cache),
    }
    command = [sys.executable, "-m", "bot", "--data", str(data), "run", "--only"]
    with subprocess.Popen([*command, "scheduler"], env=environment, stderr=subprocess.PIPE, text=True) as bot:
        first = json.loads(bot.stderr.readline())
        bot.send_signal(signal.SIGTERM)
        rest = [json.loads(line) for line in bot.stderr]
    assert "Running: scheduler" in first["message"]
    assert rest[-1]["message"] == "Stopped."
    assert bot.returncode == 0
    refused = subprocess.run(
        [*command, "slack"],
        env={**environment, "SLACK_BOT_TOKEN_FILE": str(tmp_path / "token")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    (line,) = refused.stderr.splitlines()
    assert json.loads(line)["level"] == "critical"
    assert "SLACK_APP_TOKEN is not set" in json.loads(line)["message"]
    assert refused.returncode == 2


def test_a_wrong_token_ends_it_with_the_page_that_has_the_right_one(served, data, model_cache):
    slack = served.enter(FakeSlack())
    ended = subprocess.run(
        [sys.executable, "-m", "bot", "--data", str(data), "run", "--only", "slack"],
        env={
            **os.environ,
            "SLACK_BOT_TOKEN": "xoxb-wrong",
            "SLACK_APP_TOKEN": slack.app_token,
            "GAPLIGHT_SLACK__API_URL": slack.api_url,
            "GAPLIGHT_SERVER__PORT": "0",
            "GAPLIGHT_EMBEDDING__CACHE": str(model_cache),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 2
    assert "OAuth & Permissions" in ended.stderr
    assert "Traceback" not in ended.stderr
