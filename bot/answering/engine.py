"""One question from text to reply: the order of the steps, the same for chat, command line and measuring.

conversation → search → retrieval rules → gate → (grading → one rewrite → search) → answerer → answer rules → gap →
question log
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.answering import wording
from bot.answering.contradictions import contradiction
from bot.answering.conversation import standalone
from bot.answering.corpus import Corpus
from bot.answering.evidence import gate_evidence, support_evidence
from bot.answering.extractive import Answer, answer
from bot.answering.gate import GateDecision, decide
from bot.answering.generative import GenerativeAnswerer, Written
from bot.answering.grading import Grader, graded
from bot.answering.observing import Nobody, Observer
from bot.answering.policy import POLICY_VERSION, Policy
from bot.answering.recording import exposure, outline, question_record, spoken, telling
from bot.answering.scoped_search import narrowed
from bot.answering.scopes import conflict, named_scope
from bot.answering.support import Support, support
from bot.logs_context import keep_private, own_question
from discovery.detector import detect_answer, detect_retrieval
from discovery.gap_log import GapLog
from discovery.questions import QuestionKind, classify, strip_greeting
from discovery.rules import Finding, Observation
from discovery.verdict import opens_gap
from store.errors import GaplightError, ModelError, UnavailableError
from store.privacy import redact
from store.questions import QuestionStore
from store.records import AbstainReason, GapReference, Passage, Question, Reply, Status
from store.search import Searcher, SearchResult
from store.text import clean

__all__ = ["POLICY_VERSION", "Engine", "Parts", "Policy"]

logger = logging.getLogger(__name__)

LONGEST_QUESTION = 20_000
"""Characters of a question that are read; more is a pasted file, and its head says what is asked."""

_SAME_WORDS = 0.8
"""Cosine from which a document says the same as a question of stop words only ("who are you?" in a list of phrases)."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the engine works with; wired in :mod:`bot.app`, by tests with others.

    ``corpus`` is asked for with every question: it changes with the documents. ``writer`` and ``grader`` use a
    language model; without them answers are quotations, from passages as they were found. ``observer`` is told how
    each question ended that is put on record.
    """

    searcher: Searcher
    gaps: GapLog
    questions: QuestionStore
    corpus: Callable[[], Corpus]
    now: Callable[[], datetime]
    writer: GenerativeAnswerer | None = None
    grader: Grader | None = None
    observer: Observer = field(default_factory=Nobody)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was found, and what the rules and the gate say of it; ``usable`` are the passages to answer from."""

    found: SearchResult
    support: Support
    observation: Observation
    findings: tuple[Finding, ...]
    decision: GateDecision
    timings_ms: Mapping[str, float]
    usable: tuple[Passage, ...]
    notes: tuple[str, ...] = ()
    own_words: bool = False

    @property
    def best_score(self) -> float:
        """The highest cosine similarity of a passage; 0 without any."""
        return max((passage.score for passage in self.found.passages), default=0.0)


class Engine:
    """Answers questions; may be used by many threads."""

    def __init__(self, parts: Parts, policy: Policy) -> None:
        self._parts = parts
        self._policy = policy

    def ask(self, question: Question, *, log: bool = True) -> Reply:
        """Answer a question or refuse with a reason.

        Args:
            question: what was asked, where and by whom.
            log: False leaves no trace in question log and gap log.

        Returns:
            A reply in every case; parts that failed show as status ``error`` with reason ``unavailable``.

        Raises:
            UsageError: the question names a collection or a scope that cannot be.
        """
        started = time.perf_counter()
        with own_question(question.text, recorded=log) as identity:
            asked = strip_greeting(clean(question.text)[:LONGEST_QUESTION])
            text = standalone(asked, question.history)
            reply, judged = self._reply(question, text, follows_up=text != asked)
            reply = _timed(replace(reply, policy=self._policy.version), started)
            keep_private(reply.answer)
            if not log:
                return reply
            reply = _timed(self._logged(question, text, reply, judged, identity), started)
            logger.info("Question from %s: %s", question.platform, outline(question, reply))
            self._parts.observer.asked(question, reply)
            return reply

    def report_missing(self, question: Question) -> GapReference:
        """Open or join the gap of a recorded question of which a person says that the documents don't answer it.

        Args:
            question: with its ``id``, by the person who says so.

        Raises:
            UnavailableError, ModelError: what comes closest cannot be looked up now.
        """
        text = standalone(strip_greeting(clean(question.text)[:LONGEST_QUESTION]), question.history)
        judged = self._judge(question, text, self._parts.corpus())
        reasons = tuple(finding.rule for finding in judged.findings)
        reply = Reply(question.text, Status.ABSTAINED, "", passages=judged.found.passages, rules=reasons)
        gap = self._gap(question, redact(text) if self._policy.redact else text, reply, judged)
        self._parts.observer.reported(gap)
        return gap

    def _reply(self, question: Question, text: str, *, follows_up: bool) -> tuple[Reply, _Judged | None]:
        try:
            corpus = self._parts.corpus()
            kind = classify(clean(question.text)[:LONGEST_QUESTION])
            if early := self._without_search(question, kind, corpus):
                return early, None
            judged = self._judge(question, text, corpus)
        except (UnavailableError, ModelError) as error:
            logger.exception("The search failed")
            return self._unavailable(question, error), None
        if kind is QuestionKind.VAGUE and not follows_up and judged.best_score < _SAME_WORDS:
            return self._unclear(question, judged), None
        if question.scope and not judged.found.passages and not judged.found.notes:
            return self._nothing_in_scope(question, judged), None
        if not self._refuses(judged.decision.reason):
            judged = self._graded(question, text, judged, corpus)
        if judged.decision.reason and self._refuses(judged.decision.reason):
            return self._refusal(question, judged, judged.decision.reason), judged
        return self._answered(question, text, judged)

    def _without_search(self, question: Question, kind: QuestionKind, corpus: Corpus) -> Reply | None:
        """Replies to what is no question to the documents; None when it is one."""
        if kind is QuestionKind.SMALLTALK:
            return Reply(question.text, Status.SMALLTALK, wording.small_talk())
        if kind is QuestionKind.EMPTY:
            reason = AbstainReason.NOT_A_QUESTION
            return Reply(question.text, Status.ABSTAINED, wording.abstention(reason), reason)
        if not corpus.chunks:
            reason = AbstainReason.EMPTY_INDEX
            return Reply(question.text, Status.ABSTAINED, wording.abstention(reason), reason)
        return None

    def _judge(self, question: Question, text: str, corpus: Corpus) -> _Judged:
        collections = corpus.resolved(question.collections)
        found, scope = narrowed(
            lambda scope: self._parts.searcher.search(text, collections, scope, corpus.route_weights),
            named_scope(text, corpus.scopes),
            question.scope,
        )
        started = time.perf_counter()
        observation = Observation(text, found.passages, "", corpus.platforms)
        findings = detect_retrieval(observation, self._policy.rules, self._policy.disabled)
        judged = support(support_evidence(text, found, corpus.background))
        evidence = gate_evidence(
            found,
            judged.value,
            findings,
            self._policy.rules,
            corpus.languages,
            conflict(text, found.passages, scope),
            contradiction(text, found.passages),
        )
        decision = decide(evidence, self._policy.threshold)
        timings = {**found.timings_ms, "gate": _milliseconds(started)}
        return _Judged(found, judged, observation, findings, decision, timings, found.passages)

    def _refuses(self, reason: AbstainReason | None) -> bool:
        return reason is not None and self._policy.mode == "enforce"

    def _graded(self, question: Question, text: str, judged: _Judged, corpus: Corpus) -> _Judged:
        """What a language model leaves of the passages, or finds in other words; all of them when it fails."""
        if self._parts.grader is None or not judged.usable:
            return judged
        started = time.perf_counter()
        found = {"": judged}

        def search(words: str) -> tuple[Passage, ...]:
            found[words] = self._judge(question, words, corpus)
            return found[words].usable

        result = graded(self._parts.grader, text, judged.usable, search)
        chosen = found[result.rewrite]
        return replace(
            chosen,
            found=replace(chosen.found, vector=judged.found.vector),
            decision=judged.decision if result.relevant else GateDecision(AbstainReason.INSUFFICIENT_EVIDENCE, ""),
            timings_ms={**chosen.timings_ms, "grade": _milliseconds(started)},
            usable=result.relevant or judged.usable,
            notes=result.notes,
        )

    def _nothing_in_scope(self, question: Question, judged: _Judged) -> Reply:
        """Whatever is asked there: no document carries this scope, so the question says nothing of the others."""
        reason = AbstainReason.OUT_OF_SCOPE
        text = wording.nothing_in_scope(question.scope, judged.found.language)
        return Reply(question.text, Status.ABSTAINED, text, reason, timings_ms=judged.found.timings_ms)

    def _refusal(self, question: Question, judged: _Judged, reason: AbstainReason) -> Reply:
        text = wording.abstention(reason, judged.found.passages, judged.found.language)
        return self._finished(question, judged, Status.ABSTAINED, Answer(text, ()), reason)

    def _answered(self, question: Question, text: str, judged: _Judged) -> tuple[Reply, _Judged]:
        started = time.perf_counter()
        written = self._written(text, judged)
        judged = replace(judged, notes=(*judged.notes, *written.notes), own_words=written.own_words)
        reason = written.reason or judged.decision.reason
        if written.reason and self._refuses(written.reason):
            reply = self._refusal(question, judged, written.reason)
        elif not (written.answer and written.answer.citations):
            reply = self._refusal(question, judged, AbstainReason.NO_RELEVANT_PASSAGES)
        else:
            shown = reason if self._policy.mode == "shadow" else None
            reply = self._finished(question, judged, Status.ANSWERED, written.answer, shown)
        return replace(reply, timings_ms={**reply.timings_ms, "answer": _milliseconds(started)}), judged

    def _written(self, text: str, judged: _Judged) -> Written:
        """What a language model writes, or quotations where there is none, it fails, or nothing may be refused."""
        written = Written(None)
        if self._parts.writer:
            written = self._parts.writer.write(text, judged.usable)
        if written.answer or self._refuses(written.reason):
            return written
        return replace(written, answer=answer(text, judged.found.terms, judged.usable, self._policy.extractive))

    def _finished(
        self, question: Question, judged: _Judged, status: Status, written: Answer, reason: AbstainReason | None
    ) -> Reply:
        said = spoken(written.text, quotes=bool(written.citations), own_words=judged.own_words)
        observation = replace(judged.observation, answer=said)
        findings = judged.findings + detect_answer(observation, self._policy.rules, self._policy.disabled)
        found = judged.found
        return Reply(
            question=question.text,
            status=status,
            answer=written.text,
            reason=reason,
            citations=written.citations,
            passages=found.passages,
            max_score=judged.best_score,
            support=judged.support.value,
            rules=tuple(finding.rule for finding in findings),
            timings_ms=judged.timings_ms,
            notes=tuple(filter(None, [*found.notes, judged.decision.explanation, *judged.notes])),
        )

    def _unclear(self, question: Question, judged: _Judged) -> Reply:
        """Stop words only, and no document that says the same: whatever came back is chance."""
        reply = self._finished(question, judged, Status.CLARIFY, Answer(wording.clarification(), ()), None)
        return replace(reply, rules=())

    def _unavailable(self, question: Question, error: GaplightError) -> Reply:
        reason = AbstainReason.UNAVAILABLE
        return Reply(question.text, Status.ERROR, wording.abstention(reason), reason, notes=(str(error),))

    def _logged(self, question: Question, text: str, reply: Reply, judged: _Judged | None, identity: str) -> Reply:
        """Record the question and the gap that it exposed; an answer is given even when that fails."""
        shown = redact(text) if self._policy.redact else text
        try:
            if judged and self._exposes_gap(reply, judged):
                reply = replace(reply, gap=self._gap(question, shown, reply, judged))
            language = judged.found.language if judged else ""
            record = replace(question_record(question, shown, reply, language, self._parts.now()), id=identity)
            return replace(reply, question_id=self._parts.questions.record(record))
        except GaplightError as error:
            logger.exception("The question could not be logged")
            self._parts.observer.not_logged()
            return replace(reply, notes=(*reply.notes, f"Not logged: {error.problem}"))

    def _exposes_gap(self, reply: Reply, judged: _Judged) -> bool:
        """Whether the documents are to blame; not while a part of the search failed that might have found more."""
        rules = telling(reply, own_words=judged.own_words)
        return not judged.found.notes and opens_gap(reply.status, reply.reason, rules, self._policy.verdict)

    def _gap(self, question: Question, shown: str, reply: Reply, judged: _Judged) -> GapReference:
        return self._parts.gaps.record(exposure(question, shown, reply, judged.found, self._parts.now()))


def _timed(reply: Reply, started: float) -> Reply:
    return replace(reply, timings_ms={**reply.timings_ms, "total": _milliseconds(started)})


def _milliseconds(started: float) -> float:
    return (time.perf_counter() - started) * 1000
