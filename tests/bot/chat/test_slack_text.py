"""Slack's encoding, in and out."""

import pytest

from bot.chat.slack_text import decode, escape, label_of, mentioned, wrapped
from bot.chat.text_parts import clean, size

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_a_question_is_stored_in_plain_words():
    raw = (
        "<@UBOT> is cpu &gt; 80% &amp;&amp; mem ok? see <https://x.example/a?b=1&amp;c=2|docs> in <#C1|ops>, ask <@U9>"
    )
    assert decode(raw, "UBOT") == ("is cpu > 80% && mem ok? see docs (https://x.example/a?b=1&c=2) in #ops, ask @user")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("&amp;lt;", "&lt;"),
        ("&copy; &amp; &quot;", "&copy; & &quot;"),
        ("&amp;amp;amp;", "&amp;amp;"),
        ("<https://x.example>", "https://x.example"),
        ("<http://x.example|x.example>", "x.example"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<!here> <!channel|@channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@ops> <!subteam^S2>", "@ops @group"),
        ("<!date^1392734382^{date}|Feb 18, 2014>", "Feb 18, 2014"),
        ("<#C1> <#C2|>", "#channel #channel"),
        ("<https://x.example|a &amp; b &lt;c&gt;>", "a & b <c> (https://x.example)"),
        ("a <@UBOT> b", "a b"),
        ("<@UBOT|gaplight>: how?", "how?"),
        ("<@UBOT>, how?", "how?"),
        ("<@UBOT> :wave: how?", ":wave: how?"),
        ("how, <@UBOT>?", "how, ?"),
        ("<@UBOT>", ""),
        ("line one\nline two <@UBOT>", "line one\nline two"),
        ("```x  y\n  z```", "```x  y\n  z```"),
    ],
)
def test_encoded_text_is_decoded_exactly_once(raw, words):
    assert decode(raw, "UBOT") == words


def test_what_was_decoded_and_escaped_again_is_what_arrived():
    for raw in ("a &lt;b&gt; &amp;amp; &amp;lt;", "&amp;copy;", "x &amp;&amp; y"):
        assert escape(decode(raw)) == raw


def test_mentions_are_found_in_the_raw_text():
    assert mentioned("<@U1> and <@W2|bob> and &lt;@U3&gt;") == {"U1", "W2"}


@pytest.mark.parametrize(
    "token", ["<!channel>", "<!here|here>", "<@U123>", "<#C1|x>", "<!subteam^S1|ops>", "&lt;!here&gt;"]
)
def test_escaped_tokens_read_literally_and_are_inert(token):
    escaped = escape(token)
    assert "<" not in escaped
    assert decode(escaped) == token


def test_characters_that_slack_does_not_take_are_removed():
    assert clean("a\x00b\ud800c\x7f\r\nd\te") == "abc\nd\te"


def test_a_label_is_cut_after_escaping_and_between_characters():
    assert label_of("short &  sweet", 75) == "short &amp; sweet"
    assert size(label_of("&" * 100, 75)) <= 75
    assert label_of("&" * 100, 75).endswith("&amp;…")
    assert label_of("a" * 69 + FAMILY, 75) == "a" * 69 + "…"
    assert label_of("e\u0301" * 50, 20).count("\u0301") == label_of("e\u0301" * 50, 20).count("e")


def test_text_is_wrapped_at_lines_then_words_then_characters():
    assert wrapped("one\ntwo three\nfour", 9) == ["one", "two three", "four"]
    assert wrapped("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]
    assert wrapped("&amp;" * 5, 12) == ["&amp;&amp;"] * 2 + ["&amp;"]
    assert wrapped("read <https://x.example|the guide> now", 30) == ["read", "<https://x.example|the guide>", "now"]
    assert wrapped("  \n ", 10) == []


def test_a_character_made_of_several_is_never_torn():
    assert wrapped("ab" + FAMILY + "cd", 8) == ["ab", FAMILY, "cd"]
    assert wrapped("x" * 9 + "e\u0301" + "y", 10) == ["x" * 9, "e\u0301y"]


def test_lines_of_a_quote_stay_a_quote_when_they_are_cut():
    assert all(part.startswith("> ") for part in wrapped("> " + "word " * 20, 30))
