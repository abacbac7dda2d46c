"""What a team does on Discord over days: asks people, keeps their answers, shares what was private; and asks a lot at once."""

from __future__ import annotations

import asyncio

import pytest

from bot.chat.access import Channel
from bot.chat.messages import Outgoing
from store.candidates import CandidateStore
from store.records import Visibility
from tests.fakes.chat import service_over
from tests.fakes.core import FakeCore
from tests.fakes.discord import discord_server
from tests.fakes.discord_running import connected, running
from tests.fakes.installation import Installation

DOCS = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button and sign in again.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night at two.\n",
}
SALARIES = {"pay.md": "# Salaries\n\n## Bands\n\nEngineers of band seven earn ninety thousand a year.\n"}
ANSWERABLE = "How do I reset the VPN client?"
PAY = "How much do engineers of band seven earn?"
GAP = "Where do I park my bicycle?"
PEOPLE, QUESTIONS = 50, 1000


@pytest.fixture
def here(tmp_path, minilm):
    installation = Installation(tmp_path, minilm)
    installation.write(DOCS)
    yield installation
    installation.close()


def team(here, script, prepare=lambda fake, ann: {}):
    """Run a script with the server and the core, whose options may depend on who is there."""

    async def everything():
        async with discord_server() as fake:
            ann = fake.person("Ann")
            service = service_over(here, **prepare(fake, ann))
            async with connected(fake, service) as platform:
                service.connect(platform)
                await script(fake, service, ann)
                assert await service.settled(20)

    asyncio.run(everything())


async def thread_of(fake, service, message):
    """The thread of a question, once its answer is there and noted down."""
    await fake.until(lambda: fake.thread_of(message) and fake.texts(fake.thread_of(message)), "a thread", 40)
    assert await service.settled(30)
    return fake.thread_of(message)


def test_a_person_is_asked_and_the_reply_becomes_a_suggestion(here):
    def prepare(fake, ann):
        fake.expert = fake.person("Eve")
        return {"channels": {str(fake.general): Channel(experts=(str(fake.expert),))}}

    async def script(fake, service, ann):
        thread = await thread_of(fake, service, await fake.mention(ann, fake.general, GAP))
        click = await fake.click(ann, fake.seen(thread)[-1], "Ask a person")
        await fake.until(lambda: any(click.texts), "words for the click", 40)
        called = fake.seen(thread)[-1]
        assert called["pings"] == [f"user {fake.expert}"]
        assert GAP in called["content"]
        reply = await fake.say(fake.expert, thread, "In the cellar, left of the lift.")
        await fake.react(ann, reply, "✅")
        await fake.until(lambda: CandidateStore(here.database).listed(), "a suggestion", 40)
        (candidate,) = CandidateStore(here.database).listed()
        assert "In the cellar, left of the lift." in candidate.source.content
        assert candidate.source.url.endswith(f"/{thread}/{reply['id']}")
        assert candidate.visibility is Visibility.PUBLIC
        await fake.until(lambda: fake.seen(fake.world.direct(ann)), "thanks", 40)

    team(here, script, prepare)


def test_a_private_answer_is_seen_by_its_asker_alone_until_it_is_shared(here):
    here.write(SALARIES, collection="hr", visibility=Visibility.PRIVATE)

    async def script(fake, service, ann):
        bob = fake.person("Bob")
        question = await fake.mention(ann, fake.general, PAY)
        direct = fake.world.direct(ann)
        await fake.until(lambda: "ninety thousand" in "".join(fake.texts(direct)), "a direct message", 40)
        await fake.until(lambda: fake.texts(fake.general), "a word in the channel", 40)
        assert "ninety thousand" not in "".join(fake.texts(fake.general))
        command = await fake.command(ann, fake.general, "ask", question=PAY)
        await fake.until(lambda: "ninety thousand" in "".join(command.texts), "a hidden answer", 40)
        assert "ninety thousand" not in "".join(fake.texts(fake.general, bob))
        refused = await fake.mention(bob, fake.general, PAY)
        assert "ninety thousand" not in "".join(fake.texts(await thread_of(fake, service, refused)))
        await fake.click(ann, fake.seen(direct)[-1], "Share here")
        await fake.until(lambda: "ninety thousand" in "".join(fake.texts(fake.general)), "the shared answer", 40)
        shared = fake.seen(fake.general)[-1]
        assert shared["message_reference"]["message_id"] == question["id"]

    team(here, script, lambda fake, ann: {"readers": {"hr": [f"discord:{ann}"]}})


def test_a_reason_for_a_vote_is_kept(here):
    async def script(fake, service, ann):
        thread = await thread_of(fake, service, await fake.mention(ann, fake.general, ANSWERABLE))
        answer = fake.seen(thread)[-1]
        await fake.react(ann, answer, "👍")
        await fake.until(lambda: here.questions.stats().helpful == 1, "a vote", 40)
        click = await fake.click(ann, answer, "Not helpful")
        await fake.until(lambda: here.questions.stats().unhelpful == 1, "another vote", 40)
        sent = await fake.submit(click, "The button is green now.", answer)
        await fake.until(lambda: any(sent.texts), "thanks", 40)
        assert (here.questions.stats().helpful, here.questions.stats().unhelpful) == (0, 1)

    team(here, script)


def test_an_outsider_is_told_so_in_direct_messages(here):
    async def script(fake, service, ann):
        eve = fake.person("Eve", member=False)
        channel = fake.world.direct(eve)
        await fake.say(eve, channel, ANSWERABLE)
        await fake.until(lambda: fake.texts(channel), "an answer", 40)
        assert "internal documents" in fake.texts(channel)[0]
        assert "blue button" not in fake.texts(channel)[0]

    team(here, script)


class Lag:
    """How long the event loop was deaf at most, in seconds."""

    def __init__(self):
        self.worst = 0.0

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


@pytest.mark.slow
def test_a_thousand_questions_at_once_are_answered_once_each():
    async def go():
        core = FakeCore(lambda heard: Outgoing(f"Answer to {heard.text}."))
        async with running(core) as (fake, core, _):
            people = [fake.person(f"P{number}") for number in range(PEOPLE)]
            started = asyncio.get_running_loop().time()
            async with Lag() as lag:
                asked = [
                    await fake.mention(people[number % PEOPLE], fake.general, f"question {number}")
                    for number in range(QUESTIONS)
                ]
                await fake.until(lambda: len(core.delivered) + len(core.failed) >= QUESTIONS, "answers", 240)
            seconds = asyncio.get_running_loop().time() - started
            print(f"{QUESTIONS / seconds:.0f} questions a second, loop lag at most {lag.worst * 1000:.0f} ms")
            assert core.failed == []
            texts = [fake.texts(fake.thread_of(message)) for message in asked]
            assert texts == [[f"Answer to question {number}."] for number in range(QUESTIONS)]

    asyncio.run(go())
