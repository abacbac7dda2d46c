"""A team on Slack: the real engine on real documents behind the real adapter, over both ways of delivery."""

from __future__ import annotations

import asyncio

import pytest

from bot.chat.access import Channel
from store.candidates import CandidateStore, candidate_id
from store.records import Candidate, CandidateState, GapState, Source, Visibility
from tests.fakes.chat import service_over
from tests.fakes.deciding import Decider
from tests.fakes.installation import Installation
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_rules import buttons_of
from tests.fakes.slack_running import connected

DOCS = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button and sign in again.\n",
    "windows.md": "# VPN on Windows\n\nOn Windows, reset the VPN client from the tray icon.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night at two.\n",
    "expenses.md": "# Expenses\n\nHand in receipts for a business trip within ten days.\n",
    "notice.md": "# Announcing\n\nAnnounce downtime with <!channel> and <@U123> in the ops channel.\n",
}
ANSWERABLE = "How do I reset the VPN client?"
GAP = "Where do I park my bicycle?"


@pytest.fixture
def here(tmp_path, minilm):
    installation = Installation(tmp_path, minilm)
    installation.write(DOCS)
    yield installation
    installation.close()


def team(here, script, mode="socket", restart=None, **options):
    """Run a script with the workspace and the core; ``restart`` is run with a second process on the same database."""

    async def everything():
        async with FakeSlack() as slack:
            for part in (script, restart):
                if part is None:
                    continue
                service = service_over(here, **options)
                async with connected(slack, service, mode=mode) as platform:
                    service.connect(platform)
                    await part(slack, service)
                    assert await service.settled(20)
            return slack

    return asyncio.run(everything())


async def answered(slack, thread, count=1, channel="C1"):
    """The bot's messages in a thread, once there are so many and none is still a sign of work."""

    def done():
        shown = slack.texts(channel, thread)
        return len(shown) >= count and shown

    return await slack.until(done, 30)


async def settled_answer(slack, service, thread, count=1, channel="C1"):
    await answered(slack, thread, count, channel)
    assert await service.settled(30)
    return slack.texts(channel, thread)


@pytest.mark.parametrize("mode", ["socket", "http"])
def test_a_question_a_follow_up_and_a_refusal(here, mode):
    async def script(slack, service):
        asked = await slack.ask("C1", "U1", ANSWERABLE)
        assert "blue button" in (await settled_answer(slack, service, asked))[0]
        await slack.say("C1", "U1", "and on Windows?", thread=asked)
        assert "tray icon" in (await settled_answer(slack, service, asked, 2))[1]
        refused = await slack.ask("C1", "U2", GAP)
        text = (await settled_answer(slack, service, refused))[0]
        assert "No relevant passages" in text
        assert "noted as a gap" in text

    team(here, script, mode)
    (gap,) = here.gaps.list()
    assert (gap.question, gap.state, gap.askers) == (GAP, GapState.OPEN, 1)


def test_votes_and_a_missing_document_from_buttons_that_outlive_the_process(here):
    asked = []

    async def script(slack, service):
        asked.append(await slack.ask("C1", "U1", ANSWERABLE))
        await settled_answer(slack, service, asked[0])

    async def later(slack, service):
        message = slack.seen("C1", asked[0])[-1]
        await slack.click("C1", message, "U2", "gaplight_helpful")
        await slack.click("C1", message, "U2", "gaplight_missing")
        await slack.until(lambda: len(slack.whispers_to("U2")) >= 2, 20)

    team(here, script, restart=later)
    assert here.questions.stats().helpful == 1
    assert here.gaps.list()[0].question == ANSWERABLE


def test_an_admin_approves_on_a_card_that_was_posted_before_the_restart(here):
    source = Source("folder:/wiki/bikes.md", "folder", "Bikes", "/wiki/bikes.md", licence="MIT")
    store = CandidateStore(here.database)
    candidate = store.suggest(Candidate(candidate_id("t1", source.key), "t1", "bicycles", source, here.clock()))

    async def script(_slack, service):
        await service.cards.post("slack", "C1", candidate.id)

    async def later(slack, service):
        card = slack.seen("C1")[0]
        await slack.click("C1", card, "U2", "gaplight_approve")
        await slack.until(lambda: slack.whispers_to("U2"), 20)
        assert store.get(candidate.id).state is CandidateState.PENDING
        await slack.click("C1", card, "U1", "gaplight_approve")
        await slack.until(lambda: slack.whispers_to("U1"), 20)
        await service.cards.redraw_outdated()
        assert buttons_of(slack.seen("C1")[0]) == {}

    team(here, script, restart=later, admins=["slack:U1"], deciding=Decider(here))
    assert store.get(candidate.id).state is CandidateState.INGESTED
    assert store.get(candidate.id).decided_by == "slack:U1"


def test_what_only_the_asker_may_read_is_whispered(here):
    here.write(
        {"pay.md": "# Salaries\n\nEngineers of band seven earn ninety thousand a year.\n"},
        collection="hr",
        visibility=Visibility.PRIVATE,
    )

    async def script(slack, service):
        await slack.ask("C1", "U1", "How much do engineers of band seven earn?")
        await slack.until(lambda: slack.whispers_to("U1"), 30)
        assert await service.settled(20)
        assert not any("ninety thousand" in text for text in slack.texts("C1"))

    slack = team(here, script, readers={"hr": ["slack:U1"]})
    public = [message for channel in slack.channels.values() for message in channel.messages]
    assert not any("ninety thousand" in str(message) for message in public if message.get("bot_id"))
    assert "ninety thousand" in str(slack.whispers_to("U1"))


def test_nothing_that_documents_hold_calls_anybody(here):
    async def script(slack, service):
        asked = await slack.ask("C1", "U1", "How do I announce downtime?")
        assert "ops channel" in (await settled_answer(slack, service, asked))[0]

    slack = team(here, script)
    sent = str(slack.outgoing())
    assert "<!channel>" not in sent
    assert "<@U123>" not in sent


def test_under_faults_nothing_is_lost_and_nothing_doubled(here):
    """Every twentieth call fails in one way or another; events come twice and out of order."""
    count = 60

    async def script(slack, service):
        slack.socket.deadline = 15.0  # a busy machine is no fault of the adapter
        slack.faults.rate, slack.faults.methods = 0.05, frozenset({"chat.postMessage", "chat.update", "reactions.add"})
        events = []
        for number in range(count):
            event = slack.write("C1", f"U{number % 3 + 1}", f"<@UBOT> {ANSWERABLE} ({number})")
            mention = {name: value for name, value in event.items() if name != "channel_type"} | {"type": "app_mention"}
            events += [event, mention, event]
        for place in (*range(0, len(events), 2), *range(1, len(events), 2)):
            await slack.send_event(events[place])
            if place == count:
                await slack.socket.drop()
        asked = list(dict.fromkeys(event["ts"] for event in events))
        await slack.until(lambda: all(slack.seen("C1", ts) for ts in asked), 120)
        assert await service.settled(60)
        texts = [slack.texts("C1", ts) for ts in asked]
        assert [len(one) for one in texts] == [1] * count
        assert all("blue button" in one[0] for one in texts)
        assert service.undelivered == 0
        assert slack.faults.happened

    team(here, script, channels={"C1": Channel()})
