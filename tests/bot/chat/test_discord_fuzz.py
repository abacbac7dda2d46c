"""Whatever anybody writes, and whatever stands in documents: no crash, no live mention, nothing over a limit or lost."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.chat.discord_layout import answer_pages, card_as_text, card_pages
from bot.chat.discord_text import heard_text, thread_title
from bot.chat.messages import Action, Card, Outgoing, Verb
from bot.chat.text_parts import ZERO_WIDTH_SPACE
from store.records import Citation, Reply, Status
from tests.fakes.discord_limits import check_message, size
from tests.fakes.discord_running import payload_of
from tests.fakes.discord_world import unfolded

HOSTILE = st.sampled_from(
    [
        "@everyone", "@here", "<@123456>", "<@!1>", "<@&9>", "<#5>", "<:e:1>", "<t:1:R>", "</ask:1>", "@", "everyone",
        "**", "__", "~~", "||", "```", "``", "`", "# ", "-# ", "> ", ">>> ", "- ", "1. ", "[", "](", ")", "\\", "<", ">",
        "http://", "https://x.example/@everyone", "https://x.example/<@1>", "[a](https://x.example)", "[1]", "[2](",
        "[x](javascript:alert(1))", "![i](https://x.example/i.png)", "|a|b|\n|--|--|\n|1|@here|\n", "\u200d", "\u200b",
        "👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "\u0301" * 30, "字" * 50, "x" * 700, "\n", "\n\n", "    ", "\t", "\r\n", "\x00", "\ud800",
        "&amp;", "<b>", "\u202e", "a_b_c", "https://" + "y" * 1700,
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(HOSTILE, st.text(max_size=40)), max_size=60).map("".join)
LONG = st.tuples(TEXTS, st.integers(1, 12)).map(lambda pair: pair[0] * pair[1])
LIVE = re.compile(r"@everyone|@here|<@[!&]?\d+>", re.IGNORECASE)
WORDS = re.compile(r"[A-Za-z0-9字]+")


def all_text(payload):
    texts = [payload["content"]]
    for embed in payload["embeds"]:
        texts += [embed.get("title", ""), embed.get("description", "")]
        texts += [text for field in embed.get("fields", ()) for text in (field["name"], field["value"])]
    texts += [button["label"] for row in payload["components"] for button in row["components"]]
    return texts


def judged(pages):
    """Check every message; all words that are shown."""
    shown = []
    for page in pages:
        payload = payload_of(page)
        check_message(payload)
        assert not unfolded(payload), payload["content"]
        for text in all_text(payload):
            assert not LIVE.search(text), text
            shown.append(text)
    return "".join(shown)


def letters(text):
    return "".join(WORDS.findall(text.replace(ZERO_WIDTH_SPACE, "")))


@settings(max_examples=150, deadline=None)
@given(LONG, st.lists(TEXTS, max_size=3), TEXTS)
def test_no_answer_is_dangerous_or_too_long(text, sources, question):
    citations = tuple(
        Citation(number, source, "t", source, f"https://x.example/{number}", 0.5, "")
        for number, source in enumerate(sources)
    )
    reply = Reply(question, Status.ANSWERED, text, citations=citations)
    judged(answer_pages(Outgoing(text, reply, (Action(Verb.HELPFUL, "q1", text),)), question))


@settings(max_examples=80, deadline=None)
@given(TEXTS, LONG, st.dictionaries(TEXTS, TEXTS, max_size=30), st.lists(TEXTS, max_size=30))
def test_no_card_is_dangerous_or_too_long(title, body, facts, names):
    actions = tuple(Action(Verb.APPROVE, f"c{place}", name) for place, name in enumerate(names))
    card = Card("digest", "", 1, title, body, facts, actions)
    for pages in (card_pages(card), card_as_text(card)):
        judged(pages)
        assert sum(len(page.actions) for page in pages) == len(actions)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text("ab字 \n.,@<>*_#😀", max_size=400), max_size=12).map("\n\n".join))
def test_no_words_are_lost(text):
    assert letters(judged(answer_pages(Outgoing(text)))) in {letters(text), "notext"}


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_whatever_is_written_to_the_bot_becomes_words_and_a_title(text):
    words = heard_text(text, {123456})
    assert "<@123456>" not in words
    title = thread_title(words)
    assert 1 <= size(title) <= 100
    assert not LIVE.search(title)
