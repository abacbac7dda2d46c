"""``gaplight run``: what it needs before it starts."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from bot.cli import app


@pytest.fixture(autouse=True)
def _no_tokens(monkeypatch, tmp_path):
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "DISCORD_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def refused(*arguments):
    result = CliRunner().invoke(app, ["run", *arguments])
    assert result.exit_code != 0
    return str(result.exception) if result.exception else result.output


def test_without_any_token_it_says_where_to_find_one():
    assert "neither SLACK_BOT_TOKEN nor DISCORD_TOKEN is set" in refused()


def test_a_part_that_does_not_exist_is_named():
    assert "'teams'" in refused("--only", "slack,teams")


def test_a_part_that_was_asked_for_needs_its_token():
    assert "SLACK_BOT_TOKEN is not set" in refused("--only", "slack")
    assert "DISCORD_TOKEN is not set" in refused("--only", "discord")


def test_slack_needs_the_second_secret_of_its_mode(monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    assert "SLACK_APP_TOKEN is not set" in refused()
    monkeypatch.setenv("GAPLIGHT_SLACK__MODE", "http")
    assert "SLACK_SIGNING_SECRET is not set" in refused()
