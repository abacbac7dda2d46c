"""What the gap store promises, over each database."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from sqlalchemy import func, select

from store.errors import ConflictError, NotFoundError, UsageError
from store.gaps import GapStore, gap_id_of
from store.questions import QuestionRecord, QuestionStore
from store.records import GapSighting, GapState, GapType, Nearest, Rule, Status, Visibility
from store.tables import gap_askers

NOW = datetime(2026, 6, 19, 12, tzinfo=UTC)
PRIVATE = Visibility.PRIVATE


@pytest.fixture
def store(database):
    return GapStore(database)


def seen(question="How do I deploy?", asker="u1", minutes=0, key="deploy", **more):
    values = {"type": GapType.NO_COVERAGE, "reasons": (Rule.NO_RELEVANT_CHUNKS,), **more}
    return GapSighting(key=key, question=question, seen_at=NOW + timedelta(minutes=minutes), asker=asker, **values)


def wordings(gap):
    return [one.text for one in gap.additional_questions]


def test_a_gap_comes_back_as_it_was_recorded(store):
    nearest = Nearest("guide.md", "Guide › Setup", "Set it up.", 0.25)
    recorded = store.record(
        seen(best_score=0.25, nearest=nearest, vector=b"1234", language="en", reasons=tuple(Rule)[:2])
    )
    assert recorded.id == gap_id_of("deploy")
    assert (recorded.key, recorded.question, recorded.type) == ("deploy", "How do I deploy?", GapType.NO_COVERAGE)
    assert recorded.reasons == {"no_relevant_chunks": 1, "few_distinct_lessons": 1}
    assert (recorded.state, recorded.count, recorded.askers) == (GapState.OPEN, 1, 1)
    assert (recorded.first_seen, recorded.last_seen) == (NOW, NOW)
    assert (recorded.best_score, recorded.nearest, recorded.vector) == (0.25, nearest, b"1234")
    assert (recorded.visibility, recorded.language, recorded.additional_questions) == (Visibility.PUBLIC, "en", ())
    assert store.get(recorded.id) == recorded


def test_the_id_is_the_md5_of_the_key(store):
    assert store.record(seen(key="hello")).id == "5d41402abc4b2a76b9719d911017c592"


def test_the_same_key_merges_and_keeps_the_other_wording(store):
    store.record(seen())
    store.record(seen("how do i  DEPLOY?", "u2", 1))
    gap = store.record(seen("Deploying, how?", "u3", 2, reasons=(Rule.MISSING_PLATFORM,), best_score=0.5))
    assert (gap.question, wordings(gap)) == ("How do I deploy?", ["Deploying, how?"])
    assert (gap.count, gap.askers, gap.best_score) == (3, 3, 0.5)
    assert gap.reasons == {"no_relevant_chunks": 2, "missing_platform": 1}
    assert gap.additional_questions[0].first_seen == NOW + timedelta(minutes=2)
    assert gap == store.get(gap.id)


def test_one_person_cannot_inflate_a_gap(store):
    """B085: twelve questions of one person within five minutes are one; three people rank above them."""
    for number in range(12):
        store.record(seen(asker="u1", minutes=number * 5 / 12))
    for number in range(2, 5):
        store.record(seen("What about backups?", f"u{number}", 1, key="backup"))
    first, second = store.list()
    assert (first.key, first.askers, first.count) == ("backup", 3, 3)
    assert (second.key, second.askers, second.count) == ("deploy", 1, 1)


def test_the_same_question_counts_again_after_the_window(store):
    """B085: the window starts at the sighting that was counted last."""
    counts = [store.record(seen(minutes=minutes)).count for minutes in (0, 6, 9.9, 10, 16, 20)]
    assert counts == [1, 1, 1, 2, 2, 3]
    assert store.record(seen(minutes=20.5), repeat_seconds=30).count == 4
    assert store.record(seen("Another wording", minutes=20.5)).count == 5


def test_a_repeat_moves_the_last_sighting_but_no_reason_count(store):
    store.record(seen())
    gap = store.record(seen(minutes=5))
    assert (gap.last_seen, gap.reasons) == (NOW + timedelta(minutes=5), {"no_relevant_chunks": 1})


def test_unknown_people_count_every_time_as_one_asker(store):
    for minutes in range(3):
        gap = store.record(seen(asker="", minutes=minutes))
    assert (gap.count, gap.askers) == (3, 1)
    assert store.record(seen()).askers == 2


def test_twenty_threads_recording_one_key_lose_nothing(store):
    """Nothing gets lost between threads, and nobody runs into a lock or a deadlock."""
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda number: store.record(seen(f"Wording {number % 4}?", f"u{number}")), range(60)))
    gap = store.get(gap_id_of("deploy"))
    assert (gap.count, gap.askers, len(gap.additional_questions)) == (60, 60, 3)
    assert sum(one.count for one in gap.additional_questions) == 45
    assert gap.reasons == {"no_relevant_chunks": 60}


def test_recording_merging_and_closing_at_once_loses_no_sighting(store):
    target = store.record(seen("Target?", "t", key="target"))
    store.record(seen("Source?", "s", key="source"))

    def act(number):
        if number == 10:
            store.merge([gap_id_of("source")], target.id)
        elif number % 7 == 0:
            store.close(target.id)
        else:
            store.record(seen("Source?", f"u{number}", key="source"))

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(act, range(40)))
    recorded = 40 - 1 - 6
    assert store.get(target.id).count == recorded + 2


def test_a_gap_is_public_as_soon_as_one_wording_is_and_shows_no_private_text(store):
    """B087: the private wording, its nearest passage and its vector give way to the public ones."""
    secret = Nearest("hr/salaries.md", "", "Salaries", 0.9)
    private = store.record(
        seen("What do team leads earn?", "u1", visibility=PRIVATE, nearest=secret, best_score=0.9, vector=b"priv")
    )
    assert (private.visibility, private.question, private.nearest) == (PRIVATE, "What do team leads earn?", secret)
    shown = Nearest("pay.md", "", "Pay day", 0.2)
    store.record(seen("When is pay day?", "u2", 1, nearest=shown, best_score=0.2, vector=b"publ"))
    store.record(seen("And mine?", "u3", 2, visibility=PRIVATE, nearest=secret, best_score=0.9))
    (gap,) = store.list(visibility=Visibility.PUBLIC)
    assert (gap.visibility, gap.question, gap.additional_questions) == (Visibility.PUBLIC, "When is pay day?", ())
    assert (gap.nearest, gap.vector) == (shown, b"publ")
    assert (gap.count, gap.askers) == (3, 3)
    (everything,) = store.list()
    assert {one.text: one.visibility for one in everything.additional_questions} == {
        "What do team leads earn?": PRIVATE,
        "And mine?": PRIVATE,
    }


def test_gaps_asked_in_private_only_are_listed_apart(store):
    """B087: Gap A is private, gap B public."""
    store.record(seen("A?", "u1", key="a", visibility=PRIVATE))
    store.record(seen("A?", "u2", key="a", visibility=PRIVATE))
    store.record(seen("B?", "u1", key="b"))
    assert [gap.key for gap in store.list(visibility=Visibility.PUBLIC)] == ["b"]
    assert [gap.key for gap in store.list(visibility=PRIVATE)] == ["a"]
    assert [gap.key for gap in store.list()] == ["a", "b"]


def test_a_wording_said_in_public_is_public_and_quotes_only_what_was_found_there(store):
    """B087: the same words asked in private first."""
    secret = Nearest("hr.md", "", "Secret", 0.9)
    store.record(seen(visibility=PRIVATE, nearest=secret))
    gap = store.record(seen(asker="u2"))
    assert (gap.visibility, gap.nearest) == (Visibility.PUBLIC, None)
    gap = store.record(seen(asker="u3", visibility=PRIVATE, nearest=secret))
    assert (gap.visibility, gap.nearest) == (Visibility.PUBLIC, None)


def test_secrets_never_reach_the_table(store):
    """B086: the last line of defence; also NUL bytes (B100)."""
    assert store.record(seen("why does ghp_0123456789abcdefABCD fail for a@b.example?\x00")).question == (
        "why does [secret] fail for [email]?"
    )


def test_a_closed_gap_that_is_asked_again_is_reopened_and_an_ignored_one_only_counts(store):
    gap = store.record(seen())
    assert store.close(gap.id, "written").state is GapState.CLOSED
    again = store.record(seen(asker="u2"))
    assert (again.state, again.note) == (GapState.REOPENED, "written")
    store.ignore(gap.id)
    assert (store.record(seen(asker="u3")).state, store.get(gap.id).count) == (GapState.IGNORED, 3)
    assert store.reopen(gap.id).state is GapState.REOPENED


@pytest.mark.parametrize("state", [GapState.SUGGESTED, GapState.APPROVED, GapState.VERIFYING, GapState.STILL_OPEN])
def test_a_gap_on_its_way_stays_there_when_it_is_asked_again(store, state):
    gap = store.record(seen())
    assert store.transition(gap.id, [GapState.OPEN], state)
    assert store.record(seen(asker="u2")).state is state


def test_of_two_decisions_the_first_wins(store):
    gap = store.record(seen())
    assert not store.transition(gap.id, [GapState.CLOSED], GapState.OPEN)
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda _: store.transition(gap.id, [GapState.OPEN], GapState.APPROVED), range(8)))
    assert won.count(True) == 1
    assert not store.transition("unknown", [GapState.OPEN], GapState.APPROVED)


def test_a_gap_is_found_by_a_unique_beginning_of_its_id(store):
    ids = sorted(store.record(seen(key=f"key {number}")).id for number in range(17))
    shared = next(a[0] for a, b in pairwise(ids) if a[0] == b[0])
    assert store.get(f" {ids[0][:12].upper()} ").id == ids[0]
    with pytest.raises(UsageError, match=f"Several gaps begin with '{shared}'"):
        store.get(shared)
    for unknown in ("", "f" * 33, "%", "_", "zz", "\x00", "0' OR 1=1"):
        with pytest.raises(NotFoundError, match="There is no gap"):
            store.get(unknown)


def test_gaps_are_listed_by_askers_then_count_then_the_latest(store):
    store.record(seen(key="old"))
    store.record(seen(key="new", minutes=1))
    store.record(seen(key="often"))
    store.record(seen(key="often", minutes=30))
    store.record(seen(key="many", asker="u1"))
    store.record(seen(key="many", asker="u2"))
    assert [gap.key for gap in store.list()] == ["many", "often", "new", "old"]
    assert [gap.key for gap in store.list(limit=2)] == ["many", "often"]
    store.close(gap_id_of("many"))
    assert [gap.key for gap in store.list([GapState.CLOSED])] == ["many"]
    assert store.list([]) == []


def test_vectors_are_read_by_id_and_state(store):
    first = store.record(seen(key="a", vector=b"aaaa"))
    second = store.record(seen(key="b", vector=b"bbbb"))
    bare = store.record(seen(key="c"))
    assert store.ids() == sorted([first.id, second.id, bare.id])
    assert dict(store.vectors([second.id, first.id, bare.id, "f" * 32])) == {
        first.id: b"aaaa",
        second.id: b"bbbb",
        bare.id: b"",
    }
    store.close(first.id)
    assert list(store.vectors([first.id, second.id], [GapState.OPEN])) == [(second.id, b"bbbb")]
    store.merge([second.id], into=first.id)
    assert store.ids() == sorted([first.id, bare.id])
    assert list(store.vectors([])) == []


def test_a_nearly_equal_question_joins_a_gap_and_so_does_its_key(store):
    target = store.record(seen())
    joined = store.record(
        seen("How to ship it?", "u2", 1, key="ship"), merge_into=target.id, merged_because="similarity 0.93"
    )
    assert (joined.id, joined.count) == (target.id, 2)
    assert joined.additional_questions[0].merged_because == "similarity 0.93"
    assert store.record(seen("Ship how?", "u3", 2, key="ship")).id == target.id
    assert store.get(gap_id_of("ship")).merged_into == target.id
    assert [gap.id for gap in store.list()] == [target.id]


def test_a_known_key_is_stronger_than_likeness(store):
    target, own = store.record(seen()), store.record(seen(key="own"))
    assert store.record(seen(key="own", asker="u2"), merge_into=target.id).id == own.id
    with pytest.raises(NotFoundError):
        store.record(seen(key="new"), merge_into="f" * 32)
    with pytest.raises(NotFoundError):
        store.get(gap_id_of("new"))


def test_merging_keeps_counts_askers_reasons_and_wordings(store, database):
    target = store.record(seen())
    store.record(seen("Ship how?", "u1", key="ship", reasons=(Rule.MISSING_PLATFORM,)))
    store.record(seen("Ship how?", "u2", key="ship", reasons=(Rule.MISSING_PLATFORM,)))
    store.record(seen("how do I deploy?", "u3", key="ship"))
    gap = store.merge([gap_id_of("ship")[:10]], target.id[:10], "same thing")
    assert (gap.count, gap.askers) == (4, 3)
    assert gap.reasons == {"no_relevant_chunks": 2, "missing_platform": 2}
    assert [(one.text, one.count, one.merged_because) for one in gap.additional_questions] == [
        ("Ship how?", 2, "same thing")
    ]
    source = store.get(gap_id_of("ship"))
    assert (source.state, source.merged_into, source.note) == (GapState.MERGED, target.id, "same thing")
    assert store.record(seen("Ship how?", "u4", key="ship")).id == target.id
    with database.connect() as connection:
        assert connection.scalar(select(func.count()).where(gap_askers.c.gap_id == source.id)) == 0


def test_merging_follows_and_shortens_chains(store):
    for key in "abc":
        store.record(seen(f"{key}?", key=key))
    store.merge([gap_id_of("a")], gap_id_of("b"))
    gap = store.merge([gap_id_of("b")], gap_id_of("c"))
    assert (gap.count, store.get(gap_id_of("a")).merged_into) == (3, gap.id)
    assert store.record(seen("a?", "u9", key="a")).id == gap.id
    store.record(seen("d?", key="d"))
    assert store.merge([gap_id_of("d")], gap_id_of("a")).id == gap.id


def test_impossible_merges_are_refused_and_change_nothing(store):
    first, second = store.record(seen(key="a")), store.record(seen(key="b"))
    with pytest.raises(UsageError, match="into itself"):
        store.merge([second.id, first.id], first.id)
    assert store.get(second.id).state is GapState.OPEN
    store.merge([second.id], first.id)
    with pytest.raises(ConflictError, match="was merged into"):
        store.merge([second.id], first.id)
    for change in (store.close, store.ignore, store.reopen):
        with pytest.raises(ConflictError, match=first.id):
            change(second.id)


def test_an_open_gap_merged_into_a_closed_one_reopens_it(store):
    target = store.record(seen(key="a"))
    store.record(seen(key="b"))
    store.record(seen(key="c"))
    store.close(target.id)
    store.close(gap_id_of("b"))
    assert store.merge([gap_id_of("b")], target.id).state is GapState.CLOSED
    assert store.merge([gap_id_of("c")], target.id).state is GapState.REOPENED


def test_a_split_moves_wordings_with_their_counts_and_people(store):
    store.record(seen("Kubernetes networking?", "u1", key="kubernetes"))
    store.record(seen("Kubernetes storage?", "u2", 1, key="kubernetes"))
    store.record(seen("Kubernetes storage?", "u3", 2, key="kubernetes"))
    old = gap_id_of("kubernetes")
    new = store.split(old, ["kubernetes  STORAGE?"], "kubernetes storage")
    assert (new.id, new.question, new.count, new.askers) == (
        gap_id_of("kubernetes storage"),
        "Kubernetes storage?",
        2,
        2,
    )
    rest = store.get(old)
    assert (rest.question, rest.count, rest.askers, rest.additional_questions) == ("Kubernetes networking?", 1, 1, ())


def test_a_wording_that_was_split_off_stays_with_its_own_gap(store):
    """The topic key that joined two questions must not join them again."""
    store.record(seen("Kubernetes networking?", key="kubernetes"))
    store.record(seen("Kubernetes storage?", key="kubernetes"))
    new = store.split(gap_id_of("kubernetes"), ["Kubernetes storage?"], "kubernetes")
    assert new.id != gap_id_of("kubernetes")
    assert store.record(seen("kubernetes storage?", "u5", key="kubernetes")).id == new.id
    assert store.record(seen("Kubernetes networking?", "u5", key="kubernetes")).id == gap_id_of("kubernetes")


def test_a_split_survives_a_later_merge(store):
    store.record(seen("A?", key="k"))
    store.record(seen("B?", key="k"))
    new = store.split(gap_id_of("k"), ["B?"], "b")
    store.record(seen("C?", key="c"))
    store.merge([gap_id_of("k")], gap_id_of("c"))
    assert store.record(seen("B?", "u5", key="k")).id == new.id
    assert store.record(seen("A?", "u5", key="k")).id == gap_id_of("c")


def test_a_merge_can_be_taken_back_by_a_split(store):
    target = store.record(seen("A?", key="a"))
    source = store.record(seen("B?", key="b"))
    store.merge([source.id], target.id)
    back = store.split(target.id, ["B?"], "b")
    assert (back.id, back.state, back.merged_into, back.count) == (source.id, GapState.OPEN, "", 1)
    assert store.record(seen("B?", "u2", key="b")).id == source.id


def test_impossible_splits_are_refused(store):
    gap = store.record(seen("A?", key="a"))
    store.record(seen("B?", key="a"))
    store.record(seen("C?", key="c"))
    with pytest.raises(NotFoundError, match="no wording 'X'"):
        store.split(gap.id, ["X"], "x")
    for texts in ([], ["A?", "B?"]):
        with pytest.raises(UsageError, match="move at least one wording and leave one"):
            store.split(gap.id, texts, "x")
    with pytest.raises(ConflictError, match="already has its own gap"):
        store.split(gap.id, ["B?"], "c")
    assert store.get(gap.id).count == 2


def test_recorded_questions_follow_their_gap(store, database):
    questions = QuestionStore(database)

    def ask(text, key):
        identity = questions.record(QuestionRecord(asked_at=NOW, text=text, status=Status.ABSTAINED))
        store.record(seen(text, key=key, question_id=identity))
        return identity

    first, second, third = ask("A?", "a"), ask("B?", "a"), ask("C?", "c")
    assert questions.get(third).gap_id == gap_id_of("c")
    store.merge([gap_id_of("c")], gap_id_of("a"))
    assert {one.id for one in questions.of_gap(gap_id_of("a"))} == {first, second, third}
    store.split(gap_id_of("a"), ["B?"], "b")
    assert [one.id for one in questions.of_gap(gap_id_of("b"))] == [second]
    assert questions.get(first).gap_id == gap_id_of("a")


def test_the_type_is_that_of_the_latest_sighting(store):
    store.record(seen(minutes=10, type=GapType.THIN_COVERAGE))
    assert store.record(seen("Earlier?", "u2", 5)).type is GapType.THIN_COVERAGE
    assert store.record(seen("Later?", "u2", 15, type=GapType.UNGROUNDED)).type is GapType.UNGROUNDED
