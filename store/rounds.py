"""Rounds of discovery: when they were, what they looked at, and which topics they saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, Select, delete, func, insert, select, update

from store.database import Database
from store.errors import NotFoundError
from store.records import Topic, Trend
from store.tables import round_topics, rounds

_LOCK = "rounds"


@dataclass(frozen=True, slots=True)
class Round:
    """One look at all open gaps.

    Attributes:
        number: 1 for the first; 0 until it is stored.
        since: where its window begins: the start of the last round that was reported; None before there was one.
        started_at: where its window ends.
        topics: most severe first.
        candidates: ids of the sources that were suggested, or found again.
        notes: what did not work or was left out, in words for a maintainer.
    """

    started_at: datetime
    ended_at: datetime
    topics: tuple[Topic, ...]
    since: datetime | None = None
    candidates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    number: int = 0


@dataclass(frozen=True, slots=True)
class KnownTopic:
    """A topic as the last round that saw it left it, with the numbers of that round and of the first one."""

    topic: Topic
    round: int
    first: int


class RoundStore:
    """Rounds and their topics; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, finished: Round) -> Round:
        """Store a round with all of its topics, or nothing of it; returns it with its number."""
        with self._database.begin(_LOCK) as connection:
            last = connection.execute(select(func.max(rounds.c.number))).scalar() or 0
            stored = replace(finished, number=last + 1)
            connection.execute(insert(rounds), _values(stored))
            if stored.topics:
                connection.execute(insert(round_topics), _topic_rows(stored))
        return stored

    def latest(self) -> Round | None:
        """The latest round; None before the first."""
        found = self._rounds(select(rounds).order_by(rounds.c.number.desc()).limit(1))
        return found[0] if found else None

    def reported(self) -> Round | None:
        """The latest round of which people were told; None before the first. News are what it did not know."""
        query = select(rounds).where(rounds.c.reported_at.is_not(None)).order_by(rounds.c.number.desc()).limit(1)
        found = self._rounds(query)
        return found[0] if found else None

    def report(self, number: int, now: datetime) -> None:
        """Note that people are told of a round; the first time counts."""
        this = (rounds.c.number == number) & rounds.c.reported_at.is_(None)
        with self._database.begin(_LOCK) as connection:
            connection.execute(update(rounds).where(this).values(reported_at=now))

    def get(self, number: int) -> Round:
        """One round.

        Raises:
            NotFoundError: there is none with this number (any more).
        """
        found = self._rounds(select(rounds).where(rounds.c.number == number))
        if not found:
            raise NotFoundError(f"There is no round {number}.", "`gaplight round` makes one.")
        return found[0]

    def known_topics(self) -> list[KnownTopic]:
        """Every topic that is remembered, those of the latest round first."""
        seen = (
            select(
                round_topics.c.topic_id,
                func.max(round_topics.c.round).label("last"),
                func.min(round_topics.c.round).label("first"),
            )
            .group_by(round_topics.c.topic_id)
            .subquery()
        )
        this = (round_topics.c.topic_id == seen.c.topic_id) & (round_topics.c.round == seen.c.last)
        query = (
            select(round_topics.c.topic, seen.c.last, seen.c.first)
            .join(seen, this)
            .order_by(seen.c.last.desc(), round_topics.c.position)
        )
        with self._database.connect() as connection:
            return [KnownTopic(_topic(row[0]), row[1], row[2]) for row in connection.execute(query)]

    def topics(self) -> list[Topic]:
        """The topics of the latest round, most severe first; empty before the first."""
        latest = self.latest()
        return list(latest.topics) if latest else []

    def delete_before(self, moment: datetime) -> int:
        """Forget rounds that ended before a moment, but never the latest one and the latest that was reported.

        Returns:
            How many.
        """
        newest = select(func.max(rounds.c.number)).scalar_subquery()
        told = select(func.max(rounds.c.number)).where(rounds.c.reported_at.is_not(None)).scalar_subquery()
        old = (rounds.c.ended_at < moment) & (rounds.c.number != newest) & (rounds.c.number != func.coalesce(told, 0))
        with self._database.begin(_LOCK) as connection:
            return connection.execute(delete(rounds).where(old)).rowcount

    def _rounds(self, query: Select[Any]) -> list[Round]:
        with self._database.connect() as connection:
            rows = connection.execute(query).mappings().all()
            return [_round(row, self._topics_of(connection, row["number"])) for row in rows]

    @staticmethod
    def _topics_of(connection: Any, number: int) -> list[Topic]:
        query = select(round_topics.c.topic).where(round_topics.c.round == number).order_by(round_topics.c.position)
        return [_topic(stored) for stored in connection.scalars(query)]


def _values(finished: Round) -> dict[str, object]:
    return {
        "number": finished.number,
        "since": finished.since,
        "started_at": finished.started_at,
        "ended_at": finished.ended_at,
        "candidates": list(finished.candidates),
        "notes": list(finished.notes),
    }


def _topic_rows(finished: Round) -> list[dict[str, object]]:
    return [
        {"round": finished.number, "topic_id": topic.id, "position": place, "topic": _stored(topic)}
        for place, topic in enumerate(finished.topics)
    ]


def _stored(topic: Topic) -> dict[str, object]:
    moments = {name: _text(getattr(topic, name)) for name in ("first_seen", "last_seen")}
    return asdict(topic) | moments | {"trend": topic.trend.value}


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _topic(stored: Mapping[str, Any]) -> Topic:
    moments = {name: stored[name] and datetime.fromisoformat(stored[name]) for name in ("first_seen", "last_seen")}
    lists = {name: tuple(stored[name]) for name in ("gap_ids", "terms", "platforms")}
    return Topic(**dict(stored) | moments | lists | {"trend": Trend(stored["trend"])})


def _round(row: RowMapping, topics: Sequence[Topic]) -> Round:
    return Round(
        number=row["number"],
        since=row["since"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        topics=tuple(topics),
        candidates=tuple(row["candidates"]),
        notes=tuple(row["notes"]),
    )
