"""Many questions at once on Slack: the adapter alone, with a core that answers at once."""

import asyncio

import pytest

from bot.chat.messages import Outgoing
from tests.fakes.core import FakeCore
from tests.fakes.slack_running import running
from tests.fakes.slack_waiting import until

PEOPLE, QUESTIONS = 50, 1000


class Lag:
    """How long the event loop was deaf at most, in seconds."""

    def __init__(self):
        self.worst = 0.0
        self._task = None

    async def __aenter__(self):
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_):
        self._task.cancel()

    async def _watch(self):
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(0.05)
            self.worst = max(self.worst, loop.time() - before - 0.05)


async def asking(slack, user):
    """One question after the other, as fast as Slack takes them; nobody waits for an answer."""
    questions = [f"question {number} of {user}" for number in range(QUESTIONS // PEOPLE)]
    return [(question, await slack.ask("C1", user, question)) for question in questions]


async def burst(mode):
    core = FakeCore(lambda heard: Outgoing(f"Answer to {heard.text}."))
    async with running(core, mode=mode) as (slack, _, _):
        slack.delivery.deadline = 60
        users = [f"U{number}" for number in range(PEOPLE)]
        for user in users:
            slack.person(user)
            slack.channels["C1"].members.add(user)
        started = asyncio.get_running_loop().time()
        async with Lag() as lag:
            asked = await asyncio.gather(*(asking(slack, user) for user in users))
            await until(lambda: len(core.delivered) >= QUESTIONS, 120)
        seconds = asyncio.get_running_loop().time() - started
        print(f"{mode}: {QUESTIONS / seconds:.0f} questions a second, loop lag at most {lag.worst * 1000:.0f} ms")
        return core, {question: slack.texts("C1", thread) for each in asked for question, thread in each}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["socket", "http"])
def test_a_thousand_questions_of_fifty_people_at_once_are_each_answered_once(mode):
    core, texts = asyncio.run(burst(mode))
    assert len(texts) == QUESTIONS
    assert all(shown == [f"Answer to {question}."] for question, shown in texts.items())
    assert core.failed == []
    assert len(core.heard) == 2 * QUESTIONS
