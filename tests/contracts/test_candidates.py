"""What the store of suggested sources promises, over each database."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from store.candidates import CandidateStore, candidate_id
from store.errors import ConflictError, NotFoundError, UsageError
from store.records import Candidate, CandidateState, Nearest, Preview, Source, Visibility

NOW = datetime(2026, 6, 19, 12, tzinfo=UTC)
SOURCE = Source(
    key="github:7:docs/proxy.md",
    finder="github",
    title="Proxy guide",
    location="acme/handbook:docs/proxy.md",
    url="https://github.com/acme/handbook/blob/abc/docs/proxy.md",
    revision="abc",
    licence="MIT",
    owner="acme",
    size=1234,
    updated_at=NOW - timedelta(days=3),
    archived=True,
    fork=True,
    reasons=("Names proxy.",),
)
PREVIEW = Preview(3, 2, 0.74, 1, (Nearest("acme/handbook/docs/proxy.md", "Proxy", "Set the proxy.", 0.74),))


def candidate(topic="t1", source=SOURCE, **changes):
    values = {"topic_label": "proxy", "gap_ids": ("g1", "g2"), "score": 0.8, "preview": PREVIEW}
    return Candidate(candidate_id(topic, source.key), topic, source=source, created_at=NOW, **values | changes)


@pytest.fixture
def store(database):
    return CandidateStore(database)


def test_a_candidate_comes_back_as_it_was_suggested(store):
    given = candidate(
        state=CandidateState.SNOOZED,
        collection="wiki",
        visibility=Visibility.PRIVATE,
        decided_by="slack:U1",
        decided_at=NOW,
        note="later",
        snoozed_until=NOW + timedelta(days=7),
    )
    assert store.suggest(given) == given
    assert store.get(given.id) == given


def test_a_candidate_is_found_by_the_beginning_of_its_id(store):
    given = store.suggest(candidate())
    assert store.get(given.id[:6]) == given
    with pytest.raises(NotFoundError, match="'zzz'"):
        store.get("zzz")
    with pytest.raises(NotFoundError, match="''"):
        store.get("")


def test_a_beginning_that_fits_several_is_refused(store):
    for number in range(40):
        store.suggest(candidate(f"t{number}"))
    with pytest.raises(UsageError, match="several"):
        store.get(store.listed()[0].id[:1])


def test_the_best_come_first_and_states_and_topics_can_be_chosen(store):
    low = store.suggest(candidate("t1", score=0.2))
    high = store.suggest(candidate("t2", score=0.9))
    rejected = store.suggest(candidate("t3", state=CandidateState.REJECTED))
    assert store.listed() == [high, low]
    assert store.listed((CandidateState.REJECTED,)) == [rejected]
    assert store.listed((), "t1") == [low]
    assert {one.id for one in store.listed(())} == {low.id, high.id, rejected.id}
    assert {one.topic_id for one in store.of_source(SOURCE.key)} == {"t1", "t2", "t3"}


def test_what_waits_gets_new_findings_and_keeps_its_state(store):
    store.suggest(candidate(state=CandidateState.SNOOZED, note="later"))
    found = store.suggest(candidate(source=replace(SOURCE, revision="def"), score=0.9, gap_ids=("g1",)))
    assert (found.state, found.note, found.version) == (CandidateState.SNOOZED, "later", 2)
    assert (found.source.revision, found.score, found.gap_ids) == ("def", 0.9, ("g1",))


def test_the_same_findings_again_change_nothing(store):
    first = store.suggest(candidate())
    assert store.suggest(candidate()) == first


@pytest.mark.parametrize("state", [CandidateState.APPROVED, CandidateState.INGESTED, CandidateState.REJECTED])
def test_what_was_decided_on_stays_what_it_was(store, state):
    """An approval is for one revision: a round that finds another must not put it in its place."""
    decided = store.suggest(candidate(state=state))
    again = store.suggest(candidate(source=replace(SOURCE, revision="def"), score=0.1))
    assert again == decided == store.get(decided.id)


def test_an_expired_candidate_waits_again_when_its_source_has_changed(store):
    store.suggest(candidate(state=CandidateState.EXPIRED, note="old"))
    assert store.suggest(candidate()).state is CandidateState.EXPIRED
    later = candidate(source=replace(SOURCE, revision="def"))
    renewed = store.suggest(replace(later, created_at=NOW + timedelta(days=60)))
    assert (renewed.state, renewed.created_at, renewed.note) == (CandidateState.PENDING, NOW + timedelta(days=60), "")


def test_of_two_decisions_the_first_wins_and_the_second_is_told(store):
    pending = store.suggest(candidate())
    store.change(pending, [CandidateState.PENDING], state=CandidateState.APPROVED, decided_by="slack:U1")
    with pytest.raises(ConflictError, match=r"already approved by slack:U1"):
        store.change(pending, [CandidateState.PENDING], state=CandidateState.REJECTED, decided_by="slack:U2")
    assert store.get(pending.id).decided_by == "slack:U1"


def test_of_many_decisions_at_once_exactly_one_wins(store):
    pending = store.suggest(candidate())

    def decide(number):
        try:
            store.change(pending, [CandidateState.PENDING], state=CandidateState.APPROVED, decided_by=f"u{number}")
        except ConflictError:
            return None
        return f"u{number}"

    with ThreadPoolExecutor(8) as threads:
        winners = [one for one in threads.map(decide, range(16)) if one]
    assert winners == [store.get(pending.id).decided_by]


def test_a_refreshed_finding_does_not_stand_in_the_way_of_a_decision(store):
    shown = store.suggest(candidate())
    store.suggest(candidate(score=0.9))
    decided = store.change(shown, [CandidateState.PENDING], state=CandidateState.REJECTED)
    assert (decided.state, decided.version, decided.score) == (CandidateState.REJECTED, 3, 0.9)


def test_a_deleted_candidate_cannot_be_decided_on(store):
    with pytest.raises(NotFoundError):
        store.change(candidate(), [CandidateState.PENDING], state=CandidateState.REJECTED)


def test_moments_come_back_in_utc(store):
    there = timezone(timedelta(hours=-8))
    local = datetime(2026, 6, 19, 13, 26, tzinfo=there)
    store.suggest(candidate(source=replace(SOURCE, updated_at=local), snoozed_until=local))
    known = store.listed()[0]
    assert known.snoozed_until == local
    assert known.source.updated_at == local
    assert known.snoozed_until.utcoffset() == timedelta(0)


def test_texts_are_cleaned_of_what_databases_refuse(store):
    given = candidate(source=replace(SOURCE, title="Pro\x00xy \ud800guide"), topic_label="pro\x00xy")
    known = store.suggest(given)
    assert store.get(given.id) == known
    assert (known.source.title, known.topic_label) == ("Proxy guide", "proxy")


def test_the_id_depends_on_topic_and_source_only(store):
    assert candidate_id("t1", "a") == candidate_id("t1", "a")
    assert len({candidate_id("t1", "a"), candidate_id("t2", "a"), candidate_id("t1", "b")}) == 3
