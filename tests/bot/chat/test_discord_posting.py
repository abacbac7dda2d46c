"""What the core and the scheduler post on Discord on their own account: cards, words, answers to lost questions."""

import asyncio

import pytest

from bot.chat.messages import Action, Card, Heard, Outgoing, Person, Verb
from store.errors import NotFoundError, UnavailableError
from tests.fakes.core import FakeCore
from tests.fakes.discord import discord_server
from tests.fakes.discord_running import connected, running
from tests.fakes.discord_world import EMBED

APPROVE = Action(Verb.APPROVE, "c1", "Approve", "primary")
CARD = Card("candidate", "c1", 1, "A source", "For: **VPN**", {"Licence": "MIT", "Owner": ""}, (APPROVE,))


def posting(act):
    async def go():
        async with running() as (fake, core, platform):
            await act(fake, core, platform)

    asyncio.run(go())


def test_a_card_shows_title_facts_and_buttons():
    async def act(fake, _, platform):
        posted = await platform.post_card(str(fake.general), CARD)
        (message,) = fake.seen(fake.general)
        assert message["id"] == posted
        (frame,) = message["embeds"]
        assert (frame["title"], frame["description"]) == ("A source", "For: **VPN**")
        assert [(field["name"], field["value"]) for field in frame["fields"]] == [("Licence", "MIT"), ("Owner", "—")]
        assert message["components"][0]["components"][0]["custom_id"] == "gaplight:approve:c1"

    posting(act)


def test_a_card_is_redrawn_in_place_and_loses_its_buttons():
    async def act(fake, _, platform):
        posted = await platform.post_card(str(fake.general), CARD)
        decided = Card("candidate", "c1", 2, "A source", "**Approved by Ann**")
        await platform.redraw(str(fake.general), posted, decided)
        (message,) = fake.seen(fake.general)
        assert message["embeds"][0]["description"] == "**Approved by Ann**"
        assert message["components"] == []

    posting(act)


def test_a_card_that_is_gone_cannot_be_redrawn():
    async def act(fake, _, platform):
        for channel in (fake.general, 5):
            with pytest.raises(NotFoundError):
                await platform.redraw(str(channel), "77", CARD)

    posting(act)


def test_where_frames_are_not_allowed_a_card_is_text():
    async def go():
        async with discord_server() as fake:
            fake.world.deny(fake.general, EMBED)
            async with connected(fake, FakeCore()) as platform:
                posted = await platform.post_card(str(fake.general), CARD)
                (message,) = fake.seen(fake.general)
                assert message["content"].startswith("**A source**")
                assert message["components"]
                await platform.redraw(str(fake.general), posted, Card("candidate", "c1", 2, "A source", "Done."))
                assert "Done." in message["content"] or "Done." in message["embeds"][0]["description"]

    asyncio.run(go())


def test_a_long_card_goes_on_below_the_message_with_the_buttons():
    async def act(fake, _, platform):
        body = "\n".join(f"- gap {number}: {'how ' * 90}" for number in range(30))
        posted = await platform.post_card(str(fake.general), Card("digest", "", 1, "Digest", body, actions=(APPROVE,)))
        first, *rest = fake.seen(fake.general)
        assert first["id"] == posted
        assert first["components"]
        assert rest
        shown = "".join(frame["description"] for one in [first, *rest] for frame in one["embeds"])
        assert all(f"gap {number}:" in shown for number in range(30))

    posting(act)


def test_parts_of_cards_are_not_mixed_with_those_of_others():
    async def act(fake, _, platform):
        cards = [Card("digest", "", 1, name, f"{name} " * 4000) for name in ("aa", "bb")]
        await asyncio.gather(*(platform.post_card(str(fake.general), card) for card in cards))
        order = [one["embeds"][0]["description"][:2] for one in fake.seen(fake.general)]
        assert order in (sorted(order), sorted(order, reverse=True))

    posting(act)


def test_a_channel_that_is_none_is_an_error_with_a_hint():
    async def act(_, __, platform):
        with pytest.raises(UnavailableError, match="not the id of a channel"):
            await platform.post_card("#general", CARD)
        with pytest.raises(UnavailableError):
            await platform.post_card("5", CARD)

    posting(act)


@pytest.mark.parametrize("threaded", [True, False])
def test_words_go_into_the_thread_of_a_conversation_or_below_its_question(threaded):
    async def act(fake, core, platform):
        ann = fake.person()
        question = await (fake.mention if threaded else fake.say)(ann, fake.general, "How?")
        if threaded:
            await fake.until(lambda: core.delivered)
        told = await platform.tell(f"{fake.general}:{question['id']}", "The documents don't answer this.")
        if threaded:
            assert fake.seen(fake.thread_of(question))[-1]["id"] == told
        else:
            (message,) = fake.seen(fake.general)
            assert message["message_reference"]["message_id"] == question["id"]

    posting(act)


def test_only_those_are_called_who_are_named_whatever_the_text_says():
    async def go():
        async with discord_server() as fake:
            ben, role = fake.person("Ben"), fake.world.role("experts")
            async with connected(fake, FakeCore()) as platform:
                await platform.tell(str(fake.general), "Ask @everyone, <@5> or <@&6>. " * 100, f"{ben},{role}, junk")
            first, *rest = fake.seen(fake.general)
            assert first["content"].startswith(f"<@{ben}> <@&{role}> Ask")
            assert first["pings"] == [f"user {ben}", f"role {role}"]
            assert rest
            assert all(one["pings"] == [] for one in rest)

    asyncio.run(go())


def test_all_members_are_not_a_role_that_can_be_called():
    async def go():
        async with discord_server() as fake, connected(fake, FakeCore()) as platform:
            await platform.tell(str(fake.general), "Words", str(fake.world.guild_id))
            assert fake.seen(fake.general)[0]["pings"] == []
            assert fake.texts(fake.general) == ["Words"]

    asyncio.run(go())


@pytest.mark.parametrize("where", ["channel", "thread", "reply", "direct", "command"])
def test_a_question_that_a_process_died_over_is_answered_where_it_was_asked(where):
    async def act(fake, core, platform):
        ann = fake.person()
        author = Person(f"discord:{ann}")
        general = str(fake.general)
        said = await fake.say(ann, fake.general, "How?")
        if where == "direct":
            channel = fake.world.direct(ann)
            said = await fake.say(ann, channel, "How?", type=7)
            heard = Heard("discord", str(channel), str(channel), said["id"], author, "How?", direct=True, alone=True)
        elif where == "thread":
            channel = fake.world.thread(fake.general, ann, "talk")
            said = await fake.say(ann, channel, "How?")
            heard = Heard("discord", general, f"{general}:{channel}", said["id"], author, "How?", in_thread=True)
        elif where == "reply":
            channel = fake.general
            heard = Heard("discord", general, f"{general}:1", said["id"], author, "How?", in_thread=True)
        elif where == "command":
            channel = fake.general
            heard = Heard("discord", general, f"{general}:1", "12345", author, "How?", direct=True)
        else:
            heard = Heard("discord", general, f"{general}:{said['id']}", said["id"], author, "How?", mentions_bot=True)
        place = await platform.place(heard)
        await place.working()
        await place.deliver(Outgoing("So."))
        if where == "channel":
            channel = fake.thread_of(said)
        (answer,) = fake.seen(channel)
        assert answer["content"] == ("> How?\n\nSo." if where == "command" else "So.")
        if where in {"thread", "reply"}:
            assert answer["message_reference"]["message_id"] == said["id"]

    posting(act)
