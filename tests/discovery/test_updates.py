"""New versions of what was ingested are offered, never taken over by themselves."""

from __future__ import annotations

import pytest

from store.errors import UnavailableError
from store.records import CandidateState, GapState
from tests.discovery.loop_texts import KEY_GUIDE, KEY_QUESTION

BY = "slack:U1"
NEWER = KEY_GUIDE + "\n## Backup\n\nKeep a copy of the key in the vault.\n"


@pytest.fixture
def loop(make_loop):
    """A loop with one ingested source."""
    loop = make_loop({"keys.md": KEY_GUIDE})
    (candidate,) = loop.suggested(loop.gap(KEY_QUESTION))
    loop.decisions.approve(candidate.id, BY)
    return loop


def change(loop, text):
    loop.finders["shelf"].texts["keys.md"] = text


def test_what_has_not_changed_is_not_offered(loop):
    assert loop.updates.check().offered == ()


def test_a_new_version_waits_for_a_decision_and_replaces_the_old_one(loop):
    change(loop, NEWER)
    (update,) = loop.updates.check().offered
    assert (update.state, update.collection) == (CandidateState.PENDING, "default")
    assert update.topic_label.startswith("New version for: ")
    assert update.source.reasons[0] == "It has changed since it was ingested."
    assert "vault" not in str(loop.here.state())
    outcome = loop.decisions.approve(update.id, BY)
    assert [one.closed for one in outcome.reasked] == [True]
    assert [document.path for document in loop.here.documents.documents()].count("keys.md") == 1
    assert "vault" in str(loop.here.state())
    assert loop.updates.check().offered == ()


def test_the_same_version_is_offered_once_and_a_rejected_one_not_again(loop):
    change(loop, NEWER)
    (update,) = loop.updates.check().offered
    assert loop.updates.check().offered == ()
    loop.decisions.reject(update.id, BY, "not yet")
    assert loop.updates.check().offered == ()
    change(loop, NEWER + "Still more.\n")
    assert len(loop.updates.check().offered) == 1


def test_a_newer_version_takes_the_place_of_one_that_waits(loop):
    change(loop, NEWER)
    (older,) = loop.updates.check().offered
    change(loop, NEWER + "Still more.\n")
    (newer,) = loop.updates.check().offered
    assert loop.candidates.get(older.id).state is CandidateState.EXPIRED
    assert newer.topic_label.count("New version") == 1


def test_a_new_version_that_no_longer_answers_opens_the_gap_again(loop):
    (gap,) = loop.here.gaps.list()
    assert gap.state is GapState.CLOSED
    change(loop, "# Keys\n\nThis page has moved.\n")
    (update,) = loop.updates.check().offered
    outcome = loop.decisions.approve(update.id, BY)
    assert [one.closed for one in outcome.reasked] == [False]
    assert loop.here.gaps.get(gap.id).state is GapState.REOPENED


def test_a_source_that_is_gone_or_away_is_told_and_what_was_ingested_stays(loop):
    loop.finders["shelf"].texts.clear()
    result = loop.updates.check()
    assert (result.offered, len(result.notes)) == ((), 1)
    assert "is gone" in result.notes[0]

    def away(_source):
        raise UnavailableError("The share is away.", "")

    loop.finders["shelf"].current = away
    assert loop.updates.check().notes == ("keys.md: The share is away.",)
    assert "keys.md" in {document.path for document in loop.here.documents.documents()}
