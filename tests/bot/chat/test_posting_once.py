"""Something is posted while the platforms are connected, and they are disconnected whatever happens."""

import asyncio
from types import SimpleNamespace

import pytest

from bot.chat.digest_posting import DigestPosting
from bot.chat.messages import Card
from bot.chat.posting_once import post_once
from bot.chat.running import RunParts
from bot.chat.work import Workers
from store.errors import UnavailableError
from store.posts import PostStore
from store.questions import QuestionStore
from tests.fakes.chat import PlainPlatform
from tests.fakes.installation import Clock

CARDS = [Card("digest", "round-1", 0, "News"), Card("topic", "t1", 0, "1. VPN")]


class Unreachable(PlainPlatform):
    async def start(self):
        raise UnavailableError("Discord cannot be reached.")


@pytest.fixture
def connected(sqlite_database):
    """Parts of a bot with the platforms given, as far as posting goes."""

    def make(*platforms):
        posting = DigestPosting(
            PostStore(sqlite_database),
            QuestionStore(sqlite_database),
            {"slack": "C1", "discord": "2"},
            Workers(1),
            Clock(),
        )
        service = SimpleNamespace(connect=lambda platform: None)
        return RunParts(service, cards=None, platforms=platforms, ready=lambda: True, digests=posting)

    return make


def test_parts_arrive_and_the_platform_is_left_again(connected):
    slack = PlainPlatform("slack")
    parts = connected(slack)
    delivery = asyncio.run(post_once(parts, lambda: parts.digests.post_from_thread("round-1", CARDS)))
    assert [card.title for card in slack.cards.values()] == ["News", "1. VPN"]
    assert (len(delivery.sent), slack.started, slack.stopped) == (2, 1, 1)


def test_a_platform_that_cannot_be_reached_is_said_and_the_others_are_left(connected):
    slack = PlainPlatform("slack")
    with pytest.raises(UnavailableError, match="Discord cannot be reached"):
        asyncio.run(post_once(connected(slack, Unreachable("discord")), lambda: pytest.fail("nothing to post with")))
    assert slack.stopped == 1


def test_what_fails_while_posting_disconnects_too(connected):
    slack = PlainPlatform("slack")

    def fail():
        raise UnavailableError("The database is gone.")

    with pytest.raises(UnavailableError, match="The database is gone"):
        asyncio.run(post_once(connected(slack), fail))
    assert slack.stopped == 1
