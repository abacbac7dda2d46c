"""Markdown as Slack shows it."""

import pytest

from bot.chat.slack_mrkdwn import link, split, to_mrkdwn, to_pieces
from bot.chat.text_parts import size
from tests.fakes import slack_rules as rules


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("# Title", "*Title*"),
        ("## A **bold** title", "*A bold title*"),
        ("**Bold** *it* ~~gone~~", "*Bold* _it_ ~gone~"),
        ("**a *b* c**", "*a _b_ c*"),
        ("***both***", "_*both*_"),
        ("[guide](https://x.example/a_(b))", "<https://x.example/a_(b)|guide>"),
        ("`**not bold** <x> [1]`", "`**not bold** &lt;x&gt; [1]`"),
        ("``a ` b``", "a ` b"),
        ("snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"),
        ("wo**rd**s", "wo\u200b*rd*\u200bs"),
        ("**注意**：好", "*注意*：好"),
        ("- one\n- two\n  - deep", "• one\n• two\n    • deep"),
        ("3. c\n4. d", "3. c\n4. d"),
        ("> said\n> twice", "> said\n> twice"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("https://x.example/a?b=1&c=2.", "<https://x.example/a?b=1&amp;c=2>."),
        ("(https://x.example/a_(b))", "(<https://x.example/a_(b)>)"),
        ("<https://auto.example>", "<https://auto.example>"),
        ("<div onclick='x'>hi</div>", "&lt;div onclick='x'&gt;hi&lt;/div&gt;"),
        ("![chart](https://x.example/c.png)", "<https://x.example/c.png|chart>"),
        ("[mail](mailto:a@b.example)", "<mailto:a@b.example|mail>"),
        ("[here](docs/guide.md)", "here"),
        ("[c](jAvAsCrIpT:alert(1))", "[c](jAvAsCrIpT:alert(1))"),
        ("[`code`](https://x.example)", "<https://x.example|code>"),
        ("[a|b](https://x.example/p|q)", "<https://x.example/p%7Cq|a|b>"),
    ],
)
def test_markdown_becomes_mrkdwn(markdown, mrkdwn):
    assert to_mrkdwn(markdown) == mrkdwn


def test_code_is_untouched_and_its_fence_cannot_be_closed_from_within():
    shown = to_mrkdwn("````sh\necho '**x**' && ls <dir>\n```\n````")
    assert shown.startswith("```\necho '**x**' &amp;&amp; ls &lt;dir&gt;\n")
    assert shown.count("```") == 2
    assert shown.replace("\u200b", "").count("```") == 3


def test_code_inside_a_list_stays_code_between_the_items():
    assert to_mrkdwn("1. one\n   ```\n   ls\n   ```\n2. two") == "1. one\n\n```\nls\n```\n\n2. two"


def test_a_table_is_aligned_and_its_links_work():
    shown = to_mrkdwn("| Step | Link |\n|--|--:|\n| 1 | [l](https://u.example) |\n| 东京 | x |")
    assert shown == "```\nStep | Link\n-----+-----\n1    |    l\n东京 |    x\n```\n\n<https://u.example|l>"


def test_a_table_too_wide_for_a_screen_is_shown_row_by_row():
    shown = to_mrkdwn(f"| Name | Text |\n|--|--|\n| a | {'long ' * 20} |\n| [b](https://u.example) | c |")
    assert "```" not in shown
    assert "• Name: a\n    Text: long" in shown
    assert "• Name: <https://u.example|b>\n    Text: c" in shown


def test_markers_of_sources_lead_to_them_outside_code():
    sources = {1: "https://x.example/1", 3: "docs/local.md"}
    pieces = to_pieces("Do it [1][2] and [3], but `arr[1]`.", sources)
    assert pieces[0].text == "Do it <https://x.example/1|[1]>[2] and [3], but `arr[1]`."


@pytest.mark.parametrize(
    "hostile",
    [
        "Announce with <!channel> and <!subteam^S1|ops>; if a < b && b > c: <@U123>",
        "See <https://docs.example/?a=1&b=2|guide> <!everyone>",
        "<!here> free pizza",
        "text already holding &lt;!here&gt;",
        "[<!here>](https://x.example)",
        "[x](https://x.example/><!channel>)",
        "[x](<https://x.example/ <!here>>)",
        "`<@U1>` and\n\n    <!channel>\n\n```\n<!here>\n```",
        "| <!here> | <@U1> |\n|--|--|\n| [<#C1|x>](https://x.example) | <!channel> |",
        "# <!channel>",
        "> <@U1>",
        "https://x.example/<!here>",
        "![<!here>](https://x.example)",
        "&#60;!here&#62; &lt;!channel>",
        "\\<!here>",
    ],
)
def test_nothing_in_a_text_can_call_anybody(hostile):
    shown = to_mrkdwn(hostile)
    assert rules.LIVE.findall(shown) == []
    assert rules.stray_tokens(shown) == []


def test_a_real_link_beside_a_token_still_works():
    assert to_mrkdwn("See [guide](https://docs.example/?a=1&b=2) <!everyone>") == (
        "See <https://docs.example/?a=1&amp;b=2|guide> &lt;!everyone&gt;"
    )


def test_a_link_too_long_for_one_is_shown_as_text():
    url = "https://x.example/" + "a" * 2000
    assert link(url, "label") == f"label ({url})"


def test_pieces_are_put_together_as_far_as_they_fit():
    pieces = to_pieces("one\n\ntwo\n\n" + "x" * 30)
    assert split(pieces, 20) == ["one\n\ntwo", "x" * 20, "x" * 10]


def test_a_long_bold_paragraph_leaves_no_mark_without_its_partner():
    parts = split(to_pieces("**" + "word " * 100 + "**end"), 120)
    assert len(parts) > 3
    assert all(part.count("*") % 2 == 0 for part in parts)
    assert " ".join(parts).count("word") == 100


def test_long_code_is_fenced_in_every_part():
    parts = split(to_pieces("```\n" + "\n".join(f"line {number}" for number in range(100)) + "\n```"), 200)
    assert all(part.startswith("```\n") and part.endswith("\n```") and size(part) <= 200 for part in parts)
    assert [line for part in parts for line in part.split("\n") if line != "```"] == [f"line {n}" for n in range(100)]
