"""What the search found reaches support and gate unchanged."""

from __future__ import annotations

import numpy as np
import pytest

from bot.answering.evidence import gate_evidence, support_evidence
from discovery.rules import Finding, RuleThresholds
from store.records import Passage, Rule
from store.search import QuestionTerm, SearchResult


def found(*passages, terms=(), covered=True, dense=()):
    return SearchResult(passages, tuple(terms), np.zeros(2, np.float32), "en", covered, 9, dense)


ONE = Passage("d1:0", "d1", "vpn.md", "VPN guide", "Reset", "", "Press the button.", 0.4, 1, 1, None)
TWO = Passage("d2:0", "d2", "mail.md", "Mail", "", "", "The quota.", 0.7, 2, None, 3)
KNOWN = QuestionTerm("reset", "reset", 3, 1.5)
UNKNOWN = QuestionTerm("frobnic", "frobnicate", 0, 6.0)


def test_a_passage_is_judged_by_title_section_and_text():
    evidence = support_evidence("How to reset?", found(ONE, TWO, terms=[KNOWN], dense=(0.7, 0.4)), None)
    first, second = evidence.passages
    assert list(first.stems) == ["vpn", "guid", "reset", "press", "the", "button"]
    assert (first.document, first.score, first.dense_rank, first.lexical_rank) == ("d1", 0.4, 1, None)
    assert (second.document, second.dense_rank, second.lexical_rank) == ("d2", None, 3)
    assert list(evidence.question) == ["how", "to", "reset"]
    assert (evidence.weights, evidence.dense_scores) == ({"reset": 1.5}, (0.7, 0.4))


def test_the_gate_sees_the_best_score_wherever_it_ranks():
    evidence = gate_evidence(found(ONE, TWO), 0.3, (), RuleThresholds(relevant_score=0.25))
    assert (evidence.passages, evidence.best_score, evidence.support, evidence.relevant_score) == (2, 0.7, 0.3, 0.25)


@pytest.mark.parametrize(("terms", "share"), [([], 0.0), ([KNOWN], 1.0), ([KNOWN, UNKNOWN], 0.5), ([UNKNOWN], 0.0)])
def test_known_words_are_those_that_occur_in_the_corpus(terms, share):
    assert gate_evidence(found(ONE, terms=terms), 0.3, (), RuleThresholds()).known_words == share


def test_a_missing_platform_reaches_the_gate():
    findings = (Finding(Rule.MISSING_PLATFORM, "no passage names Helm"),)
    assert gate_evidence(found(ONE), 0.3, findings, RuleThresholds()).missing_platform
    assert not gate_evidence(found(ONE), 0.3, (), RuleThresholds()).missing_platform


def test_nothing_found_is_no_score():
    evidence = gate_evidence(found(), 0.0, (), RuleThresholds())
    assert (evidence.passages, evidence.best_score) == (0, 0.0)
