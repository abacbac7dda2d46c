"""The whole loop with real parts: a question in vain, a source, a decision, and the proof."""

from __future__ import annotations

import pytest

from discovery.finders.folder import FolderFinder
from discovery.finders.folder_index import FolderIndex
from discovery.finders.github import GithubFinder, GithubOptions
from discovery.finders.github_api import GithubApi
from discovery.finders.screening import Screened
from discovery.suggesting import Suggesting, SuggestingParts
from store.errors import UnavailableError
from store.records import CandidateState, GapState, Status
from tests.discovery.loop_texts import (
    BICYCLE_GUIDE,
    BICYCLE_QUESTION,
    HANDBOOK,
    KEY_GUIDE,
    KEY_QUESTION,
    OFF_TOPIC,
)
from tests.fakes.discovery import Loop, ShelfFinder
from tests.fakes.github import TOKEN, FakeGithub
from tests.fakes.installation import Installation

BY = "slack:UADMIN"
UNHELPFUL = "# Bicycle park\n\nA bicycle has two wheels and a bell. Oil its chain in spring.\n"
TEXTS = {
    "docs/keys.md": KEY_GUIDE,
    "docs/bicycles.md": UNHELPFUL,
    "docs/garden.md": OFF_TOPIC,
    "README.md": "# Handbook\n\nPages of the team.\n",
}


@pytest.fixture
def here(tmp_path, minilm):
    (tmp_path / "home").mkdir()
    installation = Installation(tmp_path / "home", minilm)
    installation.write(HANDBOOK)
    yield installation
    installation.close()


@pytest.fixture
def github(here):
    server = FakeGithub()
    server.now = here.clock()
    yield server
    server.close()


class World:
    """A finder, and a way to change what it finds."""

    def __init__(self, loop, finder, change):
        self.loop = loop
        self.change = change
        screened = Screened(finder, suggestions=loop.candidates.of_source)
        loop.finders[finder.name] = screened
        self.suggesting = Suggesting(
            SuggestingParts(
                loop.finders, loop.previews, loop.candidates, loop.here.gaps, loop.target, loop.here.clock, kept=2
            )
        )

    def suggested(self, gap):
        topic = self.loop.topic(gap, terms=tuple(gap.question.rstrip("?").split()[-3:]))
        return list(self.suggesting.suggest(topic).candidates)


@pytest.fixture(params=["github", "folder"])
def world(request, here, github, tmp_path):
    loop = Loop(here)
    if request.param == "github":
        repository = github.add("acme/handbook", TEXTS)
        api = GithubApi(github.url, TOKEN, here.clock)
        finder = GithubFinder(api, GithubOptions(organisations=("acme",), wider=False))
        yield World(loop, finder, lambda name, text: repository.commit({name: text}, here.clock()))
        return
    folder = tmp_path / "handbook"

    def change(name, text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        index.close()

    index = FolderIndex(tmp_path / "cache", [folder])
    for name, text in TEXTS.items():
        change(name, text)
    yield World(loop, FolderFinder(index, [folder]), change)
    index.close()


def test_a_gap_is_closed_by_the_document_that_answers_it_and_its_askers_are_told(world):
    loop = world.loop
    gap = loop.gap(KEY_QUESTION, asker="slack:U1", platform="slack", conversation="C1:1.1")
    first = world.suggested(gap)[0]
    assert first.source.location.endswith("docs/keys.md")
    assert (first.preview.asked, first.preview.answered) == (1, 1)
    assert loop.here.gaps.get(gap.id).state is GapState.SUGGESTED

    outcome = loop.decisions.approve(first.id, BY)
    assert outcome.candidate.state is CandidateState.INGESTED
    assert [one.closed for one in outcome.reasked] == [True]
    assert loop.here.gaps.get(gap.id).state is GapState.CLOSED
    reply = loop.ask(KEY_QUESTION)
    assert reply.status is Status.ANSWERED
    assert reply.citations[0].document.removeprefix("acme/") == "handbook/docs/keys.md"
    assert [notice.conversation for notice in loop.notices.take()] == ["C1:1.1"]
    assert list(loop.notices.take()) == []
    assert world.suggested(gap) == []  # what was ingested is not suggested again


def test_a_document_that_does_not_help_leaves_the_gap_open(world):
    loop = world.loop
    gap = loop.gap(BICYCLE_QUESTION)
    candidates = [one for one in world.suggested(gap) if one.source.location.endswith("bicycles.md")]
    (candidate,) = candidates
    assert candidate.preview.answered == 0
    outcome = loop.decisions.approve(candidate.id, BY)
    assert [one.closed for one in outcome.reasked] == [False]
    assert loop.here.gaps.get(gap.id).state is GapState.STILL_OPEN
    assert loop.ask(BICYCLE_QUESTION).status is Status.ABSTAINED


def test_a_new_version_upstream_closes_what_was_left_open(world):
    loop = world.loop
    gap = loop.gap(BICYCLE_QUESTION)
    (candidate,) = [one for one in world.suggested(gap) if one.source.location.endswith("bicycles.md")]
    loop.decisions.approve(candidate.id, BY)
    world.change("docs/bicycles.md", BICYCLE_GUIDE)
    (update,) = loop.updates.check().offered
    assert update.source.key == candidate.source.key
    outcome = loop.decisions.approve(update.id, BY)
    assert [one.closed for one in outcome.reasked] == [True]
    assert loop.here.gaps.get(gap.id).state is GapState.CLOSED


def test_what_was_rejected_makes_room_for_the_next_and_never_comes_back(world):
    loop = world.loop
    world.change("docs/keys-again.md", KEY_GUIDE + "\nThe vault keeps a copy.\n")
    gap = loop.gap(KEY_QUESTION)
    first, second = world.suggested(gap)
    loop.decisions.reject(first.id, BY, "outdated")
    again = world.suggested(gap)
    assert first.id not in {one.id for one in again}
    assert second.id in {one.id for one in again}


def test_the_loop_runs_on_both_databases(database, tmp_path, minilm):
    installation = Installation(tmp_path, minilm, database)
    try:
        installation.write(HANDBOOK)
        loop = Loop(installation, ShelfFinder({"keys.md": KEY_GUIDE}))
        gap = loop.gap(KEY_QUESTION, asker="slack:U1", platform="slack", conversation="C1:1.1")
        (candidate,) = loop.suggested(gap)
        assert [one.closed for one in loop.decisions.approve(candidate.id, BY).reasked] == [True]
        assert loop.regression.check().kept == 1
        assert [notice.asker for notice in loop.notices.take()] == ["slack:U1"]
        loop.finders["shelf"].texts["keys.md"] = OFF_TOPIC
        (update,) = loop.updates.check().offered
        loop.decisions.approve(update.id, BY)
        assert installation.gaps.get(gap.id).state is GapState.REOPENED
        assert loop.actions(gap.id) == ["gap.closed", "gap.reopened"]
    finally:
        installation.index.close()


def test_a_pinned_revision_is_what_is_ingested(here, github):
    loop = Loop(here)
    repository = github.add("acme/handbook", TEXTS)
    world = World(loop, GithubFinder(GithubApi(github.url, TOKEN, here.clock), GithubOptions(("acme",))), None)
    gap = loop.gap(KEY_QUESTION)
    first = world.suggested(gap)[0]
    repository.commit({"docs/keys.md": OFF_TOPIC}, here.clock())
    github.rename(repository, "acme/wiki")
    assert [one.closed for one in loop.decisions.approve(first.id, BY).reasked] == [True]
    assert loop.ask(KEY_QUESTION).citations[0].url.endswith(f"/blob/{first.source.revision}/docs/keys.md")


def test_a_limit_in_the_middle_postpones_and_loses_nothing(here, github):
    loop = Loop(here)
    github.add("acme/handbook", TEXTS)
    world = World(loop, GithubFinder(GithubApi(github.url, TOKEN, here.clock), GithubOptions(("acme",))), None)
    gap = loop.gap(KEY_QUESTION)
    github.failures = [(403, "You have exceeded a secondary rate limit.", {"X-RateLimit-Remaining": 4990})]
    topic = loop.topic(gap, terms=("signing", "key"))
    postponed = world.suggesting.suggest(topic)
    assert postponed.candidates == ()
    assert (postponed.retry_at - here.clock()).total_seconds() == 60
    here.clock.forward(seconds=61)
    (first, *_) = world.suggesting.suggest(topic).candidates
    github.failures = [(429, "Too many requests", {"Retry-After": 60})]
    with pytest.raises(UnavailableError, match="too many requests at once"):
        loop.decisions.approve(first.id, BY)
    assert loop.candidates.get(first.id).state is CandidateState.FAILED
    here.clock.forward(seconds=61)
    assert [one.closed for one in loop.decisions.approve(first.id, BY).reasked] == [True]
