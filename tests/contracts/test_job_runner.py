"""Jobs over several processes: each slot is run once, whichever process dies, on either database."""

from __future__ import annotations

import random
from datetime import UTC, datetime, time, timedelta
from threading import Thread

import pytest

from discovery.job_runner import JobRunner, Task
from discovery.schedule import Job, slots, zone_of
from store.questions import QuestionStore
from tests.fakes.installation import Clock

BERLIN = zone_of("Europe/Berlin")
DAILY = Job("nightly", "The nightly look", time(2, 30), BERLIN)
WEEKLY = Job("digest", "The digest", time(9), BERLIN, weekday=0)


class Killed(BaseException):
    """The process ends in the middle of a job."""


@pytest.fixture
def store(database):
    return QuestionStore(database)


@pytest.fixture
def clock():
    moved = Clock()
    moved.time = datetime(2026, 10, 5, 12, tzinfo=UTC)
    return moved


def runner(store, clock, runs, reports=None, jobs=(DAILY,), work=None):
    def doing(job):
        def run():
            if work:
                work()
            runs.append((job.name, clock()))

        return run

    told = reports.append if reports is not None else lambda _text: None
    return JobRunner(store, [Task(job, doing(job)) for job in jobs], clock, told)


def test_what_was_due_before_the_first_start_is_not_caught_up(store, clock):
    runs = []
    runner(store, clock, runs).run_due()
    assert runs == []


def test_a_slot_is_run_once_and_shows_as_the_last_one(store, clock):
    runs = []
    running = runner(store, clock, runs)
    running.run_due()
    assert running.states()[0].last is None
    clock.forward(hours=14)
    assert running.run_due() == [("nightly", "2026-10-06")]
    assert running.run_due() == []
    (state,) = running.states()
    assert (state.last.key, state.last.finished_at, state.next.key) == ("2026-10-06", clock(), "2026-10-07")


def test_one_of_many_processes_wins(store, clock):
    runs = []
    processes = [runner(store, clock, runs) for _ in range(4)]
    processes[0].run_due()
    clock.forward(hours=14)
    threads = [Thread(target=process.run_due) for process in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 1


def test_after_a_night_down_the_slot_is_caught_up_once(store, clock):
    runs, reports = [], []
    running = runner(store, clock, runs, reports)
    running.run_due()
    clock.forward(hours=22)
    running.run_due()
    assert (len(runs), reports) == (1, [])


def test_after_weeks_down_the_latest_slot_is_run_and_the_others_are_reported_once(store, clock):
    runs, reports = [], []
    running = runner(store, clock, runs, reports)
    running.run_due()
    clock.forward(days=21)
    running.run_due()
    running.run_due()
    assert len(runs) == 1
    assert len(reports) == 1
    assert "2026-10-06" in reports[0]
    assert "2026-10-26" not in reports[0]


def test_a_job_that_fails_is_reported_and_does_not_stop_the_others(store, clock):
    runs, reports = [], []

    def fail():
        raise RuntimeError("password=hunter2")

    running = JobRunner(store, [Task(DAILY, fail), Task(WEEKLY, lambda: runs.append("digest"))], clock, reports.append)
    running.run_due()
    clock.time = datetime(2026, 10, 12, 12, tzinfo=UTC)
    running.run_due()
    assert runs == ["digest"]
    assert "failed" in reports[-1]
    assert "hunter2" not in "".join(reports)


def test_a_slot_whose_process_died_is_run_by_another_after_the_lease(store, clock):
    runs = []

    def die():
        raise Killed

    dying = runner(store, clock, runs, work=die)
    dying.run_due()
    clock.forward(hours=14)
    with pytest.raises(Killed):
        dying.run_due()
    living = runner(store, clock, runs)
    living.run_due()
    assert runs == []
    clock.forward(hours=2, minutes=1)
    living.run_due()
    assert len(runs) == 1


def test_forgetting_old_questions_does_not_make_a_slot_run_again(store, clock):
    runs = []
    running = runner(store, clock, runs)
    running.run_due()
    clock.forward(hours=14)
    running.run_due()
    clock.forward(minutes=1)
    store.delete_before(clock())
    running.run_due()
    assert len(runs) == 1


def test_a_month_with_a_change_of_clocks_three_processes_and_kills_runs_every_slot_once(store, clock):
    dice = random.Random(96)
    runs, start = [], clock()

    def perhaps_die():
        if dice.random() < 0.3:
            raise Killed

    processes = [runner(store, clock, runs, jobs=(DAILY, WEEKLY), work=perhaps_die) for _ in range(3)]
    processes[0].run_due()
    for _ in range(31 * 12):
        clock.forward(hours=2)
        if dice.random() < 0.8:
            try:
                dice.choice(processes).run_due()
            except Killed:
                continue
    clock.forward(hours=3)
    for job in (DAILY, WEEKLY):
        due = list(slots(job, start, clock() - timedelta(hours=3)))
        done = [moment for name, moment in runs if name == job.name]
        assert len(done) == len(due)
        assert all(slot.due <= moment for slot, moment in zip(due, done, strict=True))
