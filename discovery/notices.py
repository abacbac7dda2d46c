"""Who is to be told that a gap is closed: everybody who asked, once, in their own conversation, unless they said no."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from discovery.closure import CLOSED, REOPENED
from discovery.ports import Clock
from store.audit import AuditLog
from store.errors import NotFoundError
from store.gaps import GapStore
from store.questions import QuestionRecord, QuestionStore
from store.records import AuditEntry, GapState

_KIND = "closure-notice"
_OFF, _ON = "notices.off", "notices.on"


@dataclass(frozen=True, slots=True)
class Notice:
    """One person to be told about one gap.

    Attributes:
        question: in the words in which this person asked.
        conversation: where it was asked, as the platform's adapter wrote it.
        documents: that answer it now.
    """

    gap_id: str
    asker: str
    platform: str
    channel: str
    conversation: str
    question: str
    question_id: str
    documents: tuple[str, ...]


class Notices:
    """Hands out notices, each once over all threads and processes.

    Args:
        wanted: False when nobody is to be told.
    """

    def __init__(
        self, questions: QuestionStore, gaps: GapStore, audit: AuditLog, now: Clock, *, wanted: bool = True
    ) -> None:
        self._questions = questions
        self._gaps = gaps
        self._audit = audit
        self._now = now
        self._wanted = wanted

    def take(self, since: datetime | None = None) -> Iterator[Notice]:
        """Notices that nobody has taken yet. What is taken counts as told: call :meth:`give_back` when it was not.

        Args:
            since: only gaps that were closed, with proof, at or after this moment.
        """
        if not self._wanted:
            return
        silent = {entry.subject for entry in self._audit.latest((_OFF, _ON)).values() if entry.action == _OFF}
        for gap_id, entry in self._audit.latest((CLOSED, REOPENED), since).items():
            if entry.action == CLOSED and self._still_closed(gap_id):
                documents = tuple(str(one) for one in entry.detail.get("documents", ()))  # type: ignore[attr-defined]
                for record in self._last_of_each_asker(gap_id):
                    if _digest(record.asker) not in silent and self._claim(gap_id, record.asker):
                        yield _notice(gap_id, record, documents)

    def give_back(self, notice: Notice) -> None:
        """It was not delivered: somebody may try again."""
        self._questions.release(_KIND, _key(notice.gap_id, notice.asker))

    def stop(self, asker: str) -> None:
        """A person does not want to be told any more. Only a digest of the id is kept."""
        self._audit.record(AuditEntry(self._now(), "", _OFF, _digest(asker)))

    def resume(self, asker: str) -> None:
        """A person wants to be told again."""
        self._audit.record(AuditEntry(self._now(), "", _ON, _digest(asker)))

    def _still_closed(self, gap_id: str) -> bool:
        try:
            return self._gaps.get(gap_id).state is GapState.CLOSED
        except NotFoundError:
            return False

    def _last_of_each_asker(self, gap_id: str) -> list[QuestionRecord]:
        records = self._questions.of_gap(gap_id)
        return list({record.asker: record for record in records if record.asker and record.conversation}.values())

    def _claim(self, gap_id: str, asker: str) -> bool:
        return self._questions.claim(_KIND, _key(gap_id, asker), now=self._now(), retry_seconds=math.inf)


def _notice(gap_id: str, record: QuestionRecord, documents: tuple[str, ...]) -> Notice:
    return Notice(
        gap_id, record.asker, record.platform, record.channel, record.conversation, record.text, record.id, documents
    )


def _key(gap_id: str, asker: str) -> str:
    return f"{gap_id}:{_digest(asker)}"


def _digest(asker: str) -> str:
    return hashlib.sha256(asker.encode()).hexdigest()[:32]
