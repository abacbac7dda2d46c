"""Commands, buttons and forms on Discord are acknowledged in time, and none is ever silent."""

import asyncio

import pytest

from bot.chat.discord_interaction_place import ASIDE
from bot.chat.discord_interactions import NO_TEXT, NOT_A_PERSON, UNKNOWN_COMMAND
from bot.chat.messages import Action, Card, Outgoing, Person, Press, Verb
from store.errors import UnavailableError
from store.records import Visibility
from tests.fakes.core import FakeCore
from tests.fakes.discord import discord_server
from tests.fakes.discord_running import connected, running
from tests.fakes.discord_world import EPHEMERAL, LOADING, SEND

BUTTONS = (
    Action(Verb.HELPFUL, "q1", "Helpful"),
    Action(Verb.UNHELPFUL, "q1", "Not helpful"),
    Action(Verb.REJECT, "c1", "Reject", "danger"),
)
WORDS = Outgoing("Thank you.", private=True)


def talking(act, core=None, **changes):
    async def go():
        async with running(core or FakeCore(), **changes) as (fake, core_, _):
            await act(fake, core_, fake.person("Ann"))

    asyncio.run(go())


async def answered(fake, core, user, channel=None):
    """An answer with buttons, in a thread."""
    question = await fake.mention(user, channel or fake.general, "How?")
    await fake.until(lambda: core.delivered)
    return fake.seen(fake.thread_of(question))[0]


def test_a_command_is_answered_in_its_response_below_the_question():
    async def act(fake, core, ann):
        asked = await fake.command(ann, fake.general, "ask", question="How do I reset <@5>'s VPN?", collection="guides")
        await fake.until(lambda: core.delivered)
        assert asked.texts == ["> How do I reset @user's VPN?\n\nYou said: How do I reset @user's VPN?"]
        (heard,) = [one for one in core.heard if not one.by_bot]
        assert heard.direct
        assert not heard.alone
        assert heard.collections == ("guides",)
        assert heard.author == Person(f"discord:{ann}")
        assert heard.message == str(asked.id)
        assert heard.conversation == f"{fake.general}:{asked.original}"
        assert heard.visibility is Visibility.PUBLIC
        assert core.delivered == [(str(asked.original),)]

    talking(act)


def test_a_command_in_direct_messages_is_heard_as_such():
    async def act(fake, core, ann):
        channel = fake.world.direct(ann)
        asked = await fake.command(ann, channel, "ask", question="How?")
        await fake.until(lambda: core.delivered)
        assert (core.heard[0].alone, core.heard[0].conversation) == (True, str(channel))
        assert asked.texts == ["> How?\n\nYou said: How?"]

    talking(act)


def test_a_slow_answer_is_acknowledged_at_once():
    async def act(fake, core, ann):
        released = asyncio.Event()
        core.before_answer = lambda _: released.wait()
        asked = await fake.command(ann, fake.general, "ask", question="How?")
        await fake.until(lambda: asked.response)
        assert asked.messages[0]["flags"] & LOADING
        fake.interactions.skipped += 12
        released.set()
        await fake.until(lambda: core.delivered)
        assert asked.texts == ["> How?\n\nYou said: How?"]

    talking(act)


@pytest.mark.parametrize("private", [False, True])
def test_a_command_that_was_acknowledged_too_late_is_answered_in_a_message(private):
    async def act(fake, core, ann):
        fake.faults.plan("500", "/callback$")  # the library then waits for a second before it tries again
        asked = await fake.command(ann, fake.general, "ask", question="How?")
        fake.interactions.skipped += 3
        await fake.until(lambda: core.delivered)
        assert asked.texts == []
        (text,) = fake.texts(fake.world.direct(ann) if private else fake.general)
        assert text.startswith("> How?\n\nSo.")

    talking(act, FakeCore(answer=Outgoing("So.", private=private)))


def test_an_answer_that_comes_when_the_response_is_dead_is_posted_as_a_message():
    async def act(fake, core, ann):
        async def long_work(_heard):
            fake.interactions.skipped += 20 * 60

        core.before_answer = long_work
        await fake.command(ann, fake.general, "ask", question="How?")
        await fake.until(lambda: core.delivered)
        assert "> How?\n\nYou said: How?" in fake.texts(fake.general)
        assert [status for method, _, status in fake.rest.calls if method == "PATCH"] == [401]

    talking(act)


def test_a_long_answer_to_a_command_continues_in_messages():
    long = "\n\n".join(f"Part {number}. " + "word " * 250 for number in range(4))

    async def act(fake, core, ann):
        asked = await fake.command(ann, fake.general, "ask", question="How?")
        await fake.until(lambda: core.delivered)
        seen = fake.seen(fake.general)
        assert [one["id"] for one in seen] == list(core.delivered[0])
        assert seen[0]["id"] == str(asked.original)
        assert "".join(one["content"] for one in seen).count("Part") == 4

    talking(act, FakeCore(answer=Outgoing(long)))


def test_where_messages_are_not_allowed_a_long_answer_continues_in_responses():
    async def go():
        async with discord_server() as fake:
            fake.world.deny(fake.general, SEND)
            core = FakeCore(answer=Outgoing("word " * 1000))
            async with connected(fake, core):
                asked = await fake.command(fake.person(), fake.general, "ask", question="How?")
                await fake.until(lambda: core.delivered)
                assert "".join(asked.texts).count("word") == 1000

    asyncio.run(go())


def test_a_private_answer_to_a_command_is_shown_to_the_asker_alone():
    async def act(fake, core, ann):
        asked = await fake.command(ann, fake.general, "ask", question="How much?")
        await fake.until(lambda: core.delivered)
        assert fake.texts(fake.general) == [ASIDE]
        assert asked.texts == [ASIDE, "> How much?\n\nThe salary is high."]
        assert asked.messages[1]["flags"] & EPHEMERAL

    talking(act, FakeCore(answer=Outgoing("The salary is high.", private=True)))


@pytest.mark.parametrize(("kind", "done"), [("500", False), ("429", False), ("drop", False), ("drop", True)])
@pytest.mark.parametrize("path", ["/callback$", "/messages/@original$"])
def test_a_command_is_answered_once_whatever_fails_for_a_while(kind, done, path):
    async def act(fake, core, ann):
        method = "POST" if "callback" in path else "PATCH"
        fake.faults.plan(kind, path, method=method, done=done)
        asked = await fake.command(ann, fake.general, "ask", question="How?")
        await fake.until(lambda: core.delivered)
        shown = [text for text in [*asked.texts, *fake.texts(fake.general)] if text]
        assert set(shown) == {"> How?\n\nYou said: How?"}

    talking(act)


def test_nothing_to_say_takes_the_response_back():
    async def act(fake, core, ann):
        asked = await fake.command(ann, fake.general, "ask", question="How?")
        await fake.until(lambda: asked.response and not asked.messages)

    talking(act, FakeCore(answer=lambda _: None))


def test_a_command_that_fails_in_an_unforeseen_way_says_so():
    async def act(fake, core, ann):
        def fail(_heard):
            raise ZeroDivisionError

        core.answer = fail
        asked = await fake.command(ann, fake.general, "ask", question="How?")
        await fake.until(lambda: any(asked.texts))
        assert "Something went wrong" in asked.texts[0]

    talking(act)


def test_collections_are_offered_while_a_name_is_typed():
    async def act(fake, core, ann):
        assert await fake.complete(ann, fake.general, "ask", "collection", "") == ["guides", "handbook"]
        assert await fake.complete(ann, fake.general, "ask", "collection", "ha") == ["handbook"]

    talking(act)


def test_a_command_shows_what_the_core_gives_to_the_one_who_asked():
    async def act(fake, core, ann):
        card = Card("candidate", "c1", 1, "A source", "Body", {"Licence": "MIT"}, BUTTONS[2:])
        core.shown = {"candidates": (Outgoing("Two wait."), card)}
        asked = await fake.command(ann, fake.general, "gaplight", what="candidates")
        await fake.until(lambda: len(asked.messages) == 2 and asked.texts[0])
        assert asked.texts[0] == "Two wait."
        assert asked.messages[1]["embeds"][0]["title"] == "A source"
        assert all(one["flags"] & EPHEMERAL for one in asked.messages)
        assert core.commands == [("candidates", Person(f"discord:{ann}"), str(fake.general), Visibility.PUBLIC)]

    talking(act)


def test_what_a_command_lacks_is_said():
    async def act(fake, core, ann):
        asked = await fake.command(ann, fake.general, "gaplight", what="reject", details="c1 too old")
        await fake.until(lambda: any(asked.texts))
        assert asked.texts == [UNKNOWN_COMMAND]
        assert core.commands[0][0] == "reject c1 too old"

    talking(act)


def test_a_message_s_menu_asks_about_it():
    async def act(fake, core, ann):
        said = await fake.say(fake.person("Ben"), fake.general, "The VPN <:bad:1> is broken.")
        asked = await fake.menu(ann, said, "Ask Gaplight about this")
        await fake.until(lambda: core.delivered)
        assert asked.texts == ["> The VPN :bad: is broken.\n\nYou said: The VPN :bad: is broken."]
        (heard,) = [one for one in core.heard if one.direct]
        assert heard.author.id == f"discord:{ann}"
        assert heard.conversation == f"{fake.general}:{said['id']}"
        assert heard.message == str(asked.id)

    talking(act)


def test_a_message_without_text_cannot_be_asked_about():
    async def act(fake, core, ann):
        said = await fake.say(fake.person("Ben"), fake.general, "")
        asked = await fake.menu(ann, said, "Ask Gaplight about this")
        await fake.until(lambda: any(asked.texts))
        assert asked.texts == [NO_TEXT]
        assert asked.messages[0]["flags"] & EPHEMERAL

    talking(act)


def test_a_message_s_menu_makes_it_the_answer():
    async def act(fake, core, ann):
        question = await fake.say(ann, fake.general, "How?")
        reply = await fake.say(fake.person("Ben"), fake.general, "So.", reply_to=question)
        marking = await fake.menu(ann, reply, "This is the answer")
        await fake.until(lambda: any(marking.texts))
        assert marking.texts == ["Thank you, the admins will decide."]
        (marked,) = core.adopted
        assert (marked.text, marked.conversation) == ("So.", f"{fake.general}:{question['id']}")
        assert marked.marked_by == Person(f"discord:{ann}")

    talking(act)


def test_what_a_bot_says_is_not_the_answer():
    async def act(fake, core, ann):
        said = await fake.say(fake.person("Robo", bot=True), fake.general, "So.")
        marking = await fake.menu(ann, said, "This is the answer")
        await fake.until(lambda: any(marking.texts))
        assert marking.texts == [NOT_A_PERSON]
        assert core.adopted == []

    talking(act)


def test_a_press_is_done_and_answered_to_the_one_who_pressed():
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)
        thread = int(answer["channel_id"])
        click = await fake.click(ann, answer, "Helpful")
        await fake.until(lambda: any(click.texts))
        assert click.texts == ["Thank you."]
        assert click.messages[0]["flags"] & EPHEMERAL
        person = Person(f"discord:{ann}")
        conversation = f"{fake.general}:{thread}"
        assert core.pressed == [
            Press("discord", Verb.HELPFUL, "q1", person, str(fake.general), answer["id"], conversation)
        ]

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS), words=WORDS))


def test_a_press_that_can_be_seen_anyway_leaves_nothing_behind():
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)
        click = await fake.click(ann, answer, "Helpful")
        await fake.until(lambda: core.pressed and click.response and not click.messages)

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS)))


def test_a_press_below_a_reply_in_a_channel_belongs_to_its_question():
    async def act(fake, core, ann):
        question = await fake.say(ann, fake.general, "How?")
        posted = fake.world.message(
            fake.world.bot,
            fake.general,
            "So.",
            components=[{"type": 1, "components": [_button("gaplight:helpful:q1")]}],
        )
        fake.world.refer(posted, fake.general, int(question["id"]), ping=False)
        await fake.click(ann, posted, "Press")
        await fake.until(lambda: core.pressed)
        assert core.pressed[0].conversation == f"{fake.general}:{question['id']}"

    talking(act)


def _button(custom_id):
    return {"type": 2, "style": 2, "label": "Press", "custom_id": custom_id}


def test_a_private_answer_in_direct_messages_is_shared_where_its_question_was_asked():
    async def act(fake, core, ann):
        question = await fake.mention(ann, fake.general, "How much?")
        await fake.until(lambda: core.delivered)
        (answer,) = fake.seen(fake.world.direct(ann))
        await fake.click(ann, answer, "Share here")
        await fake.until(lambda: core.pressed)
        assert core.pressed[0].conversation == f"{fake.general}:{question['id']}"
        assert core.pressed[0].channel == str(fake.general)

    share = (Action(Verb.SHARE, "q1", "Share here"),)
    talking(act, FakeCore(answer=Outgoing("The salary is high.", actions=share, private=True)))


def test_a_slow_press_is_acknowledged_at_once():
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)
        released = asyncio.Event()
        pressed = core.press

        async def slow(press):
            await released.wait()
            return await pressed(press)

        core.press = slow
        click = await fake.click(ann, answer, "Helpful")
        await fake.until(lambda: click.response)
        fake.interactions.skipped += 4
        released.set()
        await fake.until(lambda: any(click.texts))
        assert click.texts == ["Thank you."]

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS), words=WORDS))


def test_a_press_long_after_the_message_was_posted_uses_its_own_response():
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)
        fake.interactions.skipped += 30 * 60
        click = await fake.click(ann, answer, "Helpful")
        await fake.until(lambda: any(click.texts))
        assert click.texts == ["Thank you."]

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS), words=WORDS))


def test_the_words_for_a_press_that_took_too_long_go_to_direct_messages():
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)
        core.words = lambda _: setattr(fake.interactions, "skipped", 20 * 60) or WORDS
        await fake.click(ann, answer, "Helpful")
        await fake.until(lambda: fake.texts(fake.world.direct(ann)) == ["Thank you."])
        assert len(fake.seen(answer["channel_id"])) == 1

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS), words=WORDS))


def test_a_press_that_fails_in_an_unforeseen_way_says_so():
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)

        def fail(_press):
            raise ZeroDivisionError

        core.words = fail
        click = await fake.click(ann, answer, "Helpful")
        await fake.until(lambda: any(click.texts))
        assert "Something went wrong" in click.texts[0]

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS)))


def test_buttons_work_after_a_restart():
    async def go():
        async with discord_server() as fake:
            ann = fake.person()
            first = FakeCore(answer=Outgoing("So.", actions=BUTTONS))
            async with connected(fake, first):
                answer = await answered(fake, first, ann)
            second = FakeCore(words=WORDS)
            async with connected(fake, second):
                click = await fake.click(ann, answer, "Helpful")
                await fake.until(lambda: any(click.texts))
            assert first.pressed == []
            assert second.pressed[0].subject == "q1"
            assert click.texts == ["Thank you."]

    asyncio.run(go())


def test_a_button_that_there_is_no_more_says_so():
    async def act(fake, core, ann):
        old = fake.world.message(
            fake.world.bot,
            fake.general,
            "Old",
            components=[{"type": 1, "components": [_button("gaplight:celebrate:1")]}],
        )
        click = await fake.click(ann, old, "Press")
        await fake.until(lambda: any(click.texts))
        assert "earlier version" in click.texts[0]

    talking(act)


def test_not_helpful_counts_at_once_and_takes_a_reason():
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)
        click = await fake.click(ann, answer, "Not helpful")
        await fake.until(lambda: click.form and core.pressed)
        assert core.pressed[0].note == ""
        sent = await fake.submit(click, "  Out of date.  ", answer)
        await fake.until(lambda: any(sent.texts))
        assert (core.pressed[1].verb, core.pressed[1].subject, core.pressed[1].note) == (
            Verb.UNHELPFUL,
            "q1",
            "Out of date.",
        )
        assert sent.texts == ["Thank you."]
        assert sent.messages[0]["flags"] & EPHEMERAL

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS), words=WORDS))


def test_a_rejection_is_made_only_when_its_reason_was_sent():
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)
        click = await fake.click(ann, answer, "Reject")
        await fake.until(lambda: click.form)
        await fake.quiet()
        assert core.pressed == []
        await fake.submit(click, "Too old.", answer)
        await fake.until(lambda: core.pressed)
        assert (core.pressed[0].subject, core.pressed[0].note) == ("c1", "Too old.")

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS), words=WORDS))


def test_a_form_that_was_opened_before_a_restart_is_taken():
    async def go():
        async with discord_server() as fake:
            ann = fake.person()
            first = FakeCore(answer=Outgoing("So.", actions=BUTTONS))
            async with connected(fake, first):
                answer = await answered(fake, first, ann)
                click = await fake.click(ann, answer, "Reject")
                await fake.until(lambda: click.form)
            second = FakeCore(words=WORDS)
            async with connected(fake, second):
                sent = await fake.submit(click, "Too old.", answer)
                await fake.until(lambda: any(sent.texts))
            assert second.pressed[0].note == "Too old."

    asyncio.run(go())


def test_a_form_that_cannot_be_opened_is_said_and_nothing_is_rejected():
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)
        fake.faults.plan("500", "/callback$")
        await fake.click(ann, answer, "Reject")
        fake.interactions.skipped += 3
        await fake.until(lambda: fake.texts(fake.world.direct(ann)), "words in direct messages")
        assert "press the button again" in fake.texts(fake.world.direct(ann))[0]
        assert core.pressed == []

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS)))


def test_two_processes_that_both_get_a_press_answer_it_with_one_voice():
    async def go():
        async with discord_server() as fake:
            ann = fake.person()
            first = FakeCore(answer=Outgoing("So.", actions=BUTTONS), words=Outgoing("Approved."))
            second = FakeCore(answer=lambda _: None, words=Outgoing("Approved already."))
            async with connected(fake, first), connected(fake, second):
                answer = await answered(fake, first, ann)
                click = await fake.click(ann, answer, "Helpful")
                await fake.until(lambda: first.pressed and second.pressed and any(click.texts))
                await fake.quiet()
                assert len(click.texts) == 1

    asyncio.run(go())


def test_words_that_cannot_be_shown_do_no_harm(caplog):
    async def act(fake, core, ann):
        answer = await answered(fake, core, ann)
        fake.rest.closed_to_direct.add(ann)
        core.words = lambda _: setattr(fake.interactions, "skipped", 20 * 60) or WORDS
        await fake.click(ann, answer, "Helpful")
        await fake.until(lambda: "could not be shown" in caplog.text)

    talking(act, FakeCore(answer=Outgoing("So.", actions=BUTTONS), words=WORDS))
    assert UnavailableError.__name__ in caplog.text or "RefusedError" in caplog.text
