"""What of a question is read by the rules on answers, and what is put on record. Pure."""

from __future__ import annotations

from datetime import datetime

from discovery.gap_log import Exposure
from store.questions import QuestionRecord
from store.records import Question, Reply, Rule, Visibility
from store.search import SearchResult


def spoken(text: str, *, quotes: bool, own_words: bool) -> str:
    """What the rules read of an answer or a refusal.

    Args:
        text: what is shown.
        quotes: whether it cites documents.
        own_words: whether it was written rather than quoted.

    Returns:
        A written answer as it is. An answer made of quotations has no words of its own, so all of it is marked as
        quoted; of a refusal only the first line speaks, the list of documents below it does not.
    """
    if own_words:
        return text
    if not quotes:
        return text.partition("\n")[0]
    return "\n".join(f"> {line}" for line in text.splitlines())


def telling(reply: Reply, *, own_words: bool) -> tuple[Rule, ...]:
    """The rules that can open a gap: an answer that is all quotation is no general knowledge, however long it is."""
    if own_words or not reply.citations:
        return reply.rules
    return tuple(rule for rule in reply.rules if rule is not Rule.GENERAL_KNOWLEDGE_ANSWER)


def outline(question: Question, reply: Reply) -> str:
    """How a question ended, in one line for the log; nothing of what was asked or answered.

    The id of a gap is made from its wording, so that a guess can be checked by it: it is named for public ones only.
    """
    ended = f"{reply.status.value}, {reply.reason.value}" if reply.reason else reply.status.value
    named = reply.gap.id[:8] if reply.gap and question.visibility is Visibility.PUBLIC else "asked in private"
    gap = f", gap {named}" if reply.gap else ""
    return f"{ended}{gap}, support {reply.support:.2f}, {reply.timings_ms.get('total', 0.0):.0f} ms"


def exposure(question: Question, shown: str, reply: Reply, found: SearchResult, seen_at: datetime) -> Exposure:
    """A question that the documents did not answer, as the gap log takes it.

    Args:
        question: where and by whom it was asked.
        shown: its masked text, standing alone.
        reply: with the rules that fired and the passages that came closest.
        found: for its language and its vector.
        seen_at: when.
    """
    return Exposure(
        question=shown,
        asker=question.asker,
        platform=question.platform,
        channel=question.channel,
        visibility=question.visibility,
        language=found.language,
        passages=reply.passages,
        reasons=reply.rules,
        vector=found.vector,
        seen_at=seen_at,
        question_id=question.id,
    )


def question_record(question: Question, shown: str, reply: Reply, language: str, asked_at: datetime) -> QuestionRecord:
    """A question as it is kept.

    Args:
        question: where and by whom it was asked.
        shown: its masked text, standing alone.
        reply: what came of it; its answer is masked by the question log itself.
        language: ISO 639-1 code; empty when it was not searched for.
        asked_at: when.
    """
    return QuestionRecord(
        asked_at=asked_at,
        asker=question.asker,
        platform=question.platform,
        channel=question.channel,
        visibility=question.visibility,
        text=shown,
        answer=reply.answer,
        status=reply.status,
        reason=reply.reason,
        rules=reply.rules,
        max_score=reply.max_score,
        support=reply.support,
        policy=reply.policy,
        timings=dict(reply.timings_ms),
        gap_id=reply.gap.id if reply.gap else "",
        language=language,
        collections=question.collections,
        scope=question.scope,
        conversation=question.conversation,
    )
