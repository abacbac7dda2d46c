"""Questions that are answered well today: what a new document should not change."""

from __future__ import annotations

from datetime import timedelta

from discovery.ports import Clock
from discovery.preview import FineAnswer
from store.questions import QuestionRecord, QuestionStore
from store.records import Question, Status, Visibility

_DAYS = 90
_MOST = 200
"""The latest questions that are looked at: enough to notice a document that crowds others out."""


class FineAnswers:
    """Reads the question log."""

    def __init__(self, questions: QuestionStore, now: Clock) -> None:
        self._questions = questions
        self._now = now

    def __call__(self) -> list[FineAnswer]:
        """Public questions of the last three months that were answered and about which nobody complained."""
        records = self._questions.since(self._now() - timedelta(days=_DAYS))
        latest = {record.text: record for record in records if _is_fine(record)}
        return [
            FineAnswer(Question(text, collections=tuple(record.collections), scope=record.scope), record.max_score)
            for text, record in list(latest.items())[-_MOST:]
        ]


def _is_fine(record: QuestionRecord) -> bool:
    """A question that was linked to a gap was answered badly, whatever its status."""
    answered = record.status is Status.ANSWERED and record.reason is None and not record.gap_id
    return answered and record.visibility is Visibility.PUBLIC
