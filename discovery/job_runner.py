"""Runs what is due: each slot once over all processes, whichever of them is alive."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from discovery.ports import Clock
from discovery.schedule import Job, Slot, next_slot, slots
from store.errors import GaplightError
from store.questions import Claim, QuestionStore

logger = logging.getLogger(__name__)

_FIRST = "first start"
_LOOK_BACK = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Task:
    """A job with what it does."""

    job: Job
    run: Callable[[], None]


@dataclass(frozen=True, slots=True)
class JobState:
    """When a job ran last, and when it runs next; ``last`` is None before the first time."""

    job: Job
    last: Claim | None
    next: Slot


class JobRunner:
    """Looks what is due and runs it; may be used by many threads and processes.

    Args:
        claims: make sure that a slot is run once.
        tasks: the jobs of this installation, the same in every process.
        now: the present moment.
        report: told in a sentence what was missed or went wrong.
    """

    def __init__(self, claims: QuestionStore, tasks: Sequence[Task], now: Clock, report: Callable[[str], None]) -> None:
        self._claims = claims
        self._tasks = tasks
        self._now = now
        self._report = report

    def run_due(self) -> list[tuple[str, str]]:
        """Run every slot that is due and that nobody has run; several missed slots of a job are run as one.

        Returns:
            Name and key of the slots that were run here.
        """
        done = []
        for task in self._tasks:
            slot = self._claimed(task.job)
            if slot is not None:
                self._run(task, slot)
                done.append((task.job.name, slot.key))
        return done

    def states(self) -> list[JobState]:
        """Last and next run of each job."""
        now = self._now()
        return [JobState(task.job, self._last(task.job), next_slot(task.job, now)) for task in self._tasks]

    def _claimed(self, job: Job) -> Slot | None:
        """The latest slot that is due, if it is ours to run; older ones are ticked off."""
        now = self._now()
        since = max(self._known_since(job, now), now - _LOOK_BACK)
        due = list(slots(job, since, now))
        fresh = [slot for slot in due if slot.due > now - job.grace]
        self._tick_off(job, [slot for slot in due if slot not in fresh], missed=True)
        if not fresh:
            return None
        *older, latest = fresh
        self._tick_off(job, older, missed=False)
        return latest if self._claim(job, latest, now, job.lease.total_seconds()) else None

    def _known_since(self, job: Job, now: datetime) -> datetime:
        """Since when the job exists here: what was due before is not caught up."""
        kind = _kind(job)
        if self._claims.claim(kind, _FIRST, now=now, retry_seconds=float("inf")):
            self._claims.finish(kind, _FIRST, now=now)
            return now
        first = self._claims.claim_of(kind, _FIRST)
        return first.claimed_at if first else now

    def _tick_off(self, job: Job, passed: Sequence[Slot], *, missed: bool) -> None:
        now = self._now()
        skipped = [slot for slot in passed if self._claim(job, slot, now, float("inf"))]
        for slot in skipped:
            self._claims.finish(_kind(job), slot.key, now=now)
        if skipped and missed:
            keys = ", ".join(slot.key for slot in skipped)
            self._report(f"{job.title} was missed while nothing ran: {keys}.")

    def _claim(self, job: Job, slot: Slot, now: datetime, retry_seconds: float) -> bool:
        return self._claims.claim(_kind(job), slot.key, now=now, retry_seconds=retry_seconds)

    def _run(self, task: Task, slot: Slot) -> None:
        logger.info("%s (%s) begins", task.job.title, slot.key)
        try:
            task.run()
        except GaplightError as error:
            self._report(f"{task.job.title} ({slot.key}) failed: {error}")
        except Exception:
            logger.exception("%s (%s) failed in an unforeseen way", task.job.title, slot.key)
            self._report(f"{task.job.title} ({slot.key}) failed; the log has the details.")
        self._claims.finish(_kind(task.job), slot.key, now=self._now())

    def _last(self, job: Job) -> Claim | None:
        found = [claim for claim in self._claims.latest_claims(_kind(job), 2) if claim.key != _FIRST]
        return found[0] if found else None


def _kind(job: Job) -> str:
    return f"job:{job.name}"
