"""From what the search found to what support and gate decide on. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from bot.answering.gate import GateEvidence
from bot.answering.named import LONGEST, named
from bot.answering.support import Background, Evidence, PassageEvidence
from discovery.rules import Finding, RuleThresholds
from store.chunking import telling_title
from store.records import Passage, Rule
from store.search import SearchResult
from store.text import stems


def support_evidence(question: str, found: SearchResult, background: Background | None) -> Evidence:
    """What support needs to know.

    Args:
        question: the text that was searched for.
        found: the search's result.
        background: of the whole corpus, None while it is too small to tell.
    """
    return Evidence(
        passages=[_passage(passage) for passage in found.passages],
        question=stems(question),
        weights={term.stem: term.weight for term in found.terms},
        dense_scores=found.dense_scores,
        dense_documents=found.dense_documents,
        names=_names(question, found),
        language_covered=found.language_covered,
        background=background,
    )


def gate_evidence(
    found: SearchResult,
    support: float,
    findings: Sequence[Finding],
    rules: RuleThresholds,
    languages: Collection[str] = (),
    conflict: str = "",
    contradiction: str = "",
) -> GateEvidence:
    """What the gate needs to know.

    Args:
        found: the search's result.
        support: in [0, 1].
        findings: of the rules on retrieval.
        languages: in which documents are written.
        rules: for the score from which a passage counts as relevant.
        conflict: what the leading passages disagree about; empty when they don't.
        contradiction: what two documents say differently; empty when none do.
    """
    known = sum(term.document_frequency > 0 for term in found.terms)
    return GateEvidence(
        passages=len(found.passages),
        best_score=max((passage.score for passage in found.passages), default=0.0),
        support=support,
        relevant_score=rules.relevant_score,
        language_covered=found.language_covered,
        known_words=known / len(found.terms) if found.terms else 0.0,
        documents_speak_it=found.language in languages,
        missing_platform=any(finding.rule is Rule.MISSING_PLATFORM for finding in findings),
        conflict=conflict,
        contradiction=contradiction,
    )


def _names(question: str, found: SearchResult) -> dict[str, bool]:
    """What a question names, and whether it occurs in any document.

    Longer messages name a lot that nobody asks about: log lines, versions of everything that is installed.
    """
    if len(question) > LONGEST:
        return {}
    unknown = {term.stem for term in found.terms if not term.document_frequency}
    return {name: stem not in unknown for name, stem in named(question).items()}


def _passage(passage: Passage) -> PassageEvidence:
    return PassageEvidence(
        passage.document_id,
        passage.score,
        _stems_of(f"{telling_title(passage.title)}\n{passage.section}\n{passage.text}"),
        passage.dense_rank,
        passage.lexical_rank,
    )


@lru_cache(maxsize=4096)
def _stems_of(text: str) -> tuple[str, ...]:
    """The same passages come back for many questions, and splitting them into words is most of the gate's work."""
    return tuple(stems(text))
