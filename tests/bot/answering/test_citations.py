"""Facts about markers and sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answering.citations import CheckedText, check, label, marker_numbers, render_sources, renumber, section_at
from store.records import Citation, Passage


def cite(number, document="guide.md", section="Install"):
    return Citation(number, document, "Guide", section, "", 0.5, "quote")


def test_markers_out_of_range_are_removed_and_counted():
    """B078: only real sources stay; indexes in code are no markers; "As in" does not stay behind alone."""
    found = check("A [1]. B [7]. C [0]. D [2][3]. arr[1] = x `list[2]`. As in [8].", 4)
    assert found == CheckedText("A [1]. B. C. D [2][3]. arr[1] = x `list[2]`.", (1, 2, 3), (7, 0, 8))


def test_a_text_without_a_valid_marker_cites_nothing():
    """B078: no valid citation left means not grounded."""
    assert not check("Everything is fine [7].", 4).cites
    assert not check("Everything is fine.", 4).cites
    assert check("Fine [4].", 4).cites


@pytest.mark.parametrize(
    ("text", "count", "expected", "numbers", "removed"),
    [
        ("Fine [1, 2].", 2, "Fine [1][2].", (1, 2), ()),
        ("Fine [1,9].", 2, "Fine [1].", (1,), (9,)),
        ("Fine [1-3].", 3, "Fine [1][2][3].", (1, 2, 3), ()),
        ("好的【1】。", 1, "好的[1]。", (1,), ()),
        ("好的[3]。然后[1]", 1, "好的。然后[1]", (1,), (3,)),
        ("A [2] b [1] c [2].", 2, "A [2] b [1] c [2].", (2, 1), ()),
        ("A [9] b.", 2, "A b.", (), (9,)),
        ("See [1](https://example.com) now.", 2, "See [1](https://example.com) now.", (), ()),
        ("Use x_y[1] and f()[0] and $a[2].", 2, "Use x_y[1] and f()[0] and $a[2].", (), ()),
        ("![1](a.png) picture", 2, "![1](a.png) picture", (), ()),
        ("Great![1] (Really)[2]", 2, "Great![1] (Really)[2]", (1, 2), ()),
        ("[1]: https://example.com", 1, "[1]: https://example.com", (), ()),
        ("```\na [7]\n```\nB [7] [1].", 2, "```\na [7]\n```\nB [1].", (1,), (7,)),
        ("~~~\na [7]", 2, "~~~\na [7]", (), ()),
        ("[2] starts.", 2, "[2] starts.", (2,), ()),
        ("", 3, "", (), ()),
        ("A [1].", 0, "A.", (), (1,)),
        ("It works. See [9]. Then stop [1].", 1, "It works. Then stop [1].", (1,), (9,)),
    ],
)
def test_each_kind_of_bracket_is_read_as_what_it_is(text, count, expected, numbers, removed):
    assert check(text, count) == CheckedText(expected, numbers, removed)


def test_marker_numbers_are_found_outside_code_only():
    assert marker_numbers("A [2]. `b[1] [3]` C [1][2]\n```\n[4]\n```") == (2, 1, 2)


def test_cited_sources_are_numbered_in_order_of_appearance():
    text, sources = renumber("A [3]. B [1][3]. `x [3]`", [cite(1, "a.md"), cite(2, "b.md"), cite(3, "c.md")])
    assert text == "A [1]. B [2][1]. `x [3]`"
    assert [(source.number, source.document) for source in sources] == [(1, "c.md"), (2, "a.md")]


def test_a_source_is_named_by_document_and_section():
    assert label(cite(1)) == "guide.md › Install"
    assert label(cite(1, section="")) == "guide.md"
    assert label(cite(1, section="A › B\nC")) == "guide.md › A › B C"
    assert label(cite(1, document="", section="")) == "Guide"


def test_sources_are_listed_by_number():
    assert render_sources([cite(2, "b.md", ""), cite(1, "a.md")]) == ["[1] a.md › Install", "[2] b.md"]
    assert render_sources([]) == []


@given(st.text(alphabet=st.sampled_from("[]0123 ,-`\na.("), max_size=60), st.integers(0, 3))
def test_after_the_check_every_marker_points_to_a_source(text, count):
    found = check(text, count)
    assert set(found.numbers) <= set(range(1, count + 1))
    assert not set(found.removed) & set(range(1, count + 1))
    assert set(marker_numbers(found.text)) <= set(range(1, count + 1))


def test_a_long_text_is_checked_in_no_time():
    assert check("[" * 20_000 + "`" * 20_000 + "[1] " * 20_000, 1).numbers in {(1,), ()}


MERGED = "Intro line.\n\n## Staging\n\nDeploy at noon.\n\n```\n# not a heading\n```\n\n### Access\n\nAsk the lead.\n\n## Production\n\nDeploy at night."


@pytest.mark.parametrize(
    ("section", "quote", "expected"),
    [
        ("", "Intro line.", ""),
        ("", "Deploy at noon.", "Staging"),
        ("", "Ask the lead.", "Staging › Access"),
        ("", "Deploy at night.", "Production"),
        ("Releases", "Deploy at night.", "Releases › Production"),
        ("Releases", "never said", "Releases"),
    ],
)
def test_a_quote_is_cited_with_the_section_it_stands_in(section, quote, expected):
    """Small sections share a chunk; the citation names the one that the quote is from."""
    passage = Passage("c:1", "c", "deploy.md", "Deployment", section, "", MERGED, 0.5, 1)
    assert section_at(passage, quote) == expected


def test_a_heading_that_only_repeats_the_title_is_no_section():
    text = "# Deployment\n\nDeploy at noon."
    assert section_at(Passage("c:1", "c", "d.md", "deployment", "", "", text, 0.5, 1), "Deploy at noon.") == ""
