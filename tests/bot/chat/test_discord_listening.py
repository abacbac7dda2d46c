"""What the core is told of messages, deletions and reactions on Discord, over the real discord.py."""

import asyncio

import pytest

from bot.chat.messages import Outgoing, Person
from store.records import Visibility
from tests.fakes.core import FakeCore
from tests.fakes.discord import discord_server
from tests.fakes.discord_running import connected, running
from tests.fakes.discord_world import PRIVATE_THREAD, SEND


def hearing(act, **changes):
    """What people's messages are heard as while ``act`` happens."""

    async def go():
        async with running(FakeCore(answer=lambda _: None), **changes) as (fake, core, _):
            await act(fake, core)
            await fake.until(lambda: core.heard, "something heard")
            await fake.quiet(0.1)
            return fake, [one for one in core.heard if not one.by_bot]

    return asyncio.run(go())


def heard_once(act):
    fake, heard = hearing(act)
    assert len(heard) == 1, heard
    return fake, heard[0]


def test_a_mention_in_a_channel_that_all_can_read():
    async def act(fake, _):
        role = await fake.role("staff")
        act.ann = fake.person("Ann", [role])
        act.role = str(role)
        act.message = await fake.mention(act.ann, fake.general, f"How do I reset <#{fake.general}>?")

    fake, one = heard_once(act)
    assert (one.platform, one.channel, one.channel_name) == ("discord", str(fake.general), "general")
    assert one.author == Person(f"discord:{act.ann}", (act.role,))
    assert one.text == "How do I reset #general?"
    assert one.message == act.message["id"]
    assert one.conversation == f"{fake.general}:{act.message['id']}"
    assert one.mentions_bot
    assert [one.mentions_others, one.direct, one.in_thread, one.by_bot, one.alone] == [False] * 5
    assert one.visibility is Visibility.PUBLIC


def test_a_channel_that_not_all_can_read_is_private():
    async def act(fake, _):
        await fake.mention(fake.person(), fake.world.channel("board", private=True), "How?")

    async def earlier():
        async with discord_server() as fake:
            channel = fake.world.channel("board", private=True)
            core = FakeCore()
            async with connected(fake, core):
                await fake.mention(fake.person(), channel, "How?")
                await fake.until(lambda: core.heard)
                return core.heard[0]

    assert asyncio.run(earlier()).visibility is Visibility.PRIVATE
    # The channel is not known before it is looked up.
    assert heard_once(act)[1].visibility is Visibility.PRIVATE


def test_a_direct_message_of_a_member_has_the_member_s_roles():
    async def act(fake, _):
        act.role = await fake.role("staff")
        ann = fake.person("Ann", [act.role])
        act.channel = fake.world.direct(ann)
        await fake.say(ann, act.channel, "How?")

    _, one = heard_once(act)
    assert one.direct
    assert one.alone
    assert one.visibility is Visibility.PRIVATE
    assert one.conversation == one.channel == str(act.channel)
    assert one.author.groups == (str(act.role),)
    assert not one.author.outsider


def test_somebody_who_shares_no_server_is_an_outsider_and_is_looked_up_once():
    async def act(fake, core):
        eve = fake.person("Eve", member=False)
        channel = fake.world.direct(eve)
        await fake.say(eve, channel, "How?")
        await fake.until(lambda: len(core.heard) == 1)
        await fake.say(eve, channel, "And why?")
        await fake.until(lambda: len(core.heard) == 2)
        act.lookups = fake.called("GET", f"/guilds/{fake.world.guild_id}/members/{eve}")

    _, heard = hearing(act)
    assert all(one.author.outsider for one in heard)
    assert act.lookups == [404]


def test_messages_in_the_thread_of_a_question_continue_its_conversation():
    async def act(fake, _):
        ann = fake.person()
        act.question = await fake.mention(ann, fake.general, "How?")
        thread = fake.world.thread(fake.general, fake.world.bot, "How?", number=int(act.question["id"]))
        await fake.gateway.dispatch("THREAD_CREATE", fake.world.channels[thread] | {"newly_created": True})
        await fake.say(ann, thread, "And on Windows?")

    fake, (first, second) = hearing(act)
    assert first.conversation == second.conversation == f"{fake.general}:{act.question['id']}"
    assert second.in_thread
    assert second.channel == str(fake.general)
    assert not second.mentions_bot
    assert second.visibility is Visibility.PUBLIC


def test_a_private_thread_is_private():
    async def act(fake, _):
        ann = fake.person()
        thread = fake.world.thread(fake.general, ann, "secret", kind=PRIVATE_THREAD)
        await fake.gateway.dispatch("THREAD_CREATE", fake.world.channels[thread] | {"newly_created": True})
        await fake.mention(ann, thread, "How?")

    assert heard_once(act)[1].visibility is Visibility.PRIVATE


def test_a_forum_post_is_heard_with_its_title_and_its_replies_with_its_conversation():
    async def act(fake, core):
        forum = act.forum = fake.forum()
        await fake.gateway.dispatch("CHANNEL_CREATE", fake.world.channels[forum])
        ann = fake.person()
        act.post = await fake.post_in_forum(ann, forum, "VPN on Windows", "How do I reset it?")
        await fake.until(lambda: core.heard)
        await fake.say(ann, int(act.post["id"]), "Nobody?")

    _, (post, reply) = hearing(act)
    assert post.text == "VPN on Windows\nHow do I reset it?"
    assert (post.channel, post.channel_name) == (str(act.forum), "questions")
    assert not post.in_thread
    assert reply.in_thread
    assert post.conversation == reply.conversation == f"{act.forum}:{act.post['id']}"


def test_the_bot_s_own_role_counts_as_its_name():
    async def act(fake, _):
        await fake.say(fake.person(), fake.general, f"<@&{fake.world.own_role}> How?")

    _, one = heard_once(act)
    assert one.mentions_bot
    assert not one.mentions_others
    assert one.text == "How?"


@pytest.mark.parametrize("called", ["person", "role", "everyone"])
def test_others_who_are_called_are_noticed(called):
    async def act(fake, _):
        ann, ben = fake.person("Ann"), fake.person("Ben")
        who = {"person": f"<@{ben}>", "role": f"<@&{fake.world.role('x')}>", "everyone": "@everyone"}[called]
        await fake.say(ann, fake.general, f"{who} do you know?", mention_everyone=called == "everyone")

    _, one = heard_once(act)
    assert one.mentions_others
    assert not one.mentions_bot


def test_a_mention_alone_below_a_question_asks_that_question():
    async def act(fake, core):
        ann, ben = fake.person("Ann"), fake.person("Ben")
        asked = await fake.say(ann, fake.general, "How do I reset the VPN?")
        await fake.say(ben, fake.general, f"<@{fake.world.bot}>", reply_to=asked)

    _, heard = hearing(act)
    assert heard[-1].text == "How do I reset the VPN?"
    assert heard[-1].mentions_bot


def test_a_reply_to_an_answer_in_a_channel_continues_its_conversation():
    async def act(fake, core):
        ann, ben = fake.person("Ann"), fake.person("Ben")
        act.question = await fake.mention(ann, fake.general, "How?")
        answer = fake.world.message(fake.world.bot, fake.general, "So.")
        fake.world.refer(answer, fake.general, int(act.question["id"]), ping=False)
        await fake.say(ann, fake.general, "And on Windows?", reply_to=answer, ping=False)
        await fake.say(ben, fake.general, "And on Linux?", reply_to=answer)
        await fake.say(ben, fake.general, "Thanks.", reply_to=answer)
        await fake.until(lambda: len(core.heard) == 4)

    fake, (_, follow_up, question, thanks) = hearing(act)
    root = f"{fake.general}:{act.question['id']}"
    assert [one.conversation for one in (follow_up, question, thanks)] == [root] * 3
    assert all(one.in_thread for one in (follow_up, question, thanks))
    assert (follow_up.mentions_bot, question.mentions_bot, thanks.mentions_bot) == (False, True, False)


def test_a_reply_to_somebody_else_is_meant_for_them():
    async def act(fake, core):
        ann, ben = fake.person("Ann"), fake.person("Ben")
        said = await fake.say(ben, fake.general, "It is broken.")
        await fake.say(ann, fake.general, "Which version?", reply_to=said, ping=False)
        await fake.say(
            ann, fake.general, "I mean mine.", reply_to=await fake.say(ann, fake.general, "mine"), ping=False
        )
        await fake.until(lambda: len(core.heard) == 4)

    _, heard = hearing(act)
    assert [one.mentions_others for one in heard] == [False, True, False, False]


@pytest.mark.parametrize("writer", ["bot", "webhook"])
def test_bots_are_known_as_bots(writer):
    async def go():
        async with running() as (fake, core, _):
            author = fake.person("Robo", bot=writer == "bot")
            more = {"webhook_id": "5"} if writer == "webhook" else {}
            await fake.say(author, fake.general, f"<@{fake.world.bot}> deploy failed, any docs?", **more)
            await fake.until(lambda: core.heard)
            assert core.heard[0].by_bot
            await fake.quiet()
            assert fake.everything() == []

    asyncio.run(go())


def test_our_own_messages_are_known_as_ours():
    async def go():
        async with running() as (fake, core, _):
            await fake.mention(fake.person(), fake.general, "How?")
            await fake.until(lambda: len(core.heard) == 2)
            assert [one.by_bot for one in core.heard] == [False, True]

    asyncio.run(go())


def test_a_message_without_text_is_no_question():
    async def go():
        async with running() as (fake, core, _):
            ann = fake.person()
            for session in fake.gateway.sessions.values():
                session.intents &= ~(1 << 15)
            await fake.say(ann, fake.general, "A question that we may not read?")
            await fake.say(ann, fake.general, "")
            await fake.mention(ann, fake.general, "But this one?")
            await fake.until(lambda: core.delivered)
            assert [one.text for one in core.heard if not one.by_bot] == ["But this one?"]

    asyncio.run(go())


def test_notices_that_look_like_messages_are_not_heard():
    async def go():
        async with running() as (fake, core, _):
            await fake.say(fake.person(), fake.general, "Ann joined", type=7)
            await fake.say(fake.person(), fake.general, "named the channel", type=4)
            await fake.quiet()
            assert core.heard == []

    asyncio.run(go())


def test_an_edit_is_not_a_second_question():
    async def go():
        async with running() as (fake, core, _):
            message = await fake.mention(fake.person(), fake.general, "How do I rest it?")
            await fake.until(lambda: core.delivered)
            await fake.edit(message, f"<@{fake.world.bot}> How do I reset it?")
            await fake.quiet()
            assert len(core.delivered) == 1

    asyncio.run(go())


@pytest.mark.parametrize("where", ["channel", "thread", "direct"])
def test_a_deleted_question_is_withdrawn_and_nothing_is_said(where):
    async def go():
        core = FakeCore()
        release = asyncio.Event()
        core.before_answer = lambda _: release.wait()
        async with running(core) as (fake, core, _):
            ann = fake.person()
            channel = fake.general
            if where == "thread":
                channel = fake.world.thread(fake.general, ann, "t")
                await fake.gateway.dispatch("THREAD_CREATE", fake.world.channels[channel] | {"newly_created": True})
            elif where == "direct":
                channel = fake.world.direct(ann)
            message = await fake.mention(ann, channel, "How?")
            await fake.until(lambda: core.heard)
            await fake.delete(message)
            await fake.until(lambda: core.withdrawn)
            assert core.withdrawn == [core.heard[0].key]
            release.set()
            await fake.quiet()
            assert fake.everything() == []

    asyncio.run(go())


def test_a_question_that_is_deleted_unnoticed_is_not_answered_either():
    async def go():
        core = FakeCore()
        async with running(core) as (fake, core, _):

            async def vanish(heard):
                del fake.world.messages[fake.general][int(heard.message)]

            core.before_answer = vanish
            await fake.mention(fake.person(), fake.general, "How?")
            await fake.until(lambda: core.delivered or core.failed)
            assert core.delivered == [()]
            assert fake.everything() == []

    asyncio.run(go())


def test_reactions_on_answers_count_and_can_be_taken_back():
    async def go():
        async with running() as (fake, core, _):
            ann = fake.person()
            question = await fake.mention(ann, fake.general, "How?")
            await fake.until(lambda: core.delivered)
            (answer,) = fake.seen(fake.thread_of(question))
            for emoji in ("👍", "👎🏽", "🎉"):
                await fake.react(ann, answer, emoji)
            await fake.react(ann, answer, "👎🏽", taken_away=True)
            await fake.react(fake.world.bot, answer, "👍")
            await fake.until(lambda: len(core.reacted) == 3)
            await fake.quiet()
            person = Person(f"discord:{ann}")
            place = ("discord", str(fake.general), answer["id"], person)
            assert core.reacted == [(*place, True), (*place, False), (*place, None)]

    asyncio.run(go())


def test_a_reaction_in_direct_messages_counts():
    async def go():
        async with running() as (fake, core, _):
            ann = fake.person()
            channel = fake.world.direct(ann)
            await fake.say(ann, channel, "How?")
            await fake.until(lambda: core.delivered)
            await fake.react(ann, fake.seen(channel)[0], "👍")
            await fake.until(lambda: core.reacted)
            assert core.reacted[0][1:3] == (str(channel), fake.seen(channel)[0]["id"])
            assert not core.reacted[0][3].outsider

    asyncio.run(go())


def test_a_tick_on_a_person_s_reply_makes_it_the_answer():
    async def go():
        async with running() as (fake, core, _):
            ann, ben = fake.person("Ann"), fake.person("Ben")
            question = await fake.mention(ann, fake.general, "How?")
            await fake.until(lambda: core.delivered)
            thread = fake.thread_of(question)
            reply = await fake.say(ben, thread, "Press the <b> button.")
            await fake.react(ann, fake.seen(thread)[0], "✅")
            elsewhere = await fake.say(ben, fake.general, "Done.")
            await fake.react(ann, elsewhere, "✅")
            await fake.react(ann, reply, "✅")
            await fake.until(lambda: core.adopted)
            await fake.until(lambda: fake.seen(fake.world.direct(ann)), "words in direct messages")
            await fake.react(ben, reply, "✅")
            await fake.until(lambda: fake.seen(fake.world.direct(ben)), "words for the second one")
            marked = core.adopted[0]
            assert marked.text == "Press the <b> button."
            assert (marked.author.id, marked.marked_by.id) == (f"discord:{ben}", f"discord:{ann}")
            assert marked.conversation == f"{fake.general}:{question['id']}"
            assert marked.message == reply["id"]
            assert marked.url.endswith(f"/{thread}/{reply['id']}")
            assert fake.texts(fake.world.direct(ann)) == ["Thank you, the admins will decide."]

    asyncio.run(go())


def test_a_tick_counts_in_a_forum_post_that_the_bot_has_answered():
    async def go():
        async with running() as (fake, core, _):
            forum = fake.forum()
            await fake.gateway.dispatch("CHANNEL_CREATE", fake.world.channels[forum])
            ann, ben = fake.person("Ann"), fake.person("Ben")
            for called in ("", f"<@{fake.world.bot}> "):
                post = await fake.post_in_forum(ann, forum, "VPN", f"{called}How do I reset it?")
                if called:
                    await fake.until(lambda: core.delivered)
                reply = await fake.say(ben, int(post["id"]), "Press the button.")
                await fake.react(ann, reply, "✅")
            await fake.until(lambda: core.adopted)
            assert [marked.message for marked in core.adopted] == [reply["id"]]
            await fake.until(lambda: fake.seen(fake.world.direct(ann)))

    asyncio.run(go())


def test_who_takes_no_direct_messages_is_thanked_in_the_thread():
    async def go():
        async with running() as (fake, core, _):
            ann = fake.person("Ann")
            fake.rest.closed_to_direct.add(ann)
            question = await fake.mention(ann, fake.general, "How?")
            await fake.until(lambda: core.delivered)
            thread = fake.thread_of(question)
            reply = await fake.say(fake.person("Ben"), thread, "So.")
            await fake.react(ann, reply, "✅")
            await fake.until(lambda: len(fake.seen(thread)) == 2)
            assert fake.texts(thread)[1] == "Thank you, the admins will decide."

    asyncio.run(go())


def test_a_command_in_words_is_carried_out_where_it_was_written():
    async def go():
        core = FakeCore()
        core.shown = {"help": (Outgoing("This is what I do."),), "approve": (Outgoing("Approved."),)}
        async with running(core) as (fake, core, _):
            ann = fake.person()
            channel = fake.world.direct(ann)
            await fake.say(ann, channel, "help")
            await fake.until(lambda: len(fake.seen(channel)) == 1)
            await fake.mention(ann, fake.general, "approve c1")
            await fake.until(lambda: fake.seen(fake.general))
            assert fake.texts(channel) == ["This is what I do."]
            assert fake.texts(fake.general) == ["Approved."]
            assert [command[0] for command in core.commands] == ["help", "approve c1"]
            assert [one for one in core.heard if not one.by_bot] == []
            await fake.say(ann, channel, "help me with the VPN")
            await fake.until(lambda: core.delivered)

    asyncio.run(go())


def test_two_processes_that_both_hear_a_command_in_words_answer_it_once():
    async def go():
        async with discord_server() as fake:
            cores = [FakeCore(), FakeCore()]
            for core in cores:
                core.shown = {"help": (Outgoing("This is what I do. " * 200),)}
            async with connected(fake, cores[0]), connected(fake, cores[1]):
                ann = fake.person()
                channel = fake.world.direct(ann)
                await fake.say(ann, channel, "help")
                await fake.until(lambda: all(core.commands for core in cores) and len(fake.seen(channel)) > 1)
                await fake.quiet()
                assert " ".join(fake.texts(channel)).count("This is what I do.") == 200

    asyncio.run(go())


def test_a_place_where_nothing_may_be_written_is_listened_to_all_the_same():
    async def go():
        async with discord_server() as fake:
            core = FakeCore()
            fake.world.deny(fake.general, SEND)
            async with connected(fake, core):
                await fake.say(fake.person(), fake.general, "words")
                await fake.until(lambda: core.heard)

    asyncio.run(go())
