"""From the weekly job to the channel, with the process killed at every step: each part once, or said to be unknown."""

import asyncio
import itertools
import json
import multiprocessing
import os
from datetime import timedelta

import pytest

from bot.chat.digest_posting import DigestPosting
from bot.chat.work import Workers
from bot.weekly_digest import RESUMED_FOR, WeeklyDigest
from discovery.digest import DigestOptions
from discovery.digests import DigestParts, Digests
from discovery.platforms import load_platforms
from discovery.rounds import RoundParts, Rounds
from store.audit import AuditLog
from store.candidates import CandidateStore
from store.database import open_database
from store.errors import UnavailableError
from store.gap_activity import GapActivity
from store.gaps import GapStore
from store.posts import PostStore
from store.questions import QuestionStore
from store.records import Candidate, GapSighting, GapType, Preview, Rule, Source
from store.rounds import RoundStore
from tests.fakes.gaps import about
from tests.fakes.installation import Clock


class Killed(BaseException):
    """The process ends here."""


class Fate:
    """Counts the steps of a process and ends it at one of them; every step is told twice, before and after."""

    def __init__(self, at=None, end=None):
        self.at = at
        self.steps = 0
        self._end = end or self._raise

    def step(self):
        self.steps += 1
        if self.steps == self.at:
            self._end()

    @staticmethod
    def _raise():
        raise Killed

    def around(self, function):
        def call(*arguments, **options):
            self.step()
            result = function(*arguments, **options)
            self.step()
            return result

        return call


class Watched:
    """A part whose every call is a step."""

    def __init__(self, real, fate):
        self._real, self._fate = real, fate

    def __getattr__(self, name):
        return self._fate.around(getattr(self._real, name))


class Channel:
    """A platform whose messages are lines of a file: what is there outlives whoever wrote it."""

    name = "slack"

    def __init__(self, path, fate, refuses=()):
        self._path, self._fate, self._refuses = path, fate, set(refuses)

    async def post_card(self, channel, card, thread=""):
        self._fate.step()
        if card.subject in self._refuses:
            raise UnavailableError(f"Slack does not take {card.subject}.")
        with self._path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps([card.kind, card.subject, card.title]) + "\n")
        self._fate.step()
        return f"m{card.subject}"


class Process:
    """One process of the bot, as far as the weekly digest goes."""

    def __init__(self, folder, clock, fate=None, refuses=(), silent=False):
        fate = fate or Fate()
        self.folder, self.clock = folder, clock
        self.database = open_database(f"sqlite:///{folder / 'gaplight.db'}")
        self.gaps = GapStore(self.database)
        self.candidates = CandidateStore(self.database)
        self.reports = []
        store, claims = Watched(RoundStore(self.database), fate), Watched(QuestionStore(self.database), fate)
        activity = GapActivity(self.database)
        rounds = Rounds(RoundParts(self.gaps, activity, store, load_platforms, clock))
        digests = Digests(
            DigestParts(store, self.gaps, activity, self.candidates, AuditLog(self.database), DigestOptions())
        )
        posting = DigestPosting(Watched(PostStore(self.database), fate), claims, {"slack": "C1"}, Workers(1), clock)
        posting.connect(Channel(folder / "channel", fate, refuses))
        self.weekly = WeeklyDigest(
            lambda: digests.of(rounds.run()),
            lambda key, cards: asyncio.run(posting.post(key, cards)),
            claims,
            store,
            clock,
            silent=silent,
            report=self.reports.append,
        )

    def ask(self, subject, asker="u1"):
        text = f"Question on {subject}"
        self.gaps.record(
            GapSighting(text, text, GapType.NO_COVERAGE, (Rule.NO_RELEVANT_CHUNKS,), self.clock(), asker, vector=about(subject).tobytes())
        )  # fmt: skip

    def suggest(self):
        """A source that waits for the topic that matters most."""
        topic = RoundStore(self.database).topics()[0]
        source = Source("folder:a", "folder", "A guide", "a.md")
        return self.candidates.suggest(
            Candidate("c1", topic.id, topic.label, source, self.clock(), preview=Preview(1, 1))
        )

    def close(self):
        self.database.close()


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A database with three topics of different weight and one suggestion, before the first digest."""
    folder = tmp_path_factory.mktemp("template")
    process = Process(folder, Clock())
    for askers, subject in ((3, "vpn"), (2, "mail"), (1, "car")):
        for number in range(askers):
            process.ask(subject, f"u{number}")
    activity, store = GapActivity(process.database), RoundStore(process.database)
    Rounds(RoundParts(process.gaps, activity, store, load_platforms, Clock())).run()
    process.suggest()
    process.close()
    return (folder / "gaplight.db").read_bytes()


@pytest.fixture
def folder(template, tmp_path):
    (tmp_path / "gaplight.db").write_bytes(template)
    return tmp_path


def posted(folder):
    """Kind, subject and title of everything in the channel."""
    path = folder / "channel"
    return [tuple(json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def run(folder, clock, fate=None, **options):
    """A process that does the weekly job; what it reported."""
    process = Process(folder, clock, fate, **options)
    try:
        process.weekly.run()
    finally:
        process.close()
    return process.reports


def steps_of_a_run(folder):
    fate = Fate()
    run(folder, Clock(), fate)
    return fate.steps


def check(folder, reports):
    """Each part is there once, or is the one that is said to be unknown; and there is one digest, not two."""
    shown = posted(folder)
    assert len(shown) == len(set(shown))
    assert [kind for kind, _, _ in shown].count("digest") <= 1
    unknown = [report for report in reports if "may be in the channel or not" in report]
    missing = 5 - len(shown)
    assert missing <= len(unknown) <= 1
    return bool(unknown)


def test_a_digest_is_the_news_the_topics_and_what_waits_for_them(folder):
    assert run(folder, Clock()) == []
    assert [kind for kind, _, _ in posted(folder)] == ["digest", "topic", "candidate", "topic", "topic"]
    assert posted(folder)[2][1] == "c1"


def test_killed_at_any_step_the_digest_is_there_once(folder, template):
    last = steps_of_a_run(folder)
    assert last > 40
    unknown = 0
    for step in range(1, last + 1):
        (folder / "channel").unlink(missing_ok=True)
        for name in ("gaplight.db", "gaplight.db-wal", "gaplight.db-shm"):
            (folder / name).unlink(missing_ok=True)
        (folder / "gaplight.db").write_bytes(template)
        clock = Clock()
        with pytest.raises(Killed):
            run(folder, clock, Fate(step))
        clock.forward(hours=2)  # the slot's lease has run out: another process takes it
        reports = run(folder, clock)
        reports += run(folder, clock)
        unknown += check(folder, reports)
    assert unknown == 4 * 5, "only the steps between a part's claim and its being finished leave doubt"


def _ended(folder, step):
    run(folder, Clock(), Fate(step, lambda: os._exit(9)))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.45, 0.7, 0.9])
def test_a_process_that_really_ends_loses_and_doubles_nothing(folder, template, share):
    step = int(steps_of_a_run(folder) * share)
    (folder / "channel").unlink()
    for name in ("gaplight.db-wal", "gaplight.db-shm"):
        (folder / name).unlink(missing_ok=True)
    (folder / "gaplight.db").write_bytes(template)
    process = multiprocessing.get_context("spawn").Process(target=_ended, args=(folder, step))
    process.start()
    process.join()
    assert process.exitcode == 9
    clock = Clock()
    clock.forward(hours=2)
    check(folder, run(folder, clock))


def test_killed_again_and_again_it_gets_there(folder):
    clock, reports = Clock(), []
    for attempt in itertools.count(1):
        try:
            reports += run(folder, clock, Fate(11 * attempt))
            break
        except Killed:
            clock.forward(minutes=30)
    assert attempt > 2
    check(folder, reports)


def test_a_part_that_cannot_be_posted_stops_no_other_and_is_tried_again(folder):
    clock = Clock()
    with pytest.raises(UnavailableError, match="Slack does not take c1"):
        run(folder, clock, refuses=["c1"])
    assert len(posted(folder)) == 4
    clock.forward(hours=17)
    process = Process(folder, clock)
    process.weekly.resume()
    process.weekly.resume()
    process.close()
    assert [kind for kind, _, _ in posted(folder)] == ["digest", "topic", "topic", "topic", "candidate"]


def test_what_is_missing_is_posted_as_it_was_whatever_has_changed_since(folder):
    clock = Clock()
    with pytest.raises(UnavailableError):
        run(folder, clock, refuses=[topic.id for topic in _topics(folder)[:2]])
    process = Process(folder, clock)
    process.gaps.close(process.gaps.list()[0].id)
    process.ask("a new subject")
    process.weekly.resume()
    process.close()
    titles = [title for _, _, title in posted(folder)]
    assert len(titles) == len(set(titles)) == 5
    assert not any("new subject" in title for title in titles)


def _topics(folder):
    database = open_database(f"sqlite:///{folder / 'gaplight.db'}")
    found = RoundStore(database).topics()
    database.close()
    return found


def test_an_old_digest_that_cannot_be_posted_is_given_up_and_does_not_stop_the_next(folder):
    clock = Clock()
    with pytest.raises(UnavailableError):
        run(folder, clock, refuses=["c1"])
    clock.forward(days=7)
    reports = run(folder, clock)
    assert any("given up" in report for report in reports)
    assert [kind for kind, _, _ in posted(folder)].count("digest") == 2
    assert timedelta(days=1) < RESUMED_FOR < timedelta(days=7)


def test_a_quiet_week_is_one_line_or_silence(folder):
    clock = Clock()
    run(folder, clock)
    clock.forward(days=7)
    before = len(posted(folder))
    run(folder, clock, silent=True)
    assert len(posted(folder)) == before
    clock.forward(days=7)
    run(folder, clock)
    assert [title for _, _, title in posted(folder)[before:]] == [
        "Nothing new since 8 June 2026: 3 open topics, 1 suggestion waiting for a decision."
    ]


def test_without_a_channel_the_round_is_made_all_the_same(folder):
    process = Process(folder, Clock())
    process.weekly._post = None
    assert process.weekly.run().number == 2
    assert RoundStore(process.database).reported().number == 2
    process.close()
    assert posted(folder) == []


def test_posting_by_hand_what_was_posted_says_so(folder):
    clock = Clock()
    process = Process(folder, clock)
    digest = process.weekly.run()
    assert process.weekly.post(digest) is False
    process.close()
    assert len(posted(folder)) == 5
