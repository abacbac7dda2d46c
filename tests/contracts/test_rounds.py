"""What the store of rounds and the activity of gaps promise, over each database."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from store.errors import NotFoundError
from store.gap_activity import Activity, GapActivity
from store.gaps import GapStore
from store.questions import QuestionRecord, QuestionStore
from store.records import GapSighting, GapType, Rule, Status, Topic, Trend, Visibility
from store.rounds import KnownTopic, Round, RoundStore

NOW = datetime(2026, 6, 19, 12, tzinfo=UTC)


@pytest.fixture
def rounds(database):
    return RoundStore(database)


def topic(name, *gaps, **more):
    values = {"terms": ("vpn", "重置"), "platforms": ("Kubernetes",), "askers": 3, "count": 4, "severity": 0.25}
    values |= {"trend": Trend.GROWING, "first_seen": NOW, "last_seen": NOW + timedelta(days=1), "private_gaps": 1}
    return Topic(name, f"{name} label", f"{name}?", gaps, **values | more)


def made(*topics, days=0, **more):
    start = NOW + timedelta(days=days)
    return Round(start, start + timedelta(minutes=5), topics, **more)


def test_a_round_comes_back_as_it_was_saved(rounds):
    given = made(topic("a", "g1", "g2"), topic("b", first_seen=None), since=NOW, candidates=("c1",), notes=("slow",))
    saved = rounds.save(given)
    assert saved.number == 1
    assert rounds.latest() == rounds.get(1) == saved
    assert rounds.topics() == list(given.topics)


def test_before_the_first_round_there_is_nothing(rounds):
    assert (rounds.latest(), rounds.topics(), rounds.known_topics()) == (None, [], [])
    with pytest.raises(NotFoundError, match="no round 1"):
        rounds.get(1)


def test_a_topic_is_known_as_the_last_round_that_saw_it_left_it(rounds):
    rounds.save(made(topic("a", "g1"), topic("b", "g2")))
    rounds.save(made(topic("b", "g2", "g3"), days=7))
    assert rounds.known_topics() == [KnownTopic(topic("b", "g2", "g3"), 2, 1), KnownTopic(topic("a", "g1"), 1, 1)]


def test_the_last_round_that_people_were_told_of_is_known(rounds):
    assert rounds.reported() is None
    for days in (0, 7, 14):
        rounds.save(made(topic("a", "g1"), days=days))
    rounds.report(2, NOW)
    rounds.report(2, NOW + timedelta(days=1))
    assert (rounds.reported().number, rounds.latest().number) == (2, 3)
    assert rounds.delete_before(NOW + timedelta(days=100)) == 1
    assert (rounds.reported().number, rounds.latest().number) == (2, 3)


def test_rounds_saved_at_once_get_numbers_of_their_own(rounds):
    with ThreadPoolExecutor(6) as pool:
        numbers = [one.number for one in pool.map(lambda _: rounds.save(made(topic("a", "g"))), range(12))]
    assert sorted(numbers) == list(range(1, 13))


def test_old_rounds_are_forgotten_but_never_the_latest(rounds):
    for days in (0, 7, 14):
        rounds.save(made(topic("a", "g1"), days=days))
    assert rounds.delete_before(NOW + timedelta(days=100)) == 2
    assert rounds.latest().number == 3
    assert rounds.save(made(days=21)).number == 4
    with pytest.raises(NotFoundError):
        rounds.get(1)


@pytest.fixture
def asked(database):
    """Ask a question that opens or joins a gap; its id and the gap's."""
    questions, gaps = QuestionStore(database), GapStore(database)

    def ask(key, asker, minutes=0, visibility=Visibility.PUBLIC):
        moment = NOW + timedelta(minutes=minutes)
        identity = questions.record(
            QuestionRecord(moment, f"{key}?", Status.ABSTAINED, asker=asker, visibility=visibility)
        )
        sighting = GapSighting(
            key, f"{key}?", GapType.NO_COVERAGE, (Rule.NO_RELEVANT_CHUNKS,), moment, asker, visibility=visibility
        )
        return identity, gaps.record(GapSighting(**{**_fields(sighting), "question_id": identity})).id

    return ask


def _fields(sighting):
    return {name: getattr(sighting, name) for name in GapSighting.__slots__}


def test_activity_tells_askers_votes_and_moments_of_each_gap(database, asked):
    first, gap = asked("vpn", "slack:U1")
    asked("vpn", "slack:U2", 20, Visibility.PRIVATE)
    _, other = asked("mail", "slack:U1", 30)
    for asker in ("slack:U1", "slack:U2"):
        QuestionStore(database).vote(first, asker, helpful=False)
    QuestionStore(database).vote(first, "slack:U3", helpful=True)
    activity = GapActivity(database)
    moments = (NOW, NOW + timedelta(minutes=20))
    found = activity.of([gap, other, "unknown"])
    assert found[gap] == Activity(frozenset({"slack:U1", "slack:U2"}), 2, moments, moments[:1])
    assert found[other].asked == (NOW + timedelta(minutes=30),)
    assert found["unknown"] == Activity()
    assert activity.of([gap], NOW + timedelta(minutes=1))[gap].asked == moments[1:]
