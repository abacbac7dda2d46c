"""Phrases are data; their few marks are compiled exactly and wrong ones are refused."""

import pytest

from discovery.phrase_patterns import all_languages, compile_language, compile_phrases, normalise_wording
from store.errors import ConfigurationError

GROUPS = {"sources": ["docs", "knowledge base"]}


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("no {0-2} found", "no docs found", True),
        ("no {0-2} found", "no very old docs found", False),
        ("no {0-2} found", "no found", True),
        ("no {0-2} found", "no docs. found", True),
        ("no {0-2} found", "no docs! found", False),
        ("no {1-2} found", "no found", False),
        ("(do|did) not <sources>", "did not knowledge base", True),
        ("(do|did) not <sources>", "does not docs", False),
        ("is (really)? there", "is there", True),
        ("is (really)? there", "is really there", True),
        ("(in <sources>|here)", "in the docs", False),
        ("(in <sources>|here)", "in docs", True),
        ("no", "nothing", False),
        ("sorry but", "sorry, but", True),
    ],
)
def test_the_marks_of_a_phrase_mean_what_they_say(phrase, text, found):
    assert bool(compile_phrases([phrase], GROUPS, spaced=True).search(text)) is found


def test_gaps_count_characters_in_chinese_and_stop_at_punctuation():
    pattern = compile_phrases(["没有{0-3}文档"], {}, spaced=False)
    assert pattern.search("没有相关的文档")
    assert not pattern.search("没有任何相关的文档")
    assert not pattern.search("没有，文档")


@pytest.mark.parametrize("phrase", ["", "no {0-2}", "a <unknown> b", "a ) b", "why? not", "{1-2}"])
def test_a_malformed_phrase_is_refused_with_the_phrase(phrase):
    with pytest.raises(ConfigurationError) as refused:
        compile_phrases([phrase], GROUPS, spaced=True)
    assert repr(phrase) in refused.value.problem


def test_no_phrases_match_nothing():
    assert not compile_phrases([], {}, spaced=True).search("anything")
    empty = compile_language("xx", {})
    assert not empty.weak.search("I could not find anything")
    assert not empty.existence.search("is there any doc")


def test_english_chinese_german_french_and_spanish_are_there():
    assert {language.code for language in all_languages()} == {"de", "en", "es", "fr", "zh"}


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("I can’t  FIND it", "i can not find it"),
        ("doesn't, dont, cannot, won't", "does not, do not, can not, will not"),
        ("It's here\nand we've won", "it is here\nand we have won"),
        ("沒有資料", "没有资料"),
        ("l'information n'est", "l'information n'est"),
    ],
)
def test_wording_is_normalised(text, wording):
    assert normalise_wording(text) == wording
