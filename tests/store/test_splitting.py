"""Cutting one block: slices give the block back, parts fit."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.records import Block
from store.splitting import Measure, Space, slices, split_block, split_prose

COUNTERS = {
    "words": lambda text: len(text.split()),
    "characters": len,
    "bytes": lambda text: len(text.encode()),
}
TEXT = st.text("ab .,\n中。！(x)-|`1\u0301\U0001f600", max_size=500)
BORDERS = (re.compile(r"\n"), re.compile(r"(?<=。)"), re.compile(r"\s+"))
MANY = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def squeezed(text):
    return "".join(text.split())


def is_subsequence(needle, haystack):
    remaining = iter(haystack)
    return all(character in remaining for character in needle)


@pytest.mark.parametrize("name", COUNTERS)
@MANY
@given(text=TEXT, room=st.integers(1, 40), borders=st.integers(0, 3))
def test_slices_joined_give_the_text_back(name, text, room, borders):
    """Nothing is lost, doubled or moved, and only a single character may exceed the room."""
    measure = Measure(COUNTERS[name], 100)
    found = slices(text, measure, room, BORDERS[:borders])
    assert "".join(found) == text
    assert all(COUNTERS[name](piece) <= room or len(piece) == 1 for piece in found)


@pytest.mark.parametrize("kind", ["paragraph", "quote", "code", "list", "table"])
@pytest.mark.parametrize("name", COUNTERS)
@MANY
@given(
    text=TEXT,
    room=st.integers(12, 60),
    share=st.integers(1, 4),
    overlap=st.integers(0, 5),
    lead=st.sampled_from(["", "Run:"]),
)
def test_parts_hold_every_character_of_the_block_in_order(name, kind, text, room, share, overlap, lead):
    """Punctuation included, whatever the kind of block and however odd its text."""
    header = text.split("\n")[0] if kind == "table" else ""
    parts = split_block(
        Block(kind, text, header=header),
        Measure(COUNTERS[name], 100),
        Space(room, max(1, room // share), overlap),
        lead,
    )
    assert is_subsequence(squeezed(lead + text), squeezed("".join(parts)))


@MANY
@given(text=TEXT, room=st.integers(8, 60), overlap=st.integers(0, 8))
def test_parts_of_prose_fit_into_the_room(text, room, overlap):
    space = Space(room, max(1, room - 5), overlap)
    assert all(len(part) <= room for part in split_prose(text, Measure(len, 100), space))


def test_a_fence_that_gets_parts_of_its_own_is_neither_lost_nor_doubled():
    """An opening line before a line that fills a part alone, and an empty fence between two such lines."""
    line = "x" * 30
    text = f"```sh\n{line}\n```\n{line}\n```\n```"
    parts = split_block(Block("list", text), Measure(len, 100), Space(48, 30))
    assert parts == [f"```sh\n{line}\n```", line, "```\n```"]


def test_an_accent_is_not_torn_from_its_letter():
    text = "e\u0301" * 50
    for piece in slices(text, Measure(len, 100), 7, ()):
        assert piece[0] == "e"


def test_a_text_that_is_far_too_long_is_not_counted():
    """Counting a line of megabytes costs more than cutting it."""
    counted = []

    def counter(text):
        counted.append(len(text))
        return len(text.split())

    measure = Measure(counter, 100)
    assert measure.tokens("x" * 10_000) == 10_000
    assert counted == []
    slices("x " * 50_000, measure, 100, ())
    assert max(counted) <= 1600
