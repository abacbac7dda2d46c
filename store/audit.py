"""Who did what, in the order in which it happened. Entries are only ever added."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import func, insert, select

from store.columns import index_key
from store.database import Database
from store.records import AuditEntry
from store.tables import audit


class AuditLog:
    """Decisions and other acts of people with power; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, entry: AuditEntry) -> None:
        """Add an entry."""
        values = {
            "at": entry.at,
            "by": entry.by,
            "action": entry.action,
            "subject": index_key(entry.subject),
            "detail": dict(entry.detail),
        }
        with self._database.begin() as connection:
            connection.execute(insert(audit), values)

    def latest(self, actions: Collection[str], since: datetime | None = None) -> dict[str, AuditEntry]:
        """Of every subject the last entry whose action is one of these, if it was made at or after a moment."""
        last = select(func.max(audit.c.id)).where(audit.c.action.in_(list(actions))).group_by(audit.c.subject)
        query = select(audit).where(audit.c.id.in_(last)).order_by(audit.c.id)
        if since is not None:
            query = query.where(audit.c.at >= since)
        with self._database.connect() as connection:
            rows = connection.execute(query).all()
        return {row.subject: AuditEntry(row.at, row.by, row.action, row.subject, row.detail) for row in rows}

    def entries(
        self, subject: str = "", since: datetime | None = None, limit: int = 1000, action: str = ""
    ) -> list[AuditEntry]:
        """Entries, the latest first.

        About one subject, since a moment, of actions that begin so, where that is given.
        """
        query = select(audit).order_by(audit.c.at.desc(), audit.c.id.desc()).limit(limit)
        if subject:
            query = query.where(audit.c.subject == index_key(subject))
        if since is not None:
            query = query.where(audit.c.at >= since)
        if action:
            query = query.where(audit.c.action.startswith(action, autoescape=True))
        with self._database.connect() as connection:
            return [
                AuditEntry(row.at, row.by, row.action, row.subject, row.detail) for row in connection.execute(query)
            ]
