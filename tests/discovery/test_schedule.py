"""When jobs are due: once a day or week, whatever the clocks do."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest

from discovery.schedule import Job, next_slot, slots, time_of, weekday_of, zone_of
from store.errors import ConfigurationError

BERLIN = zone_of("Europe/Berlin")
NIGHTLY = Job("nightly", "The nightly look", time(2, 30), BERLIN)
WEEKLY = Job("digest", "The digest", time(9), BERLIN, weekday=0)


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


def test_a_time_that_comes_twice_is_due_the_first_time_only():
    found = list(slots(NIGHTLY, utc(2026, 10, 24, 12), utc(2026, 10, 26, 0)))
    assert [(slot.key, slot.due) for slot in found] == [("2026-10-25", utc(2026, 10, 25, 0, 30))]


def test_a_time_that_the_clocks_skip_is_due_right_after_the_gap():
    found = list(slots(NIGHTLY, utc(2027, 3, 27, 12), utc(2027, 3, 29, 0)))
    assert [(slot.key, slot.due) for slot in found] == [("2027-03-28", utc(2027, 3, 28, 1, 30))]


@pytest.mark.parametrize("start", [utc(2026, 10, 1), utc(2027, 3, 1)])
def test_a_month_has_one_slot_a_day_however_it_is_cut_into_pieces(start):
    end = start + timedelta(days=31)
    pieces, moment = [], start
    while moment < end:
        later = min(moment + timedelta(minutes=37), end)
        pieces += slots(NIGHTLY, moment, later)
        moment = later
    assert pieces == list(slots(NIGHTLY, start, end))
    assert len({slot.key for slot in pieces}) == len(pieces) == 31


def test_weeks_over_a_change_of_clocks_are_167_and_169_hours_long():
    autumn = list(slots(WEEKLY, utc(2026, 10, 18), utc(2026, 10, 27)))
    assert [slot.key for slot in autumn] == ["2026-W43", "2026-W44"]
    assert autumn[1].due - autumn[0].due == timedelta(hours=169)
    spring = list(slots(WEEKLY, utc(2027, 3, 21), utc(2027, 3, 30)))
    assert spring[1].due - spring[0].due == timedelta(hours=167)


def test_the_next_slot_of_a_weekly_job_is_within_a_week():
    assert next_slot(WEEKLY, utc(2026, 11, 30, 8)).due == utc(2026, 12, 7, 8)
    assert next_slot(WEEKLY, utc(2026, 11, 30, 7, 59)).key == "2026-W49"


@pytest.mark.parametrize("name", ["Europe/Atlantis", "", "../etc/passwd", "\0"])
def test_a_zone_that_does_not_exist_is_named(name):
    with pytest.raises(ConfigurationError, match="time zone"):
        zone_of(name)


@pytest.mark.parametrize("text", ["25:00", "9", "", "noon"])
def test_a_time_that_is_none_is_named(text):
    with pytest.raises(ConfigurationError, match="no time of day"):
        time_of(text)


def test_weekdays_are_known_by_name_and_its_beginning():
    assert [weekday_of(text) for text in ("Monday", "sun", " fri ")] == [0, 6, 4]
    with pytest.raises(ConfigurationError, match="'someday'"):
        weekday_of("someday")
