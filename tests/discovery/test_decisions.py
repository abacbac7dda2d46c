"""Decisions on sources, carried out to the end: ingested at the pinned revision, proven by asking again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from discovery.candidate_states import TRANSITIONS, Step, allowed
from store.errors import ConflictError, NotFoundError, UnavailableError, UsageError
from store.records import CandidateState, GapState, Source, Status, Visibility
from store.source_ingest import SourceIngestor
from tests.discovery.loop_texts import KEY_GUIDE, KEY_QUESTION, KEY_WORDING, OFF_TOPIC
from tests.fakes.discovery import Loop

BY = "slack:U1"
TEXTS = {"keys.md": KEY_GUIDE, "garden.md": OFF_TOPIC}


def suggested(loop, name, **question):
    """The suggestion of one source for the gap of the key question."""
    gap = loop.gap(KEY_QUESTION, **question)
    found = {candidate.source.location: candidate for candidate in loop.suggested(gap)}
    return gap, found[name]


def test_a_source_that_answers_closes_the_gap_with_proof(make_loop):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "keys.md")
    outcome = loop.decisions.approve(candidate.id, BY)
    assert outcome.candidate.state is CandidateState.INGESTED
    assert outcome.candidate.note == "1 of 1 gaps are closed."
    (reasked,) = outcome.reasked
    assert (reasked.gap_id, reasked.question, reasked.closed) == (gap.id, KEY_QUESTION, True)
    assert reasked.before < 0.5 <= reasked.after
    closed = loop.here.gaps.get(gap.id)
    assert closed.state is GapState.CLOSED
    assert "keys.md" in closed.note
    reply = loop.ask(KEY_QUESTION)
    assert reply.status is Status.ANSWERED
    assert {citation.document for citation in reply.citations} == {"keys.md"}


def test_a_source_that_does_not_help_leaves_the_gap_open(make_loop):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "garden.md")
    outcome = loop.decisions.approve(candidate.id, BY)
    assert outcome.candidate.state is CandidateState.INGESTED
    assert [one.closed for one in outcome.reasked] == [False]
    assert loop.here.gaps.get(gap.id).state is GapState.STILL_OPEN
    assert loop.ask(KEY_QUESTION).status is Status.ABSTAINED


def test_a_gap_stays_open_while_one_of_its_wordings_is_not_answered(make_loop):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "keys.md")
    other = loop.gap("Which colour has the roof of the Lisbon office?")
    merged = loop.here.gaps.merge([other.id], gap.id)
    outcome = loop.decisions.approve(candidate.id, BY)
    assert [one.closed for one in outcome.reasked] == [False]
    assert loop.here.gaps.get(merged.id).state is GapState.STILL_OPEN


def test_every_wording_is_asked_again(make_loop):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "keys.md")
    other = loop.gap(KEY_WORDING)
    if other.id != gap.id:
        loop.here.gaps.merge([other.id], gap.id)
    loop.decisions.approve(candidate.id, BY)
    (closed,) = loop.audit.entries(gap.id)
    assert (closed.action, closed.detail["wordings"], closed.by) == ("gap.closed", 2, BY)


def test_where_a_document_came_from_is_kept_with_it(make_loop):
    loop = make_loop(TEXTS)
    _, candidate = suggested(loop, "keys.md")
    loop.decisions.approve(candidate.id, BY)
    (document,) = [one for one in loop.here.documents.documents() if one.path == "keys.md"]
    assert document.metadata["licence"] == "MIT"
    provenance = document.metadata["provenance"]
    assert (provenance["finder"], provenance["key"]) == ("shelf", "shelf:keys.md")
    assert (provenance["revision"], provenance["approved_by"]) == (candidate.source.revision, BY)


def test_the_steps_are_in_the_audit_log(make_loop):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "keys.md")
    loop.decisions.approve(candidate.id, BY)
    assert loop.actions(candidate.id) == ["candidate.approve", "candidate.ingest"]
    assert loop.actions(gap.id) == ["gap.closed"]
    approved = loop.audit.entries(candidate.id)[-1]
    assert approved.detail["before"][gap.id] < 0.5
    assert approved.detail["revision"] == candidate.source.revision


def test_of_two_admins_the_first_wins_and_the_other_is_told(make_loop):
    loop = make_loop(TEXTS)
    _, candidate = suggested(loop, "keys.md")
    loop.decisions.approve(candidate.id, BY)
    with pytest.raises(ConflictError, match="already ingested by slack:U1"):
        loop.decisions.reject(candidate.id, "slack:U2", "no")


def test_ten_clicks_at_once_ingest_once(make_loop):
    loop = make_loop(TEXTS)
    _, candidate = suggested(loop, "keys.md")
    fetched = loop.finders["shelf"].fetches

    def click(number):
        try:
            return loop.decisions.approve(candidate.id, f"slack:U{number}")
        except ConflictError:
            return None

    with ThreadPoolExecutor(5) as threads:
        outcomes = [one for one in threads.map(click, range(10)) if one]
    assert len(outcomes) == 1
    assert loop.finders["shelf"].fetches == fetched + 1
    assert loop.actions(candidate.id) == ["candidate.approve", "candidate.ingest"]


def test_an_unknown_licence_needs_an_explicit_yes(make_loop):
    loop = make_loop(TEXTS, licence="")
    _, candidate = suggested(loop, "keys.md")
    assert any("licence is unknown" in reason for reason in candidate.source.reasons)
    with pytest.raises(UsageError, match="unknown"):
        loop.decisions.approve(candidate.id, BY)
    assert loop.candidates.get(candidate.id).state is CandidateState.PENDING
    outcome = loop.decisions.approve(candidate.id, BY, unknown_licence=True)
    assert outcome.candidate.state is CandidateState.INGESTED
    assert loop.audit.entries(candidate.id)[-1].detail["unknown_licence"] is True


def test_a_licence_that_is_not_allowed_is_refused_even_with_a_yes(make_loop):
    loop = make_loop(TEXTS, licence="GPL-3.0")
    _, candidate = suggested(loop, "keys.md")
    with pytest.raises(UsageError, match=r"GPL-3\.0, which is not allowed"):
        loop.decisions.approve(candidate.id, BY, unknown_licence=True)
    allowing = make_loop(TEXTS, licence="GPL-3.0", allowed=["GPL-3.0"])
    assert allowing.decisions.approve(candidate.id, BY).candidate.state is CandidateState.INGESTED


def test_a_source_that_cannot_be_reached_can_be_approved_again(make_loop):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "keys.md")
    loop.finders["shelf"].error = UnavailableError("The share is away.", "Mount it.")
    with pytest.raises(UnavailableError, match="share is away"):
        loop.decisions.approve(candidate.id, BY)
    failed = loop.candidates.get(candidate.id)
    assert (failed.state, failed.note) == (CandidateState.FAILED, "The share is away. Mount it.")
    assert loop.here.gaps.get(gap.id).state is GapState.OPEN
    loop.finders["shelf"].error = None
    assert loop.decisions.approve(candidate.id, BY).candidate.state is CandidateState.INGESTED


def test_a_source_that_has_changed_since_is_not_ingested(make_loop):
    loop = make_loop(TEXTS)
    _, candidate = suggested(loop, "keys.md")
    loop.finders["shelf"].texts["keys.md"] = OFF_TOPIC
    outcome = loop.decisions.approve(candidate.id, BY)
    assert outcome.candidate.state is CandidateState.FAILED
    assert "gone" in outcome.candidate.note
    assert {one.path for one in loop.here.documents.documents()}.isdisjoint({"keys.md"})


def test_a_source_that_cannot_be_read_fails_with_the_reason(make_loop):
    loop = make_loop({"keys.pdf": "no pdf at all"})
    gap = loop.gap(KEY_QUESTION)
    source = loop.finders["shelf"].source("keys.pdf")
    candidate = loop.suggest(loop.topic(gap), Tried(source))
    outcome = loop.decisions.approve(candidate.id, BY)
    assert outcome.candidate.state is CandidateState.FAILED
    assert "damaged" in outcome.candidate.note


class Tried:
    """A source that was not previewed."""

    def __init__(self, source):
        self.source, self.score, self.preview = source, 0.5, None


@pytest.mark.parametrize("place", ["fetch", "ingest", "verify", "finish"])
def test_what_a_crash_interrupted_is_finished_later(make_loop, monkeypatch, place):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "keys.md")

    def crash(*_args, **_options):
        raise KeyboardInterrupt

    owner, name = {
        "fetch": (loop.finders["shelf"], "fetch"),
        "ingest": (SourceIngestor, "add"),
        "verify": (loop.closure, "verify"),
        "finish": (loop.regression, "check"),
    }[place]
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, crash)
        with pytest.raises(KeyboardInterrupt):
            loop.decisions.approve(candidate.id, BY)
    assert loop.candidates.get(candidate.id).state is CandidateState.APPROVED
    again = Loop(loop.here, loop.finders["shelf"])
    (outcome,) = again.decisions.resume()
    assert outcome.candidate.state is CandidateState.INGESTED
    assert outcome.reasked[0].before < 0.5
    assert loop.here.gaps.get(gap.id).state is GapState.CLOSED
    assert again.decisions.resume() == []


def test_what_another_process_is_at_is_left_to_it(make_loop):
    loop = make_loop(TEXTS)
    _, candidate = suggested(loop, "keys.md")
    approved = loop.candidates.change(candidate, [CandidateState.PENDING], state=CandidateState.APPROVED)
    assert loop.here.questions.claim("ingest-candidate", f"{approved.id}:{approved.version}", now=loop.here.clock())
    (outcome,) = loop.decisions.resume()
    assert outcome.candidate.state is CandidateState.APPROVED
    loop.here.clock.forward(minutes=11)  # whoever claimed it must have died
    (outcome,) = loop.decisions.resume()
    assert outcome.candidate.state is CandidateState.INGESTED


def test_a_rejected_source_is_not_suggested_for_the_topic_again_and_the_reason_is_kept(make_loop):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "keys.md")
    rejected = loop.decisions.reject(candidate.id, BY, "outdated").candidate
    assert (rejected.state, rejected.note, rejected.decided_by) == (CandidateState.REJECTED, "outdated", BY)
    again = {one.id: one for one in loop.suggested(gap)}
    assert again[candidate.id] == rejected
    assert candidate.id not in {one.id for one in loop.candidates.listed()}


def test_a_snoozed_source_comes_back(make_loop):
    loop = make_loop(TEXTS)
    _, candidate = suggested(loop, "keys.md")
    snoozed = loop.decisions.snooze(candidate.id, BY, 7).candidate
    assert snoozed.state is CandidateState.SNOOZED
    loop.here.clock.forward(days=6)
    assert loop.decisions.tidy() == []
    loop.here.clock.forward(days=1)
    (awake,) = loop.decisions.tidy()
    assert (awake.id, awake.state, awake.snoozed_until) == (candidate.id, CandidateState.PENDING, None)


@pytest.mark.parametrize("days", [0, -1, 366])
def test_a_snooze_needs_a_possible_number_of_days(make_loop, days):
    loop = make_loop(TEXTS)
    _, candidate = suggested(loop, "keys.md")
    with pytest.raises(UsageError, match=str(days)):
        loop.decisions.snooze(candidate.id, BY, days)


def test_what_nobody_decides_on_expires(make_loop):
    loop = make_loop(TEXTS, expire_days=30)
    _, candidate = suggested(loop, "keys.md")
    loop.here.clock.forward(days=30)
    expired = {one.id: one for one in loop.decisions.tidy()}
    assert expired[candidate.id].state is CandidateState.EXPIRED
    assert "30 days" in expired[candidate.id].note
    assert loop.decisions.approve(candidate.id, BY).candidate.state is CandidateState.INGESTED


def test_nobody_is_asked_about_a_source_whose_gaps_are_settled(make_loop):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "keys.md")
    assert loop.decisions.tidy() == []
    loop.here.gaps.ignore(gap.id)
    assert "settled" in {one.id: one for one in loop.decisions.tidy()}[candidate.id].note


def test_a_private_source_never_goes_where_everybody_reads(make_loop):
    loop = make_loop(TEXTS)
    gap = loop.gap(KEY_QUESTION)
    source = loop.finders["shelf"].source("keys.md")
    private = loop.suggest(loop.topic(gap), Tried(source), visibility=Visibility.PRIVATE)
    with pytest.raises(UsageError, match="private"):
        loop.decisions.approve(private.id, BY)
    outcome = loop.decisions.approve(private.id, BY, collection="secret")
    assert outcome.candidate.state is CandidateState.INGESTED
    assert loop.here.documents.collections()["secret"] is Visibility.PRIVATE
    assert loop.ask(KEY_QUESTION, collections=("default",)).status is Status.ABSTAINED


def test_a_public_question_is_not_closed_by_what_its_askers_cannot_read(make_loop):
    loop = make_loop(TEXTS)
    gap = loop.gap(KEY_QUESTION, collections=("default",))
    source = loop.finders["shelf"].source("keys.md")
    private = loop.suggest(loop.topic(gap), Tried(source), visibility=Visibility.PRIVATE, collection="secret")
    outcome = loop.decisions.approve(private.id, BY)
    assert [one.closed for one in outcome.reasked] == [False]
    assert loop.here.gaps.get(gap.id).state is GapState.STILL_OPEN


def test_a_private_question_is_not_shown_to_whoever_decides(make_loop):
    loop = make_loop(TEXTS)
    _, candidate = suggested(loop, "keys.md", visibility=Visibility.PRIVATE)
    outcome = loop.decisions.approve(candidate.id, BY)
    assert [one.question for one in outcome.reasked] == ["a question asked in private"]
    assert all(KEY_QUESTION not in str(entry.detail) for entry in loop.audit.entries())


def test_a_reply_of_a_person_is_ingested_from_its_own_text(make_loop):
    loop = make_loop({})
    gap = loop.gap(KEY_QUESTION)
    source = Source(
        key="person:slack:C1:1.2", finder="person", title="Answer to: keys", location="https://chat.example/1",
        url="https://chat.example/1", revision="1.2", licence="internal", content=KEY_GUIDE,
    )  # fmt: skip
    candidate = loop.suggest(loop.topic(gap), Tried(source))
    outcome = loop.decisions.approve(candidate.id, BY)
    assert [one.closed for one in outcome.reasked] == [True]
    assert loop.ask(KEY_QUESTION).citations[0].url == "https://chat.example/1"


def test_gaps_that_are_gone_do_not_stand_in_the_way(make_loop):
    loop = make_loop(TEXTS)
    gap, candidate = suggested(loop, "keys.md")
    known = loop.suggest(
        replace(loop.topic(gap), gap_ids=("f" * 32, gap.id)), Tried(candidate.source), gap_ids=("f" * 32, gap.id)
    )
    assert [one.gap_id for one in loop.decisions.approve(known.id, BY).reasked] == [gap.id]


def test_an_unknown_candidate_is_named(make_loop):
    with pytest.raises(NotFoundError, match="'abc123'"):
        make_loop({}).decisions.approve("abc123", BY)


def test_rejected_and_ingested_are_final():
    for step in (Step.APPROVE, Step.REJECT, Step.SNOOZE, Step.EXPIRE, Step.WAKE):
        assert not allowed(step, CandidateState.REJECTED)
        assert not allowed(step, CandidateState.INGESTED)


def test_every_state_but_the_first_is_reached_by_some_step():
    reached = {transition.to for transition in TRANSITIONS.values()}
    assert set(CandidateState) - reached == set()
