"""Answers arrive whole and once, whatever Slack says on the way."""

import asyncio

import pytest

from bot.chat.messages import Action, Card, Heard, Outgoing, Person, Verb
from bot.chat.slack_calls import CallOptions
from bot.chat.slack_messages import Messages, Spot
from store.errors import NotFoundError, UnavailableError
from tests.fakes import slack_rules as rules
from tests.fakes.core import FakeCore
from tests.fakes.slack_faults import Fault
from tests.fakes.slack_running import QUICK, running
from tests.fakes.slack_waiting import until

pytestmark = pytest.mark.anyio

LONG = "\n\n".join(f"part {number} " + "x" * 2700 for number in range(12))


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def settled(core, count=1):
    await until(lambda: len(core.delivered) + len(core.failed) >= count)


def parts_in(slack, channel, thread):
    return [line.split()[1] for text in slack.texts(channel, thread) for line in text.split("\n") if "part" in line]


@pytest.mark.parametrize(
    "faults",
    [
        [None, None, Fault("429", 0.2)],
        [None, None, Fault("ratelimited", 0.1), Fault("429", 0.1)],
        [None, Fault("500"), Fault("html500")],
        [None, Fault("500", after=True)],
        [None, Fault("drop", after=True), Fault("drop")],
        [None, Fault("timeout", 3, after=True)],
        [None, Fault("error", "internal_error"), Fault("error", "request_timeout")],
    ],
    ids=lambda faults: "-".join(f"{fault.kind}{'+' * fault.after}" for fault in faults if fault),
)
async def test_a_failure_in_the_middle_neither_loses_nor_repeats_a_part(faults):
    core = FakeCore(Outgoing(LONG))
    async with running(core, request_seconds=1.0) as (slack, _, _):
        slack.faults.plan("chat.postMessage", *faults)
        asked = await slack.ask("C1", "U1", "how?")
        await settled(core)
        assert parts_in(slack, "C1", asked) == [str(number) for number in range(12)]
        assert list(core.delivered[0]) == [one["ts"] for one in slack.seen("C1", asked)]
        assert len(slack.faults.happened) == len([fault for fault in faults if fault])


async def test_the_wait_that_slack_asks_for_is_kept():
    core = FakeCore(Outgoing("Yes."))
    async with running(core) as (slack, _, _):
        slack.faults.plan("chat.update", Fault("429", 1))
        asked = await slack.ask("C1", "U1", "how?")
        await settled(core)
        assert slack.texts("C1", asked) == ["Yes."]
        updates = [name for name, _ in slack.calls if name == "chat.update"]
        assert len(updates) == 2


async def test_a_wait_beyond_all_patience_is_an_error():
    core = FakeCore(Outgoing("Yes."))
    async with running(core) as (slack, _, _):
        slack.faults.plan("chat.update", Fault("429", 3600))
        await slack.ask("C1", "U1", "how?")
        await settled(core)
        assert isinstance(core.failed[0], UnavailableError)


async def test_messages_in_one_channel_keep_slacks_pace_after_a_burst():
    core = FakeCore(Outgoing(LONG))
    pace = CallOptions(patience=20, seconds_per_message=0.3, burst=2)
    async with running(core, calls=pace) as (slack, _, _):
        started = asyncio.get_running_loop().time()
        asked = await slack.ask("C1", "U1", "how?")
        await settled(core)
        # One of the messages is the sign of work, which counts like any other.
        assert len(slack.seen("C1", asked)) >= 5
        assert asyncio.get_running_loop().time() - started >= (len(slack.seen("C1", asked)) - 2) * 0.3


async def test_a_placeholder_does_not_queue_up_before_answers():
    core = FakeCore(lambda heard: Outgoing(heard.text))
    async with running(core, calls=CallOptions(patience=20, seconds_per_message=0.2, burst=1)) as (slack, _, _):
        first = await slack.ask("C1", "U1", "one")
        second = await slack.ask("C1", "U1", "two")
        await settled(core, 2)
        assert (slack.texts("C1", first), slack.texts("C1", second)) == (["one"], ["two"])
        assert any(name == "reactions.add" for name, _ in slack.calls)
        assert [one["own_reactions"] for one in slack.channels["C1"].messages if "own_reactions" in one] == [[]]


@pytest.mark.parametrize(
    "fault", [Fault("500", after=True), Fault("drop", after=True), Fault("429", 0.1), Fault("500")]
)
async def test_a_sign_of_work_with_an_unclear_fate_does_not_stay(fault):
    core = FakeCore(Outgoing("Yes."))
    async with running(core) as (slack, _, _):
        slack.faults.plan("chat.postMessage", fault)
        asked = await slack.ask("C1", "U1", "how?")
        await settled(core)
        assert slack.texts("C1", asked) == ["Yes."]


async def test_blocks_that_slack_refuses_are_sent_as_plain_text_and_logged(caplog):
    core = FakeCore(Outgoing("**Yes.** " + "word " * 1500, actions=(Action(Verb.HELPFUL, "q", "Helpful"),)))
    async with running(core) as (slack, _, _):
        slack.rejects_blocks = lambda _blocks: ["unsupported element [json-pointer:/blocks/0]"]
        asked = await slack.ask("C1", "U1", "how?")
        await settled(core)
        texts = slack.texts("C1", asked)
        assert sum(text.count("word") for text in texts) == 1500
        assert all(len(text) < 4000 for text in texts)
        assert "/blocks/0" in caplog.text


async def test_a_placeholder_that_was_deleted_is_replaced_by_a_new_message():
    gate = asyncio.Event()
    core = FakeCore(Outgoing("Yes."))
    core.before_answer = lambda _heard: gate.wait()
    async with running(core) as (slack, _, _):
        asked = await slack.ask("C1", "U1", "how?")
        (placeholder,) = await slack.until(lambda: slack.seen("C1", asked))
        placeholder["deleted"] = True
        gate.set()
        await settled(core)
        assert slack.texts("C1", asked) == ["Yes."]


async def test_the_placeholder_of_a_process_that_died_becomes_the_answer():
    gate = asyncio.Event()
    core = FakeCore(Outgoing("Yes."))
    core.before_answer = lambda _heard: gate.wait()
    async with running(core) as (slack, _, platform):
        asked = await slack.ask("C1", "U1", "how?")
        await slack.until(lambda: slack.seen("C1", asked))
        place = await platform.place(core.heard[0])
        await place.working()
        await place.deliver(Outgoing("Yes."))
        assert slack.texts("C1", asked) == ["Yes."]
        gate.set()


@pytest.mark.parametrize("posted", [0, 1, 3, 13])
async def test_an_answer_that_a_dead_process_began_is_finished_and_never_posted_twice(posted):
    core = FakeCore(Outgoing(LONG))
    async with running(core) as (slack, _, platform):
        asked = await slack.ask("C1", "U1", "how?")
        await settled(core)
        before = [one["ts"] for one in slack.seen("C1", asked)]
        slack.channels["C1"].messages = [
            one for one in slack.channels["C1"].messages if one["ts"] not in before[posted:]
        ]
        place = await platform.place(core.heard[0])
        assert (await place.deliver(Outgoing(LONG)))[:posted] == tuple(before[:posted])
        assert parts_in(slack, "C1", asked) == [str(number) for number in range(12)]


async def test_while_slack_cannot_be_searched_a_second_answer_is_better_than_none():
    core = FakeCore(Outgoing("Yes."))
    async with running(core) as (slack, _, platform):
        asked = await slack.ask("C1", "U1", "how?")
        await settled(core)
        slack.faults.plan("conversations.replies", *[Fault("error", "missing_scope")] * 3)
        await (await platform.place(core.heard[0])).deliver(Outgoing("Yes."))
        assert slack.texts("C1", asked) == ["Yes.", "Yes."]


async def test_a_private_answer_is_seen_by_the_asker_alone():
    core = FakeCore(Outgoing("Secret.", private=True))
    async with running(core) as (slack, _, _):
        asked = await slack.ask("C1", "U1", "how?")
        await settled(core)
        assert slack.texts("C1", asked) == []
        (whisper,) = slack.whispers_to("U1")
        assert (rules.shown(whisper), whisper["thread_ts"]) == ("Secret.", asked)
        assert "Secret" not in str(slack.channels["C1"].messages)


async def test_a_private_answer_to_somebody_who_left_goes_to_their_direct_messages():
    core = FakeCore(Outgoing("Secret.", private=True))
    async with running(core) as (slack, _, _):
        slack.channels["C1"].members.remove("U1")
        await slack.ask("C1", "U1", "how?")
        await settled(core)
        assert slack.texts("DU1") == ["Secret."]


@pytest.mark.parametrize("trouble", [{"bot_inside": False}, {"archived": True}])
async def test_an_answer_that_cannot_be_posted_is_whispered_or_sent_directly(trouble):
    core = FakeCore(Outgoing("Yes."))
    async with running(core) as (slack, _, _):
        for name, value in trouble.items():
            setattr(slack.channels["C1"], name, value)
        await slack.ask("C1", "U1", "how?")
        await settled(core)
        assert slack.texts("DU1")[0] == "Yes."
        assert "/invite" in slack.texts("DU1")[-1]


async def test_a_text_that_slack_cut_is_continued_in_a_further_message(caplog):
    async with running() as (slack, _, platform):
        messages: Messages = platform._parts.messages
        slack.faults.plan("chat.postMessage", Fault("truncate", 1000))
        await messages._post(Spot("C1"), "word " * 500)
        assert "".join(slack.texts("C1")).count("word") == 500
        assert "Slack cut a message" in caplog.text


async def test_a_card_is_posted_redrawn_and_missed_when_it_is_gone():
    async with running() as (slack, _, platform):
        card = Card("candidate", "c1", 1, "Guide", "Body", {}, (Action(Verb.APPROVE, "c1", "Approve"),))
        message = await platform.post_card("C1", card)
        assert "gaplight_approve" in rules.buttons_of(slack.channels["C1"].message(message))
        await platform.redraw("C1", message, Card("candidate", "c1", 2, "Guide", "**Approved**"))
        assert rules.buttons_of(slack.channels["C1"].message(message)) == {}
        assert rules.shown(slack.channels["C1"].message(message)) == "Guide\n*Approved*"
        slack.channels["C1"].message(message)["deleted"] = True
        with pytest.raises(NotFoundError):
            await platform.redraw("C1", message, card)


async def test_a_card_too_long_for_a_message_goes_on_in_its_thread():
    async with running() as (slack, _, platform):
        message = await platform.post_card("C1", Card("digest", "", 1, "Digest", LONG))
        texts = [*slack.texts("C1"), *slack.texts("C1", message)]
        assert len(slack.texts("C1")) == 1
        assert sum(text.count("part") for text in texts) == 12


@pytest.mark.parametrize("error", ["not_in_channel", "channel_not_found", "is_archived"])
async def test_a_card_that_cannot_be_posted_is_an_error_that_names_the_reason(error):
    async with running() as (slack, _, platform):
        slack.faults.plan("chat.postMessage", Fault("error", error))
        with pytest.raises(UnavailableError, match=error):
            await platform.post_card("C1", Card("digest", "", 1, "Digest"))


async def test_telling_calls_those_who_are_named_and_nobody_else():
    async with running() as (slack, _, platform):
        root = slack.write("C1", "U1", "how?")["ts"]
        await platform.tell(f"C1:{root}", "Can you? <@U3> <!here>", "U2, S1, <!channel>, slack:U1")
        (post,) = slack.seen("C1", root)
        assert set(rules.live_tokens(post)) == {"<@U2>", "<!subteam^S1>", "<@U1>"}
        assert "<@U3> <!here>" in rules.shown(post)


async def test_what_was_asked_unseen_by_others_is_told_to_the_asker_alone():
    async with running() as (slack, _, platform):
        await platform.tell("C1:U1", "Your question is answered now.")
        assert slack.texts("DU1") == ["Your question is answered now."]
        assert slack.texts("C1") == []


async def test_telling_in_a_direct_message_needs_no_thread():
    async with running() as (slack, _, platform):
        slack.direct("U1")
        assert await platform.tell("DU1", "Hello") == slack.seen("DU1")[0]["ts"]


async def test_a_message_heard_by_a_process_that_is_gone_is_answered_in_its_thread():
    async with running() as (slack, _, platform):
        asked = slack.write("C1", "U1", "<@UBOT> how?")["ts"]
        heard = Heard("slack", "C1", f"C1:{asked}", asked, Person("slack:U1"), "how?", mentions_bot=True)
        place = await platform.place(heard)
        await place.working()
        await place.deliver(Outgoing("Yes."))
        assert slack.texts("C1", asked) == ["Yes."]


async def test_a_command_of_a_process_that_is_gone_is_answered_to_its_asker_alone():
    async with running() as (slack, _, platform):
        place = await platform.place(Heard("slack", "C1", "C1:U1", "trigger", Person("slack:U1"), "how?", direct=True))
        await place.working()
        await place.deliver(Outgoing("Yes."))
        assert slack.texts("C1") == []
        assert [rules.shown(one) for one in slack.whispers_to("U1")] == ["Yes."]


async def test_one_call_in_twenty_failing_loses_and_doubles_nothing():
    core = FakeCore(lambda heard: Outgoing(f"Answer to {heard.text}. " + "x" * 5000))
    async with running(core, request_seconds=1.0, calls=QUICK) as (slack, _, _):
        slack.faults.rate = 0.05
        slack.faults.methods = frozenset(
            {
                "chat.postMessage",
                "chat.update",
                "conversations.info",
                "users.info",
                "reactions.add",
                "conversations.replies",
            }
        )
        slack.socket.deadline = 10
        asked = await asyncio.gather(
            *(slack.ask("C1", f"U{number % 3 + 1}", f"question {number}") for number in range(150))
        )
        await settled(core, 150)
        assert core.failed == []
        for number, thread in enumerate(asked):
            texts = [text for text in slack.texts("C1", thread) if "Answer" in text or "Looking" in text]
            assert [text.split(".")[0] for text in texts] == [f"Answer to question {number}"]
        assert len(slack.faults.happened) >= 10
