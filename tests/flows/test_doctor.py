"""What the doctor says of chat platforms, with both of them at hand."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager

import pytest

from bot.app import App
from bot.checks import Verdict, examine
from bot.settings import Settings
from tests.fakes.discord import TOKEN, discord_server
from tests.fakes.slack import FakeSlack


@contextmanager
def served(opened):
    """What an async context manager opens, served by a loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result(30)
    finally:
        asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def findings(tmp_path, monkeypatch):
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "DISCORD_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    def examined(check, **sections):
        application = App(Settings(data=tmp_path, **sections))
        try:
            return [finding for finding in examine(application) if finding.check == check]
        finally:
            application.close()

    return examined


def test_slack_as_it_should_be_and_with_a_channel_that_lacks_the_bot(findings, monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", FakeSlack.bot_token)
    monkeypatch.setenv("SLACK_APP_TOKEN", FakeSlack.app_token)
    with served(FakeSlack()) as slack:
        chosen = {"api_url": slack.api_url}
        found = findings("slack", slack=chosen, digest={"channel": "slack:C1"})
        assert {finding.verdict for finding in found} == {Verdict.OK}
        slack.channel("C2", "elsewhere", bot_inside=False)
        found = findings("slack", slack=chosen, digest={"channel": "slack:C2"})
        assert [finding.verdict for finding in found].count(Verdict.FAILED) == 1
        assert "/invite" in next(finding.advice for finding in found if finding.verdict is Verdict.FAILED)


def test_a_wrong_slack_token_names_the_page_with_the_right_one(findings, monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-wrong")
    monkeypatch.setenv("SLACK_APP_TOKEN", FakeSlack.app_token)
    with served(FakeSlack()) as slack:
        found = findings("slack", slack={"api_url": slack.api_url})
    assert found[0].verdict is Verdict.FAILED
    assert "OAuth & Permissions" in found[0].advice


def test_slack_without_the_token_of_its_mode_says_which_one(findings, monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", FakeSlack.bot_token)
    (found,) = findings("slack")
    assert (found.verdict, found.text) == (Verdict.FAILED, "SLACK_APP_TOKEN is not set.")


def test_discord_as_it_should_be_and_with_a_wrong_token(findings, monkeypatch):
    with served(discord_server()) as fake:
        chosen = {"api_url": fake.api_url}
        monkeypatch.setenv("DISCORD_TOKEN", TOKEN)
        assert Verdict.FAILED not in {finding.verdict for finding in findings("discord", discord=chosen)}
        monkeypatch.setenv("DISCORD_TOKEN", "wrong")
        assert Verdict.FAILED in {finding.verdict for finding in findings("discord", discord=chosen)}


def test_a_chat_without_admins_is_warned_of(findings, monkeypatch):
    assert findings("admins") == []
    monkeypatch.setenv("SLACK_BOT_TOKEN", FakeSlack.bot_token)
    assert findings("admins")[0].verdict is Verdict.WARNING
    assert findings("admins", admins={"slack": ["U1"]})[0].verdict is Verdict.OK
