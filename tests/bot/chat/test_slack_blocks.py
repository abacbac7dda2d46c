"""Answers and cards within Slack's limits."""

import pytest

from bot.chat.messages import Action, Card, Outgoing, Verb
from bot.chat.slack_blocks import answer_posts, blocks_of_card, card_posts, text_posts
from bot.chat.slack_views import Origin, form, home, note_of
from store.records import Citation, Reply, Status
from tests.fakes import slack_rules as rules


def payload(post):
    return {"text": post.text, "blocks": list(post.blocks)}


def check(posts):
    """Slack takes every one of them, and none pings."""
    for post in posts:
        assert rules.block_errors(list(post.blocks)) == []
        assert rules.weight(list(post.blocks)) <= rules.BLOCKS_WEIGHT_LIMIT
        assert rules.units(post.text) < 3000
        assert all(rules.units(text) < 4000 for text in post.plain)
        assert rules.live_tokens(payload(post)) == []
    return posts


def words(posts):
    return "\n".join(rules.shown(payload(post)) for post in posts)


def reply(*citations):
    return Reply("q", Status.ANSWERED, "a", citations=citations)


def citation(number, url="", title="", section="Install"):
    return Citation(number, f"docs/{number}.md", title, section, url, 0.9, "quote")


def test_a_long_answer_is_split_without_losing_a_character():
    text = "b" * 1800 + "\n\n" + "a" * 3500 + "\n\n" + "c" * 1900
    posts = check(answer_posts(Outgoing(text)))
    assert words(posts).replace("\n", "") == text.replace("\n", "")


def test_lengths_are_measured_after_escaping():
    posts = check(answer_posts(Outgoing("&" * 2900)))
    assert words(posts).count("&") == 2900


def test_an_answer_of_many_blocks_goes_over_several_messages_in_order():
    text = "\n\n".join(f"{number:03} " + "x" * 2800 for number in range(60))
    posts = check(answer_posts(Outgoing(text)))
    found = [line[:3] for line in words(posts).split("\n") if line[:3].isdigit()]
    assert found == [f"{number:03}" for number in range(60)]


def test_sources_are_links_where_they_have_an_address():
    (post,) = check(
        answer_posts(Outgoing("Do it [1][2].", reply(citation(1, "https://x.example/a?b=1&c=2"), citation(2))))
    )
    section, sources = post.blocks
    assert section["text"]["text"] == "Do it <https://x.example/a?b=1&amp;c=2|[1]>[2]."
    assert sources["elements"][0]["text"] == (
        "[1] <https://x.example/a?b=1&amp;c=2|docs/1.md › Install>\n[2] docs/2.md › Install"
    )


def test_sixty_sources_are_all_there_in_order():
    posts = check(answer_posts(Outgoing("Yes.", reply(*(citation(n, f"https://x.example/{n}") for n in range(1, 61))))))
    found = [int(line[1:].partition("]")[0]) for line in words(posts).split("\n") if line.startswith("[")]
    assert found == list(range(1, 61))


def test_tokens_in_documents_and_titles_are_inert_in_every_field():
    hostile = "<!channel> & <@U1> <!subteam^S1|ops>"
    outgoing = Outgoing(
        hostile, reply(citation(1, "https://x.example", section=hostile)), (Action(Verb.HELPFUL, "q1", hostile),)
    )
    assert words(check(answer_posts(outgoing))).count("<!channel>") == 3
    card = Card("topic", "t1", 1, hostile, hostile, {hostile: hostile}, (Action(Verb.APPROVE, "c1", hostile),))
    assert words(check(card_posts(card))).count("<!channel>") == 5
    assert rules.live_tokens(home([card])) == []
    assert rules.live_tokens(payload(text_posts(hostile)[0])) == []


def test_people_are_called_only_by_those_who_may_call_them():
    (post,) = text_posts("Can you? <@U9>", "<@U1> <!subteam^S1>")
    assert rules.live_tokens(payload(post)) == ["<@U1>", "<!subteam^S1>", "<@U1>", "<!subteam^S1>"]


def test_buttons_carry_an_opaque_id_and_nothing_else():
    question = "why " * 650
    card = Card("candidate", "c12", 1, question, question, {}, (Action(Verb.APPROVE, "c12", question, "primary"),))
    posts = check(card_posts(card))
    button = rules.buttons_of(payload(posts[0]))["gaplight_approve"]
    assert (button["value"], button["style"]) == ("c12", "primary")
    assert rules.units(button["text"]["text"]) <= 75
    assert question.replace(" ", "") in words(posts).replace("\n", "").replace(" ", "")


def test_a_digest_of_thirty_gaps_with_two_buttons_each_keeps_them_all():
    actions = tuple(Action(verb, f"gap{n}", f"{verb} {n}") for n in range(30) for verb in (Verb.APPROVE, Verb.REJECT))
    body = "\n".join(f"- gap {n}: {'why ' * 100}" for n in range(30))
    posts = check(card_posts(Card("digest", "", 1, "Weekly digest", body, {}, actions)))
    values = [
        (element["action_id"], element["value"])
        for post in posts
        for block in post.blocks
        if block["type"] == "actions"
        for element in block["elements"]
    ]
    assert values == [(f"gaplight_{action.verb}", action.subject) for action in actions]
    assert all(f"gap {n}:" in words(posts) for n in range(30))


def test_the_buttons_stand_on_the_message_that_is_redrawn():
    card = Card("topic", "t", 1, "Title", "x" * 30_000, {"Asked": "3 times"}, (Action(Verb.SNOOZE, "t", "Snooze"),))
    first, *rest = check(card_posts(card))
    assert "gaplight_snooze" in rules.buttons_of(payload(first))
    assert "3 times" in rules.shown(payload(first))
    assert words([first, *rest]).count("x") == 30_000


def test_a_decided_card_has_no_buttons():
    (post,) = check(card_posts(Card("candidate", "c1", 2, "Guide", "**Approved by U1**")))
    assert [block["type"] for block in post.blocks] == ["header", "section"]


def test_a_long_title_is_kept_whole():
    (post,) = check(card_posts(Card("topic", "t", 1, "word " * 100)))
    assert rules.shown(payload(post)).count("word") == 100


@pytest.mark.parametrize("empty", ["", "  \n ", "\x00"])
def test_an_empty_text_is_still_a_message(empty):
    assert len(check(answer_posts(Outgoing(empty)))) == 1
    assert len(check(card_posts(Card("topic", "t", 1, empty, empty, {empty: empty})))) == 1


def test_the_plain_form_says_the_same_as_the_blocks():
    outgoing = Outgoing("```\n" + "line\n" * 2000 + "```", reply(citation(1)))
    posts = answer_posts(outgoing)
    plain = [text for post in posts for text in post.plain]
    assert sum(text.count("line") for text in plain) == 2000
    assert all(text.count("```") % 2 == 0 for text in plain)
    assert "docs/1.md" in plain[-1]


def test_a_page_counts_what_does_not_fit_on_it():
    cards = [Card("topic", str(n), 1, f"Topic {n}", "body", {"Asked": "1"}) for n in range(60)]
    view = home(cards)
    assert rules.view_errors(view) == []
    shown = sum(block["type"] == "header" for block in view["blocks"])
    assert f"And {60 - shown} more" in rules.shown(view)


def test_a_page_without_cards_says_what_can_be_done():
    assert "/gaplight help" in rules.shown(home([]))


@pytest.mark.parametrize("verb", [Verb.REJECT, Verb.UNHELPFUL])
def test_a_form_carries_where_it_came_from(verb):
    origin = Origin(verb, "c1", "C1", "1.0", "0.5", "https://hooks.example/x")
    view = form(origin)
    assert rules.view_errors(view) == []
    assert Origin.unpacked(view["private_metadata"]) == origin
    assert note_of({"state": {"values": {"note": {"text": {"value": " too old "}}}}}) == "too old"
    assert note_of({}) == ""


def test_a_form_of_somebody_else_is_refused():
    for carried in ("", "[]", '{"verb":"dance","subject":""}', '{"subject":"x"}'):
        with pytest.raises(ValueError):
            Origin.unpacked(carried)


def test_an_address_too_long_for_a_form_is_left_out():
    origin = Origin(Verb.REJECT, "c1", response_url="https://x.example/" + "a" * 4000)
    assert Origin.unpacked(origin.packed()).response_url == ""


def test_cards_on_a_page_have_their_facts_and_buttons():
    card = Card("candidate", "c", 1, "Guide", "body", {"Score": "0.9"}, (Action(Verb.APPROVE, "c", "Approve"),))
    assert [block["type"] for block in blocks_of_card(card)] == ["header", "section", "section", "actions"]
