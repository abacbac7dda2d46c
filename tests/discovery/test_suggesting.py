"""From a topic to suggestions that wait."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from discovery.fine_answers import FineAnswers
from discovery.ports import Found
from discovery.suggesting import Suggesting, SuggestingParts
from store.errors import UnavailableError
from store.records import GapState, Visibility
from tests.discovery.loop_texts import KEY_GUIDE, KEY_QUESTION, OFF_TOPIC
from tests.fakes.discovery import ShelfFinder, topic_of

LATER = datetime(2026, 6, 1, 10, tzinfo=UTC)


class BrokenFinder(ShelfFinder):
    name = "broken"

    def find(self, topic, limit):
        raise UnavailableError("The place is away.", "Try later.")


class LimitedFinder(ShelfFinder):
    name = "limited"

    def find(self, topic, limit):
        return Found((), ("Half of it was looked at.",), LATER)


@pytest.fixture
def loop(make_loop):
    return make_loop({"garden.md": OFF_TOPIC, "keys.md": KEY_GUIDE})


def suggesting(loop, *finders, **options):
    for finder in finders:
        loop.finders[finder.name] = finder
    parts = SuggestingParts(
        loop.finders, loop.previews, loop.candidates, loop.here.gaps, loop.target, loop.here.clock, **options
    )
    return Suggesting(parts)


def test_what_helps_is_stored_and_what_is_about_something_else_is_not(loop):
    gap = loop.gap(KEY_QUESTION)
    suggested = suggesting(loop).suggest(topic_of(gap))
    (candidate,) = suggested.candidates
    assert candidate.source.location == "keys.md"
    assert candidate == loop.candidates.get(candidate.id)
    assert (candidate.gap_ids, candidate.topic_label) == ((gap.id,), suggested.topic.label)
    assert loop.here.gaps.get(gap.id).state is GapState.SUGGESTED


def test_a_gap_for_which_nothing_is_found_stays_open(make_loop):
    loop = make_loop({"garden.md": OFF_TOPIC})
    gap = loop.gap(KEY_QUESTION)
    assert suggesting(loop).suggest(topic_of(gap)).candidates == ()
    assert loop.here.gaps.get(gap.id).state is GapState.OPEN


def test_a_finder_that_does_not_work_leaves_the_others_their_turn(loop):
    topic = topic_of(loop.gap(KEY_QUESTION))
    suggested = suggesting(loop, BrokenFinder({}), LimitedFinder({})).suggest(topic)
    assert len(suggested.candidates) == 1
    assert suggested.failed == ("broken",)
    assert suggested.notes == ("Half of it was looked at.", "The place is away. Try later.")
    assert suggested.retry_at == LATER


def test_no_more_is_stored_than_may_be_suggested(make_loop):
    texts = {f"keys{number}.md": f"{KEY_GUIDE}\nNumber {number}.\n" for number in range(5)}
    loop = make_loop(texts)
    topic = topic_of(loop.gap(KEY_QUESTION))
    assert len(suggesting(loop, kept=2).suggest(topic).candidates) == 2


def test_all_wordings_are_asked(loop):
    gap = loop.gap(KEY_QUESTION)
    other = loop.gap("Which colour has the roof of the Lisbon office?")
    loop.here.gaps.merge([other.id], gap.id)
    topic = topic_of(loop.here.gaps.get(gap.id))
    assert len(suggesting(loop).questions(topic)) == 2


# What is fine today


def test_only_public_answered_questions_of_late_about_which_nobody_complained_are_fine(loop):
    fine = FineAnswers(loop.here.questions, loop.here.clock)
    loop.ask("How do I ask for days off?", collections=("default",))
    loop.ask("Where is old mail archived?", visibility=Visibility.PRIVATE)
    loop.ask(KEY_QUESTION)
    (one,) = fine()
    assert one.question.text == "How do I ask for days off?"
    assert one.question.collections == ("default",)
    assert one.max_score > 0.3
    loop.here.clock.forward(days=91)
    assert fine() == []
