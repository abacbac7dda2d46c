"""Which run brings which document in: claims in the database, by which several runs share their work.

A claim holds for a lease that its run renews for as long as it lives; what a killed run had claimed is free again when
the lease has ended. Claims keep work from being done twice. What is written in the end is decided under the turn: a run
that slept for longer than its lease asks there what it still has (:meth:`Claims.kept`).

SQLite belongs to one process, by the lock on its data folder: what no living run of this process has is free at once.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from store.columns import digest
from store.database import Database
from store.errors import UnavailableError
from store.statements import batches, insert_for
from store.tables import document_claims as table

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
"""How long a killed run keeps others from what it had claimed."""
_RENEWALS = 3
"""Times that a claim is renewed within its lease, so that one that fails costs nothing."""
_LOCK = "document claims"

Clock = Callable[[Connection], datetime]


def server_time(connection: Connection) -> datetime:
    """The present moment by the database server's clock: those of the machines may differ."""
    if connection.dialect.name == "postgresql":
        moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
        return moment
    return datetime.now(UTC)


class DocumentClaims:
    """Gives runs their claims; one for the whole process, shared by its threads.

    Args:
        database: where the claims are.
        lease: after this long without a renewal a claim is free.
        clock: the present moment, the same for all that share the database.
    """

    def __init__(self, database: Database, lease: timedelta = LEASE, clock: Clock = server_time) -> None:
        self._database = database
        self._lease = lease
        self._clock = clock
        self._living: set[str] = set()

    @contextmanager
    def run(self, collection: str) -> Iterator[Claims]:
        """The claims of one run; what it still has at the end is given back."""
        claims = Claims(self._database, collection, self._lease, self._clock, self._living)
        try:
            yield claims
        finally:
            claims.close()


class Claims:
    """What one run has claimed in one collection. Sources are named as :class:`store.documents.DocumentWrite` does."""

    def __init__(self, database: Database, collection: str, lease: timedelta, clock: Clock, living: set[str]) -> None:
        self._database = database
        self._collection = collection
        self._lease = lease
        self._clock = clock
        self._living = living
        self._owner = uuid.uuid4().hex
        self._ended = threading.Event()
        self._renewing: threading.Thread | None = None

    def claim(self, sources: Sequence[str]) -> set[str]:
        """Claim documents; those that are this run's now. Others are left to the living run that has them."""
        self._live()
        by_key = {digest(source): source for source in sources}
        won: set[str] = set()
        with self._database.begin(_LOCK) as connection:
            moment = self._clock(connection)
            own = {"collection": self._collection, "owner": self._owner, "expires_at": moment + self._lease}
            for keys in batches(list(by_key)):
                insert = insert_for(self._database.dialect, table).values([{**own, "source_key": key} for key in keys])
                statement = insert.on_conflict_do_update(
                    index_elements=["collection", "source_key"],
                    set_={"owner": self._owner, "expires_at": moment + self._lease},
                    where=~self._taken(moment),
                ).returning(table.c.source_key)
                won.update(connection.scalars(statement))
        return {by_key[key] for key in won}

    def free(self, sources: Sequence[str]) -> set[str]:
        """Those that no other living run has."""
        by_key = {digest(source): source for source in sources}
        taken: set[str] = set()
        with self._database.connect() as connection:
            moment = self._clock(connection)
            for keys in batches(list(by_key)):
                query = select(table.c.source_key).where(self._among(keys), self._taken(moment))
                taken.update(connection.scalars(query))
        return {source for key, source in by_key.items() if key not in taken}

    def kept(self, sources: Sequence[str]) -> set[str]:
        """Those that are this run's still; another may have taken over what was not renewed in time."""
        by_key = {digest(source): source for source in sources}
        own: set[str] = set()
        with self._database.connect() as connection:
            for keys in batches(list(by_key)):
                own.update(connection.scalars(select(table.c.source_key).where(self._among(keys), self._own())))
        return {by_key[key] for key in own}

    def release(self, sources: Collection[str]) -> None:
        """Give claims back: their documents are done, or cannot be."""
        if not sources:
            return
        with self._database.begin(_LOCK) as connection:
            for keys in batches([digest(source) for source in sources]):
                connection.execute(delete(table).where(self._among(keys), self._own()))

    def renew(self) -> None:
        """Let everything that is this run's hold for another lease."""
        with self._database.begin(_LOCK) as connection:
            expires = self._clock(connection) + self._lease
            connection.execute(update(table).where(self._own()).values(expires_at=expires))

    def close(self) -> None:
        """Give back what is left, with what dead runs left behind, and stop renewing.

        What cannot be given back is free when its lease has ended.
        """
        if self._renewing is None:
            return
        self._ended.set()
        self._renewing.join()
        self._living.discard(self._owner)
        try:
            with self._database.begin(_LOCK) as connection:
                connection.execute(delete(table).where(~self._taken(self._clock(connection))))
        except UnavailableError as error:
            logger.warning("Claims of a run could not be given back: %s", error.problem)

    def _live(self) -> None:
        """From its first claim on a run shows that it lives; one that has nothing to do asks nothing of anybody."""
        if self._renewing is None:
            self._living.add(self._owner)
            self._renewing = threading.Thread(target=self._keep_renewing, name="claims", daemon=True)
            self._renewing.start()

    def _keep_renewing(self) -> None:
        while not self._ended.wait(self._lease.total_seconds() / _RENEWALS):
            try:
                self.renew()
            except UnavailableError as error:
                logger.warning("Claims of a run could not be renewed: %s", error.problem)

    def _among(self, keys: Sequence[str]) -> ColumnElement[bool]:
        return (table.c.collection == self._collection) & table.c.source_key.in_(keys)

    def _own(self) -> ColumnElement[bool]:
        return table.c.owner == self._owner

    def _taken(self, moment: datetime) -> ColumnElement[bool]:
        """Whether a claim is that of another run that lives."""
        taken = (table.c.owner != self._owner) & (table.c.expires_at > moment)
        return taken if self._database.dialect == "postgresql" else taken & table.c.owner.in_(tuple(self._living))
