"""Answers and cards fit Discord's limits on messages, embeds and buttons, whatever is in them, and lose nothing."""

import pytest

from bot.chat.discord_layout import answer_pages, card_as_text, card_pages, text_pages
from bot.chat.messages import Action, Card, Outgoing, Verb
from store.records import Citation, Reply, Status
from tests.fakes.discord_limits import check_message
from tests.fakes.discord_running import payload_of


def checked(pages):
    payloads = [payload_of(page) for page in pages]
    for payload in payloads:
        check_message(payload)
    return payloads


def text_in(payloads):
    parts = []
    for payload in payloads:
        parts.append(payload["content"])
        for embed in payload["embeds"]:
            parts += [embed.get("title", ""), embed.get("description", "")]
            parts += [text for field in embed.get("fields", ()) for text in (field["name"], field["value"])]
    return "\n".join(parts)


def labels(payload):
    return [button["label"] for row in payload["components"] for button in row["components"]]


def cited(text, *citations):
    return Outgoing(text, Reply("q", Status.ANSWERED, text, citations=citations))


def test_an_answer_is_followed_by_its_sources_and_the_buttons():
    citation = Citation(1, "guide.md", "Guide", "Reset", "https://docs.example/guide?a=1&b=2", 0.8, "quote")
    local = Citation(2, "notes/vpn_setup.md", "VPN", "", "", 0.7, "quote")
    outgoing = cited("Press the button [1], then wait [2].", local, citation)
    actions = (Action(Verb.HELPFUL, "q1", "Helpful"), Action(Verb.REJECT, "c1", "Reject", "danger"))
    (payload,) = checked(answer_pages(Outgoing(outgoing.text, outgoing.reply, actions)))
    assert payload["content"] == (
        "Press the button [[1]](<https://docs.example/guide?a=1&b=2>), then wait [2].\n\n"
        "-# [1] [guide.md › Reset](<https://docs.example/guide?a=1&b=2>)\n"
        "-# [2] notes/vpn_setup.md"
    )
    assert labels(payload) == ["Helpful", "Reject"]
    assert payload["components"][0]["components"][0]["custom_id"] == "gaplight:helpful:q1"


def test_a_long_answer_goes_over_several_messages_with_the_buttons_on_the_last():
    outgoing = Outgoing("word " * 2000, actions=(Action(Verb.HELPFUL, "q", "Helpful"),))
    payloads = checked(answer_pages(outgoing, "What is it?"))
    assert len(payloads) > 4
    assert payloads[0]["content"].startswith("> What is it?")
    assert [bool(payload["components"]) for payload in payloads] == [False] * (len(payloads) - 1) + [True]
    assert text_in(payloads).count("word") == 2000


def test_an_empty_answer_is_still_a_message():
    assert checked(answer_pages(Outgoing("")))[0]["content"] == "(no text)"


def test_thirty_long_gaps_on_one_card_are_all_shown():
    body = "\n".join(f"- gap number {number}: {'how so ' * 55}" for number in range(30))
    payloads = checked(card_pages(Card("digest", "", 1, "Digest", body)))
    shown = text_in(payloads)
    assert all(f"gap number {number}:" in shown for number in range(30))


def test_thirty_facts_are_all_shown_though_a_frame_takes_twenty_five():
    facts = {f"Fact {number}": "v" * 400 for number in range(30)}
    shown = text_in(checked(card_pages(Card("topic", "t", 1, "Topic", facts=facts))))
    assert all(f"Fact {number}" in shown for number in range(30))
    assert shown.count("v") == 30 * 400


def test_a_fact_that_is_too_long_for_a_field_stands_in_the_text():
    shown = text_in(checked(card_pages(Card("topic", "t", 1, "Topic", facts={"Path": "p" * 1025}))))
    assert "p" * 1025 in shown
    assert "**Path**" in shown


def test_an_empty_fact_is_shown_as_empty():
    (payload,) = checked(card_pages(Card("topic", "t", 1, "Topic", facts={"Owner": "", "": "x"})))
    assert [(field["name"], field["value"]) for field in payload["embeds"][0]["fields"]] == [("Owner", "—"), ("—", "x")]


def test_the_sum_of_all_frames_of_a_message_is_counted():
    body = "\n\n".join(f"part {number} " + "x" * 1590 for number in range(4))
    payloads = checked(card_pages(Card("topic", "t", 1, "Topic", body, facts={"a": "b" * 1000})))
    assert len(payloads) > 1
    assert text_in(payloads).count("x") == 4 * 1590


def test_the_first_message_of_a_card_has_the_buttons():
    actions = tuple(Action(Verb.APPROVE, f"c{number}", f"Approve {number}") for number in range(60))
    payloads = checked(card_pages(Card("digest", "", 1, "D" * 300, "body " * 3000, actions=actions)))
    assert len(labels(payloads[0])) == 25
    assert sum(len(labels(payload)) for payload in payloads) == 60
    assert text_in(payloads).count("D" * 300) == 1


def test_two_buttons_that_do_the_same_are_one():
    same = Action(Verb.APPROVE, "c1", "Approve")
    (payload,) = checked(card_pages(Card("candidate", "c1", 1, "Title", actions=(same, same))))
    assert labels(payload) == ["Approve"]


def test_a_label_that_is_too_long_is_shortened():
    (payload,) = checked(answer_pages(Outgoing("x", actions=(Action(Verb.SHARE, "q", "L" * 200),))))
    assert labels(payload)[0] == "L" * 79 + "…"


def test_a_card_without_frames_says_the_same():
    card = Card(
        "candidate", "c", 1, "A title", "The *body*.", {"Licence": "MIT"}, (Action(Verb.APPROVE, "c", "Approve"),)
    )
    (payload,) = checked(card_as_text(card))
    assert payload["content"] == "**A title**\n\n- **Licence**: MIT\n\nThe *body*."
    assert labels(payload) == ["Approve"]


@pytest.mark.parametrize("body", ["", " ", "\n\n"])
def test_a_card_without_anything_on_it_is_still_a_message(body):
    checked(card_pages(Card("notice", "", 0, "", body)))


def test_people_are_called_in_front_of_the_words_only():
    first, *rest = text_pages("word " * 900, "<@5>")
    assert first.content.startswith("<@5> word")
    assert all("<@" not in page.content for page in rest)
    assert len(first.content) <= 2000
