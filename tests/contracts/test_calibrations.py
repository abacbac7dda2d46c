"""Calibrations are kept, and only an applied one of the same space is in force."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from store.calibrations import CalibrationRecord, CalibrationStore
from store.errors import NotFoundError

WHEN = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
FIRST = CalibrationRecord(WHEN, 0.55, "unlabelled", "space", 100, {"auroc": 0.9, "notes": ["few"]})


@pytest.fixture
def kept(database):
    return CalibrationStore(database)


def test_what_was_measured_comes_back_as_it_was(kept):
    identity = kept.add(FIRST)
    assert kept.all() == [replace(FIRST, id=identity)]


def test_only_an_applied_one_is_in_force(kept):
    identity = kept.add(FIRST)
    assert kept.in_force("space") is None
    kept.apply(identity)
    assert kept.in_force("space").threshold == 0.55
    with pytest.raises(NotFoundError):
        kept.apply("nothing")


def test_a_threshold_of_another_model_or_index_is_never_used(kept):
    kept.add(replace(FIRST, applied=True))
    assert kept.in_force("another space") is None
    assert kept.all("another space") == []


def test_the_latest_wins_and_labels_win_over_the_corpus(kept):
    for hours, threshold, method in ((0, 0.50, "unlabelled"), (1, 0.40, "labelled"), (2, 0.45, "labelled")):
        later = WHEN + timedelta(hours=hours)
        kept.add(replace(FIRST, created_at=later, threshold=threshold, method=method, applied=True))
    kept.add(replace(FIRST, created_at=WHEN + timedelta(hours=3), threshold=0.6, applied=True))
    kept.add(replace(FIRST, created_at=WHEN + timedelta(hours=4), threshold=0.9, method="labelled"))
    assert kept.in_force("space").threshold == 0.45
