"""Which jobs are due when. Pure: instants in, slots out.

A slot is one local day or one ISO week of the job's time zone, and so happens exactly once whatever the clocks do: a
time that the change of clocks skips is due right after the gap, one that repeats is due the first time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from store.errors import ConfigurationError

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEK = timedelta(days=7)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Job:
    """A job and its times.

    Attributes:
        name: part of the keys of its slots; never changed.
        title: what it does, for people.
        at: local time of day.
        zone: where that is the time.
        weekday: 0 for Monday; None for every day.
        grace: a slot that was missed by less is caught up, an older one is reported instead.
        lease: a run that took longer is taken for lost with its process, and somebody else may run the slot.
    """

    name: str
    title: str
    at: time
    zone: ZoneInfo
    weekday: int | None = None
    grace: timedelta = timedelta(hours=20)
    lease: timedelta = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Slot:
    """One occasion of a job: ``2026-10-25``, or ``2026-W43`` for a weekly one, and when it is due (UTC)."""

    key: str
    due: datetime


def slots(job: Job, after: datetime, until: datetime) -> Iterator[Slot]:
    """The slots of a job that are due after one instant and not after another, oldest first."""
    day = after.astimezone(job.zone).date() - _DAY
    last = until.astimezone(job.zone).date() + _DAY
    while day <= last:
        if job.weekday is None or day.weekday() == job.weekday:
            due = _instant(day, job.at, job.zone)
            if after < due <= until:
                yield Slot(_key(job, day), due)
        day += _DAY


def next_slot(job: Job, after: datetime) -> Slot:
    """The first slot of a job after an instant."""
    return next(slots(job, after, after + _WEEK + 2 * _DAY))


def zone_of(name: str) -> ZoneInfo:
    """A time zone by its name in the IANA database.

    Raises:
        ConfigurationError: there is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigurationError(
            f"There is no time zone {name!r}.", "Use a name such as Europe/Berlin, America/New_York or UTC."
        ) from error


def time_of(text: str) -> time:
    """A time of day written as ``HH:MM``.

    Raises:
        ConfigurationError: it is none.
    """
    try:
        return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - a time of day has no zone
    except ValueError as error:
        raise ConfigurationError(f"{text!r} is no time of day.", "Write it as HH:MM, such as 09:00.") from error


def weekday_of(text: str) -> int:
    """The number of a weekday (0 for Monday) by its English name or the first three letters of it.

    Raises:
        ConfigurationError: it is none.
    """
    wanted = text.strip().casefold()
    for number, name in enumerate(WEEKDAYS):
        if wanted in {name, name[:3]}:
            return number
    raise ConfigurationError(f"{text!r} is no weekday.", f"Choose one of: {', '.join(WEEKDAYS)}.")


def _key(job: Job, day: date) -> str:
    if job.weekday is None:
        return day.isoformat()
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02d}"


def _instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    """The local time as an instant. The first of two; where there is none, the one that the old offset gives, which
    lies right behind the gap.
    """
    return datetime.combine(day, at, tzinfo=zone).replace(fold=0).astimezone(UTC)
