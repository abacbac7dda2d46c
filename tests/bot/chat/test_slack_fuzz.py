"""Whatever is written, Slack takes what is sent, nobody is called, and no word is lost."""

import os
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.chat.messages import Action, Card, Outgoing, Verb
from bot.chat.slack_blocks import answer_posts, card_posts
from bot.chat.slack_text import decode, escape
from bot.chat.slack_views import home
from store.records import Citation, Reply, Status
from tests.fakes import slack_rules as rules

TOKENS = st.sampled_from(
    [
        *("<!channel>", "<!here|here>", "<!everyone>", "<@U123>", "<#C1|x>", "<!subteam^S1|ops>", "&lt;!here&gt;"),
        *("@here", "@everyone", "#general", "&", "<", ">", "&amp;", "&#60;!here&#62;", "\\<", "|", "\n", "\n\n", "  "),
        *("**", "*", "_", "`", "```", "````\n", "~~", "~~~\n", "> ", "- ", "1. ", "# ", "    ", "---\n", "|--|--|\n"),
        *("[a](https://x.example/?d=1&e=<!here>)", "![i](https://x.example/i.png)", "[x](javascript:alert(1))"),
        *("https://x.example/a_(b)", "<https://x.example|<!here>>", "mailto:a@b.example", "[1]", "[99]", "[", "]("),
        *("\U0001f468\u200d\U0001f469\u200d\U0001f467", "e\u0301", "\U0001f1e9\U0001f1ea", "\ud800", "\x00", "\u202e"),
        *("<script>", "</div>", "{{ 7*7 }}", "| a | b |\n|--|--|\n| c | d |\n", "&" * 50, "w" * 300, "\u4e1c\u4eac"),
    ]
)
HOSTILE = st.lists(st.one_of(TOKENS, st.text(max_size=12)), max_size=40).map("".join)
LONG = st.tuples(HOSTILE, st.integers(1, 60)).map(lambda given: given[0] * given[1])
EXAMPLES = int(os.environ.get("GAPLIGHT_TEST_EXAMPLES", "60"))
"""Of each kind; a thorough run takes 10,000."""
FUZZ = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def check(posts):
    for post in posts:
        payload = {"text": post.text, "blocks": list(post.blocks)}
        assert rules.block_errors(payload["blocks"]) == []
        assert rules.weight(payload["blocks"]) <= rules.BLOCKS_WEIGHT_LIMIT
        assert rules.units(post.text) < 3000
        assert rules.live_tokens(payload) == []
        assert all(rules.stray_tokens(text) == [] for _, text, _ in rules.texts_in(payload["blocks"]))
        for plain in (post.text, *post.plain):
            assert rules.LIVE.findall(plain) == []
            assert rules.units(plain) < 4000
    return posts


@FUZZ
@given(LONG, st.lists(st.tuples(HOSTILE, HOSTILE), max_size=5), HOSTILE)
def test_an_answer_of_anything_is_taken_and_calls_nobody(text, sources, label):
    citations = tuple(
        Citation(number, title, title, section, f"https://x.example/{section}", 0.5, title)
        for number, (title, section) in enumerate(sources, 1)
    )
    reply = Reply("q", Status.ANSWERED, text, citations=citations)
    actions = (Action(Verb.HELPFUL, "q", label), Action(Verb.HELPFUL, "q", label))
    assert check(answer_posts(Outgoing(text, reply, actions)))


@FUZZ
@given(HOSTILE, LONG, st.dictionaries(HOSTILE, LONG, max_size=14), HOSTILE)
def test_a_card_of_anything_is_taken_and_calls_nobody(title, body, facts, label):
    card = Card("topic", "t", 1, title, body, facts, (Action(Verb.APPROVE, "t", label, "primary"),))
    posts = check(card_posts(card))
    assert rules.buttons_of({"blocks": posts[0].blocks})
    view = home([card] * 5)
    assert rules.view_errors(view) == []
    assert rules.live_tokens(view) == []


@FUZZ
@given(st.lists(st.one_of(TOKENS, st.just(" ")), max_size=60), st.integers(1, 400))
def test_no_word_is_lost_and_their_order_is_kept(noise, count):
    words = [f"w{number:04}w" for number in range(count)]
    gap = max(1, count // (len(noise) + 1))
    parts = []
    for place, word in enumerate(words):
        parts += [" ", word, " "]
        if place % gap == 0 and noise:
            parts.append(noise[(place // gap) % len(noise)])
    posts = answer_posts(Outgoing("".join(parts)))
    shown = "\n".join(text for post in posts for _, text, _ in rules.texts_in(list(post.blocks)))
    # The links of a table are repeated below it, and rows of a table may leave out what stands beside its columns.
    assert list(dict.fromkeys(re.findall(r"w\d{4}w", shown))) == [word for word in words if word in shown]
    if not any("|" in one or "](" in one or one in {"[", "!", "<", "`", "```", "````\n", "~~~\n"} for one in noise):
        assert re.findall(r"w\d{4}w", shown) == words


@FUZZ
@given(HOSTILE)
def test_what_people_see_is_what_was_meant_after_a_way_there_and_back(text):
    cleaned = decode(escape(text))
    assert decode(escape(cleaned)) == cleaned
    assert "<" not in escape(text)


@FUZZ
@given(HOSTILE)
def test_anything_that_slack_delivers_can_be_read(raw):
    assert rules.LIVE.findall(escape(decode(raw, "UBOT"))) == []
