"""Closed means answered: gaps are asked again, and stay closed only as long as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discovery.closure import Because
from store.errors import NotFoundError, UnavailableError
from store.records import AbstainReason, GapState, Reply, Status, Visibility
from tests.discovery.loop_texts import BICYCLE_GUIDE, BICYCLE_QUESTION, KEY_GUIDE, KEY_QUESTION, KEY_WORDING


@pytest.fixture
def loop(make_loop):
    return make_loop({})


def test_a_gap_that_the_documents_answer_by_now_is_closed(loop):
    gap = loop.gap(KEY_QUESTION)
    (before,) = loop.closure.verify([gap.id])
    assert (before.closed, loop.here.gaps.get(gap.id).state) == (False, GapState.OPEN)
    assert loop.actions(gap.id) == []
    loop.here.write({"keys.md": KEY_GUIDE})
    (after,) = loop.closure.verify([gap.id[:8]])
    assert after.closed
    assert after.before == before.before == pytest.approx(loop.here.questions.of_gap(gap.id)[-1].support, abs=1e-4)
    assert loop.here.gaps.get(gap.id).state is GapState.CLOSED
    (entry,) = loop.audit.entries(gap.id)
    assert (entry.action, entry.by, entry.detail["documents"]) == ("gap.closed", "gaplight", ["keys.md"])


def test_a_closed_gap_that_is_no_longer_answered_is_opened_with_the_reason(loop):
    gap = loop.gap(KEY_QUESTION)
    loop.here.write({"keys.md": KEY_GUIDE})
    loop.closure.verify([gap.id])
    (loop.here.folder / "docs" / "default" / "keys.md").unlink()
    loop.here.ingest(loop.here.folder / "docs" / "default")
    result = loop.regression.check()
    assert [one.gap_id for one in result.reopened] == [gap.id]
    reopened = loop.here.gaps.get(gap.id)
    assert reopened.state is GapState.REOPENED
    assert "no longer answered" in reopened.note
    assert loop.actions(gap.id) == ["gap.closed", "gap.reopened"]
    assert loop.regression.members() == []


def test_what_still_is_answered_stays_closed(loop):
    gap = loop.gap(KEY_QUESTION)
    loop.here.write({"keys.md": KEY_GUIDE})
    loop.closure.verify([gap.id])
    assert (loop.regression.check().kept, loop.here.gaps.get(gap.id).state) == (1, GapState.CLOSED)


def test_gaps_that_were_closed_by_hand_are_not_in_the_regression_set(loop):
    gap = loop.gap(KEY_QUESTION)
    loop.here.gaps.close(gap.id, "see the wiki")
    assert loop.regression.members() == []
    assert loop.regression.check().reopened == ()
    assert loop.here.gaps.get(gap.id).state is GapState.CLOSED


def test_nothing_is_asked_while_nothing_has_changed(loop):
    gap = loop.gap(KEY_QUESTION)
    loop.here.write({"keys.md": KEY_GUIDE})
    loop.closure.verify([gap.id])
    assert loop.regression.check_if_changed().kept == 1
    assert loop.regression.check_if_changed() is None
    loop.here.write({"other.md": "# Other\n\nSomething else.\n"})
    assert loop.regression.check_if_changed().kept == 1


class Broken:
    """An engine whose search does not work."""

    def ask(self, question):
        reason = AbstainReason.UNAVAILABLE
        return Reply(question.text, Status.ERROR, "", reason, notes=("The vector store is down.",))


def broken(loop):
    return replace(loop.closure._parts, asker=Broken)


def test_a_search_that_does_not_work_opens_and_closes_nothing(loop, monkeypatch):
    gap, other = loop.gap(KEY_QUESTION), loop.gap(BICYCLE_QUESTION)
    loop.here.write({"keys.md": KEY_GUIDE})
    loop.closure.verify([gap.id])
    monkeypatch.setattr(loop.closure, "_parts", broken(loop))
    result = loop.regression.check()
    assert (result.kept, result.reopened, result.unknown) == (0, (), (gap.id,))
    assert loop.here.gaps.get(gap.id).state is GapState.CLOSED
    with pytest.raises(UnavailableError, match="vector store is down"):
        loop.closure.verify([other.id])
    assert loop.here.gaps.get(other.id).state is GapState.OPEN
    with pytest.raises(UnavailableError):
        loop.closure.verify([other.id], Because(decided=True))
    assert loop.here.gaps.get(other.id).state is GapState.STILL_OPEN
    assert loop.closure.support_now([gap.id]) == {}
    assert loop.regression.check_if_changed().unknown == (gap.id,)
    monkeypatch.undo()
    assert loop.regression.check_if_changed().kept == 1  # what could not be asked is asked the next time


def test_a_refusal_that_is_only_watched_is_no_answer(loop):
    """In shadow mode chat answers whatever the gate says; closure does not believe that."""
    loop.engine = loop.here.engine(mode="shadow")
    gap = loop.here.gaps.list()[0] if loop.ask(KEY_QUESTION).gap else None
    assert gap is not None
    assert [one.closed for one in loop.closure.verify([gap.id])] == [False]


def test_ignored_gaps_are_left_alone(loop):
    gap = loop.gap(KEY_QUESTION)
    loop.here.gaps.ignore(gap.id)
    loop.here.write({"keys.md": KEY_GUIDE})
    assert loop.closure.verify([gap.id]) == []
    assert loop.here.gaps.get(gap.id).state is GapState.IGNORED


def test_a_gap_that_was_ignored_meanwhile_stays_ignored(loop):
    gap = loop.gap(KEY_QUESTION)
    checked = loop.closure.check(gap)
    loop.here.gaps.ignore(gap.id)
    loop.closure.settle(replace(checked, answered=True), Because(decided=True))
    assert loop.here.gaps.get(gap.id).state is GapState.IGNORED
    assert loop.actions(gap.id) == []


def test_a_merged_gap_is_the_one_that_it_was_merged_into_and_each_is_asked_once(loop):
    gap, other = loop.gap(KEY_QUESTION), loop.gap(BICYCLE_QUESTION)
    loop.here.gaps.merge([other.id], gap.id)
    assert [one.id for one in loop.closure.find([other.id, gap.id])] == [gap.id]
    assert len(loop.closure.verify([other.id, gap.id])) == 1


def test_all_wordings_must_be_answered(loop):
    gap, other = loop.gap(KEY_QUESTION), loop.gap(BICYCLE_QUESTION)
    loop.here.gaps.merge([other.id], gap.id)
    loop.here.write({"keys.md": KEY_GUIDE})
    assert not loop.closure.verify([gap.id])[0].closed
    loop.here.write({"bicycle.md": BICYCLE_GUIDE})
    assert loop.closure.verify([gap.id])[0].closed


def test_a_question_is_asked_again_where_it_was_asked(loop):
    loop.here.write({"other.md": "# Other\n\nSomething else.\n"}, collection="other")
    gap = loop.gap(KEY_QUESTION, collections=("other",))
    loop.here.write({"keys.md": KEY_GUIDE})
    assert not loop.closure.verify([gap.id])[0].closed
    loop.here.write({"keys.md": KEY_GUIDE}, collection="other")
    assert loop.closure.verify([gap.id])[0].closed


def test_a_collection_that_is_gone_gives_way_to_the_public_ones(loop):
    gap = loop.gap(KEY_QUESTION)
    loop.here.write({"keys.md": KEY_GUIDE})
    record = replace(loop.here.questions.of_gap(gap.id)[0], id="", collections=("gone",))
    loop.here.questions.record(record)
    assert loop.closure.verify([gap.id])[0].closed


def test_a_public_question_without_a_log_is_not_answered_by_what_is_private(loop):
    gap = loop.gap(KEY_QUESTION)
    loop.here.questions.delete_before(loop.here.clock().replace(year=2030))
    loop.here.write({"keys.md": KEY_GUIDE}, collection="secret", visibility=Visibility.PRIVATE)
    assert not loop.closure.verify([gap.id])[0].closed


def test_an_unknown_gap_is_named(loop):
    with pytest.raises(NotFoundError, match="'ffff'"):
        loop.closure.verify(["ffff"])


def test_a_gap_asked_in_vain_again_is_open_again_by_itself_and_leaves_the_regression_set_at_its_next_check(loop):
    gap = loop.gap(KEY_QUESTION)
    loop.here.write({"keys.md": KEY_GUIDE})
    loop.closure.verify([gap.id])
    loop.here.gaps.reopen(gap.id)
    result = loop.regression.check()
    assert (result.kept, result.reopened) == (0, ())
    assert loop.here.gaps.get(gap.id).state is GapState.REOPENED


def test_other_words_for_the_same_gap_are_part_of_the_proof(loop):
    gap = loop.gap(KEY_QUESTION)
    other = loop.gap(KEY_WORDING)
    if other.id != gap.id:
        loop.here.gaps.merge([other.id], gap.id)
    loop.here.write({"keys.md": KEY_GUIDE})
    loop.closure.verify([gap.id])
    assert loop.audit.entries(gap.id)[0].detail["wordings"] == 2
