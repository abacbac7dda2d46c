"""Every sentence that is left stands in the sources that it cites; what no source supports is dropped."""

from __future__ import annotations

import numpy as np
import pytest

from bot.answering.answer_parts import joined, markers_before_stops, parts_of
from bot.answering.citation_check import check_answer
from store.records import Passage

QUESTION = "How do I reset the VPN client?"


def source(number, document, text, title=""):
    return Passage(f"{document}:{number}", document, document, title or document, "", "", text, 0.5, number)


SOURCES = (
    source(1, "vpn.md", "To reset the VPN client, press the blue button and sign in again. It takes ten minutes."),
    source(2, "mail.md", "The mailbox quota is 5 GB. Larger files go to the file share."),
    source(3, "files.md", "Large files belong on the file share, which has no limit. As described in [8]."),
    source(4, "backup.md", "Run the backup:\n\n```\nbackup --keep 10 --target share\n```\n\nThen check the log."),
)


@pytest.fixture(scope="module")
def check(minilm):
    return lambda text, **options: check_answer(text, SOURCES, QUESTION, minilm.embed_queries, **options)


def test_a_supported_answer_stays_as_it_is(check):
    answer = "Press the blue button and sign in again [1]. Larger files go to the file share [2][3]."
    checked = check(answer)
    assert checked.text == answer
    assert checked.quotes == {
        1: "To reset the VPN client, press the blue button and sign in again.",
        2: "Larger files go to the file share.",
        3: "Large files belong on the file share, which has no limit.",
    }
    assert (checked.dropped, checked.pointless, checked.moved, checked.kept) == ((), (), 0, 1.0)


def test_markers_out_of_range_go_and_are_counted_and_code_stays(check):
    answer = (
        "Press the blue button and sign in again [1]. The quota is 5 GB [7]. It takes ten minutes [0]. "
        "Larger files go to the file share [2][3]. As in [8]."
    )
    checked = check(answer)
    assert checked.pointless == (7, 0, 8)
    assert checked.text == (
        "Press the blue button and sign in again [1]. The quota is 5 GB [2]. It takes ten minutes [1]. "
        "Larger files go to the file share [2][3]."
    )
    code = check("Run `backup --keep 10 --target share` [4].")
    assert code.text == "Run `backup --keep 10 --target share` [4]."


def test_an_index_in_code_is_no_citation():
    quoted = (source(1, "a.md", "The third entry is read with `list[2]` and set with arr[1] = x."),)
    checked = check_answer("The third entry is `list[2]`, and arr[1] = x sets it [1].", quoted, "?", None)
    assert checked.text == "The third entry is `list[2]`, and arr[1] = x sets it [1]."
    assert tuple(checked.quotes) == (1,)


def test_markers_counted_from_zero_are_set_right(check):
    checked = check("Press the blue button [0]. The mailbox quota is 5 GB [1]. Files go to the file share [2].")
    assert checked.text.startswith("Press the blue button [1]. The mailbox quota is 5 GB [2]. Files go to the file")
    assert checked.moved >= 2


def test_a_sentence_without_marker_gets_that_of_the_source_that_supports_it(check):
    assert check("The mailbox quota is 5 GB.").text == "The mailbox quota is 5 GB [2]."


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("The mailbox quota is 7 GB [2].", "7"),
        ("The outbox quota for Marseille is 5 GB [2].", "Marseille"),
        ("Cats sleep for most of the day [2].", "support"),
        ("On Windows, press the blue button and sign in again [1].", "Windows"),
        ("Run `backup --force` [4].", "backup --force"),
    ],
)
def test_what_no_source_supports_is_dropped_with_the_reason(check, sentence, why):
    checked = check(f"Press the blue button and sign in again [1]. {sentence}")
    assert checked.text == "Press the blue button and sign in again [1]."
    assert len(checked.dropped) == 1
    assert why in checked.dropped[0].why
    assert 0 < checked.kept < 1


def test_a_spray_of_markers_keeps_those_that_support(check):
    assert check("Press the blue button and sign in again [1][2][3][4].").text == (
        "Press the blue button and sign in again [1]."
    )


def test_a_sentence_made_from_two_sources_keeps_both(check):
    checked = check("The mailbox quota is 5 GB, and the backup keeps 10 with `--target share` [2][4].")
    assert checked.dropped == ()
    assert set(checked.quotes) <= {2, 4}


def test_steps_are_shown_whole_or_not_at_all(check):
    """A procedure with a step missing is worse than none."""
    good = "1. Press the blue button [1].\n2. Sign in again [1]."
    assert check(good).text == good
    checked = check(f"It takes ten minutes [1].\n\n{good}\n3. Wipe the disk of the Windows machine [1].")
    assert checked.text == "It takes ten minutes [1]."


def test_code_needs_its_words_in_the_source(check):
    good = "Run the backup [4]:\n\n```\nbackup --keep 10 --target share\n```\n\n[4]"
    assert "backup --keep 10 --target share" in check(good).text
    bad = check("It takes ten minutes [1]. Run this:\n\n```\nrm -rf / --no-preserve-root\n```\n\n[4]")
    assert bad.text == "It takes ten minutes [1]."


def test_a_heading_or_announcement_with_nothing_behind_goes_too(check):
    checked = check("It takes ten minutes [1].\n\n## Cats\n\nThey do this:\n\n- Cats sleep all day [1]")
    assert checked.text == "It takes ten minutes [1]."


def test_saying_that_the_sources_do_not_tell_needs_no_source(check):
    checked = check("The sources do not mention bicycles.")
    assert (checked.text, checked.admits, checked.quotes) == ("The sources do not mention bicycles.", True, {})
    lying = check("The sources do not mention it, so call Marseille at 12345.")
    assert not lying.admits
    assert lying.text == ""


@pytest.mark.parametrize("answer", ["", "[1]", "[9]", "...", "# Heading", "Yes."])
def test_an_answer_that_claims_nothing_cites_nothing(check, answer):
    checked = check(answer)
    assert (checked.quotes, checked.kept) == ({}, 0.0)


def test_without_a_model_for_the_language_words_decide():
    chinese = (source(1, "a.md", "重置密码时，请按蓝色按钮并重新登录。"), source(2, "b.md", "邮箱配额为五千兆字节。"))
    checked = check_answer("请按蓝色按钮并重新登录 [1]。公司成立于巴黎 [2]。", chinese, "如何重置密码？", None)
    assert checked.text == "请按蓝色按钮并重新登录 [1]。"
    assert [one.text for one in checked.dropped] == ["公司成立于巴黎。"]


def test_in_another_language_than_the_sources_meaning_alone_decides():
    def embed(texts):
        return np.array([[0.9, 0.435] if "blau" in text else [1.0, 0.0] for text in texts], dtype=np.float32)

    german = check_answer("Drücken Sie den blauen Knopf [1].", SOURCES[:1], QUESTION, embed, translated=True)
    assert german.text == "Drücken Sie den blauen Knopf [1]."
    assert check_answer("Drücken Sie den blauen Knopf [1].", SOURCES[:1], QUESTION, embed).text == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A is so. [1] B is so. [2]", "A is so [1]. B is so [2]."),
        ("A is so.[1][2]\nB.", "A is so [1][2].\nB."),
        ("好。[1] 坏。", "好 [1]。 坏。"),
        ("A is so [1]. B.", "A is so [1]. B."),
        ("`a. [1]` is code.", "`a. [1]` is code."),
        ("See e.g. [1] here.", "See e.g. [1] here."),
    ],
)
def test_a_marker_behind_a_full_stop_belongs_to_the_sentence_before(before, after):
    assert markers_before_stops(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "One. Two!\n\nThree:\n\n- a\n- b\n\n1. c\n2. d\n",
        "# H\n\nText.\n\n```\ncode\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n\nEnd.",
        "中文。第二句。",
    ],
)
def test_parts_give_the_text_again(text):
    assert joined(parts_of(text)) == text.strip()


def test_a_table_is_one_part():
    parts = parts_of("| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |")
    assert [(part.kind, part.text.count("\n")) for part in parts] == [("table", 3)]
