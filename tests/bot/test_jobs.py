"""What an installation does on schedule."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from bot.app import App
from bot.cli import app as commands
from bot.jobs import runner, tasks
from bot.settings import Settings
from store.errors import ConfigurationError
from store.questions import QuestionRecord
from store.records import Status


@pytest.fixture
def settings(tmp_path):
    return Settings(data=tmp_path)


def names(settings):
    application = App(settings)
    try:
        return [task.job.name for task in tasks(application)]
    finally:
        application.close()


def test_folders_are_read_again_only_where_some_are_configured(tmp_path):
    assert "refresh" not in names(Settings(data=tmp_path))
    assert "refresh" in names(Settings(data=tmp_path, documents={"paths": [tmp_path]}))


@pytest.mark.parametrize(
    ("key", "value"), [("timezone", "Europe/Atlantis"), ("nightly", "25:00"), ("time", "noon"), ("weekday", "someday")]
)
def test_a_wrong_time_is_refused_before_anything_runs(tmp_path, key, value):
    application = App(Settings(data=tmp_path, digest={key: value}))
    with pytest.raises(ConfigurationError, match=value):
        runner(application)
    application.close()


def test_old_questions_are_deleted_at_night_where_that_is_configured(tmp_path):
    application = App(Settings(data=tmp_path, privacy={"retention_days": 30}))
    now = datetime.now(UTC)
    for days in (1, 31):
        application.questions.record(
            QuestionRecord(now - timedelta(days=days), f"{days} days old", Status.ANSWERED, "")
        )
    next(task for task in tasks(application) if task.job.name == "retention").run()
    assert [record.text for record in application.questions.since(now - timedelta(days=99))] == ["1 days old"]
    application.close()


def test_the_command_lists_last_and_next_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(commands, ["jobs"])
    assert "Asking closed gaps again" in shown.output
    assert "never" in shown.output
    listed = json.loads(CliRunner().invoke(commands, ["jobs", "--json"]).stdout)["jobs"]
    assert {job["last"] for job in listed} == {None}
    assert all(datetime.fromisoformat(job["next"]["due"]) > datetime.now(UTC) for job in listed)
