"""What an installation does on schedule."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from bot.app import App
from bot.cli import app as commands
from bot.jobs import JOBS, last_successes, runner, tasks
from bot.settings import Settings
from store.errors import ConfigurationError, UnavailableError
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


def test_the_names_of_all_jobs_are_known_beforehand(tmp_path):
    assert set(names(Settings(data=tmp_path, documents={"paths": [tmp_path]}))) == set(JOBS)


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


@pytest.fixture
def morning(monkeypatch):
    """An hour after the nightly jobs: their slots of today are due, whatever time it is on this machine."""
    moment = datetime(2026, 3, 4, 3, 30, tzinfo=UTC)
    monkeypatch.setattr("bot.jobs.now", lambda: moment)
    return moment


def known_since_yesterday(application, morning, *jobs):
    for job in jobs:
        application.questions.claim(f"job:{job}", "first start", now=morning - timedelta(days=1))


def test_how_a_job_ended_is_told_and_its_success_outlives_the_process(settings, morning):
    application = App(settings)
    ended = []
    known_since_yesterday(application, morning, *(task.job.name for task in tasks(application)))
    runner(application, ended=lambda job, succeeded: ended.append((job, succeeded))).run_due()
    assert ("retention", True) in ended
    assert last_successes(application.questions)["retention"] == morning
    application.questions.delete_before(morning + timedelta(days=1))
    assert "retention" in last_successes(application.questions)
    application.close()
    again = App(settings)
    assert set(last_successes(again.questions)) == {job for job, succeeded in ended if succeeded}
    again.close()


def test_a_job_that_fails_is_told_and_notes_no_success(settings, morning, monkeypatch):
    application = App(settings)
    known_since_yesterday(application, morning, "retention")
    ended = []

    def fail(_moment):
        raise UnavailableError("The disk is full.")

    monkeypatch.setattr(application.posts, "delete_before", fail)
    runner(application, None, lambda _text: None, lambda job, succeeded: ended.append((job, succeeded))).run_due()
    assert ("retention", False) in ended
    assert "retention" not in last_successes(application.questions)
    application.close()
