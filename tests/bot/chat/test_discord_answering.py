"""An answer on Discord is always delivered, once, in the best place there is, and calls nobody."""

import asyncio

import pytest

from bot.chat.discord_outbox import Patience
from bot.chat.discord_place import ANSWERED_PRIVATELY, CLOSED
from bot.chat.messages import Action, Outgoing, Verb
from store.errors import UnavailableError
from tests.fakes.core import FakeCore
from tests.fakes.discord_limits import RefusedError
from tests.fakes.discord_running import running
from tests.fakes.discord_world import CREATE_THREADS, HISTORY, SEND, SEND_IN_THREADS, THREAD, VOICE

LONG = "\n\n".join(f"Part {number}. " + "word " * 250 for number in range(4))


def answering(act, answer=None, prepare=None, **changes):
    """Ask in a channel, let ``act`` look at what came of it."""

    async def go():
        core = FakeCore(answer=answer)
        async with running(core, **changes) as (fake, core, _):
            ann = fake.person("Ann")
            if prepare:
                await prepare(fake)
            question = await fake.mention(ann, fake.general, "How do I reset it?")
            await fake.until(lambda: core.delivered or core.failed, "an answer")
            await fake.quiet(0.1)
            await act(fake, core, question, ann)

    asyncio.run(go())


def test_a_question_in_a_channel_is_answered_in_a_thread_named_after_it():
    async def act(fake, core, question, _):
        thread = fake.thread_of(question)
        assert fake.world.channels[thread]["name"] == "How do I reset it?"
        assert fake.texts(thread) == ["You said: How do I reset it?"]
        assert core.delivered == [(fake.seen(thread)[0]["id"],)]
        assert fake.seen(fake.general) == []
        assert fake.general in fake.rest.typing

    answering(act)


def test_a_long_answer_stands_in_the_thread_part_by_part():
    async def act(fake, core, question, _):
        seen = fake.seen(fake.thread_of(question))
        assert len(seen) > 2
        assert [f"Part {n}" in "".join(one["content"] for one in seen) for n in range(4)] == [True] * 4
        assert core.delivered == [tuple(one["id"] for one in seen)]
        assert [bool(one["components"]) for one in seen] == [False] * (len(seen) - 1) + [True]

    answering(act, Outgoing(LONG, actions=(Action(Verb.HELPFUL, "q", "Helpful"),)))


async def _thread_exists(fake):
    asked = fake.say

    async def with_thread(user, channel, content, **more):
        stored = await asked(user, channel, content, **more)
        fake.world.thread(channel, user, "already here", number=int(stored["id"]))
        return stored

    fake.say = with_thread


async def _no_threads(fake):
    fake.world.deny(fake.general, CREATE_THREADS)


async def _threads_limited(fake):
    fake.faults.plan("429", "/threads$", times=9, retry_after=120)


async def _no_words_in_threads(fake):
    fake.world.deny(fake.general, SEND_IN_THREADS)


async def _no_history(fake):
    fake.world.deny(fake.general, CREATE_THREADS | HISTORY)


def test_a_thread_that_is_there_already_is_used():
    async def act(fake, core, question, _):
        assert fake.texts(question["id"]) == ["You said: How do I reset it?"]
        assert fake.seen(fake.general) == []

    answering(act, prepare=_thread_exists)


@pytest.mark.parametrize("why", [_no_threads, _threads_limited, _no_words_in_threads, _no_history])
def test_without_a_thread_the_answer_replies_in_the_channel(why):
    async def act(fake, core, question, _):
        (reply,) = fake.seen(fake.general)
        assert reply["content"] == "You said: How do I reset it?"
        if why is not _no_history:
            assert reply["message_reference"]["message_id"] == question["id"]
        assert len(core.delivered) == 1

    answering(act, prepare=why)


def test_where_nothing_may_be_written_the_answer_goes_to_the_asker():
    async def prepare(fake):
        fake.world.deny(fake.general, CREATE_THREADS | SEND)

    async def act(fake, core, question, ann):
        assert fake.texts(fake.world.direct(ann)) == ["You said: How do I reset it?"]

    answering(act, prepare=prepare)


def test_an_answer_that_nobody_can_be_given_is_an_error():
    async def prepare(fake):
        fake.world.deny(fake.general, CREATE_THREADS | SEND)
        fake.rest.closed_to_direct.update(fake.world.members)

    async def go():
        async with running() as (fake, core, _):
            await prepare(fake)
            ann = fake.person()
            fake.rest.closed_to_direct.add(ann)
            await fake.mention(ann, fake.general, "How?")
            await fake.until(lambda: core.failed)
            assert isinstance(core.failed[0], UnavailableError)

    asyncio.run(go())


@pytest.mark.parametrize("kind", [THREAD, VOICE])
def test_in_a_thread_and_where_there_are_none_the_answer_replies_there(kind):
    async def go():
        async with running() as (fake, core, _):
            ann = fake.person()
            if kind == THREAD:
                channel = fake.world.thread(fake.general, ann, "talk")
                await fake.gateway.dispatch("THREAD_CREATE", fake.world.channels[channel])
            else:
                channel = fake.world.channel("lounge", VOICE)
                await fake.gateway.dispatch("CHANNEL_CREATE", fake.world.channels[channel])
            question = await fake.mention(ann, channel, "How?")
            await fake.until(lambda: core.delivered)
            (answer,) = fake.seen(channel)
            assert answer["message_reference"]["message_id"] == question["id"]
            assert not [path for _, path, _ in fake.rest.calls if path.endswith("/threads")]

    asyncio.run(go())


def test_a_forum_post_is_answered_in_the_post():
    async def go():
        async with running(FakeCore()) as (fake, core, _):
            forum = fake.forum()
            await fake.gateway.dispatch("CHANNEL_CREATE", fake.world.channels[forum])
            post = await fake.post_in_forum(fake.person(), forum, "VPN", f"<@{fake.world.bot}> How do I reset it?")
            await fake.until(lambda: core.delivered)
            assert fake.texts(int(post["id"])) == ["You said: VPN\nHow do I reset it?"]

    asyncio.run(go())


def test_an_answer_in_direct_messages_is_no_reply():
    async def go():
        async with running() as (fake, core, _):
            ann = fake.person()
            channel = fake.world.direct(ann)
            await fake.say(ann, channel, "How?")
            await fake.until(lambda: core.delivered)
            (answer,) = fake.seen(channel)
            assert "message_reference" not in answer

    asyncio.run(go())


def test_a_private_answer_goes_to_direct_messages_with_a_word_in_the_channel():
    async def act(fake, core, question, ann):
        asked_at = f"https://discord.com/channels/{fake.world.guild_id}/{fake.general}/{question['id']}"
        assert fake.texts(fake.world.direct(ann)) == [
            f"> How do I reset it?\n\nThe salary is high.\n\n-# Asked [here](<{asked_at}>)"
        ]
        assert fake.texts(fake.general) == [ANSWERED_PRIVATELY]
        assert fake.thread_of(question) is None
        assert core.delivered == [(fake.seen(fake.world.direct(ann))[0]["id"],)]

    answering(act, Outgoing("The salary is high.", private=True))


def test_a_private_answer_is_never_shown_to_others_when_direct_messages_are_closed():
    async def prepare(fake):
        fake.rest.closed_to_direct.update(fake.world.users)
        fake.rest.closed_to_direct.add(max(fake.world.users))

    async def go():
        async with running(FakeCore(answer=Outgoing("The salary is high.", private=True))) as (fake, core, _):
            ann = fake.person()
            fake.rest.closed_to_direct.add(ann)
            await fake.mention(ann, fake.general, "How much?")
            await fake.until(lambda: core.delivered)
            assert [one["content"] for one in fake.everything()] == [CLOSED]
            assert core.delivered == [()]

    asyncio.run(go())


def test_nobody_is_called_by_what_stands_in_documents_or_questions():
    hostile = "Tell @everyone and @here, <@123>, <@&456>: **@**everyone `<@123>`\n```\n@everyone\n```"

    async def act(fake, core, question, _):
        (answer,) = fake.seen(fake.thread_of(question))
        assert answer["pings"] == []
        assert "@everyone" not in answer["content"]

    answering(act, Outgoing(hostile))


def test_every_message_forbids_mentions_even_if_its_text_had_one(monkeypatch):
    monkeypatch.setattr("bot.chat.discord_layout.split", lambda pieces, limit: ["@everyone <@123> <@&456>"])

    async def act(fake, core, question, _):
        (answer,) = fake.seen(fake.thread_of(question))
        assert "@everyone" in answer["content"]
        assert answer["pings"] == []

    answering(act)


def test_links_unfold_no_preview():
    async def act(fake, core, question, _):
        (answer,) = fake.seen(fake.thread_of(question))
        assert "<https://x.example/?q=secret>" in answer["content"]
        assert answer["unfolded"] == []
        assert answer["flags"] & 4

    answering(act, Outgoing("![](https://x.example/?q=secret) https://y.example"))


FAULTS = [
    ("429", False),
    ("500", False),
    ("500", True),
    ("503", False),
    ("drop", False),
    ("drop", True),
    ("hang", True),
]


@pytest.mark.parametrize(("kind", "done"), FAULTS)
@pytest.mark.parametrize("path", ["/messages$", "/threads$", "/typing$"])
def test_whatever_fails_for_a_while_nothing_is_lost_and_nothing_doubled(kind, done, path):
    async def prepare(fake):
        fake.faults.plan(kind, path, done=done, times=2 if kind in {"429", "drop"} else 1)

    async def act(fake, core, question, _):
        thread = fake.thread_of(question)
        texts = fake.texts(thread)
        assert "".join(texts).count("Part") == 4
        assert core.delivered == [tuple(one["id"] for one in fake.seen(thread))]
        assert fake.faults.happened

    answering(
        act, Outgoing(LONG), prepare, patience=Patience(8.0, 0.5, 0.01) if kind == "hang" else Patience(8.0, 5.0, 0.01)
    )


def test_parts_that_arrived_are_not_repeated_after_a_rate_limit():
    async def go():
        core = FakeCore(answer=Outgoing(LONG))
        async with running(core) as (fake, core, _):
            ann = fake.person()
            channel = fake.world.direct(ann)
            core.before_answer = lambda _: asyncio.sleep(0)
            posted = fake.rest.faults.next
            count = 0

            def third_fails(request):
                nonlocal count
                if request.method == "POST" and request.path.endswith("/messages"):
                    count += 1
                    if count == 3:
                        fake.faults.plan("429", "/messages$", times=3, retry_after=0.1)
                return posted(request)

            fake.rest.faults.next = third_fails
            await fake.say(ann, channel, "How?")
            await fake.until(lambda: core.delivered)
            assert (
                fake.called("POST", f"/channels/{channel}/messages")
                == [200, 200, 429, 429, 429, 200, 200][: 4 + len(core.delivered[0])]
            )
            assert "".join(fake.texts(channel)).count("Part") == 4

    asyncio.run(go())


def test_announced_rate_limits_are_kept_without_running_into_them():
    parts = [f"Part {number}. " + "word " * 250 for number in range(8)]

    async def go():
        async with running(FakeCore(answer=Outgoing("\n\n".join(parts)))) as (fake, core, _):
            fake.rest.buckets.count, fake.rest.buckets.seconds = 3, 0.3
            people = [fake.person(f"P{number}") for number in range(3)]
            channel = fake.world.thread(fake.general, people[0], "talk")
            await fake.gateway.dispatch("THREAD_CREATE", fake.world.channels[channel])
            for person in people:
                await fake.mention(person, channel, "How?")
            await fake.until(lambda: len(core.delivered) == 3)
            assert set(fake.called("POST", f"/channels/{channel}/messages")) == {200}
            order = [one["content"].split(".")[0] for one in fake.seen(channel)]
            assert order == [f"Part {number}" for _ in people for number in range(8)]

    asyncio.run(go())


def test_a_rate_limit_that_lasts_too_long_is_an_error_and_not_waited_for():
    async def prepare(fake):
        fake.faults.plan("429", "/messages$", times=99, retry_after=600)

    async def act(fake, core, question, _):
        assert isinstance(core.failed[0], UnavailableError)

    async def go():
        async with running(patience=Patience(2.0, 1.0, 0.01)) as (fake, core, _):
            await prepare(fake)
            await fake.mention(fake.person(), fake.general, "How?")
            await fake.until(lambda: core.failed)
            await act(fake, core, None, None)

    asyncio.run(go())


def test_a_refusal_for_no_reason_that_is_known_moves_the_answer_on():
    async def prepare(fake):
        fake.faults.plan("refuse", "/messages$", refusal=RefusedError(400, 200000, "Blocked by AutoMod"))

    async def act(fake, core, question, _):
        assert fake.texts(fake.thread_of(question)) == []
        assert fake.texts(fake.general) == ["You said: How do I reset it?"]

    answering(act, prepare=prepare)


def test_that_a_question_waits_is_said_and_taken_back():
    async def go():
        core = FakeCore()
        released = asyncio.Event()
        async with running(core) as (fake, core, _):
            heard = core.hear

            async def hear(one, place):
                if not one.by_bot:
                    await place.working("Nine come before this one.")
                    await released.wait()
                await heard(one, place)

            core.hear = hear
            question = await fake.mention(fake.person(), fake.general, "How?")
            await fake.until(lambda: fake.texts(fake.general) == ["Nine come before this one."])
            released.set()
            await fake.until(lambda: core.delivered)
            assert fake.texts(fake.general) == []
            assert fake.texts(fake.thread_of(question)) == ["You said: How?"]

    asyncio.run(go())


def test_when_nothing_is_said_no_sign_stays():
    async def go():
        core = FakeCore(answer=lambda _: None)
        async with running(core) as (fake, core, platform):
            await fake.mention(fake.person(), fake.general, "How?")
            await fake.until(lambda: core.heard)
            await fake.quiet()
            assert fake.everything() == []
            assert platform._client.parts.typing._tasks == {}

    asyncio.run(go())


def test_many_questions_in_one_channel_show_one_sign_of_typing():
    async def go():
        core = FakeCore()
        released = asyncio.Event()
        core.before_answer = lambda _: released.wait()
        async with running(core) as (fake, core, _):
            people = [fake.person(f"P{number}") for number in range(20)]
            for person in people:
                await fake.mention(person, fake.general, "How?")
            await fake.until(lambda: len([one for one in core.heard if not one.by_bot]) == 20)
            await fake.quiet()
            assert len(fake.rest.typing) == 1
            released.set()
            await fake.until(lambda: len(core.delivered) == 20)
            assert len({ids for (ids,) in core.delivered}) == 20

    asyncio.run(go())
