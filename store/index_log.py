"""Bookkeeping of what the derived indexes hold: stale chunks, who made them, what failed, what changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, select

from store import chunk_rows
from store.columns import digest
from store.database import Database
from store.document_claims import DocumentClaims
from store.statements import batches, insert_for, upsert
from store.tables import chunks, counters, failures, index_state, stale_chunks
from store.turn import Turn

DOCUMENTS_LOCK = "documents"
"""Writers of documents take turns on PostgreSQL under this name, so that none can deadlock another."""
_REVISION = "documents"


class Failure(NamedTuple):
    """A source that could not be read; ``fingerprint`` tells whether trying again makes sense."""

    source: str
    fingerprint: str
    reason: str


class IndexLog:
    """The part of the document store that looks after the derived indexes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def turn(self, report: Callable[[str], None] | None = None) -> Turn:
        """The right to bring documents in; see there."""
        return Turn(self._database, report=report)

    def claims(self) -> DocumentClaims:
        """What says which run brings which document in; see there."""
        return DocumentClaims(self._database)

    def revision(self) -> int:
        """A number that every change of documents raises in its own transaction; 0 for an untouched database."""
        with self._database.connect() as connection:
            return connection.scalar(_REVISION_QUERY) or 0

    def stage(self, collection: str, chunk_ids: Sequence[str]) -> None:
        """Note chunk ids before they are written to the derived indexes; ids that are already live are skipped.

        Committing their document takes them off the list. After a crash they stay on it and count as stale.
        """
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            live = chunk_rows.live(connection, chunk_ids)
            fresh = sorted(set(chunk_ids) - live)
            chunk_rows.mark_stale(connection, self._database.dialect, [(one, collection) for one in fresh], now())

    def stale(
        self, collection: str | None = None, limit: int = 1000, *, noted_before: datetime | None = None
    ) -> list[str]:
        """Ids that may exist in the derived indexes and must be deleted there, oldest first.

        Args:
            collection: only those of this collection; None for all.
            limit: how many at most.
            noted_before: leave out ids noted at or after this time. Pass it where another process may be between
                :meth:`stage` and its commit: deleting its ids then would lose them from the index.
        """
        live = select(chunks.c.id).where(chunks.c.id == stale_chunks.c.chunk_id)
        query = select(stale_chunks.c.chunk_id).where(~live.exists())
        if collection is not None:
            query = query.where(stale_chunks.c.collection == collection)
        if noted_before is not None:
            query = query.where(stale_chunks.c.since < noted_before)
        with self._database.connect() as connection:
            query = query.order_by(stale_chunks.c.since, stale_chunks.c.chunk_id).limit(limit)
            return list(connection.scalars(query))

    def stale_collections(self) -> list[str]:
        """The collections that have stale ids, whether or not they still have documents."""
        query = select(stale_chunks.c.collection).distinct().order_by(stale_chunks.c.collection)
        with self._database.connect() as connection:
            return list(connection.scalars(query))

    def forget_stale(self, chunk_ids: Sequence[str]) -> None:
        """Take ids off the list after they have been deleted from every derived index."""
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            chunk_rows.delete_in(connection, stale_chunks.c.chunk_id, chunk_ids)

    def index_state(self, key: str) -> object:
        """What was stored under the key, as JSON; None when nothing was."""
        with self._database.connect() as connection:
            return connection.scalar(select(index_state.c.value).where(index_state.c.key == key))

    def set_index_state(self, key: str, value: object, *, is_change: bool = False) -> None:
        """Store one JSON value, such as the identity of the embedding model; None removes the key.

        ``is_change`` counts it as a change of documents: every process then looks at them anew.
        """
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            if is_change:
                raise_revision(connection, self._database.dialect)
            if value is None:
                connection.execute(delete(index_state).where(index_state.c.key == key))
                return
            statement = upsert(self._database.dialect, index_state, ("key",))
            connection.execute(statement, {"key": key, "value": value})

    def record_failures(self, collection: str, failed: Sequence[Failure]) -> None:
        """Remember sources that could not be read, with the last reason for each."""
        rows = {digest(one.source): one for one in failed}
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            _delete_failures(connection, collection, list(rows))
            if rows:
                values = [{"collection": collection, "source_key": key, **one._asdict()} for key, one in rows.items()]
                connection.execute(failures.insert(), values)

    def failures(self, collection: str) -> dict[str, Failure]:
        """The remembered failures of a collection by source."""
        query = select(failures.c.source, failures.c.fingerprint, failures.c.reason)
        with self._database.connect() as connection:
            rows = connection.execute(query.where(failures.c.collection == collection)).all()
        return {row.source: Failure(*row) for row in rows}

    def forget_failures(self, collection: str, sources: Sequence[str]) -> None:
        """Forget failures of sources that are gone or have been read since."""
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            drop_failures(connection, {collection: list(sources)})


_REVISION_QUERY = select(counters.c.value).where(counters.c.name == _REVISION)


def raise_revision(connection: Connection, dialect: str) -> None:
    """Count one change of documents, as part of the transaction that makes it."""
    insert = insert_for(dialect, counters)
    raised = {"value": counters.c.value + 1}
    statement = insert.on_conflict_do_update(index_elements=["name"], set_=raised)
    connection.execute(statement, {"name": _REVISION, "value": 1})


def drop_failures(connection: Connection, sources: Mapping[str, Sequence[str]]) -> None:
    """Delete remembered failures, given as collection → sources."""
    for collection, found in sources.items():
        _delete_failures(connection, collection, [digest(source) for source in found])


def now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)


def _delete_failures(connection: Connection, collection: str, keys: Sequence[str]) -> None:
    for some in batches(keys):
        chosen = (failures.c.collection == collection) & failures.c.source_key.in_(some)
        connection.execute(delete(failures).where(chosen))
