"""Wakes the job runner at the right times, in a thread of its own."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from discovery.job_runner import JobRunner
from discovery.schedule import WEEKDAYS, Job

logger = logging.getLogger(__name__)

_CATCH_UP_MINUTES = 5
"""How often is looked for slots that another process began and did not finish, and for those a busy host missed."""


class Scheduler:
    """Runs what is due until it is stopped. Implements :class:`bot.chat.running.Background`.

    The wake-ups live in memory and are made from the settings at every start; whether a slot is run is decided by its
    row in the database.
    """

    def __init__(self, runner: JobRunner, jobs: Sequence[Job]) -> None:
        self._runner = runner
        self._scheduler = BackgroundScheduler(timezone="UTC")
        defaults = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None, "replace_existing": True}
        for job in jobs:
            weekday = {} if job.weekday is None else {"day_of_week": WEEKDAYS[job.weekday][:3]}
            trigger = CronTrigger(hour=job.at.hour, minute=job.at.minute, timezone=job.zone, **weekday)
            self._scheduler.add_job(self._wake, trigger, id=job.name, **defaults)
        every = IntervalTrigger(minutes=_CATCH_UP_MINUTES)
        self._scheduler.add_job(self._wake, every, id="catch up", **defaults)
        self._scheduler.add_job(self._wake, id="start", **defaults)

    def start(self) -> None:
        """Begin; what was missed meanwhile is caught up at once."""
        self._scheduler.start()

    def stop(self) -> None:
        """Wait for a job that runs, and end."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)

    def _wake(self) -> None:
        try:
            self._runner.run_due()
        except Exception:
            logger.exception("The schedule could not be looked at")
