"""Everybody who asked is told once, in their own conversation, unless they said no."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from discovery.notices import Notices
from store.records import Visibility
from tests.discovery.loop_texts import KEY_GUIDE, KEY_QUESTION

ASKERS = {"slack:U1": "C1:1.1", "slack:U2": "C1:2.2", "discord:7": "30:40"}


@pytest.fixture
def loop(make_loop):
    return make_loop({})


def closed_gap(loop, **more):
    """A gap that three people asked, closed with proof."""
    for asker, conversation in ASKERS.items():
        platform = asker.partition(":")[0]
        gap = loop.gap(KEY_QUESTION, asker=asker, platform=platform, channel="C1", conversation=conversation, **more)
    loop.here.write({"keys.md": KEY_GUIDE})
    loop.closure.verify([gap.id])
    return gap


def test_each_asker_gets_one_notice_in_their_own_conversation(loop):
    gap = closed_gap(loop)
    notices = list(loop.notices.take())
    assert {one.asker: one.conversation for one in notices} == ASKERS
    assert {one.gap_id for one in notices} == {gap.id}
    assert {one.platform for one in notices} == {"slack", "discord"}
    assert notices[0].documents == ("keys.md",)
    assert notices[0].question == KEY_QUESTION
    assert list(loop.notices.take()) == []


def test_a_person_who_asked_twice_is_told_once_where_they_asked_last(loop):
    loop.gap(KEY_QUESTION, asker="slack:U1", platform="slack", conversation="C9:9.9")
    loop.here.clock.forward(minutes=1)
    closed_gap(loop)
    mine = [one for one in loop.notices.take() if one.asker == "slack:U1"]
    assert [one.conversation for one in mine] == ["C1:1.1"]


def test_over_many_processes_everybody_is_told_once(loop):
    closed_gap(loop)
    with ThreadPoolExecutor(4) as threads:
        taken = [one.asker for batch in threads.map(lambda _: list(loop.notices.take()), range(8)) for one in batch]
    assert sorted(taken) == sorted(ASKERS)


def test_what_was_not_delivered_can_be_taken_again(loop):
    closed_gap(loop)
    first = next(iter(loop.notices.take()))
    loop.notices.give_back(first)
    assert first.asker in {one.asker for one in loop.notices.take()}


def test_who_said_no_is_not_told_and_their_name_is_not_kept_for_that(loop):
    closed_gap(loop)
    loop.notices.stop("slack:U1")
    assert "slack:U1" not in {one.asker for one in loop.notices.take()}
    assert all("U1" not in f"{entry.subject}{entry.by}" for entry in loop.audit.entries() if "notices" in entry.action)
    loop.notices.resume("slack:U1")
    assert [one.asker for one in loop.notices.take()] == ["slack:U1"]


def test_nobody_is_told_where_nobody_is_to_be_told(loop):
    closed_gap(loop)
    silent = Notices(loop.here.questions, loop.here.gaps, loop.audit, loop.here.clock, wanted=False)
    assert list(silent.take()) == []


def test_nobody_is_told_of_a_gap_that_was_closed_by_hand_or_is_open_again(loop):
    gap = loop.gap(KEY_QUESTION, asker="slack:U1", platform="slack", conversation="C1:1.1")
    loop.here.gaps.close(gap.id)
    assert list(loop.notices.take()) == []
    loop.here.gaps.reopen(gap.id)
    loop.here.write({"keys.md": KEY_GUIDE})
    loop.closure.verify([gap.id])
    loop.here.gaps.reopen(gap.id)
    assert list(loop.notices.take()) == []


def test_questions_without_a_conversation_or_asker_have_nobody_to_tell(loop):
    gap = loop.gap(KEY_QUESTION)
    loop.here.write({"keys.md": KEY_GUIDE})
    loop.closure.verify([gap.id])
    assert list(loop.notices.take()) == []


def test_older_closures_can_be_left_out(loop):
    closed_gap(loop)
    assert list(loop.notices.take(loop.here.clock() + timedelta(seconds=1))) == []
    assert len(list(loop.notices.take(loop.here.clock()))) == 3


def test_a_private_question_goes_to_its_own_asker_only(loop):
    closed_gap(loop, visibility=Visibility.PRIVATE)
    for notice in loop.notices.take():
        assert ASKERS[notice.asker] == notice.conversation
