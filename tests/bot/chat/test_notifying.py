"""Askers hear once, in their own thread, that their question is answered now."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from bot.chat.notifying import Notifier
from bot.chat.work import Workers
from discovery.notices import Notice
from tests.fakes.chat import PlainPlatform

NOTICE = Notice("g1", "slack:U1", "slack", "C1", "C1:1.0", "Where do I park?", "q1", ("parking.md",))


class Due:
    """Hands its notices out once, and takes them back."""

    def __init__(self, *notices):
        self.due = list(notices)
        self.since = []

    def take(self, since=None):
        self.since.append(since)
        taken, self.due = self.due, []
        return taken

    def give_back(self, notice):
        self.due.append(notice)


@pytest.fixture
def platform():
    return PlainPlatform()


def notifier(due, platform):
    made = Notifier(due, Workers(1), lambda: datetime(2026, 6, 15, tzinfo=UTC))
    made.connect(platform)
    return made


def test_the_asker_is_called_in_the_thread_of_the_question(platform):
    due = Due(NOTICE)
    telling = notifier(due, platform)
    assert [asyncio.run(telling.tell()) for _ in range(2)] == [1, 0]
    ((conversation, text, mention),) = platform.told
    assert (conversation, mention) == ("C1:1.0", "U1")
    assert "Where do I park?" in text
    assert "parking.md" in text
    assert due.since[0] == datetime(2026, 6, 1, tzinfo=UTC)


def test_what_could_not_be_delivered_is_tried_again(platform):
    telling = notifier(Due(NOTICE), platform)
    platform.failing = True
    assert asyncio.run(telling.tell()) == 0
    platform.failing = False
    assert asyncio.run(telling.tell()) == 1


def test_a_platform_that_is_not_connected_here_is_left_to_others():
    due = Due(NOTICE)
    assert asyncio.run(notifier(due, PlainPlatform("discord")).tell()) == 0
    assert due.due == [NOTICE]
