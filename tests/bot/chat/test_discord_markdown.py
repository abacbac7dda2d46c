"""Markdown reads on Discord as it was meant: formatting, tables, code and links work, and nothing else becomes live."""

import pytest

from bot.chat.discord_links import link
from bot.chat.discord_markdown import split, to_pieces
from bot.chat.text_parts import size


def shown(markdown, sources=None, limit=1990):
    return split(to_pieces(markdown, sources), limit)


def one(markdown, sources=None):
    (text,) = shown(markdown, sources)
    return text


def test_formatting_stays():
    assert one("**Bold** *it* ~~gone~~ `x*y`") == "**Bold** *it* ~~gone~~ `x*y`"


def test_headings_are_headings_of_a_size_that_fits_a_chat():
    assert one("# Title") == "## Title"
    assert one("## Part") == "### Part"
    assert one("### **Detail**") == "**Detail**"


def test_links_work_without_a_preview():
    assert one("[guide](https://x.example/a_(b))") == "[guide](<https://x.example/a_(b)>)"
    assert one("See https://x.example/y_z.") == "See <https://x.example/y_z>."


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "mailto:a@b.c", "http://"]
)
def test_only_web_addresses_become_links(url):
    assert "<" not in link(url, "label")
    assert f"]({url}" not in one(f"[label]({url})")


def test_a_label_that_looks_like_another_address_shows_the_real_one():
    assert one("[https://good.example](https://evil.example)") == "https:\u200b//good.example (<https://evil.example>)"


def test_what_looks_like_a_link_in_text_stays_text():
    text = one(r"\[a**b**\](http://x.example) and <:a:1> <@5>")
    assert "](" not in text
    assert "\\<:a:1>" in text


def test_an_address_that_is_too_long_for_a_link_is_shown_and_unfolds_nothing():
    text = "".join(shown(f"https://x.example/{'a' * 3000}"))
    assert "https://" not in text
    assert text.count("a") > 3000


def test_markers_become_links_to_their_sources():
    assert (
        one("It is so [1] and so [2].", {1: "https://x.example/1"})
        == "It is so [[1]](<https://x.example/1>) and so [2]."
    )


def test_a_table_is_aligned_in_a_block_of_code_with_its_links_below():
    text = one("| Step | Link |\n|---:|--|\n| 1 | [l](https://u.example) |\n| 10 | x |")
    assert text == "```\nStep | Link\n-----+-----\n   1 | l\n  10 | x\n```\n[l](<https://u.example>)"


def test_a_wide_table_becomes_a_list():
    wide = "words " * 20
    text = one(f"| Name | Text |\n|--|--|\n| a | {wide}|\n")
    assert text == f"- Name: a\n  Text: {wide.strip()}"


def test_code_is_kept_as_it_is_and_does_not_end_early():
    assert one("```py\nx = '*a*'\n```") == "```py\nx = '*a*'\n```"
    text = one("````\n```\ninner\n```\n````")
    assert text.startswith("```\n")
    assert text.count("```") == 2


def test_a_fence_is_opened_again_in_every_part():
    parts = shown("```sh\n" + "\n".join(f"echo {n}" for n in range(900)) + "\n```")
    assert len(parts) > 2
    assert all(part.startswith("```sh\n") and part.endswith("\n```") and part.count("```") == 2 for part in parts)
    lines = [line for part in parts for line in part.split("\n")[1:-1]]
    assert lines == [f"echo {n}" for n in range(900)]


def test_no_mark_is_left_without_its_partner_by_a_cut():
    parts = shown("**" + "bold words " * 400 + "**")
    assert all(part.count("**") % 2 == 0 for part in parts)
    assert sum(part.count("bold") for part in parts) == 400


def test_lists_and_quotations_keep_their_shape():
    assert one("- a\n  - b\n- c") == "- a\n  - b\n- c"
    assert one("3. x\n4. y") == "3. x\n4. y"
    assert one("> said\n> - so") == "> said\n> - so"


def test_html_is_text():
    assert one("<b>x</b> <!-- no -->") == "\\<b>x\\</b> <!-- no -->"


@pytest.mark.parametrize(
    "markdown",
    ["@everyone", "**@**everyone", "`@here`", "```\n@everyone <@1>\n```", "[@everyone](https://x.example/@everyone)",
     "| @here |\n|--|\n| <@&5> |", "# @everyone", "> @here", "![@here](https://x.example)"],
)  # fmt: skip
def test_no_mention_is_live_in_any_kind_of_text(markdown):
    for text in shown(markdown) + shown(markdown * 400, limit=200):
        assert "@everyone" not in text
        assert "@here" not in text
        assert "<@1" not in text
        assert "<@&" not in text


def test_every_part_fits():
    parts = shown("\n\n".join(["paragraph " * 90, "| a | b |\n|--|--|\n| 1 | 2 |", "- item " * 50] * 9))
    assert all(size(part) <= 1990 for part in parts)
