"""Discord's tokens become plain words; what is cut is cut between characters; nothing that leaves calls anybody."""

import pytest

from bot.chat.discord_text import (
    clusters,
    cut,
    defused,
    escaped,
    heard_text,
    label_of,
    lines_escaped,
    thread_title,
    wrapped,
)
from bot.chat.text_parts import ZERO_WIDTH_SPACE, size

BOT, ROLE = 11, 22
FAMILY = "👨‍👩‍👧‍👦"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("<@11> How do I reset it?", "How do I reset it?"),
        ("<@!11>, how do I reset it?", "how do I reset it?"),
        ("<@&22> how?", "how?"),
        ("Ask <@11> or <@9> in <#7>", "Ask or @user in #ops"),
        ("<@&5> says <#8> <:party:99> <a:wave:98>", "@group says #channel :party: :wave:"),
        ("since <t:1700000000:R>, see </ask:12> and <id:guide>", "since 2023-11-14 22:13 UTC, see /ask and #guide"),
        ("is a < b && c > d? <not a token> <@x>", "is a < b && c > d? <not a token> <@x>"),
        ("<t:99999999999>", "5138-11-16 09:46 UTC"),
        ("<@11>", ""),
    ],
)
def test_tokens_become_words_and_the_mention_of_the_bot_goes(raw, words):
    assert heard_text(raw, {BOT, ROLE}, {7: "ops"}) == words


@pytest.mark.parametrize("mention", ["@everyone", "@here", "<@123>", "<@!123>", "<@&123>", "@EVERYONE"])
def test_a_mention_reads_as_before_and_is_none(mention):
    for shown in (defused(f"Tell {mention} now"), escaped(f"Tell {mention} now")):
        assert mention not in shown
        assert shown.replace(ZERO_WIDTH_SPACE, "").replace("\\", "") == f"Tell {mention} now"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a*b*c", "a\\*b\\*c"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("__init__", "\\_\\_init\\_\\_"),
        ("~~gone~~ ~ 5", "\\~\\~gone\\~\\~ ~ 5"),
        ("||hidden|| a | b", "\\|\\|hidden\\|\\| a | b"),
        ("`code` \\n", "\\`code\\` \\\\n"),
        ("[x](y)", "[x]\\(y)"),
        ("https://x.example", "https:\u200b//x.example"),
        ("<:a:1> a < b <#5>", "\\<:a:1> a < b \\<#5>"),
    ],
)
def test_characters_stand_for_themselves(text, shown):
    assert escaped(text) == shown


@pytest.mark.parametrize("line", ["# Big", "-# small", "> quoted", "- item", "+ item", "1. first", "  ## deep"])
def test_a_line_of_text_begins_no_block_by_chance(line):
    assert lines_escaped(line).replace("\\", "") == line
    assert "\\" in lines_escaped(line)


def test_length_is_counted_in_utf_16_units():
    assert size("a" * 1970 + "😀" * 20) == 2010


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1970 + "😀" * 20,
        "字" * 5000,
        "x" * 1997 + FAMILY + " and more " * 40,
        "> quoted question\n\n" + "word " * 900,
        ("line with \\*escapes\\* and [a link](<https://x.example/a>) in it\n") * 80,
    ],
    ids=["emoji over the limit", "no spaces", "family at the limit", "quotation and answer", "links"],
)
def test_long_text_is_cut_below_the_limit_and_nothing_is_dropped(text):
    parts = wrapped(text, 1990)
    assert all(size(part) <= 1990 for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert sum(part.count(FAMILY) for part in parts) == text.count(FAMILY)
    assert sum(part.count("](<https://x.example/a>)") for part in parts) == text.count("](<https://x.example/a>)")


def test_cuts_prefer_ends_of_lines_then_of_words():
    assert wrapped("first line\nsecond line", 12) == ["first line", "second line"]
    assert wrapped("some words here", 11) == ["some words", "here"]


def test_code_keeps_every_character_when_it_is_cut():
    code = "\n".join(f"    indented {number}" for number in range(300)) + "\n" + "y" * 5000
    parts = cut(code, 1000)
    assert all(size(part) <= 1000 for part in parts)
    assert "".join(parts).replace("\n", "") == code.replace("\n", "")
    assert parts[0].startswith("    indented 0\n    indented 1\n")


@pytest.mark.parametrize("whole", [FAMILY, "é", "👍🏽", "🇩🇪", "각", "1️⃣", "\\*"])
def test_what_is_one_character_to_people_is_not_torn(whole):
    assert list(clusters(f"a{whole}b")) == ["a", whole, "b"]


def test_flags_beside_each_other_are_two_characters():
    assert list(clusters("🇩🇪🇫🇷")) == ["🇩🇪", "🇫🇷"]


def test_a_label_is_one_line_and_short_enough():
    assert label_of("  two\nlines ", 80) == "two lines"
    shortened = label_of("字" * 200, 80)
    assert size(shortened) == 80
    assert shortened.endswith("…")
    assert label_of("x" * 78 + FAMILY, 80) == "x" * 78 + "…"


def test_a_thread_is_named_after_the_question():
    assert thread_title("How do I\nreset it?") == "How do I reset it?"
    assert size(thread_title("😀" * 200)) <= 100
    assert thread_title("  ") == "Question"
