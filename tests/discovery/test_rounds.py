"""Rounds over real stores: what is kept, what is noted, and what counts as news."""

import logging
from datetime import timedelta

import pytest

from discovery.digest import DigestOptions
from discovery.digests import DigestParts, Digests
from discovery.platforms import load_platforms
from discovery.rounds import RoundParts, Rounds
from discovery.suggesting import Suggested
from store.audit import AuditLog
from store.candidates import CandidateStore
from store.errors import UnavailableError
from store.gap_activity import GapActivity
from store.gaps import GapStore
from store.questions import QuestionRecord, QuestionStore
from store.records import AuditEntry, Candidate, GapSighting, GapState, GapType, Rule, Source, Status, Trend, Visibility
from store.rounds import RoundStore
from tests.fakes.embedder import HashEmbedder
from tests.fakes.gaps import about
from tests.fakes.installation import Clock


class Place:
    """Stores over one database, with a clock."""

    def __init__(self, database):
        self.gaps, self.rounds = GapStore(database), RoundStore(database)
        self.questions, self.candidates = QuestionStore(database), CandidateStore(database)
        self.audit, self.activity = AuditLog(database), GapActivity(database)
        self.clock = Clock()
        self.searched = []

    def ask(self, text, subject="", asker="slack:U1", visibility=Visibility.PUBLIC):
        now = self.clock()
        record = QuestionRecord(now, text, Status.ABSTAINED, asker=asker, visibility=visibility)
        sighting = GapSighting(
            key=text,
            question=text,
            type=GapType.NO_COVERAGE,
            reasons=(Rule.NO_RELEVANT_CHUNKS,),
            seen_at=now,
            asker=asker,
            visibility=visibility,
            vector=about(subject).tobytes() if subject else b"",
            question_id=self.questions.record(record),
        )
        return self.gaps.record(sighting)

    def making(self, **parts):
        values = {"suggest": None, "embedder": None, **parts}
        return Rounds(RoundParts(self.gaps, self.activity, self.rounds, load_platforms, self.clock, **values))

    def suggest(self, topic):
        self.searched.append(topic.label)
        source = Source(f"folder:{topic.id}", "folder", "A guide", "wiki/guide.md")
        candidate = Candidate(f"c{topic.id[:11]}", topic.id, topic.label, source, self.clock(), topic.gap_ids)
        return Suggested(topic, (self.candidates.suggest(candidate),), ("one file was too large",))

    def digest(self, made):
        parts = DigestParts(self.rounds, self.gaps, self.activity, self.candidates, self.audit, DigestOptions())
        return Digests(parts).of(made)

    def told(self, made):
        self.rounds.report(made.number, self.clock())
        self.clock.forward(days=7)


@pytest.fixture
def place(sqlite_database):
    return Place(sqlite_database)


def test_a_round_brings_open_gaps_together_and_keeps_them(place):
    for number in range(3):
        place.ask(f"How do I reset the VPN {number}?", "vpn", f"slack:U{number}")
    place.ask("Which mailbox quota do we have?", "mail")
    closed = place.ask("Where is the car park?", "car")
    place.gaps.close(closed.id)
    made = place.making().run()
    assert [(topic.askers, len(topic.gap_ids)) for topic in made.topics] == [(3, 3), (1, 1)]
    assert place.rounds.latest() == made
    assert (made.number, made.since, made.candidates, made.notes) == (1, None, (), ())


def test_sources_are_suggested_for_the_topics_that_matter_most_but_not_for_private_ones(place):
    place.ask("Who is fired in May?", "secret", visibility=Visibility.PRIVATE)
    for subject, askers in (("vpn", 3), ("mail", 2), ("car", 1)):
        for asker in range(askers):
            place.ask(f"Question on {subject}", subject, f"u{asker}")
    made = place.making(suggest=place.suggest, searched=2).run()
    assert len(place.searched) == 2
    assert "vpn" in place.searched[0]
    assert len(made.candidates) == 2
    assert made.notes == ("one file was too large",)
    assert {one.topic_id for one in place.candidates.listed()} == {topic.id for topic in made.topics[:2]}


@pytest.mark.parametrize("error", [UnavailableError("GitHub is out of reach."), RuntimeError("a bug")])
def test_a_search_that_fails_costs_one_topic_and_is_noted(place, error, caplog):
    caplog.set_level(logging.CRITICAL)
    place.ask("Question on vpn", "vpn")
    place.ask("Question on mail", "mail")
    failing = []

    def suggest(topic):
        if not failing:
            failing.append(topic.label)
            raise error
        return place.suggest(topic)

    made = place.making(suggest=suggest).run()
    assert (len(made.topics), len(made.candidates)) == (2, 1)
    assert any(failing[0] in note for note in made.notes)


def test_gaps_of_another_model_are_embedded_anew(place):
    place.ask("reset the vpn client", "vpn")
    place.ask("reset the vpn client today")
    place.ask("mailbox quota")
    made = place.making(embedder=lambda: HashEmbedder(dimension=32)).run()
    assert sorted(len(topic.gap_ids) for topic in made.topics) == [1, 2]


def test_without_a_model_gaps_are_compared_by_their_words(place, caplog):
    caplog.set_level(logging.CRITICAL)

    def missing():
        raise UnavailableError("The model is not there.")

    place.ask("reset the vpn client")
    place.ask("reset the vpn client today")
    made = place.making(embedder=missing).run()
    assert [len(topic.gap_ids) for topic in made.topics] == [2]
    assert "The model is not there." in made.notes[0]


def test_news_is_what_people_were_not_told_yet(place):
    """A round by hand on Friday takes nothing from Monday's digest."""
    place.ask("Question on vpn", "vpn")
    first = place.making().run()
    place.told(first)
    place.ask("Question on mail", "mail")
    place.making().run()
    place.clock.forward(days=3)
    made = place.making().run()
    assert made.since == first.started_at
    assert {topic.label.split()[0]: topic.trend for topic in made.topics} == {
        topic.label.split()[0]: Trend.NEW if "mail" in topic.question else Trend.STEADY for topic in made.topics
    }
    digest = place.digest(made)
    assert (digest.new_gaps, digest.new_questions, digest.trends[Trend.NEW]) == (1, 1, 1)
    place.told(made)
    quiet = place.digest(place.making().run())
    assert (quiet.quiet, quiet.trends) == (True, {Trend.STEADY: 2})


def test_a_topic_keeps_its_id_over_rounds_and_returns_under_it(place):
    gap = place.ask("Question on vpn", "vpn")
    place.ask("Question on mail", "mail")
    first = place.making().run()
    place.told(first)
    name = next(topic.id for topic in first.topics if gap.id in topic.gap_ids)
    place.gaps.close(gap.id)
    second = place.making().run()
    assert name not in {topic.id for topic in second.topics}
    place.told(second)
    place.ask("Question on vpn", "vpn", "slack:U9")
    third = place.making().run()
    back = next(topic for topic in third.topics if topic.id == name)
    assert (back.trend, back.askers) == (Trend.RETURNING, 2)


def test_a_suggestion_keeps_its_decision_from_round_to_round(place):
    place.ask("Question on vpn", "vpn")
    place.making(suggest=place.suggest).run()
    (candidate,) = place.candidates.listed()
    place.clock.forward(days=7)
    place.ask("Another question on vpn", "vpn")
    place.making(suggest=place.suggest).run()
    assert [one.id for one in place.candidates.listed()] == [candidate.id]


def test_what_was_closed_and_reopened_since_is_told_as_it_stands(place):
    vpn, mail, secret = (
        place.ask("Question on vpn", "vpn"),
        place.ask("Question on mail", "mail"),
        place.ask("Question on pay", "pay", visibility=Visibility.PRIVATE),
    )
    place.told(place.making().run())
    for gap, actions in ((vpn, ["gap.closed"]), (mail, ["gap.closed", "gap.reopened"]), (secret, ["gap.closed"])):
        for action in actions:
            place.clock.forward(minutes=1)
            place.audit.record(AuditEntry(place.clock(), "slack:U1", action, gap.id))
    place.audit.record(AuditEntry(place.clock(), "slack:U1", "gap.closed", "deleted"))
    digest = place.digest(place.making().run())
    assert (digest.closed, digest.closed_private, digest.reopened) == (("Question on vpn",), 1, ("Question on mail",))


def test_a_look_keeps_nothing(place):
    place.ask("Question on vpn", "vpn")
    looked = place.making(suggest=place.suggest).look()
    assert (looked.number, len(looked.topics)) == (0, 1)
    assert (place.rounds.latest(), place.candidates.listed(), place.searched) == (None, [], [])


def test_the_window_has_no_hole_and_no_overlap_over_a_change_of_clocks(place):
    """Windows are instants: a week with a change of clocks has 167 or 169 hours, and every question is told once."""
    told = 0
    for number, hours in enumerate([168, 167, 169, 168]):
        place.ask(f"Question {number} on vpn", "vpn", f"u{number}")
        made = place.making().run()
        told += place.digest(made).new_questions
        place.rounds.report(made.number, place.clock())
        place.clock.time += timedelta(hours=hours)
    assert told == 4


def test_gaps_that_wait_for_a_decision_stay_in_their_topic(place):
    gap = place.ask("Question on vpn", "vpn")
    for state in (GapState.SUGGESTED, GapState.APPROVED, GapState.VERIFYING, GapState.STILL_OPEN, GapState.REOPENED):
        place.gaps.transition(gap.id, tuple(GapState), state)
        assert len(place.making().look().topics) == 1
    for state in (GapState.CLOSED, GapState.IGNORED):
        place.gaps.transition(gap.id, tuple(GapState), state)
        assert place.making().look().topics == ()
