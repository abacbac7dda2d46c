"""What the question log promises, over each database."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from store.errors import NotFoundError
from store.gaps import GapStore
from store.posts import ANSWER, CANDIDATE, Post, PostStore
from store.questions import Forgotten, QuestionRecord, QuestionStore
from store.records import AbstainReason, GapSighting, GapType, Rule, Status, Visibility
from store.tables import gap_askers, questions

NOW = datetime(2026, 6, 19, 12, tzinfo=UTC)
ANSWERED = QuestionRecord(
    asked_at=NOW, text="How do I deploy?", status=Status.ANSWERED, answer="Like this.", asker="u1"
)


@pytest.fixture
def store(database):
    return QuestionStore(database)


def test_a_question_comes_back_as_it_was_recorded(store):
    given = QuestionRecord(
        asked_at=NOW,
        text="How do I deploy?",
        status=Status.ABSTAINED,
        answer="I don't know.",
        reason=AbstainReason.INSUFFICIENT_EVIDENCE,
        asker="slack:U1",
        platform="slack",
        channel="C1",
        visibility=Visibility.PRIVATE,
        rules=(Rule.NO_RELEVANT_CHUNKS, Rule.FEW_DISTINCT_LESSONS),
        max_score=0.25,
        support=0.125,
        policy="abc123",
        timings={"embed": 1.5, "total": 4.0},
        gap_id="0" * 32,
        language="en",
        collections=("docs",),
        scope={"version": ("1", "2")},
    )
    identity = store.record(given)
    assert store.get(identity) == replace(given, id=identity)


def test_questions_are_found_by_gap_and_time(store):
    first = store.record(replace(ANSWERED, gap_id="g"))
    second = store.record(replace(ANSWERED, gap_id="g", asked_at=NOW + timedelta(minutes=1)))
    store.record(replace(ANSWERED, asked_at=NOW - timedelta(days=1)))
    assert [one.id for one in store.of_gap("g")] == [first, second]
    assert [one.id for one in store.since(NOW)] == [first, second]
    with pytest.raises(NotFoundError, match="'x'"):
        store.get("x")


def test_secrets_never_reach_the_table(store, database):
    """B086: whatever the caller forgot to mask is masked before the write."""
    text = "why does xoxb-1-2-FAKEFAKEFAKE fail for a@b.example, tel +49 30 1234567? \x00"
    identity = store.record(replace(ANSWERED, text=text, answer="Ask root@example.com"))
    store.vote(identity, "u1", False, "my password is hunter22")
    with database.connect() as connection:
        row = connection.execute(select(questions)).one()
    assert row.text == "why does [secret] fail for [email], tel [phone]? "
    assert row.answer == "Ask [email]"


def test_nothing_is_stored_when_masking_fails(store, monkeypatch):
    """B086: fail closed."""

    def broken(_text):
        raise RuntimeError("no mask")

    monkeypatch.setattr("store.questions.redact", broken)
    with pytest.raises(RuntimeError, match="no mask"):
        store.record(ANSWERED)
    assert store.stats().questions == 0


def test_a_claim_is_won_once(store):
    assert store.claim("slack-event", "Ev1")
    assert not store.claim("slack-event", "Ev1")
    assert store.claim("slack-event", "Ev2")
    assert store.claim("discord-event", "Ev1")


def test_of_twenty_threads_one_wins_a_claim(store):
    with ThreadPoolExecutor(20) as pool:
        won = list(pool.map(lambda _: store.claim("digest", "2026-W25"), range(20)))
    assert won.count(True) == 1


def test_long_keys_are_told_apart(store):
    long = "k" * 5000
    assert store.claim("k", long)
    assert store.claim("k", long + "x")
    assert not store.claim("k", long)


def test_an_unfinished_claim_can_be_won_again_after_a_while(store):
    """A crash between claim and answer costs one repetition, not the answer."""
    later = NOW + timedelta(minutes=11)
    assert store.claim("e", "1", now=NOW)
    assert not store.claim("e", "1", now=NOW + timedelta(minutes=9))
    assert store.claim("e", "1", now=later)
    assert not store.claim("e", "1", now=later)
    assert not store.claim("e", "1", now=later + timedelta(days=1), retry_seconds=math.inf)


def test_a_finished_claim_is_final_and_a_released_one_is_free(store):
    store.claim("e", "done", now=NOW)
    store.finish("e", "done", now=NOW)
    store.release("e", "done")
    assert not store.claim("e", "done", now=NOW + timedelta(days=365))
    store.claim("e", "given back", now=NOW)
    store.release("e", "given back")
    assert store.claim("e", "given back", now=NOW)


def test_a_person_has_one_vote_and_may_change_it(store):
    """B085: one vote per person and answer."""
    identity = store.record(ANSWERED)
    store.vote(identity, "u1", True)
    store.vote(identity, "u1", False, "outdated")
    store.vote(identity, "u2", False)
    assert (store.stats().helpful, store.stats().unhelpful) == (0, 2)
    with pytest.raises(NotFoundError, match="'gone' to vote on"):
        store.vote("gone", "u1", True)


def test_stats_count_what_happened_since(store):
    refused = replace(
        ANSWERED,
        status=Status.ABSTAINED,
        reason=AbstainReason.EMPTY_INDEX,
        rules=(Rule.NO_RELEVANT_CHUNKS, Rule.FEW_DISTINCT_LESSONS),
    )
    store.record(replace(ANSWERED, asked_at=NOW - timedelta(days=8), status=Status.ERROR))
    for milliseconds in range(1, 101):
        store.record(replace(ANSWERED if milliseconds % 4 else refused, timings={"total": float(milliseconds)}))
    found = store.stats(NOW - timedelta(days=7))
    assert (found.questions, found.statuses) == (100, {"answered": 75, "abstained": 25})
    assert found.reasons == {"empty_index": 25}
    assert found.rules == {"no_relevant_chunks": 25, "few_distinct_lessons": 25}
    assert found.combinations == {"no_relevant_chunks+few_distinct_lessons": 25}
    assert found.abstention_rate == 0.25
    assert (found.latencies["total"].n, found.latencies["total"].p50, found.latencies["total"].p95) == (100, 50.0, 95.0)
    assert store.stats().questions == 101


def test_stats_of_nothing_are_empty(store):
    found = store.stats()
    assert (found.questions, found.abstention_rate, found.latencies) == (0, None, {})


def sighting(asker, question="How do I deploy?", seen_at=NOW):
    return GapSighting("deploy", question, GapType.NO_COVERAGE, (Rule.NO_RELEVANT_CHUNKS,), seen_at, asker=asker)


def test_forgetting_a_person_erases_their_traces_and_keeps_the_counts(store, database):
    gaps = GapStore(database)
    mine, other = store.record(ANSWERED), store.record(replace(ANSWERED, asker="u2"))
    store.vote(other, "u1", True)
    gaps.record(sighting("u1"))
    gaps.record(sighting("u1", "How to deploy"))
    before = gaps.record(sighting("u2"))
    assert store.forget("u1") == Forgotten(questions=1, votes=1, sightings=2)
    with pytest.raises(NotFoundError):
        store.get(mine)
    after = gaps.record(sighting("u2"))
    assert (after.askers, after.count) == (before.askers, before.count) == (2, 3)
    with database.connect() as connection:
        assert "u1" not in set(connection.scalars(select(gap_askers.c.asker)))
    assert store.forget("u1") == Forgotten(0, 0, 0)
    assert store.forget("") == Forgotten(0, 0, 0)


def test_old_questions_votes_and_names_can_be_deleted(store, database):
    gaps = GapStore(database)
    old, new = store.record(replace(ANSWERED, asked_at=NOW - timedelta(days=100))), store.record(ANSWERED)
    store.vote(old, "u1", True)
    store.vote(new, "u1", True)
    store.claim("e", "old", now=NOW - timedelta(days=100))
    gaps.record(sighting("u1", seen_at=NOW - timedelta(days=100)))
    gaps.record(sighting("u2"))
    assert store.delete_before(NOW - timedelta(days=90)) == Forgotten(questions=1, votes=1, sightings=1)
    assert store.get(new).id == new
    assert store.claim("e", "old", now=NOW)
    with database.connect() as connection:
        names = set(connection.scalars(select(gap_askers.c.asker)))
    assert "u1" not in names
    assert "u2" in names
    assert store.delete_before(NOW - timedelta(days=90)) == Forgotten(0, 0, 0)


def answered(question, message, asker="u1"):
    return Post("slack", "C1", message, ANSWER, question, conversation="C1:1", asker=asker)


CARD = Post("slack", "C1", "card", CANDIDATE, "c1")


def test_messages_that_answered_a_person_are_forgotten_with_them(store, database):
    """They carry the person's id, for follow-ups and votes on questions that are gone."""
    posts = PostStore(database)
    posts.record(answered(store.record(ANSWERED), "1"), CARD)
    posts.record(answered(store.record(replace(ANSWERED, asker="u2")), "2", "u2"))
    store.forget("")
    assert posts.askers_in("C1:1") == {"u1", "u2"}
    store.forget("u1")
    assert posts.askers_in("C1:1") == {"u2"}
    assert posts.get("slack", "C1", "card") == CARD


def test_messages_that_answered_old_questions_go_with_them(store, database):
    posts = PostStore(database)
    old, new = store.record(replace(ANSWERED, asked_at=NOW - timedelta(days=100))), store.record(ANSWERED)
    posts.record(answered(old, "1", "u1"), answered(new, "2", "u2"), replace(CARD, subject=old))
    store.delete_before(NOW - timedelta(days=90))
    assert posts.askers_in("C1:1") == {"u2"}
    assert posts.get("slack", "C1", "card") is not None
