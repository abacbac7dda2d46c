"""What is done on schedule, built from the settings. A part of the wiring in :mod:`bot.app`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from bot.app import App
from bot.clock import now
from bot.digest_settings import DigestSettings
from bot.weekly_digest import Post, WeeklyDigest
from discovery.job_runner import JobRunner, Task
from discovery.schedule import Job, time_of, weekday_of, zone_of
from store.questions import QuestionStore
from store.sources import IngestRequest

logger = logging.getLogger(__name__)

JOBS = ("digest", "refresh", "resume", "regression", "tidy", "retention")
"""Names of all jobs that an installation can have."""
_SUCCESS = "job:succeeded"
"""Kind of the claims that say when a job last succeeded; one for each, finished anew with every success."""
_POST_DAYS = 400
"""Older messages of ours are forgotten: their buttons say so from then on."""


def runner(
    app: App,
    post: Post | None = None,
    report: Callable[[str], None] | None = None,
    ended: Callable[[str, bool], None] = lambda _job, _succeeded: None,
) -> JobRunner:
    """The jobs of an installation.

    Args:
        app: the parts below.
        post: posts the parts of a digest; None where no channel is set up.
        report: told in a sentence what was missed or failed; the log when None.
        ended: told of each job that ran here, and whether it succeeded.

    Raises:
        ConfigurationError: a time, weekday or time zone of ``[digest]`` is none.
    """
    watched = [replace(task, run=_watched(task, app.questions, ended)) for task in tasks(app, post)]
    return JobRunner(app.questions, watched, now, report or logger.warning)


def last_successes(claims: QuestionStore) -> dict[str, datetime]:
    """When each job last succeeded, in whichever process; jobs that never did are left out."""
    return {one.key: one.finished_at for one in claims.latest_claims(_SUCCESS, len(JOBS)) if one.finished_at}


def _watched(task: Task, claims: QuestionStore, ended: Callable[[str, bool], None]) -> Callable[[], None]:
    """The same work, which tells how it ended and notes when it last succeeded."""
    name = task.job.name

    def run() -> None:
        succeeded = False
        try:
            task.run()
            claims.claim(_SUCCESS, name, now=now(), retry_seconds=float("inf"))
            claims.finish(_SUCCESS, name, now=now())
            succeeded = True
        finally:
            ended(name, succeeded)

    return run


def tasks(app: App, post: Post | None = None) -> list[Task]:
    """What is done when. A job without anything to do in this installation is left out."""
    digest = app.settings.digest
    reports = weekly_digest(app, post)
    found = [
        Task(weekly(digest, "digest", "The weekly round and its digest"), lambda: _report(reports)),
        Task(_nightly(digest, "resume", "Posting what is missing of a digest"), lambda: _resume(reports)),
        Task(_nightly(digest, "regression", "Asking closed gaps again"), lambda: _ask_closed_gaps(app)),
        Task(_nightly(digest, "tidy", "Putting suggestions in order"), lambda: _tidy(app)),
        Task(_nightly(digest, "retention", "Deleting old questions"), lambda: _forget_old(app)),
    ]
    if app.settings.documents.paths:
        found.insert(1, Task(_nightly(digest, "refresh", "Reading the documents again"), lambda: _refresh(app)))
    return found


def weekly_digest(app: App, post: Post | None) -> WeeklyDigest:
    """What makes and posts the digest."""
    return WeeklyDigest(
        app.reporting.make,
        post,
        app.questions,
        app.reporting.store,
        now,
        silent=app.settings.digest.quiet == "silence",
    )


def jobs(app: App) -> list[Job]:
    """The jobs alone."""
    return [task.job for task in tasks(app)]


def _nightly(settings: DigestSettings, name: str, title: str) -> Job:
    return Job(
        name, title, time_of(settings.nightly), zone_of(settings.timezone), grace=timedelta(hours=settings.grace_hours)
    )


def weekly(settings: DigestSettings, name: str, title: str) -> Job:
    """A job at the time of the digest."""
    return Job(
        name,
        title,
        time_of(settings.time),
        zone_of(settings.timezone),
        weekday=weekday_of(settings.weekday),
        grace=timedelta(hours=settings.grace_hours),
    )


def _report(reports: WeeklyDigest) -> None:
    reports.run()


def _resume(reports: WeeklyDigest) -> None:
    reports.resume()


def _refresh(app: App) -> None:
    from bot.calibration import keep_calibrated

    documents = app.settings.documents
    request = IngestRequest(paths=documents.paths, collection=documents.collection, skip=(app.settings.data,))
    summary = app.ingestor.run(request)
    for issue in summary.failed:
        logger.warning("Not read: %s: %s", issue.path, issue.reason)
    keep_calibrated(app, now())


def _ask_closed_gaps(app: App) -> None:
    app.discovery.regression.check_if_changed()


def _tidy(app: App) -> None:
    app.discovery.decisions.resume()
    app.discovery.decisions.tidy()
    for note in app.discovery.updates.check().notes:
        logger.warning("%s", note)


def _forget_old(app: App) -> None:
    app.posts.delete_before(now() - timedelta(days=_POST_DAYS))
    if days := app.settings.privacy.retention_days:
        app.questions.delete_before(now() - timedelta(days=days))
        app.reporting.store.delete_before(now() - timedelta(days=days))
