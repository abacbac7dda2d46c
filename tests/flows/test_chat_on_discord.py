"""A team on Discord: the real engine on real documents behind the real discord.py."""

from __future__ import annotations

import asyncio

import pytest

from store.candidates import CandidateStore, candidate_id
from store.records import Candidate, CandidateState, GapState, Source
from tests.fakes.chat import service_over
from tests.fakes.deciding import Decider
from tests.fakes.discord import discord_server
from tests.fakes.discord_running import connected
from tests.fakes.installation import Installation

DOCS = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button and sign in again.\n",
    "windows.md": "# VPN on Windows\n\nOn Windows, reset the VPN client from the tray icon.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night at two.\n",
    "notice.md": "# Announcing\n\nAnnounce downtime with @everyone and <@&123> in the ops channel.\n",
}
ANSWERABLE = "How do I reset the VPN client?"
GAP = "Where do I park my bicycle?"


@pytest.fixture
def here(tmp_path, minilm):
    installation = Installation(tmp_path, minilm)
    installation.write(DOCS)
    yield installation
    installation.close()


def team(here, script, restart=None, **options):
    """Run a script with the server and the core; ``restart`` is run with a second process on the same database."""

    async def everything():
        async with discord_server() as fake:
            ann = fake.person("Ann")
            for part in (script, restart):
                if part is None:
                    continue
                service = service_over(here, **options)
                async with connected(fake, service) as platform:
                    service.connect(platform)
                    await part(fake, service, ann)
                    assert await service.settled(20)
            called = [message["pings"] for message in fake.everything() if message.get("pings")]
            assert not called
            return fake

    return asyncio.run(everything())


async def answers(fake, service, channel, count=1):
    """What the bot said in a channel or thread, once it is done and has said so much."""
    await fake.until(lambda: len(fake.texts(channel)) >= count, f"{count} answers", 40)
    assert await service.settled(30)
    return fake.texts(channel)


def test_a_question_a_follow_up_in_its_thread_and_a_refusal(here):
    async def script(fake, service, ann):
        asked = await fake.mention(ann, fake.general, ANSWERABLE)
        await fake.until(lambda: fake.thread_of(asked), "a thread", 40)
        thread = fake.thread_of(asked)
        assert "blue button" in (await answers(fake, service, thread))[0]
        await fake.say(ann, thread, "and on Windows?")
        assert "tray icon" in (await answers(fake, service, thread, 2))[1]
        refused = await fake.mention(ann, fake.general, GAP)
        await fake.until(lambda: fake.thread_of(refused), "a thread", 40)
        assert "noted as a gap" in (await answers(fake, service, fake.thread_of(refused)))[0]

    team(here, script)
    (gap,) = here.gaps.list()
    assert (gap.question, gap.state) == (GAP, GapState.OPEN)


def test_the_command_answers_and_completes_collections(here):
    async def script(fake, service, ann):
        choices = await fake.complete(ann, fake.general, "ask", "collection", "def")
        assert choices == ["default"]
        await fake.command(ann, fake.general, "ask", question=ANSWERABLE)
        await fake.until(lambda: any("blue button" in text for text in fake.texts(fake.general, ann)), "an answer", 40)

    team(here, script)
    assert here.questions.stats().questions == 1


def test_votes_from_buttons_that_outlive_the_process(here):
    threads = []

    async def script(fake, service, ann):
        asked = await fake.mention(ann, fake.general, ANSWERABLE)
        await fake.until(lambda: fake.thread_of(asked), "a thread", 40)
        threads.append(fake.thread_of(asked))
        await answers(fake, service, threads[0])

    async def later(fake, service, ann):
        await fake.click(ann, fake.seen(threads[0])[-1], "Helpful")
        await fake.click(ann, fake.seen(threads[0])[-1], "This is missing")
        await fake.until(lambda: here.questions.stats().helpful == 1 and here.gaps.list(), "vote and gap", 40)

    team(here, script, restart=later)
    assert here.gaps.list()[0].question == ANSWERABLE


def test_an_admin_approves_on_a_card_that_was_posted_before_the_restart(here):
    source = Source("folder:/wiki/bikes.md", "folder", "Bikes", "/wiki/bikes.md", licence="MIT")
    store = CandidateStore(here.database)
    candidate = store.suggest(Candidate(candidate_id("t1", source.key), "t1", "bicycles", source, here.clock()))
    admins = []

    async def script(fake, service, ann):
        admins.append(f"discord:{ann}")
        await service.cards.post("discord", str(fake.general), candidate.id)

    async def later(fake, service, ann):
        bob = fake.person("Bob")
        card = fake.seen(fake.general)[0]
        await fake.click(bob, card, "Approve")
        await fake.quiet(0.5)
        assert store.get(candidate.id).state is CandidateState.PENDING
        await fake.click(ann, card, "Approve")
        await fake.until(lambda: store.get(candidate.id).state is CandidateState.INGESTED, "the decision", 40)
        await service.cards.redraw_outdated()
        assert fake.seen(fake.general)[0]["components"] == []

    team(here, script, restart=later, admins=admins, deciding=Decider(here))
    assert store.get(candidate.id).decided_by == admins[0]


def test_nothing_that_documents_hold_calls_anybody(here):
    async def script(fake, service, ann):
        asked = await fake.mention(ann, fake.general, "How do I announce downtime?")
        await fake.until(lambda: fake.thread_of(asked), "a thread", 40)
        assert "ops channel" in (await answers(fake, service, fake.thread_of(asked)))[0]

    team(here, script)


def test_under_faults_nothing_is_lost_and_nothing_doubled(here):
    count = 40

    async def script(fake, service, ann):
        people = [ann, fake.person("Bob"), fake.person("Eve")]
        fake.faults.rate = 0.05
        asked = []
        for number in range(count):
            message = await fake.mention(people[number % 3], fake.general, f"{ANSWERABLE} ({number})")
            asked.append(message)
            await fake.gateway.message("MESSAGE_CREATE", message)
            if number == count // 2:
                await fake.gateway.drop()
        await fake.until(lambda: all(_texts(fake, one) for one in asked), "all answers", 120)
        assert await service.settled(60)
        texts = [_texts(fake, one) for one in asked]
        assert [len(one) for one in texts] == [1] * count
        assert all("blue button" in one[0] for one in texts)

    team(here, script)


def _texts(fake, message):
    thread = fake.thread_of(message)
    return fake.texts(thread) if thread else []
