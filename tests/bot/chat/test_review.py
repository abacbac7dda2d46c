"""What maintainers see and admins decide in chat: the first decision wins, and who is not named decides nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.chat.candidate_cards import candidate_card
from bot.chat.messages import Outgoing, Person, Press, Verb
from bot.chat.wording import HELP, NO_ADMINS, NO_DISCOVERY, NOT_ADMIN
from store.audit import AuditLog
from store.candidates import CandidateStore, candidate_id
from store.records import Candidate, CandidateState, Source, Topic, Visibility
from tests.fakes.chat import PlainPlatform, service_over
from tests.fakes.deciding import Decider
from tests.fakes.installation import Installation

ADMIN = Person("slack:U1", ("S1",))
MEMBER = Person("slack:U2")
ADMINS = ["slack:S1"]
TOPIC = Topic("t1", "bicycle parking", "Where do I park my bicycle?", ("g1",), askers=3, count=5)


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path)
    yield installation
    installation.close()


@pytest.fixture
def platform():
    return PlainPlatform()


@pytest.fixture
def candidate(here):
    source = Source("folder:/wiki/bikes.md", "folder", "Bikes", "/wiki/bikes.md", licence="MIT")
    return CandidateStore(here.database).suggest(
        Candidate(candidate_id("t1", source.key), "t1", "bicycle parking", source, here.clock())
    )


def serving(here, platform, **options):
    options = {"admins": ADMINS, "deciding": Decider(here)} | options
    service = service_over(here, **options)
    service.connect(platform)
    return service


def press(service, verb, subject, person=ADMIN, note=""):
    return asyncio.run(service.press(Press("slack", verb, subject, person, "C1", "m1", "C1:m1", note)))


def command(service, words, person=MEMBER):
    return asyncio.run(service.command(words, person, "C1", Visibility.PUBLIC))


def state(here, candidate):
    return CandidateStore(here.database).get(candidate.id).state


def test_an_admin_approves_and_hears_what_it_closed(here, platform, candidate):
    words = press(serving(here, platform), Verb.APPROVE, candidate.id).text
    assert "1 of 2 gaps are closed" in words
    assert "still open: When?" in words
    assert state(here, candidate) is CandidateState.INGESTED


@pytest.mark.parametrize(
    ("admins", "person", "words"),
    [
        ([], ADMIN, NO_ADMINS),
        (["slack:U9"], MEMBER, NOT_ADMIN),
        (ADMINS, replace(ADMIN, outsider=True), NOT_ADMIN),
        (ADMINS, Person("discord:U1", ("S1",)), NOT_ADMIN),
    ],
)
def test_nobody_else_decides_and_the_attempt_is_kept(here, platform, candidate, admins, person, words):
    service = serving(here, platform, admins=admins)
    for verb in (Verb.APPROVE, Verb.REJECT, Verb.SNOOZE):
        assert press(service, verb, candidate.id, person) == Outgoing(words, private=True)
    assert state(here, candidate) is CandidateState.PENDING
    assert {entry.action for entry in AuditLog(here.database).entries()} == {
        "refused_approve",
        "refused_reject",
        "refused_snooze",
    }


def test_of_two_reviewers_the_first_wins_and_the_second_is_told_who(here, platform, candidate):
    service = serving(here, platform, admins=["slack:U1", "slack:U2"])

    async def both():
        return await asyncio.gather(
            *(
                service.press(Press("slack", verb, candidate.id, person, "C1", "m1", ""))
                for verb, person in ((Verb.APPROVE, Person("slack:U1")), (Verb.REJECT, Person("slack:U2")))
            )
        )

    said = sorted(outgoing.text for outgoing in asyncio.run(both()))
    assert sum("already" in text for text in said) == 1


def test_a_click_on_a_card_whose_candidate_is_gone_says_so(here, platform):
    assert "There is no candidate" in press(serving(here, platform), Verb.APPROVE, "abc123abc123").text
    assert "There is no candidate" in press(serving(here, platform), Verb.REJECT, "'; DROP TABLE").text


def test_without_discovery_a_decision_says_so(here, platform, candidate):
    assert press(serving(here, platform, deciding=None), Verb.APPROVE, candidate.id).text == NO_DISCOVERY


def test_every_card_is_redrawn_wherever_the_decision_was_made(here, platform, candidate):
    service = serving(here, platform)
    keeper = service.cards
    first, second = (asyncio.run(keeper.post("slack", channel, candidate.id)) for channel in ("C1", "C2"))
    assert asyncio.run(keeper.redraw_outdated()) == 0
    Decider(here).reject(candidate.id, "cli:me", "outdated")
    assert asyncio.run(keeper.redraw_outdated()) == 2
    for key in (("C1", first), ("C2", second)):
        assert platform.cards[key].actions == ()
        assert "Rejected by cli:me" in platform.cards[key].body
    assert asyncio.run(keeper.redraw_outdated()) == 0


def test_a_card_that_cannot_be_redrawn_now_is_tried_again_and_a_deleted_one_forgotten(here, platform, candidate):
    service = serving(here, platform)
    asyncio.run(service.cards.post("slack", "C1", candidate.id))
    Decider(here).reject(candidate.id, "cli:me", "outdated")
    platform.failing = True
    assert asyncio.run(service.cards.redraw_outdated()) == 0
    platform.failing = False
    platform.cards.clear()
    assert asyncio.run(service.cards.redraw_outdated()) == 0
    platform.failing = True  # nothing is left to redraw, so nothing fails
    assert asyncio.run(service.cards.redraw_outdated()) == 0


def test_words_in_chat_decide_like_buttons(here, platform, candidate):
    service = serving(here, platform)
    assert "Only admins" in command(service, f"approve {candidate.id}")[0].text
    assert "Rejected" in command(service, f"reject {candidate.id[:6]} too old", ADMIN)[0].text
    assert CandidateStore(here.database).get(candidate.id).note == "too old"


@pytest.mark.parametrize(
    "words", ["how do I reset?", "status of the build?", "help me with mail", "gaps in the fence?"]
)
def test_a_question_is_no_command(here, platform, words):
    assert command(serving(here, platform), words) == ()


def test_commands_show_what_there_is(here, platform, candidate):
    service = serving(here, platform)
    assert command(service, "")[0].text == HELP
    assert command(service, "HELP")[0].text == HELP
    assert command(service, "status")[0].text == "All is well."
    assert "Nothing is open" in command(service, "gaps")[0].text
    assert "no digest" in command(service, "digest")[0].text
    assert "No source" in command(service, "candidates")[0].text
    assert command(service, "candidates", ADMIN) == (candidate_card(candidate),)


def test_the_home_page_shows_topics_to_all_and_candidates_to_admins(here, platform, candidate):
    service = serving(here, platform, topics=lambda: [TOPIC])
    kinds = [card.kind for card in asyncio.run(service.home(MEMBER))]
    assert kinds == ["topic"]
    assert [card.kind for card in asyncio.run(service.home(ADMIN))] == ["topic", "candidate"]


def test_private_candidates_are_on_no_list(here, platform, candidate):
    store = CandidateStore(here.database)
    private = replace(candidate, id="f" * 12, topic_id="t2", visibility=Visibility.PRIVATE)
    store.suggest(private)
    assert command(serving(here, platform), "candidates", ADMIN) == (candidate_card(candidate),)


def test_a_person_switches_messages_about_closed_gaps_off_and_on(here, platform):
    class Switch:
        def __init__(self):
            self.calls = []

        def stop(self, asker):
            self.calls.append(("stop", asker))

        def resume(self, asker):
            self.calls.append(("resume", asker))

    notices = Switch()
    service = serving(here, platform, notices=notices)
    assert command(service, "notices off")[0].private
    command(service, "Notices ON")
    assert notices.calls == [("stop", "slack:U2"), ("resume", "slack:U2")]
    assert command(service, "notices about maintenance") == ()
    assert command(serving(here, platform), "notices off")[0].text == NO_DISCOVERY
