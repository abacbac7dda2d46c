"""What people write in Slack reaches the core as plain facts, and its answer the right place."""

import asyncio

import pytest

from bot.chat.messages import Action, Outgoing, Verb
from store.records import Visibility
from tests.fakes import slack_rules as rules
from tests.fakes.core import FakeCore
from tests.fakes.slack_faults import Fault
from tests.fakes.slack_running import running
from tests.fakes.slack_waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def settled(core, count=1):
    """Wait for answers to be delivered."""
    await until(lambda: len(core.delivered) >= count)


async def heard(core, count=1):
    await until(lambda: len(core.heard) >= count)
    return core.heard[-1]


async def test_a_question_in_a_channel_is_answered_in_a_thread_below_it_once():
    async with running() as (slack, core, _):
        asked = await slack.ask("C1", "U1", "how do I deploy?")
        await settled(core)
        assert slack.texts("C1", asked) == ["You said: how do I deploy?"]
        assert slack.texts("C1") == []
        assert [one.key for one in core.heard] == [f"slack:C1:{asked}"] * 2


async def test_a_question_in_a_thread_is_answered_in_that_thread():
    async with running(FakeCore(Outgoing("word " * 4000))) as (slack, core, _):
        root = slack.write("C1", "U2", "Release today")["ts"]
        await slack.ask("C1", "U1", "how?", thread=root)
        await settled(core)
        assert len(slack.seen("C1", root)) == len(core.delivered[0]) > 1
        assert [one["ts"] for one in slack.seen("C1", root)] == list(core.delivered[0])
        assert slack.texts("C1") == []
        assert core.heard[0].conversation == f"C1:{root}"
        assert core.heard[0].in_thread


async def test_direct_messages_outside_threads_are_one_conversation():
    async with running() as (slack, core, _):
        slack.direct("U1")
        await slack.ask("DU1", "U1", "how?")
        await settled(core)
        assert slack.texts("DU1") == ["You said: how?"]
        first = core.heard[0]
        assert (first.conversation, first.direct, first.alone) == ("DU1", True, True)
        assert first.visibility is Visibility.PRIVATE


async def test_a_thread_of_direct_messages_is_a_conversation_of_its_own():
    async with running() as (slack, core, _):
        slack.direct("U1")
        root = slack.write("DU1", "U1", "Hello")["ts"]
        await slack.ask("DU1", "U1", "how?", thread=root)
        await settled(core)
        assert slack.texts("DU1", root) == ["You said: how?"]
        assert core.heard[0].conversation == f"DU1:{root}"


@pytest.mark.parametrize(
    ("kind", "visibility"),
    [("channel", Visibility.PUBLIC), ("group", Visibility.PRIVATE), ("mpim", Visibility.PRIVATE)],
)
async def test_who_can_read_a_place_is_known_for_both_copies_of_a_mention(kind, visibility):
    async with running() as (slack, core, _):
        slack.channel("C2", "ops", kind=kind, members={"U1"})
        await slack.ask("C2", "U1", "how?")
        await heard(core, 2)
        assert {(one.visibility, one.channel_name, one.direct) for one in core.heard} == {(visibility, "ops", False)}


async def test_a_channel_about_which_nothing_can_be_found_out_counts_as_private():
    async with running() as (slack, core, _):
        slack.faults.plan("conversations.info", *[Fault("error", "missing_scope")] * 2)
        await slack.send_event(slack.write("C1", "U1", "<@UBOT> how?") | {"type": "app_mention", "channel_type": None})
        assert (await heard(core)).visibility is Visibility.PRIVATE


async def test_an_edit_gives_no_second_answer():
    async with running() as (slack, core, _):
        asked = await slack.ask("C1", "U1", "hwo?")
        await settled(core)
        await slack.edit("C1", asked, "<@UBOT> how?")
        await slack.ask("C1", "U2", "another")
        await settled(core, 2)
        assert len(slack.seen("C1", asked)) == 1


async def test_a_question_deleted_while_it_is_worked_on_gets_no_answer_and_leaves_no_trace():
    gate = asyncio.Event()
    core = FakeCore()
    core.before_answer = lambda _heard: gate.wait()
    async with running(core) as (slack, _, _):
        asked = await slack.ask("C1", "U1", "how?")
        await slack.until(lambda: slack.seen("C1", asked))
        await slack.delete("C1", asked)
        await until(lambda: core.withdrawn)
        gate.set()
        await slack.until(lambda: not slack.seen("C1", asked))
        assert core.withdrawn == [f"slack:C1:{asked}"]


async def test_a_deletion_in_an_assistant_thread_and_a_tombstone_are_deletions():
    async with running() as (slack, core, _):
        root = await slack.open_pane("U1")
        asked = slack.write("DU1", "U1", "how?", thread=root)["ts"]
        await slack.delete("DU1", asked)
        tombstone = {"ts": "5.0", "subtype": "tombstone", "user": "USLACKBOT", "thread_ts": "5.0"}
        changed = {"type": "message", "subtype": "message_changed", "hidden": True, "channel": "C1"}
        await slack.send_event({**changed, "channel_type": "channel", "ts": "6.0", "message": tombstone})
        await until(lambda: len(core.withdrawn) >= 2)
        assert core.withdrawn == [f"slack:DU1:{asked}", "slack:C1:5.0"]


async def test_a_reply_that_is_also_sent_to_the_channel_is_answered_once_in_its_thread():
    async with running() as (slack, core, _):
        root = slack.write("C1", "U2", "Release")["ts"]
        await slack.say("C1", "U1", "<@UBOT> and on Windows?", thread=root, subtype="thread_broadcast")
        await settled(core)
        assert slack.texts("C1", root) == ["You said: and on Windows?"]


@pytest.mark.parametrize(
    "author",
    [
        {"bot_id": "B2", "app_id": "A2", "user": "U_OTHERBOT"},
        {"bot_id": "B2", "subtype": "bot_message", "user": None},
        {"app_id": "A2"},
        {"bot_profile": {"id": "B3"}},
    ],
)
async def test_other_bots_are_never_answered(author):
    async with running() as (slack, core, _):
        event = slack.write("C1", "U2", "<@UBOT> deploy failed, any docs?")
        await slack.send_event({name: value for name, value in (event | author).items() if value is not None})
        assert (await heard(core)).by_bot


@pytest.mark.parametrize(
    "author", [{"user": "UBOT"}, {"user": "UBOT", "bot_id": "BBOT"}, {"bot_id": "BBOT", "user": None}]
)
async def test_our_own_messages_do_not_even_reach_the_core(author):
    async with running() as (slack, core, _):
        event = slack.write("C1", "U2", "<@UBOT> hello") | author
        await slack.send_event({name: value for name, value in event.items() if value is not None})
        await slack.ask("C1", "U1", "a question")
        await settled(core)
        assert {one.text for one in core.heard} == {"a question"}


async def test_people_from_other_organisations_are_outsiders_and_the_removed_too():
    async with running() as (slack, core, _):
        slack.person("U7", team="T2", is_stranger=True)
        for user, more in [("U7", {"user_team": "T2"}), ("U7", {"team": None}), ("UGONE", {"team": None}), ("U1", {})]:
            event = slack.write("C1", user, "<@UBOT> how?") | more
            await slack.send_event({name: value for name, value in event.items() if value is not None})
        await heard(core, 4)
        found = {(one.author.id, one.author.outsider) for one in core.heard}
        assert found == {("slack:U7", True), ("slack:UGONE", True), ("slack:U1", False)}


async def test_an_event_without_a_user_does_no_harm():
    async with running() as (slack, core, _):
        event = slack.write("C1", "U1", "<@UBOT> how?")
        del event["user"]
        await slack.send_event(event)
        assert (await heard(core)).author.id == ""


async def test_groups_of_a_person_are_known():
    async with running() as (slack, core, _):
        slack.groups.update(S1=["U1", "U2"], S2=["U1"])
        await slack.ask("C1", "U1", "how?")
        await settled(core)
        assert core.heard[0].author.groups == ("S1", "S2")
        assert [name for name, _ in slack.calls].count("usergroups.list") == 1


async def test_a_workspace_without_groups_is_asked_for_them_only_now_and_then():
    async with running() as (slack, core, _):
        slack.scopes = slack.scopes.replace("usergroups:read,", "")
        for number in range(3):
            await slack.ask("C1", "U1", f"question {number}")
        await settled(core, 3)
        assert [name for name, _ in slack.calls].count("usergroups.list") == 1


async def test_a_file_without_words_reaches_the_core_as_an_empty_question():
    async with running() as (slack, core, _):
        slack.direct("U1")
        await slack.say("DU1", "U1", "", subtype="file_share", files=[{"id": "F1"}])
        assert (await heard(core)).text == ""


async def test_the_channel_of_an_outside_organisation_gets_no_answer_that_outsiders_can_read():
    async with running() as (slack, core, _):
        slack.channel("C9", "partners", members={"U1", "U7"}, shared=True)
        asked = await slack.ask("C9", "U1", "how?")
        await settled(core)
        assert slack.texts("C9", asked) == []
        assert [rules.shown(one) for one in slack.whispers_to("U1")] == ["You said: how?"]
        assert slack.channels["C9"].message(asked)["own_reactions"] == []


async def test_a_shared_channel_is_answered_openly_where_outsiders_are_answered():
    async with running(answer_outsiders=True) as (slack, core, _):
        slack.channel("C9", "partners", members={"U1"}, shared=True)
        asked = await slack.ask("C9", "U1", "how?")
        await settled(core)
        assert slack.texts("C9", asked) == ["You said: how?"]


async def test_the_assistant_pane_shows_a_status_and_offers_questions():
    async with running() as (slack, core, _):
        root = await slack.open_pane("U1")
        await slack.until(lambda: slack.prompts)
        assert len(slack.prompts[0]["prompts"]) == 3
        await slack.ask("DU1", "U1", "how?", thread=root)
        await settled(core)
        assert slack.texts("DU1", root) == ["You said: how?"]
        assert slack.statuses[0][:2] == ("DU1", root)
        assert core.heard[0].direct


async def test_a_sign_of_work_stands_in_the_thread_until_the_answer_replaces_it():
    gate = asyncio.Event()
    core = FakeCore()
    core.before_answer = lambda _heard: gate.wait()
    async with running(core) as (slack, _, _):
        asked = await slack.ask("C1", "U1", "how?")
        await slack.until(lambda: slack.seen("C1", asked))
        assert slack.texts("C1", asked) == ["Looking through the documents …"]
        gate.set()
        await settled(core)
        assert slack.texts("C1", asked) == ["You said: how?"]
        assert core.delivered == [(slack.seen("C1", asked)[0]["ts"],)]


async def test_nothing_that_is_posted_unfolds_links_or_calls_anybody():
    text = "See https://evil.example/?d=1 and <!channel>, @here, #general"
    async with running(FakeCore(Outgoing(text, actions=(Action(Verb.HELPFUL, "q", "<!here>"),)))) as (slack, core, _):
        await slack.ask("C1", "U1", "how?")
        await settled(core)
        for sent in slack.outgoing():
            assert rules.live_tokens(sent) == []
        posts = [given for name, given in slack.calls if name in {"chat.postMessage", "chat.update"}]
        assert posts
        assert all(post["unfurl_links"] is False and post["unfurl_media"] is False for post in posts)


@pytest.mark.parametrize(
    ("reaction", "added", "vote"),
    [("+1", True, True), ("thumbsdown", True, False), ("+1::skin-tone-3", True, True), ("-1", False, None)],
)
async def test_thumbs_on_our_messages_are_votes(reaction, added, vote):
    async with running() as (slack, core, _):
        asked = await slack.ask("C1", "U1", "how?")
        await settled(core)
        (answer,) = core.delivered[0]
        await slack.react("C1", answer, "U2", "tada")
        await slack.react("C1", asked, "U2", "+1")
        await slack.react("C1", answer, "U2", reaction, added)
        await until(lambda: core.reacted)
        platform, channel, message, person, helpful = core.reacted[-1]
        assert (platform, channel, message, person.id, helpful) == ("slack", "C1", answer, "slack:U2", vote)
        assert len(core.reacted) == 1
