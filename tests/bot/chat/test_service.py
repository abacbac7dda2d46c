"""The core of the chat over the real engine: each message is answered once, in words, and nothing private gets out."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.chat.access import Channel
from bot.chat.messages import Heard, Marked, Person, Press, Verb
from bot.chat.wording import GREETING, OUTSIDER, TOO_FAST
from store.errors import UnavailableError
from store.records import CandidateState, GapState, Status, Visibility
from tests.fakes.chat import PlainPlatform, service_over
from tests.fakes.installation import Installation

DOCS = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button and sign in again.\n",
    "windows.md": "# VPN on Windows\n\nOn Windows, reset the VPN client from the tray icon.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night at two.\n",
    "expenses.md": "# Expenses\n\nHand in receipts for a business trip within ten days.\n",
}
SALARIES = {"pay.md": "# Salaries\n\n## Bands\n\nEngineers of band seven earn ninety thousand a year.\n"}
ASKER = Person("slack:U1")
OTHER = Person("slack:U2")
HEARD = Heard("slack", "C1", "C1:1.0", "1.0", ASKER, "How do I reset the VPN client?", mentions_bot=True)
PAY = "How much do engineers of band seven earn?"
GAP = "Where do I park my bicycle?"


@pytest.fixture
def here(tmp_path, minilm):
    installation = Installation(tmp_path, minilm)
    installation.write(DOCS)
    yield installation
    installation.close()


@pytest.fixture
def platform():
    return PlainPlatform()


@pytest.fixture
def service(here, platform):
    return connected(service_over(here), platform)


def connected(service, platform):
    service.connect(platform)
    return service


def hear(service, platform, *messages, failures=0):
    """Let the service hear messages at the same time; the room of each."""
    rooms = [platform.room(failures) for _ in messages]

    async def everything():
        await asyncio.gather(*(service.hear(heard, room) for heard, room in zip(messages, rooms, strict=True)))

    asyncio.run(everything())
    return rooms


def press(service, verb, subject, person=ASKER, note="", conversation="C1:1.0"):
    return asyncio.run(service.press(Press("slack", verb, subject, person, "C1", "m1", conversation, note)))


def asked(service, platform, text, **changes):
    """Ask once; the room and the question's id."""
    room = hear(service, platform, replace(HEARD, text=text, **changes))[0]
    return room, room.delivered[0].reply.question_id


# Once and in words


def test_a_question_is_acknowledged_and_answered_with_its_source(service, platform):
    room = hear(service, platform, HEARD)[0]
    assert room.signs == [""]
    assert "blue button" in room.texts[0]
    assert [action.verb for action in room.delivered[0].actions] == [Verb.HELPFUL, Verb.UNHELPFUL, Verb.MISSING]


def test_copies_of_a_message_are_answered_once_even_at_the_same_moment(here, service, platform):
    rooms = hear(service, platform, *[HEARD] * 5)
    assert sum(len(room.delivered) for room in rooms) == 1
    assert here.questions.stats().questions == 1


def test_a_message_that_comes_again_after_a_restart_is_not_answered_again(here, platform, service):
    hear(service, platform, HEARD)
    again = connected(service_over(here), platform)
    assert hear(again, platform, HEARD)[0].delivered == []


def test_a_message_that_a_process_died_over_is_answered_by_the_next(here, platform, service):
    assert here.questions.claim("message", HEARD.key, now=here.clock(), payload=payload(HEARD))
    assert hear(service, platform, HEARD)[0].delivered == []
    here.clock.forward(minutes=3)
    assert asyncio.run(service.resume_lost()) == 1
    assert "blue button" in platform.rooms[-1].texts[0]
    assert asyncio.run(service.resume_lost()) == 0


def payload(heard):
    from bot.chat.inbox import _payload

    return _payload(heard)


def test_what_is_kept_of_a_message_is_masked_and_deleted_with_its_answer(here, platform, service):
    secret = "xox" + "b-1-2-FAKEFAKEFAKE"
    assert secret not in str(payload(replace(HEARD, text=f"why does {secret} fail?")))
    hear(service, platform, HEARD)
    here.clock.forward(hours=1)
    assert here.questions.unfinished_claims("message", here.clock()) == []


def test_a_message_that_could_not_be_delivered_is_answered_when_it_comes_again(service, platform):
    assert hear(service, platform, HEARD, failures=1)[0].delivered == []
    assert service.undelivered == 1
    assert len(hear(service, platform, HEARD)[0].delivered) == 1


def test_a_message_that_its_author_deleted_meanwhile_is_not_answered(service, platform):
    asyncio.run(service.withdraw("slack", "C1", "1.0"))
    room = hear(service, platform, HEARD)[0]
    assert (room.delivered, room.dismissed) == ([], 1)


def test_a_mention_without_words_is_greeted_and_leaves_no_trace(here, service, platform):
    room = hear(service, platform, replace(HEARD, text=""))[0]
    assert room.texts == [GREETING]
    assert here.questions.stats().questions == 0


def test_people_from_outside_are_told_that_they_are_not_answered(here, platform, service):
    outsider = replace(HEARD, author=Person("slack:U9", outsider=True))
    assert hear(service, platform, outsider)[0].texts == [OUTSIDER]
    open_to_all = connected(service_over(here, answer_outsiders=frozenset({"slack"})), platform)
    assert "blue button" in hear(open_to_all, platform, replace(outsider, message="2.0"))[0].texts[0]


def test_a_conversation_that_runs_wild_is_paused_with_one_notice(here, platform):
    service = connected(service_over(here, answers_a_minute=3), platform)
    rooms = hear(service, platform, *(replace(HEARD, message=f"{n}.0") for n in range(8)))
    texts = [text for room in rooms for text in room.texts]
    assert len(texts) == 4
    assert texts.count(TOO_FAST) == 1


def test_an_engine_that_breaks_ends_in_words(here, platform):
    class Broken:
        def ask(self, _question, *, log=True):
            raise RuntimeError("password=hunter2")

        def report_missing(self, _question):
            raise UnavailableError("The search is down.")

    service = connected(service_over(here, engine=Broken()), platform)
    room = hear(service, platform, HEARD)[0]
    assert "Something went wrong" in room.texts[0]
    assert "hunter2" not in room.texts[0]


def test_nothing_is_taken_in_while_the_process_stops(service, platform):
    service.close()
    assert hear(service, platform, HEARD)[0].delivered == []
    assert asyncio.run(service.settled(1.0))


@pytest.mark.parametrize(
    ("words", "shown"), [("help", "`gaps`"), ("Gaps", "Nothing is open"), ("status", "All is well")]
)
def test_commands_work_as_messages_too(here, service, platform, words, shown):
    room = hear(service, platform, replace(HEARD, text=words))[0]
    assert shown in room.texts[0]
    assert here.questions.stats().questions == 0


@pytest.mark.parametrize("words", ["approve the new policy", "reject all spam how?", "help me with the VPN client"])
def test_a_sentence_that_begins_like_a_command_is_a_question(here, service, platform, words):
    assert hear(service, platform, replace(HEARD, text=words))[0].delivered[0].reply is not None


# Conversation


def test_a_follow_up_without_a_mention_is_understood_after_a_restart(here, platform, service):
    hear(service, platform, HEARD)
    again = connected(service_over(here), platform)
    follow_up = replace(HEARD, text="and on Windows?", message="1.1", mentions_bot=False, in_thread=True)
    assert "tray icon" in hear(again, platform, follow_up)[0].texts[0]


def test_what_others_say_in_the_thread_is_not_answered(service, platform):
    hear(service, platform, HEARD)
    other = replace(HEARD, author=OTHER, message="1.2", mentions_bot=False, in_thread=True)
    room = hear(service, platform, other)[0]
    assert (room.delivered, room.signs) == ([], [])


def test_an_opted_in_channel_hears_answers_and_no_refusals(here, platform):
    service = connected(
        service_over(here, channels={"C1": Channel(auto_answer=True, auto_answers_per_hour=2)}), platform
    )
    overheard = replace(HEARD, mentions_bot=False)
    assert len(hear(service, platform, overheard)[0].delivered) == 1
    refused = hear(service, platform, replace(overheard, text=GAP, message="2.0"))[0]
    assert (refused.delivered, refused.signs, refused.dismissed) == ([], [], 1)
    assert hear(service, platform, replace(overheard, message="3.0"))[0].delivered == []


# Private sources


@pytest.fixture
def guarded(here, platform):
    here.write(SALARIES, collection="hr", visibility=Visibility.PRIVATE)
    return connected(service_over(here, readers={"hr": ["slack:U1"]}), platform)


def test_who_may_not_read_a_collection_gets_nothing_of_it(guarded, platform):
    room = hear(guarded, platform, replace(HEARD, text=PAY, author=OTHER))[0]
    assert room.delivered[0].reply.status is Status.ABSTAINED
    assert "pay.md" not in room.texts[0]


def test_an_answer_that_only_the_asker_may_read_is_shown_to_nobody_else_until_shared(here, guarded, platform):
    room, question = asked(guarded, platform, PAY)
    assert room.delivered[0].private
    assert "ninety thousand" in room.texts[0]
    assert here.questions.get(question).visibility is Visibility.PRIVATE
    assert "asked can share" in press(guarded, Verb.SHARE, question, OTHER).text
    assert platform.told == []
    press(guarded, Verb.SHARE, question)
    assert platform.told[0][0] == "C1:1.0"
    assert "ninety thousand" in platform.told[0][1]


def test_a_reader_whom_public_documents_answer_is_answered_in_public(guarded, platform):
    room, _ = asked(guarded, platform, HEARD.text)
    assert not room.delivered[0].private


def test_what_one_person_was_told_in_private_is_no_history_for_others(here, guarded, platform):
    asked(guarded, platform, PAY)
    room = hear(guarded, platform, replace(HEARD, text="and of band eight?", message="1.5", author=OTHER))[0]
    assert "ninety" not in room.texts[0]
    assert "band seven" not in here.questions.get(room.delivered[0].reply.question_id).text


# Feedback


def test_a_person_has_one_vote_and_may_change_it(here, service, platform):
    _, question = asked(service, platform, HEARD.text)
    press(service, Verb.HELPFUL, question)
    press(service, Verb.UNHELPFUL, question, note="outdated")
    press(service, Verb.HELPFUL, question, OTHER)
    stats = here.questions.stats()
    assert (stats.helpful, stats.unhelpful) == (1, 1)


def test_reactions_on_an_answer_are_votes_and_can_be_taken_back(here, service, platform):
    room, _ = asked(service, platform, HEARD.text)
    message = "m1"
    asyncio.run(service.react("slack", "C1", message, OTHER, True))
    asyncio.run(service.react("slack", "C1", "unknown", OTHER, True))
    assert here.questions.stats().helpful == 1
    asyncio.run(service.react("slack", "C1", message, OTHER, None))
    assert here.questions.stats().helpful == 0
    assert room.texts


def test_a_vote_on_a_question_that_was_forgotten_says_so(here, service, platform):
    _, question = asked(service, platform, HEARD.text)
    here.questions.forget("slack:U1")
    assert "no question" in press(service, Verb.HELPFUL, question).text


def test_saying_that_something_is_missing_opens_a_gap_once_a_person(here, service, platform):
    _, question = asked(service, platform, HEARD.text)
    assert here.gaps.list() == []
    for person in (ASKER, ASKER, OTHER):
        press(service, Verb.MISSING, question, person)
    (gap,) = here.gaps.list()
    assert (gap.question, gap.askers, gap.state) == (HEARD.text, 2, GapState.OPEN)
    assert here.questions.get(question).gap_id == gap.id


def test_an_expert_is_called_once_with_the_question(here, platform):
    service = connected(service_over(here, channels={"C1": Channel(experts=("U7", "S8"))}), platform)
    room, question = asked(service, platform, GAP)
    assert [action.verb for action in room.delivered[0].actions] == [Verb.ASK_PERSON]
    press(service, Verb.ASK_PERSON, question)
    assert "already" in press(service, Verb.ASK_PERSON, question, OTHER).text
    ((conversation, text, mention),) = platform.told
    assert (conversation, mention) == ("C1:1.0", "U7,S8")
    assert GAP in text


def test_an_expert_who_could_not_be_called_can_be_called_again(here, platform):
    service = connected(service_over(here, channels={"C1": Channel(experts=("U7",))}), platform)
    _, question = asked(service, platform, GAP)
    platform.failing = True
    assert "does not answer" in press(service, Verb.ASK_PERSON, question).text
    platform.failing = False
    assert "asked in the thread" in press(service, Verb.ASK_PERSON, question).text


def test_without_experts_nobody_is_called(service, platform):
    _, question = asked(service, platform, GAP)
    assert "No experts" in press(service, Verb.ASK_PERSON, question).text
    assert platform.told == []


def marked(text="Bicycles go into the basement, gate B.", **changes):
    values = {
        "platform": "slack",
        "channel": "C1",
        "conversation": "C1:1.0",
        "message": "1.9",
        "author": OTHER,
        "text": text,
        "url": "https://chat.example/1.9",
        "marked_by": ASKER,
    }
    return Marked(**values | changes)


def test_a_reply_marked_as_the_answer_waits_for_the_admins_as_a_document(here, platform):
    service = connected(service_over(here, review_channels={"slack": "C9"}), platform)
    asked(service, platform, GAP)
    for _ in range(2):
        assert "suggested it to the admins" in asyncio.run(service.adopt(marked())).text
    (candidate,) = service_candidates(here)
    assert (candidate.source.finder, candidate.state) == ("person", CandidateState.PENDING)
    assert "gate B" in candidate.source.content
    assert candidate.gap_ids == (here.gaps.list()[0].id,)
    assert [channel for channel, _ in platform.cards] == ["C9"]


def test_a_private_reply_is_posted_nowhere(here, platform):
    service = connected(service_over(here, review_channels={"slack": "C9"}), platform)
    asked(service, platform, GAP, visibility=Visibility.PRIVATE)
    asyncio.run(service.adopt(marked(visibility=Visibility.PRIVATE)))
    assert service_candidates(here)[0].visibility is Visibility.PRIVATE
    assert platform.cards == {}


def test_an_empty_reply_and_one_to_no_question_become_nothing(here, service, platform):
    assert "not asked anything" in asyncio.run(service.adopt(marked())).text
    asked(service, platform, GAP)
    assert "no text" in asyncio.run(service.adopt(marked(text="  "))).text
    assert service_candidates(here) == []


def test_people_from_outside_give_no_feedback(here, service, platform):
    _, question = asked(service, platform, HEARD.text)
    outsider = Person("slack:U9", outsider=True)
    assert "belong to this organisation" in press(service, Verb.HELPFUL, question, outsider).text
    assert "belong to this organisation" in asyncio.run(service.adopt(marked(marked_by=outsider))).text
    assert here.questions.stats().helpful == 0


def service_candidates(here):
    from store.candidates import CandidateStore

    return CandidateStore(here.database).listed(())
