"""Clicks, forms, commands, shortcuts and the bot's page reach the core; its words reach the one who clicked."""

import asyncio

import pytest

from bot.chat.messages import Action, Card, Outgoing, Verb
from store.records import Visibility
from tests.fakes import slack_rules as rules
from tests.fakes.core import FakeCore
from tests.fakes.slack_faults import Fault
from tests.fakes.slack_running import connected, running
from tests.fakes.slack_waiting import until

pytestmark = pytest.mark.anyio

CARD = Card(
    "candidate",
    "c12",
    1,
    "Guide",
    "Body",
    {},
    (
        Action(Verb.APPROVE, "c12", "Approve"),
        Action(Verb.REJECT, "c12", "Reject"),
        Action(Verb.SNOOZE, "c12", "Snooze"),
    ),
)
ANSWER = Outgoing("Yes.", actions=(Action(Verb.HELPFUL, "q1", "Helpful"), Action(Verb.UNHELPFUL, "q1", "Not helpful")))


@pytest.fixture(params=["socket", "http"])
def mode(request):
    return request.param


@pytest.fixture
def anyio_backend():
    return "asyncio"


def words(press):
    return Outgoing(f"{press.verb} {press.subject} noted", private=True)


async def filled(things, count=1):
    await until(lambda: len(things) >= count)
    return things


async def posted(slack, platform, card=CARD, channel="C1"):
    return slack.channels[channel].message(await platform.post_card(channel, card))


async def whispers(slack, user, count=1):
    found = await slack.until(lambda: len(slack.whispers_to(user)) >= count and slack.whispers_to(user))
    return [rules.shown(one) for one in found]


async def test_a_click_reaches_the_core_and_its_words_the_clicker_alone(mode):
    async with running(FakeCore(words=words), mode=mode) as (slack, core, platform):
        slack.groups["S1"] = ["U2"]
        message = await posted(slack, platform)
        await slack.click("C1", message, "U2", "gaplight_approve")
        assert await whispers(slack, "U2") == ["approve c12 noted"]
        (press,) = core.pressed
        assert (press.platform, press.verb, press.subject, press.note) == ("slack", Verb.APPROVE, "c12", "")
        assert (press.person.id, press.person.groups, press.person.outsider) == ("slack:U2", ("S1",), False)
        assert (press.channel, press.message) == ("C1", message["ts"])
        assert press.conversation == f"C1:{message['ts']}"


async def test_a_click_on_an_answer_belongs_to_the_conversation_of_its_question():
    async with running(FakeCore(ANSWER, words)) as (slack, core, _):
        asked = await slack.ask("C1", "U1", "how?")
        await filled(core.delivered)
        await slack.click("C1", slack.seen("C1", asked)[0], "U1", "gaplight_helpful")
        await filled(core.pressed)
        assert core.pressed[0].conversation == f"C1:{asked}"
        assert await whispers(slack, "U1") == ["helpful q1 noted"]
        assert slack.whispers_to("U1")[0]["thread_ts"] == asked


async def test_a_click_after_a_restart_works(mode):
    core = FakeCore(words=words)
    async with running(mode=mode) as (slack, _, platform):
        message = await posted(slack, platform)
        await platform.stop()
        async with connected(slack, core, mode=mode):
            await slack.click("C1", message, "U1", "gaplight_approve")
            assert await whispers(slack, "U1") == ["approve c12 noted"]


async def test_two_clicks_at_once_both_reach_the_core_and_both_get_words():
    async with running(FakeCore(words=words)) as (slack, core, platform):
        message = await posted(slack, platform)
        await asyncio.gather(*(slack.click("C1", message, user, "gaplight_approve") for user in ("U1", "U2")))
        await filled(core.pressed, 2)
        assert await whispers(slack, "U1") == await whispers(slack, "U2") == ["approve c12 noted"]


async def test_one_click_delivered_twice_counts_once():
    async with running(FakeCore(words=words)) as (slack, core, platform):
        payload = await slack.click("C1", await posted(slack, platform), "U1", "gaplight_approve")
        await slack.delivery.deliver("interactive", payload)
        await slack.ask("C1", "U1", "a question in between")
        await filled(core.delivered)
        assert len(core.pressed) == 1


@pytest.mark.parametrize("user", ["U7", "UGONE"])
async def test_an_outsider_who_clicks_is_known_as_one(user):
    async with running(FakeCore(words=words)) as (slack, core, platform):
        slack.person("U7", team="T2")
        message = await posted(slack, platform)
        await slack.click("C1", message, user, "gaplight_approve")
        assert (await filled(core.pressed))[0].person.outsider


async def test_a_button_from_long_ago_is_explained():
    async with running(FakeCore(words=words)) as (slack, core, platform):
        message = await posted(slack, platform)
        rules.buttons_of(message)["gaplight_approve"]["action_id"] = "gaplight_dance"
        await slack.click("C1", message, "U1", "gaplight_dance")
        assert "don't know this button" in (await whispers(slack, "U1"))[0]
        assert core.pressed == []


async def test_rejecting_asks_for_a_reason_before_anything_is_done():
    async with running(FakeCore(words=words)) as (slack, core, platform):
        message = await posted(slack, platform)
        await slack.click("C1", message, "U1", "gaplight_reject")
        (view,) = (await slack.until(lambda: slack.views)).values()
        assert core.pressed == []
        await slack.submit("U1", view, "Out of date")
        (press,) = await filled(core.pressed)
        assert (press.verb, press.note, press.channel, press.message) == (
            Verb.REJECT,
            "Out of date",
            "C1",
            message["ts"],
        )
        assert await whispers(slack, "U1") == ["reject c12 noted"]


async def test_a_form_opens_before_any_other_work():
    async with running(FakeCore(ANSWER, words)) as (slack, core, _):
        asked = await slack.ask("C1", "U1", "how?")
        await filled(core.delivered)
        slack.calls.clear()
        await slack.click("C1", slack.seen("C1", asked)[0], "U2", "gaplight_unhelpful")
        await filled(core.pressed)
        assert slack.calls[0][0] == "views.open"


async def test_not_helpful_counts_at_once_and_its_reason_when_it_is_sent():
    async with running(FakeCore(ANSWER, words)) as (slack, core, _):
        asked = await slack.ask("C1", "U1", "how?")
        await filled(core.delivered)
        await slack.click("C1", slack.seen("C1", asked)[0], "U1", "gaplight_unhelpful")
        await filled(core.pressed)
        await slack.submit("U1", next(iter(slack.views.values())), "Too old")
        await filled(core.pressed, 2)
        assert [press.note for press in core.pressed] == ["", "Too old"]
        assert await whispers(slack, "U1") == ["unhelpful q1 noted"]


@pytest.mark.parametrize("error", ["expired_trigger_id", "exchanged_trigger_id", "internal_error"])
async def test_a_form_that_does_not_open_is_explained_and_nothing_is_decided(error):
    async with running(FakeCore(words=words)) as (slack, core, platform):
        slack.faults.plan("views.open", Fault("error", error))
        await slack.click("C1", await posted(slack, platform), "U1", "gaplight_reject")
        assert "click again" in (await whispers(slack, "U1"))[0]
        assert core.pressed == []


async def test_a_form_sent_twice_counts_once():
    async with running(FakeCore(words=words)) as (slack, core, platform):
        await slack.click("C1", await posted(slack, platform), "U1", "gaplight_reject")
        await slack.until(lambda: slack.views)
        payload = await slack.submit("U1", next(iter(slack.views.values())), "No")
        await slack.delivery.deliver("interactive", payload)
        await slack.ask("C1", "U1", "a question in between")
        await filled(core.delivered)
        assert len(core.pressed) == 1


async def test_words_reach_the_clicker_when_the_address_for_them_is_used_up():
    async with running(FakeCore(words=words)) as (slack, _, platform):
        message = await posted(slack, platform)
        slack.new_response_url = lambda *_: f"http://127.0.0.1:{slack.port}/response/none"
        await slack.click("C1", message, "U1", "gaplight_approve")
        assert await whispers(slack, "U1") == ["approve c12 noted"]
        slack.channels["C1"].members.remove("U1")
        await slack.click("C1", message, "U1", "gaplight_approve")
        assert await slack.until(lambda: slack.texts("DU1")) == ["approve c12 noted"]


async def test_the_page_shows_cards_and_is_drawn_again_after_a_click():
    core = FakeCore(words=words)
    core.cards = (CARD,)
    async with running(core) as (slack, _, _):
        await slack.open_home("U1")
        await slack.until(lambda: "U1" in slack.homes)
        core.cards = ()
        await slack.click_at_home("U1", "gaplight_approve")
        await slack.until(lambda: rules.buttons_of(slack.homes["U1"]) == {})
        assert core.pressed[0].channel == ""
        assert slack.texts("DU1") == ["approve c12 noted"]


async def test_an_outsider_sees_no_page():
    core = FakeCore()
    core.cards = (CARD,)
    async with running(core) as (slack, _, _):
        slack.person("U7", team="T2")
        await slack.open_home("U7")
        await slack.open_home("U1")
        await slack.until(lambda: "U1" in slack.homes)
        assert "U7" not in slack.homes


async def test_a_command_is_answered_unseen_by_others(mode):
    core = FakeCore()
    core.shown = {"gaps": (Outgoing("Three gaps are open."), CARD)}
    async with running(core, mode=mode) as (slack, _, _):
        await slack.command("C1", "U1", "gaps &amp; more")
        assert await whispers(slack, "U1", 2) == ["Three gaps are open.", "Guide\nBody\nApprove\nReject\nSnooze"]
        words_, person, channel, visibility = core.commands[0]
        assert (words_, person.id, channel, visibility) == ("gaps & more", "slack:U1", "C1", Visibility.PUBLIC)
        assert slack.texts("C1") == []


async def test_a_command_without_words_asks_for_help():
    core = FakeCore()
    core.shown = {"help": (Outgoing("This is what I do."),)}
    async with running(core) as (slack, _, _):
        await slack.command("C1", "U1", "  ")
        assert await whispers(slack, "U1") == ["This is what I do."]


async def test_a_question_by_command_is_private_and_its_answer_replaces_the_sign_of_work(mode):
    async with running(mode=mode) as (slack, core, _):
        slack.channels["C1"].bot_inside = False
        payload = await slack.command("C1", "U1", "how do I deploy?")
        await filled(core.delivered)
        assert await whispers(slack, "U1") == ["You said: how do I deploy?"]
        heard = core.heard[0]
        assert (heard.direct, heard.alone, heard.visibility) == (True, True, Visibility.PRIVATE)
        assert (heard.conversation, heard.message) == ("C1:U1", payload["trigger_id"])


async def test_a_command_that_is_delivered_twice_is_answered_once():
    async with running() as (slack, core, _):
        payload = await slack.command("C1", "U1", "how?")
        await slack.delivery.deliver("slash_commands", payload)
        await slack.ask("C1", "U1", "another")
        await filled(core.delivered, 2)
        assert len(slack.whispers_to("U1")) == 1


async def test_an_answer_by_command_longer_than_five_messages_arrives_whole():
    core = FakeCore(Outgoing("\n\n".join(f"part {number} " + "x" * 2700 for number in range(20))))
    async with running(core) as (slack, _, _):
        await slack.command("C1", "U1", "how?")
        await filled(core.delivered)
        shown = "\n".join(rules.shown(one) for one in slack.whispers_to("U1"))
        assert [line.split()[1] for line in shown.split("\n") if "part" in line] == [str(n) for n in range(20)]


async def test_asking_about_a_message_answers_in_its_thread():
    async with running() as (slack, core, _):
        about = slack.write("C1", "U2", "How do I &lt;deploy&gt;?")["ts"]
        payload = await slack.shortcut("gaplight_ask", "C1", about, "U1")
        await filled(core.delivered)
        assert slack.texts("C1", about) == ["You said: How do I <deploy>?"]
        heard = core.heard[0]
        assert (heard.author.id, heard.message, heard.direct) == ("slack:U1", payload["trigger_id"], True)
        assert heard.conversation == f"C1:{about}"


async def test_asking_about_a_message_where_the_bot_is_not_answers_the_asker_alone():
    async with running() as (slack, core, _):
        about = slack.write("C1", "U2", "How?")["ts"]
        slack.channels["C1"].bot_inside = False
        await slack.shortcut("gaplight_ask", "C1", about, "U1")
        await filled(core.delivered)
        found = await whispers(slack, "U1", 2)
        assert found[0] == "You said: How?"
        assert "/invite" in found[-1]


async def test_asking_about_a_bots_message_is_a_persons_question():
    async with running() as (slack, core, _):
        about = slack.write("C1", "U2", "Deploy failed", bot_id="B2", subtype="bot_message")["ts"]
        await slack.shortcut("gaplight_ask", "C1", about, "U1")
        await filled(core.delivered)
        assert not core.heard[0].by_bot


async def test_marking_a_reply_as_the_answer_reaches_the_core_with_its_author_and_link():
    async with running() as (slack, core, _):
        asked = await slack.ask("C1", "U1", "how?")
        reply = slack.write("C1", "U2", "Use <https://x.example|this> &amp; that", thread=asked)["ts"]
        await slack.shortcut("gaplight_answer", "C1", reply, "U3")
        (marked,) = await filled(core.adopted)
        assert (marked.author.id, marked.marked_by.id) == ("slack:U2", "slack:U3")
        assert (marked.conversation, marked.message) == (f"C1:{asked}", reply)
        assert marked.text == "Use this (https://x.example) & that"
        assert marked.url.endswith(reply.replace(".", ""))
        assert marked.visibility is Visibility.PUBLIC
        assert await whispers(slack, "U3") == ["Thank you, the admins will decide."]


async def test_everything_is_acknowledged_at_once_however_long_the_work_takes(mode):
    gate = asyncio.Event()
    core = FakeCore(words=words)
    core.before_answer = lambda _heard: gate.wait()
    async with running(core, mode=mode) as (slack, _, platform):
        message = await posted(slack, platform)
        slack.faults.plan("conversations.info", Fault("429", 2))
        await asyncio.gather(
            slack.ask("C1", "U1", "how?"),
            slack.command("C1", "U1", "how?"),
            slack.click("C1", message, "U1", "gaplight_approve"),
            slack.shortcut("gaplight_ask", "C1", message["ts"], "U1"),
        )
        assert len(slack.delivery.delays) == 5
        assert max(slack.delivery.delays) < 3
        gate.set()
        await filled(core.delivered, 3)


async def test_what_arrives_while_the_process_ends_is_left_to_the_next_one():
    core = FakeCore()
    async with running(core) as (slack, _, _):
        core.closing = True
        slack.socket.deadline = 0.1
        with pytest.raises(TimeoutError):
            await slack.ask("C1", "U1", "how?")
        assert core.heard == []
        after = FakeCore()
        async with connected(slack, after):
            core.closing = True
            slack.socket.connections.pop(0)
            await slack.send_event(slack.channels["C1"].messages[0] | {"type": "app_mention", "channel": "C1"})
            await filled(after.delivered)


async def test_answers_in_flight_are_finished_before_the_connection_ends():
    gate = asyncio.Event()
    core = FakeCore()
    core.before_answer = lambda _heard: gate.wait()
    async with running(core) as (slack, _, platform):
        asked = await slack.ask("C1", "U1", "how?")
        await slack.until(lambda: slack.seen("C1", asked))
        stopping = asyncio.create_task(platform.stop())
        await asyncio.sleep(0.05)
        gate.set()
        await stopping
        assert slack.texts("C1", asked) == ["You said: how?"]
        assert not platform.healthy()
