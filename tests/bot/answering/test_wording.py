"""A refusal says why, in the question's language, and names the documents that came closest."""

from __future__ import annotations

import pytest

from bot.answering.wording import abstention, clarification, small_talk
from discovery.platforms import load_platforms
from discovery.rules import Observation, RuleThresholds, weak_answer_language
from store.records import AbstainReason, Passage
from store.text import han_share


def passage(document: str, section: str = "") -> Passage:
    return Passage(document, document, document, document, section, "", "text", 0.2, 1)


@pytest.mark.parametrize("reason", list(AbstainReason))
def test_every_reason_has_its_own_sentence_in_both_languages(reason):
    english, chinese = abstention(reason), abstention(reason, language="zh")
    assert han_share(english) == 0
    assert han_share(chinese) == 1
    others = [other for other in AbstainReason if other is not reason]
    assert english not in [abstention(other) for other in others]
    assert chinese not in [abstention(other, language="zh") for other in others]


@pytest.mark.parametrize("reason", [AbstainReason.NO_RELEVANT_PASSAGES, AbstainReason.INSUFFICIENT_EVIDENCE])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_rule_on_weak_answers_hears_a_refusal(reason, language):
    observation = Observation("q", (), abstention(reason, language=language), load_platforms())
    assert weak_answer_language(observation, RuleThresholds()) is not None


def test_the_closest_documents_are_listed_once_each_and_at_most_three():
    passages = [passage("a.md", "One"), passage("a.md", "One"), passage("b.md"), passage("c.md"), passage("d.md")]
    lines = abstention(AbstainReason.NO_RELEVANT_PASSAGES, passages).splitlines()
    assert lines[-4:] == ["Closest documents:", "- a.md › One", "- b.md", "- c.md"]
    assert "最接近的文档：" in abstention(AbstainReason.NO_RELEVANT_PASSAGES, passages, "zh")


def test_an_unknown_language_is_spoken_to_in_english():
    assert abstention(AbstainReason.OUT_OF_SCOPE, language="ja") == abstention(AbstainReason.OUT_OF_SCOPE)
    assert small_talk("de") == small_talk("en") != small_talk("zh")
    assert clarification("de") == clarification() != clarification("zh")
