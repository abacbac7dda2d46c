"""One way to read words, for documents and questions alike."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.text import (
    clean,
    clean_values,
    fold,
    han_share,
    informative,
    is_blank,
    stem,
    stems,
    stop_words,
    terms,
    topic_words,
)


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("abc\x00def", "abcdef"),
        ("a\ud800b\udfffc", "abc"),
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("tab\tstays", "tab\tstays"),
        ("zero\u200bwidth\u2060\ufeff", "zerowidth"),
        ("\u202eevil\u202c", "evil"),
        ("soft\u00adhyphen", "softhyphen"),
        ("cafe\u0301", "caf\u00e9"),
        ("\x1b[31mred\x07", "red"),
        ("⌘ 東京 😀", "⌘ 東京 😀"),
    ],
)
def test_what_databases_refuse_and_readers_cannot_see_is_gone(raw, cleaned):
    """B100: NUL and lone surrogates are fatal on PostgreSQL only."""
    assert clean(raw) == cleaned


@given(st.text())
def test_cleaning_twice_changes_nothing_and_always_gives_valid_text(text):
    """B100."""
    once = clean(text)
    assert clean(once) == once
    assert "\x00" not in once
    once.encode("utf-8")


@given(st.text(st.characters(codec=None)))
def test_surrogates_never_survive(text):
    """B100."""
    clean(text).encode("utf-8")


def test_metadata_is_cleaned_with_its_keys_and_becomes_json():
    """B100: PDF producers and JSON metadata carry NUL bytes too."""
    raw = {"a\x00": ["x\x00", {"b": "\ud800y"}], 5: (1, 2.5, None, True), "inf": float("inf"), "object": {1}}
    assert clean_values(raw) == {
        "a": ["x", {"b": "y"}], "5": [1, 2.5, None, True], "inf": "inf", "object": "{1}",
    }  # fmt: skip


def test_folding_makes_spellings_equal():
    assert fold("ＶＰＮ") == fold("vpn") == "vpn"
    assert fold("ﬁle STRASSE") == fold("file straße")


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "?!", "👍", "---", "\x00"])
def test_a_text_without_letter_or_digit_is_blank(text):
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "7", "用", "é", "?!x"])
def test_a_letter_digit_or_ideograph_is_not_blank(text):
    assert not is_blank(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("node_exporter", ["node_exporter", "node", "export"]),
        ("NodeDiskFull", ["nodediskful", "node", "disk", "full"]),
        ("v4.1.1", ["4.1.1"]),
        ("V2", ["2"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("the server's", ["the", "server"]),
        ("the server’s", ["the", "server"]),
        ("don't", ["don't", "don"]),
        ("TCP/IP", ["tcp/ip", "tcp", "ip"]),
        ("", []),
        ("?! ...", []),
        ("重置密码", ["重置", "密码"]),
        ("重置VPN密码", ["重置", "vpn", "密码"]),
        ("ログ", ["ログ"]),
        ("ひらがな", ["ひら", "らが", "がな"]),
        ("비밀번호", ["비밀", "밀번", "번호"]),
        ("ＶＰＮ", ["vpn"]),
    ],
)
def test_words_are_split_and_stemmed(text, found):
    assert stems(text) == found


@pytest.mark.parametrize(
    "forms",
    [
        ("deploy", "deploying", "deployed", "Deploys"),
        ("configure", "configuring", "configured"),
        ("query", "queries"),
        ("сервер", "сервера", "серверы"),
    ],
)
def test_forms_of_one_word_share_a_stem(forms):
    assert len({stem(form) for form in forms}) == 1


@given(st.text(max_size=200))
def test_a_document_and_a_question_with_the_same_words_meet(text):
    assert stems(clean(text)) == stems(text)
    assert [term.stem for term in terms(text)] == stems(text)


def test_informative_terms_are_without_stop_words_once_and_in_order():
    found = informative(terms("How do I reset the VPN, and why reset a VPN?"))
    assert [term.stem for term in found] == ["reset", "vpn"]
    assert found[1].surface == "VPN"
    assert informative(terms("what is it and how")) == []
    assert informative(terms("怎么重置的")) == informative(terms("重置"))


def test_topic_words_have_no_order():
    assert topic_words("reset the VPN") == topic_words("VPN reset") == ["reset", "vpn"]


def test_stop_words_are_there_in_both_languages():
    assert {"the", "how", "的", "怎么"} <= stop_words()
    assert not {"vpn", "reset", "密码"} & stop_words()


@pytest.mark.parametrize(("text", "share"), [("", 0.0), ("123", 0.0), ("abc", 0.0), ("密码", 1.0), ("密码ab", 0.5)])
def test_the_share_of_chinese_among_letters(text, share):
    assert han_share(text) == share


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "a." * 500_000, "_" * 1_000_000, "a-" * 300_000 + "!", "的" * 50_000]
)
def test_the_time_grows_with_the_length_only(text):
    started = time.perf_counter()
    found = terms(text)
    assert time.perf_counter() - started < 8
    assert all(len(term.stem) <= 80 for term in found if term.surface.isascii())


def test_threads_get_the_same_stems():
    words = [f"deploying{n} configured queries" for n in range(200)]
    expected = [stems(word) for word in words]
    results = []
    stem.cache_clear()
    threads = [threading.Thread(target=lambda: results.append([stems(word) for word in words])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


@pytest.mark.parametrize(
    "hostile",
    ["\x1b[31mMondays\x1b[0m", "\x9b31mMondays", "\x1b[2J\x1b[HMondays", "\x1b]0;title\x07Mondays", "Mon\x1bdays\x90"],
)
def test_terminal_sequences_are_removed_whole(hostile):
    """Half of a sequence would stay as a word that nobody searches for, and a whole one would reach a terminal."""
    assert clean(hostile) == "Mondays"


def test_removing_terminal_sequences_takes_time_that_grows_with_the_text():
    assert clean("\x1b]" * 20_000 + "end").endswith("end")
