"""How good a suggestion is, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discovery.licences import Standing
from discovery.ranking import AskedWith, Trial, preview_of, reasons, score, worth_suggesting
from store.records import Nearest, Preview, Source

SOURCE = Source("k", "folder", "Keys", "wiki/keys.md", reasons=("Found in the folder wiki.",))


def asked(*, answered=False, before=0.2, after=0.3, best=0.4, evidence=None):
    return AskedWith("Q?", answered, before, after, best, evidence)


def trial(*questions, place=1, **changes):
    return Trial(SOURCE, place, questions or (asked(),), **changes)


NO, YES = asked(), asked(answered=True, after=0.8, best=0.7)


def test_what_answers_more_questions_is_better():
    scores = [score(trial(*([YES] * count + [NO] * (4 - count)))) for count in range(5)]
    assert scores == sorted(scores)
    assert len(set(scores)) == 5


def test_a_source_that_answers_is_better_than_one_that_was_only_named_first():
    assert score(trial(YES, place=12)) > score(trial(NO, place=1))


@pytest.mark.parametrize(
    "worse",
    [
        {"changed": 1},
        {"source": replace(SOURCE, archived=True)},
        {"source": replace(SOURCE, fork=True)},
        {"standing": Standing.UNKNOWN},
        {"place": 2},
        {"asked": (replace(YES, after=0.7),)},
        {"asked": (replace(YES, best_score=0.6),)},
    ],
)
def test_each_of_these_takes_something_off(worse):
    good = trial(YES)
    assert score(replace(good, **worse)) < score(good)


def test_what_takes_a_little_off_never_hides_what_helps():
    burdened = Trial(replace(SOURCE, archived=True, fork=True), 12, (YES,), changed=50, standing=Standing.UNKNOWN)
    assert score(burdened) > score(trial(NO))


def test_without_questions_there_is_no_score():
    assert score(Trial(SOURCE, 1, ())) == 0.0


@given(
    st.lists(
        st.builds(
            AskedWith,
            question=st.just("Q?"),
            answered=st.booleans(),
            before=st.floats(0, 1),
            after=st.floats(0, 1),
            best_score=st.floats(-1, 1),
        ),
        max_size=5,
    ),
    st.integers(1, 50),
    st.integers(0, 50),
)
def test_a_score_is_always_between_nothing_and_one(questions, place, changed):
    assert 0.0 <= score(Trial(SOURCE, place, questions, changed)) <= 1.0


def test_a_preview_counts_and_shows_each_passage_once_the_best_first():
    low, high = Nearest("d", "A", "low", 0.5), Nearest("d", "B", "high", 0.9)
    questions = [asked(answered=True, evidence=one, best=one.score) for one in (low, high, low)]
    shown = preview_of(trial(*questions, asked(evidence=Nearest("d", "C", "not answering", 0.95)), changed=2))
    assert shown == Preview(4, 3, 0.9, 2, (high, low))


def test_reasons_say_what_it_does_and_what_speaks_against_it():
    told = reasons(Trial(replace(SOURCE, archived=True, fork=True), 1, (YES, NO), changed=2, standing=Standing.UNKNOWN))
    assert told == (
        "With it, 1 of 2 questions would be answered.",
        "Found in the folder wiki.",
        "It would change 2 answers that are fine today.",
        "Its repository is archived.",
        "Its repository is a fork.",
        "Its licence is unknown: it is not ingested without an explicit yes.",
    )
    assert reasons(trial(NO))[0] == "No question would be answered with it; support changes by +0.10."
    refused = Trial(replace(SOURCE, licence="GPL-3.0"), 1, (YES,), standing=Standing.REFUSED)
    assert reasons(refused)[-1] == "Its licence, GPL-3.0, is not among those that are allowed."


@pytest.mark.parametrize(("preview", "worth"), [((3, 1, 0.1), True), ((3, 0, 0.5), True), ((3, 0, 0.2), False)])
def test_nobody_is_asked_about_what_neither_answers_nor_comes_near(preview, worth):
    assert worth_suggesting(Preview(*preview)) is worth
