"""Which messages are for the bot, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.chat.intake import Intake, addressed, asks, how_addressed, take_in
from bot.chat.messages import Addressed, Heard, Person

MESSAGE = Heard("slack", "C1", "C1:1.0", "1.0", Person("slack:U1"), "How do I reset the router?")


def how(auto_answer=False, answered_here=(), **changes):
    return addressed(replace(MESSAGE, **changes), auto_answer=auto_answer, answered_here=answered_here)


def test_a_mention_and_a_direct_message_are_for_the_bot():
    assert how(mentions_bot=True) is Addressed.DIRECTLY
    assert how(direct=True) is Addressed.DIRECTLY


@pytest.mark.parametrize("changes", [{"mentions_bot": True}, {"direct": True}, {"in_thread": True}])
def test_no_bot_is_ever_answered(changes):
    assert how(by_bot=True, auto_answer=True, answered_here={"slack:U1"}, **changes) is None


def test_nobody_is_answered_of_whom_the_platform_does_not_say_who_it_is():
    assert how(author=Person(""), mentions_bot=True) is None


def test_a_channel_message_without_a_mention_is_for_the_others():
    assert how() is None


def test_only_the_person_who_was_answered_goes_on_asking_in_the_thread():
    assert how(in_thread=True, answered_here={"slack:U1"}) is Addressed.FOLLOWING_UP
    assert how(in_thread=True, answered_here={"slack:U2"}) is None


@pytest.mark.parametrize("text", ["thanks!", "great, thank you", "", "  ", "👍"])
def test_thanks_in_a_thread_are_no_question(text):
    assert how(in_thread=True, answered_here={"slack:U1"}, text=text) is None


def test_a_follow_up_to_somebody_else_is_not_for_the_bot():
    assert how(in_thread=True, answered_here={"slack:U1"}, mentions_others=True) is None


def test_a_channel_that_opted_in_is_listened_to_for_questions_only():
    assert how(auto_answer=True) is Addressed.OVERHEARD
    assert how(auto_answer=True, text="I reset the router.") is None
    assert how(auto_answer=True, in_thread=True) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is the wiki", True),
        ("the wiki is down?", True),
        ("hi all, is the wiki down", True),
        ("see https://x.example/?a=1 for more", False),
        ("lunch at noon", False),
        ("如何重置密码", True),
        ("thanks?", False),
    ],
)
def test_what_looks_like_a_question(text, expected):
    assert asks(text) is expected


def test_people_from_outside_are_told_so_only_when_they_turn_to_the_bot():
    outsider = replace(MESSAGE, author=Person("slack:U9", outsider=True))
    assert take_in(outsider, Addressed.DIRECTLY, answer_outsiders=False) is Intake.REFUSE_OUTSIDER
    assert take_in(outsider, Addressed.OVERHEARD, answer_outsiders=False) is Intake.IGNORE
    assert take_in(outsider, Addressed.DIRECTLY, answer_outsiders=True) is Intake.ANSWER


def test_a_mention_without_words_is_greeted_and_never_a_question():
    assert take_in(replace(MESSAGE, text=" "), Addressed.DIRECTLY, answer_outsiders=False) is Intake.GREET
    assert take_in(MESSAGE, None, answer_outsiders=False) is Intake.IGNORE


def test_a_message_taken_in_earlier_tells_how_it_had_come():
    assert how_addressed(replace(MESSAGE, mentions_bot=True)) is Addressed.DIRECTLY
    assert how_addressed(replace(MESSAGE, in_thread=True)) is Addressed.FOLLOWING_UP
    assert how_addressed(MESSAGE) is Addressed.OVERHEARD
