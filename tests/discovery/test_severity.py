"""What makes a topic matter."""

from datetime import timedelta

import pytest

from discovery.severity import severity
from store.records import GapType
from tests.fakes.gaps import NOW, gap


def of(askers=1, marked=0, days=0, **values):
    return severity([gap("q", last_seen=NOW - timedelta(days=days), **values)], askers, marked, NOW)


def test_three_people_matter_more_than_one_who_asked_twelve_times():
    assert of(askers=3, count=3) > of(askers=1, count=12)
    assert of(askers=1, count=12) == of(askers=1, count=1)


def test_what_was_asked_lately_marked_as_unhelpful_or_is_missing_wholly_matters_more():
    assert of(days=1) > of(days=20) > of(days=200)
    assert of(marked=2) > of(marked=1) > of()
    assert of(type=GapType.NO_COVERAGE) > of(type=GapType.THIN_COVERAGE) > of(type=GapType.WEAK_ANSWER)


@pytest.mark.parametrize("askers", [0, 1, 10, 100_000])
@pytest.mark.parametrize("days", [-3, 0, 5000])
def test_severity_stays_between_nought_and_one(askers, days):
    assert 0 <= of(askers, marked=askers, days=days, count=0) <= 1


def test_more_people_always_matter_more():
    values = [of(askers=number) for number in range(60)]
    assert values == sorted(set(values))
