"""What the audit log promises, over each database."""

from datetime import UTC, datetime, timedelta

import pytest

from store.audit import AuditLog
from store.records import AuditEntry

NOW = datetime(2026, 6, 19, 12, tzinfo=UTC)


@pytest.fixture
def log(database):
    return AuditLog(database)


def entry(minutes=0, action="approve", subject="c1", by="slack:U1", **detail):
    return AuditEntry(NOW + timedelta(minutes=minutes), by, action, subject, detail)


def test_an_entry_comes_back_as_it_was_recorded(log):
    given = entry(revision="abc", before={"g1": 0.25}, documents=["a.md"])
    log.record(given)
    assert log.entries() == [given]


def test_the_latest_come_first_and_can_be_chosen(log):
    entries = [entry(0), entry(1, subject="c2"), entry(2, action="reject")]
    for one in entries:
        log.record(one)
    assert log.entries() == entries[::-1]
    assert log.entries("c1") == [entries[2], entries[0]]
    assert log.entries(since=NOW + timedelta(minutes=1)) == [entries[2], entries[1]]
    assert log.entries(limit=1) == [entries[2]]


def test_entries_of_the_same_moment_keep_their_order(log):
    log.record(entry(action="first"))
    log.record(entry(action="second"))
    assert [one.action for one in log.entries()] == ["second", "first"]


def test_the_last_of_some_actions_is_known_for_every_subject(log):
    for one in (
        entry(0, "closed", "g1"),
        entry(1, "closed", "g2"),
        entry(2, "reopened", "g1"),
        entry(3, "seen", "g2"),
        entry(4, "seen", "g3"),
    ):
        log.record(one)
    last = log.latest(("closed", "reopened"))
    assert {subject: one.action for subject, one in last.items()} == {"g1": "reopened", "g2": "closed"}
    assert list(log.latest(("closed", "reopened"), NOW + timedelta(minutes=2))) == ["g1"]
    assert log.latest(("never",)) == {}
