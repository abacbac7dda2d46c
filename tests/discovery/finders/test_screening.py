"""What may be suggested: allow and deny lists, former decisions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from discovery.finders.screening import Screened, permitted
from store.candidates import candidate_id
from store.records import Candidate, CandidateState, Source, Topic
from tests.fakes.discovery import ShelfFinder

GITHUB = Source("github:1:docs/a.md", "github", "A", "Acme/handbook:docs/a.md")
FOLDER = Source("folder:/srv/wiki/docs/a.md", "folder", "A", "wiki/docs/a.md")
TOPIC = Topic("t1", "keys", "How?", ("g1", "g2"))


@pytest.mark.parametrize(
    ("allow", "deny", "source", "permits"),
    [
        ((), (), GITHUB, True),
        (("acme",), (), GITHUB, True),
        (("ACME/*",), (), GITHUB, True),
        (("acme/handbook",), (), GITHUB, True),
        (("acme/handbook/docs",), (), GITHUB, True),
        (("acme/hand",), (), GITHUB, False),
        (("other",), (), GITHUB, False),
        ((), ("acme/handbook/docs/*",), GITHUB, False),
        (("acme",), ("acme/handbook",), GITHUB, False),
        ((), ("*/docs/a.md",), FOLDER, False),
        (("wiki/",), (), FOLDER, True),
        ((), ("wiki/old",), FOLDER, True),
    ],
)
def test_what_is_denied_is_never_allowed_and_no_list_allows_everything(allow, deny, source, permits):
    assert permitted(source, allow, deny) is permits


def shelf(count=3):
    return ShelfFinder({f"{number}.md": f"text {number}" for number in range(count)})


def known(name, state, topic="t1", gaps=("g1",)):
    source = shelf().source(name)
    return Candidate(
        candidate_id(topic, source.key), topic, "keys", source, datetime.now(UTC), gap_ids=gaps, state=state
    )


@pytest.mark.parametrize(
    ("state", "topic", "gaps", "again"),
    [
        (CandidateState.REJECTED, "t1", ("g9",), False),
        (CandidateState.REJECTED, "t2", ("g2",), False),
        (CandidateState.REJECTED, "t2", ("g9",), True),
        (CandidateState.INGESTED, "t2", ("g9",), False),
        (CandidateState.SNOOZED, "t1", ("g1",), True),
        (CandidateState.EXPIRED, "t1", ("g1",), True),
    ],
)
def test_what_was_decided_on_is_not_suggested_for_the_same_gaps(state, topic, gaps, again):
    candidate = known("0.md", state, topic, gaps)
    screened = Screened(shelf(1), suggestions=lambda key: [candidate] if key == candidate.source.key else [])
    assert bool(screened.find(TOPIC, 5).sources) is again


def test_what_is_in_the_index_already_is_not_suggested():
    screened = Screened(shelf(), ingested=lambda _sources: {"shelf:1.md"})
    assert [source.location for source in screened.find(TOPIC, 5).sources] == ["0.md", "2.md"]


def test_what_is_left_out_makes_room_for_others():
    screened = Screened(shelf(6), deny=("0.md", "1.md"))
    assert [source.location for source in screened.find(TOPIC, 2).sources] == ["2.md", "3.md"]


def test_everything_else_is_the_finders():
    screened = Screened(shelf(1))
    source = screened.find(TOPIC, 1).sources[0]
    assert screened.name == "shelf"
    assert screened.fetch(source).content == b"text 0"
    assert screened.current(source) == source
