"""One question from text to reply: the order of the steps, the same for chat, command line and measuring.

conversation → search → retrieval rules → gate → answerer → answer rules → gap → question log
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.answering import wording
from bot.answering.conversation import standalone
from bot.answering.corpus import Corpus
from bot.answering.evidence import gate_evidence, support_evidence
from bot.answering.extractive import Answer, ExtractiveOptions, answer
from bot.answering.gate import GateDecision, GateMode, decide
from bot.answering.support import Support, support
from discovery.detector import detect_answer, detect_retrieval
from discovery.gap_log import Exposure, GapLog
from discovery.questions import QuestionKind, classify, strip_greeting
from discovery.rules import Finding, Observation, RuleThresholds
from discovery.verdict import GapVerdict, opens_gap
from store.errors import GaplightError, ModelError, UnavailableError
from store.privacy import redact
from store.questions import QuestionRecord, QuestionStore
from store.records import AbstainReason, GapReference, Question, Reply, Rule, Status
from store.search import Searcher, SearchResult
from store.text import clean

logger = logging.getLogger(__name__)

POLICY_VERSION = "2"
"""Raise it when rules, support, gate or answers change for the same settings: it is part of every policy's version."""

LONGEST_QUESTION = 20_000
"""Characters of a question that are read; more is a pasted file, and its head says what is asked."""

_SAME_WORDS = 0.8
"""Cosine from which a document says the same as a question of stop words only ("who are you?" in a list of phrases)."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that decides how a question is treated; ``version`` is stored with every question.

    Attributes:
        version: short hash of all of it, and of index format and model.
        threshold: support from which the gate lets an answer through.
        mode: whether the gate's refusal counts.
    """

    version: str
    threshold: float
    mode: GateMode
    rules: RuleThresholds
    disabled: frozenset[Rule]
    verdict: GapVerdict
    extractive: ExtractiveOptions
    redact: bool = True


@dataclass(frozen=True, slots=True)
class Parts:
    """What the engine works with; wired in :mod:`bot.app`, by tests with others.

    ``corpus`` is asked for with every question: it changes with the documents.
    """

    searcher: Searcher
    gaps: GapLog
    questions: QuestionStore
    corpus: Callable[[], Corpus]
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was found, and what the rules and the gate say of it."""

    found: SearchResult
    support: Support
    observation: Observation
    findings: tuple[Finding, ...]
    decision: GateDecision
    gate_ms: float

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
        asked = strip_greeting(clean(question.text)[:LONGEST_QUESTION])
        text = standalone(asked, question.history)
        reply, judged = self._reply(question, text, follows_up=text != asked)
        reply = _timed(replace(reply, policy=self._policy.version), started)
        if not log:
            return reply
        return _timed(self._logged(question, text, reply, judged), started)

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
        return self._gap(question, redact(text) if self._policy.redact else text, reply, judged)

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
        if judged.decision.reason and self._policy.mode == "enforce":
            return self._refusal(question, judged, judged.decision.reason), judged
        return self._answered(question, text, judged), judged

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
        found = self._parts.searcher.search(
            text, corpus.resolved(question.collections), question.scope, corpus.route_weights
        )
        started = time.perf_counter()
        observation = Observation(text, found.passages, "", corpus.platforms)
        findings = detect_retrieval(observation, self._policy.rules, self._policy.disabled)
        judged = support(support_evidence(text, found, corpus.background))
        decision = decide(
            gate_evidence(found, judged.value, findings, self._policy.rules, corpus.languages), self._policy.threshold
        )
        return _Judged(found, judged, observation, findings, decision, _milliseconds(started))

    def _nothing_in_scope(self, question: Question, judged: _Judged) -> Reply:
        """Whatever is asked there: no document carries this scope, so the question says nothing of the others."""
        reason = AbstainReason.OUT_OF_SCOPE
        text = wording.nothing_in_scope(question.scope, judged.found.language)
        return Reply(question.text, Status.ABSTAINED, text, reason, timings_ms=judged.found.timings_ms)

    def _refusal(self, question: Question, judged: _Judged, reason: AbstainReason) -> Reply:
        text = wording.abstention(reason, judged.found.passages, judged.found.language)
        return self._finished(question, judged, Status.ABSTAINED, Answer(text, ()), reason)

    def _answered(self, question: Question, text: str, judged: _Judged) -> Reply:
        started = time.perf_counter()
        written = answer(text, judged.found.terms, judged.found.passages, self._policy.extractive)
        if not written.citations:
            return self._refusal(question, judged, AbstainReason.NO_RELEVANT_PASSAGES)
        reason = judged.decision.reason if self._policy.mode == "shadow" else None
        reply = self._finished(question, judged, Status.ANSWERED, written, reason)
        return replace(reply, timings_ms={**reply.timings_ms, "answer": _milliseconds(started)})

    def _finished(
        self, question: Question, judged: _Judged, status: Status, written: Answer, reason: AbstainReason | None
    ) -> Reply:
        observation = replace(judged.observation, answer=_without_quotations(written))
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
            timings_ms={**found.timings_ms, "gate": judged.gate_ms},
            notes=(*found.notes, judged.decision.explanation),
        )

    def _unclear(self, question: Question, judged: _Judged) -> Reply:
        """Stop words only, and no document that says the same: whatever came back is chance."""
        reply = self._finished(question, judged, Status.CLARIFY, Answer(wording.clarification(), ()), None)
        return replace(reply, rules=())

    def _unavailable(self, question: Question, error: GaplightError) -> Reply:
        reason = AbstainReason.UNAVAILABLE
        return Reply(question.text, Status.ERROR, wording.abstention(reason), reason, notes=(str(error),))

    def _logged(self, question: Question, text: str, reply: Reply, judged: _Judged | None) -> Reply:
        """Record the question and the gap that it exposed; an answer is given even when that fails."""
        shown = redact(text) if self._policy.redact else text
        try:
            if judged and self._exposes_gap(reply, judged):
                reply = replace(reply, gap=self._gap(question, shown, reply, judged))
            record = self._record(question, shown, reply, judged)
            return replace(reply, question_id=self._parts.questions.record(record))
        except GaplightError as error:
            logger.exception("The question could not be logged")
            return replace(reply, notes=(*reply.notes, f"Not logged: {error.problem}"))

    def _exposes_gap(self, reply: Reply, judged: _Judged) -> bool:
        """Whether the documents are to blame; not while a part of the search failed that might have found more."""
        return not judged.found.notes and opens_gap(reply.status, reply.reason, _telling(reply), self._policy.verdict)

    def _gap(self, question: Question, shown: str, reply: Reply, judged: _Judged) -> GapReference:
        return self._parts.gaps.record(
            Exposure(
                question=shown,
                asker=question.asker,
                platform=question.platform,
                channel=question.channel,
                visibility=question.visibility,
                language=judged.found.language,
                passages=reply.passages,
                reasons=reply.rules,
                vector=judged.found.vector,
                seen_at=self._parts.now(),
                question_id=question.id,
            )
        )

    def _record(self, question: Question, shown: str, reply: Reply, judged: _Judged | None) -> QuestionRecord:
        return QuestionRecord(
            asked_at=self._parts.now(),
            asker=question.asker,
            platform=question.platform,
            channel=question.channel,
            visibility=question.visibility,
            text=shown,
            answer=reply.answer,  # masked by the question log itself
            status=reply.status,
            reason=reply.reason,
            rules=reply.rules,
            max_score=reply.max_score,
            support=reply.support,
            policy=reply.policy,
            timings=dict(reply.timings_ms),
            gap_id=reply.gap.id if reply.gap else "",
            language=judged.found.language if judged else "",
            collections=question.collections,
            scope=question.scope,
            conversation=question.conversation,
        )


def _without_quotations(written: Answer) -> str:
    """What the rules read. An answer made of quotations has no words of its own, so all of it is marked as quoted;
    of a refusal only the first line speaks, the list of documents below it does not.
    """
    if not written.citations:
        return written.text.partition("\n")[0]
    return "\n".join(f"> {line}" for line in written.text.splitlines())


def _telling(reply: Reply) -> tuple[Rule, ...]:
    """The rules that can open a gap: an answer that is all quotation is no general knowledge, however long it is."""
    if not reply.citations:
        return reply.rules
    return tuple(rule for rule in reply.rules if rule is not Rule.GENERAL_KNOWLEDGE_ANSWER)


def _timed(reply: Reply, started: float) -> Reply:
    return replace(reply, timings_ms={**reply.timings_ms, "total": _milliseconds(started)})


def _milliseconds(started: float) -> float:
    return (time.perf_counter() - started) * 1000
