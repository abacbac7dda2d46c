"""A digest that is killed at any point: each part is delivered once, or said to be unknown."""

from __future__ import annotations

import asyncio

import pytest

from bot.chat.digest_posting import DigestPosting
from bot.chat.messages import Card
from bot.chat.work import Workers
from store.database import open_database
from store.errors import UnavailableError
from store.posts import PostStore
from store.questions import QuestionStore
from tests.fakes.chat import PlainPlatform
from tests.fakes.installation import Clock

CARDS = [Card("topic", f"t{number}", 1, f"Topic {number}") for number in range(1, 6)]
STEPS = [(step, call) for step in ("claim", "post", "posted", "finish", "finished", "record") for call in range(1, 6)]


class Killed(BaseException):
    """The process ends here."""


class Deadly:
    """Lets a part work as it is, and dies at one call of one method, before or after its effect."""

    def __init__(self, real, deaths):
        self._real = real
        self._deaths = deaths
        self._calls = {}

    def __getattr__(self, name):
        function = getattr(self._real, name)

        def call(*arguments, **options):
            count = self._calls[name] = self._calls.get(name, 0) + 1
            if self._deaths.get((name, count)) == "before":
                raise Killed
            result = function(*arguments, **options)
            if self._deaths.get((name, count)) == "after":
                raise Killed
            return result

        return call


class DyingPlatform(PlainPlatform):
    """Dies at one of its posts, before or after the message is there."""

    def __init__(self, before=0, after=0):
        super().__init__("slack")
        self.before, self.after, self.calls = before, after, 0

    async def post_card(self, channel, card, thread=""):
        self.calls += 1
        if self.calls == self.before:
            raise Killed
        message = await super().post_card(channel, card, thread)
        if self.calls == self.after:
            raise Killed
        return message


@pytest.fixture
def database(tmp_path):
    opened = open_database(f"sqlite:///{tmp_path / 'gaplight.db'}")
    yield opened
    opened.close()


def posting(database, platform, deaths=None, channels=None):
    claims = Deadly(QuestionStore(database), deaths or {})
    posts = Deadly(PostStore(database), deaths or {})
    made = DigestPosting(posts, claims, channels or {"slack": "C1"}, Workers(1), Clock())
    made.connect(platform)
    return made


def killed(step, call):
    """The first process: where it dies."""
    if step in {"post", "posted"}:
        return DyingPlatform(**{"before" if step == "post" else "after": call}), {}
    name, moment = {"finished": ("finish", "after")}.get(step, (step, "after" if step == "claim" else "before"))
    return DyingPlatform(), {(name, call): moment}


@pytest.mark.parametrize(("step", "call"), STEPS)
def test_killed_anywhere_each_part_is_there_once_or_unknown(database, step, call):
    platform, deaths = killed(step, call)
    with pytest.raises(Killed):
        asyncio.run(posting(database, platform, deaths).post("r1", CARDS))
    survivor = PlainPlatform("slack")
    survivor.cards = platform.cards
    survivor._ids = platform._ids
    delivery = asyncio.run(posting(database, survivor).post("r1", CARDS))
    shown = [card.subject for card in platform.cards.values()]
    assert len(shown) == len(set(shown))
    there = {f"slack:topic:{subject}" for subject in shown}
    assert set(delivery.sent) <= there
    assert there | set(delivery.unknown) == {f"slack:topic:t{number}" for number in range(1, 6)}
    assert len(delivery.unknown) <= 1
    assert delivery.failed == {}


def test_a_part_that_the_platform_refuses_does_not_stop_the_others_and_is_sent_next_time(database):
    platform = PlainPlatform("slack")
    real, refused = platform.post_card, []

    async def refusing(channel, card, thread=""):
        if card.subject == "t3" and not refused:
            refused.append(card)
            raise UnavailableError("Slack does not take it.")
        return await real(channel, card, thread)

    platform.post_card = refusing
    digest = posting(database, platform)
    first = asyncio.run(digest.post("r1", CARDS))
    assert list(first.failed) == ["slack:topic:t3"]
    assert len(first.sent) == 4
    second = asyncio.run(digest.post("r1", CARDS))
    assert (len(second.sent), second.failed) == (5, {})
    assert [card.subject for card in platform.cards.values()] == ["t1", "t2", "t4", "t5", "t3"]


def test_two_processes_post_one_digest_between_them(database):
    platform = PlainPlatform("slack")

    async def both():
        return await asyncio.gather(*(posting(database, platform).post("r1", CARDS) for _ in range(2)))

    asyncio.run(both())
    assert sorted(card.subject for card in platform.cards.values()) == ["t1", "t2", "t3", "t4", "t5"]


def test_the_next_digest_is_another_one(database):
    platform = PlainPlatform("slack")
    digest = posting(database, platform)
    for key in ("r1", "r2", "r2"):
        asyncio.run(digest.post(key, CARDS[:1]))
    assert len(platform.cards) == 2


def test_without_a_running_bot_nothing_can_be_posted(database):
    with pytest.raises(UnavailableError, match="No chat platform"):
        posting(database, PlainPlatform()).post_from_thread("r1", CARDS)


def test_a_part_that_moved_between_two_attempts_is_still_sent_once(database):
    platform = PlainPlatform("slack")
    digest = posting(database, platform)
    asyncio.run(digest.post("r1", CARDS[:3]))
    asyncio.run(digest.post("r1", [CARDS[2], CARDS[0], CARDS[3]]))
    assert [card.subject for card in platform.cards.values()] == ["t1", "t2", "t3", "t4"]
