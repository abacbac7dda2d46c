"""The question log, votes on answers, and claims that make work happen exactly once."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from store import askers
from store.columns import index_key
from store.database import Database
from store.errors import NotFoundError
from store.posts import ANSWER
from store.privacy import redact
from store.question_stats import Stats, summed_up
from store.records import AbstainReason, Rule, ScopeFilter, Status, Visibility
from store.statements import insert_for, upsert
from store.tables import claims, posts, questions, votes

__all__ = ["Forgotten", "QuestionRecord", "QuestionStore", "Stats", "Votes"]

LATENCY_SAMPLE = 10_000
"""Latencies and rates come from at most this many of the latest questions."""
CLAIM_SECONDS = 600
"""After this long an unfinished claim counts as crashed and may be claimed again."""


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question with what became of it. ``id`` may stay empty: recording gives one.

    Attributes:
        reason: why nothing was answered; None when something was.
        timings: milliseconds by stage (``embed``, ``search``, ``gate``, ``answer``, ``total``).
        gap_id: the gap that the question opened or joined, else an empty string.
    """

    asked_at: datetime
    text: str
    status: Status
    answer: str = ""
    reason: AbstainReason | None = None
    asker: str = ""
    platform: str = ""
    channel: str = ""
    visibility: Visibility = Visibility.PUBLIC
    rules: Sequence[Rule] = ()
    max_score: float = 0.0
    support: float = 0.0
    policy: str = ""
    timings: Mapping[str, float] = field(default_factory=dict)
    gap_id: str = ""
    language: str = ""
    collections: Sequence[str] = ()
    scope: ScopeFilter = field(default_factory=dict)
    id: str = ""
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Votes:
    """How many people found a reply helpful, and how many did not."""

    helpful: int
    unhelpful: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was erased: questions and votes deleted, gap sightings no longer tied to a person."""

    questions: int
    votes: int
    sightings: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A piece of work that somebody has taken; ``finished_at`` is None until it is done."""

    key: str
    claimed_at: datetime
    finished_at: datetime | None


class QuestionStore:
    """Questions, votes and claims; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, record: QuestionRecord) -> str:
        """Store a question; returns its id. Free text is redacted here once more, before it can reach the disk."""
        identity = record.id or uuid.uuid4().hex
        with self._database.begin() as connection:
            connection.execute(_INSERT, _values(replace(record, id=identity)))
        return identity

    def get(self, question_id: str) -> QuestionRecord:
        """One recorded question.

        Raises:
            NotFoundError: there is none with this id (any more).
        """
        found = self._select(questions.c.id == index_key(question_id))
        if not found:
            raise NotFoundError(f"There is no question {question_id!r}; it may have been deleted.")
        return found[0]

    def of_gap(self, gap_id: str) -> list[QuestionRecord]:
        """The recorded questions of a gap, oldest first."""
        return self._select(questions.c.gap_id == index_key(gap_id))

    def since(self, moment: datetime) -> list[QuestionRecord]:
        """The questions asked at or after a moment, oldest first."""
        return self._select(questions.c.asked_at >= moment)

    def of_conversation(self, conversation: str, limit: int) -> list[QuestionRecord]:
        """The latest questions of a conversation, oldest first; at most ``limit``."""
        query = (
            select(questions)
            .where(questions.c.conversation == index_key(conversation))
            .order_by(questions.c.asked_at.desc(), questions.c.id.desc())
            .limit(limit)
        )
        with self._database.connect() as connection:
            return [_record(row) for row in reversed(connection.execute(query).all())]

    def _select(self, condition: ColumnElement[bool]) -> list[QuestionRecord]:
        query = select(questions).where(condition).order_by(questions.c.asked_at, questions.c.id)
        with self._database.connect() as connection:
            return [_record(row) for row in connection.execute(query)]

    # Exactly once

    def claim(
        self,
        kind: str,
        key: str,
        *,
        now: datetime | None = None,
        retry_seconds: float = CLAIM_SECONDS,
        payload: Mapping[str, object] | None = None,
    ) -> bool:
        """Whether the caller is the first to take this piece of work, over all threads and processes.

        A claim that was not finished within ``retry_seconds`` was lost in a crash: it can be won once more.

        Args:
            kind: what is claimed, such as ``slack-event``.
            key: which one, such as the event's id.
            now: the present moment; the clock when None.
            retry_seconds: ``math.inf`` makes a claim final.
            payload: plain JSON values without secrets, with which somebody else can do the work after a crash.
        """
        moment = now or datetime.now(UTC)
        values = {"kind": kind, "key": index_key(key), "claimed_at": moment, "payload": payload}
        this = (claims.c.kind == kind) & (claims.c.key == index_key(key))
        # Without this option, SQLAlchemy does not ask PostgreSQL how many rows an INSERT made.
        statement = insert_for(self._database.dialect, claims).execution_options(preserve_rowcount=True)
        with self._database.begin() as connection:
            if connection.execute(statement.on_conflict_do_nothing(), values).rowcount == 1:
                return True
            if retry_seconds > timedelta.max.total_seconds():
                return False
            lost = claims.c.finished_at.is_(None) & (claims.c.claimed_at < moment - timedelta(seconds=retry_seconds))
            return connection.execute(update(claims).where(this, lost).values(claimed_at=moment)).rowcount == 1

    def finish(self, kind: str, key: str, *, now: datetime | None = None) -> None:
        """Note that the claimed work is done and must never be claimed again."""
        this = (claims.c.kind == kind) & (claims.c.key == index_key(key))
        with self._database.begin() as connection:
            finished = {"finished_at": now or datetime.now(UTC), "payload": None}
            connection.execute(update(claims).where(this).values(finished))

    def release(self, kind: str, key: str) -> None:
        """Give an unfinished claim back, so that somebody else can win it at once."""
        this = (claims.c.kind == kind) & (claims.c.key == index_key(key)) & claims.c.finished_at.is_(None)
        with self._database.begin() as connection:
            connection.execute(delete(claims).where(this))

    def unfinished_claims(self, kind: str, before: datetime) -> list[Mapping[str, Any]]:
        """Payloads of the claims of a kind that were made before a moment and not finished, oldest first."""
        chosen = (claims.c.kind == kind) & claims.c.finished_at.is_(None) & (claims.c.claimed_at < before)
        with self._database.connect() as connection:
            found = connection.scalars(select(claims.c.payload).where(chosen).order_by(claims.c.claimed_at))
            return [payload for payload in found if payload]

    def claim_of(self, kind: str, key: str) -> Claim | None:
        """A claim by its kind and key; None when nobody has made it."""
        found = self._claims((claims.c.kind == kind) & (claims.c.key == index_key(key)), 1)
        return found[0] if found else None

    def latest_claims(self, kind: str, limit: int) -> list[Claim]:
        """The claims of a kind, the latest first; at most ``limit``."""
        return self._claims(claims.c.kind == kind, limit)

    def _claims(self, condition: ColumnElement[bool], limit: int) -> list[Claim]:
        query = select(claims.c.key, claims.c.claimed_at, claims.c.finished_at).where(condition)
        query = query.order_by(claims.c.claimed_at.desc(), claims.c.key.desc()).limit(limit)
        with self._database.connect() as connection:
            return [Claim(*row) for row in connection.execute(query)]

    # Feedback

    def vote(
        self, question_id: str, asker: str, helpful: bool, reason: str = "", *, now: datetime | None = None
    ) -> None:
        """Record what a person thinks of an answer; a second vote of the same person replaces the first.

        Raises:
            NotFoundError: there is no such question (any more).
        """
        values = {
            "question_id": index_key(question_id),
            "asker": index_key(asker),
            "helpful": helpful,
            "reason": redact(reason),
            "voted_at": now or datetime.now(UTC),
        }
        try:
            with self._database.begin() as connection:
                connection.execute(upsert(self._database.dialect, votes, ("question_id", "asker")), values)
        except IntegrityError as error:
            raise NotFoundError(f"There is no question {question_id!r} to vote on.") from error

    def unvote(self, question_id: str, asker: str) -> None:
        """Take a person's vote back, if there is one."""
        this = (votes.c.question_id == index_key(question_id)) & (votes.c.asker == index_key(asker))
        with self._database.begin() as connection:
            connection.execute(delete(votes).where(this))

    # Figures

    def votes_since(self, moment: datetime) -> dict[str, Votes]:
        """The votes on questions asked at or after a moment, by question; those without votes are left out."""
        query = select(votes.c.question_id, votes.c.helpful).join(questions).where(questions.c.asked_at >= moment)
        counts: dict[str, list[int]] = {}
        with self._database.connect() as connection:
            for question_id, helpful in connection.execute(query):
                counts.setdefault(question_id, [0, 0])[not helpful] += 1
        return {question_id: Votes(*count) for question_id, count in counts.items()}

    def stats(self, since: datetime | None = None) -> Stats:
        """Counts, rates, latencies and votes of the questions asked at or after a moment (all when None).

        Latencies are computed from the latest 10,000 of them; everything else from all.
        """
        asked = questions.c
        query = select(asked.status, asked.reason, asked.rules, asked.timings).order_by(asked.asked_at.desc())
        voted = select(votes.c.helpful).join(questions)
        if since is not None:
            query, voted = query.where(asked.asked_at >= since), voted.where(asked.asked_at >= since)
        with self._database.connect() as connection:
            rows = connection.execute(query)
            return summed_up(
                ((row[0], row[1], row[2], row[3]) for row in rows), connection.scalars(voted), LATENCY_SAMPLE
            )

    # Privacy

    def forget(self, asker: str) -> Forgotten:
        """Erase a person: their questions and votes, what is known of answers to them, and their name on gaps.

        The counts of gaps stay.
        """
        who = index_key(asker)
        with self._database.begin(askers.GAPS_LOCK) as connection:
            if asker:  # cards are posts that answer nobody
                connection.execute(delete(posts).where(posts.c.asker == who))
            voted = connection.execute(delete(votes).where(votes.c.asker == who)).rowcount
            asked = connection.execute(delete(questions).where(questions.c.asker == who)).rowcount
            return Forgotten(asked, voted, askers.anonymise(connection, who))

    def delete_before(self, when: datetime) -> Forgotten:
        """Delete what is older than a moment: questions with their votes and answers on record, and claims.

        The names of people who were not seen on a gap since are taken off it.
        """
        with self._database.begin(askers.GAPS_LOCK) as connection:
            old = select(questions.c.id).where(questions.c.asked_at < when)
            connection.execute(delete(posts).where(posts.c.kind == ANSWER, posts.c.subject.in_(old)))
            voted = connection.execute(delete(votes).where(votes.c.question_id.in_(old))).rowcount
            asked = connection.execute(delete(questions).where(questions.c.asked_at < when)).rowcount
            # What is known of jobs says which of their slots are done.
            old_claims = (claims.c.claimed_at < when) & ~claims.c.kind.startswith("job:")
            connection.execute(delete(claims).where(old_claims))
            return Forgotten(asked, voted, askers.anonymise_before(connection, when))


_INSERT = insert(questions)


def _values(record: QuestionRecord) -> dict[str, object]:
    return {
        "id": record.id,
        "asked_at": record.asked_at,
        "asker": index_key(record.asker),
        "platform": record.platform,
        "channel": record.channel,
        "visibility": record.visibility.value,
        "text": redact(record.text),
        "answer": redact(record.answer),
        "status": record.status.value,
        "reason": record.reason.value if record.reason else "",
        "rules": [rule.value for rule in record.rules],
        "max_score": record.max_score,
        "support": record.support,
        "policy": record.policy,
        "timings": record.timings,
        "gap_id": record.gap_id,
        "language": record.language,
        "collections": list(record.collections),
        "scope": {key: list(values) for key, values in record.scope.items()},
        "conversation": index_key(record.conversation),
    }


def _record(row: Row[*tuple[Any, ...]]) -> QuestionRecord:
    values = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public way to a mapping, despite its name
    return QuestionRecord(
        **values
        | {
            "visibility": Visibility(values["visibility"]),
            "status": Status(values["status"]),
            "reason": AbstainReason(values["reason"]) if values["reason"] else None,
            "rules": tuple(Rule(tag) for tag in values["rules"]),
            "collections": tuple(values["collections"]),
            "scope": {key: tuple(allowed) for key, allowed in values["scope"].items()},
        }
    )
