"""Documents and their chunks in SQL, and the bookkeeping of what the derived indexes hold.

A document is replaced in one transaction: whoever looks sees its complete old or its complete new version.
Chunk ids pass through three states: *staged* (about to be written to the derived indexes), *live* (committed with
their document) and *stale* (to be deleted from the derived indexes). Staged and stale ids share one table, so that a
crash at any moment leaves nothing unknown behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import func, select, update

from store import chunk_rows, document_rows
from store.columns import digest
from store.document_rows import Counts, DocumentWrite, IndexedChunk, Known
from store.errors import ConflictError, NotFoundError, UsageError
from store.index_log import DOCUMENTS_LOCK, Failure, IndexLog, drop_failures, now, raise_revision
from store.records import StoredChunk, StoredDocument, Visibility
from store.statements import batches, refuse_repeats, upsert
from store.tables import chunk_vectors, collections, documents, stale_chunks
from store.text import clean

__all__ = ["Counts", "DocumentStore", "DocumentWrite", "Failure", "IndexedChunk", "Known"]

LONGEST_COLLECTION_NAME = 100


class DocumentStore(IndexLog):
    """Documents, chunks and index bookkeeping; safe to share between threads.

    Sources, paths and names are stored cleaned (:func:`store.text.clean`) and returned so; look them up cleaned.
    """

    def ensure_collection(self, name: str, visibility: Visibility | None = None) -> Visibility:
        """Make a collection if it is new; its visibility afterwards.

        Args:
            name: 1 to 100 characters.
            visibility: the wanted visibility; None keeps the present one, public for a new collection.

        Raises:
            UsageError: the name is empty or too long.
        """
        if not clean(name).strip() or len(name) > LONGEST_COLLECTION_NAME:
            raise UsageError(
                f"The collection name {name[:120]!r} is empty or longer than 100 characters.", "Shorten it."
            )
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            present = connection.scalar(select(collections.c.visibility).where(collections.c.name == name))
            if present is None:
                wanted = visibility or Visibility.PUBLIC
                connection.execute(collections.insert(), {"name": name, "visibility": wanted.value})
            elif visibility is None or visibility == present:
                return Visibility(present)
            else:
                wanted = visibility
                connection.execute(
                    update(collections).where(collections.c.name == name).values(visibility=wanted.value)
                )
            raise_revision(connection, self._database.dialect)
            return wanted

    def collections(self) -> dict[str, Visibility]:
        """All collections by name."""
        with self._database.connect() as connection:
            rows = connection.execute(select(collections).order_by(collections.c.name)).all()
        return {row.name: Visibility(row.visibility) for row in rows}

    def documents(self, collection: str | None = None, root: str | None = None) -> list[StoredDocument]:
        """The stored documents by collection and path, all of them or those of a collection or ingested root."""
        query = select(documents, collections.c.visibility).join(collections)
        if collection is not None:
            query = query.where(documents.c.collection == collection)
        if root is not None:
            query = query.where(documents.c.root == root)
        query = query.order_by(documents.c.collection, documents.c.path, documents.c.id)
        with self._database.connect() as connection:
            return [document_rows.stored_document(row) for row in connection.execute(query)]

    def document(self, document_id: str) -> StoredDocument:
        """One document.

        Raises:
            NotFoundError: there is none with this id.
        """
        query = select(documents, collections.c.visibility).join(collections).where(documents.c.id == document_id)
        with self._database.connect() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            raise NotFoundError(f"There is no document {document_id!r}.")
        return document_rows.stored_document(row)

    def fingerprints(self, collection: str, sources: Sequence[str] | None = None) -> dict[str, Known]:
        """Source → what is stored of it; a cheap query that decides what an ingest has to read again.

        Args:
            collection: whose documents.
            sources: only these; None for all.
        """
        wanted = documents.c
        query = select(wanted.source, wanted.id, wanted.fingerprint, wanted.path, wanted.root)
        query = query.where(wanted.collection == collection)
        parts = [query]
        if sources is not None:
            parts = [query.where(wanted.source_key.in_(keys)) for keys in batches([digest(one) for one in sources])]
        with self._database.connect() as connection:
            rows = [row for part in parts for row in connection.execute(part)]
        return {row[0]: Known(*row[1:]) for row in rows}

    def counts(self, collection: str | None = None) -> Counts:
        """Number of documents and chunks, of everything or one collection."""
        query = select(func.count(), func.coalesce(func.sum(documents.c.chunks), 0))
        if collection is not None:
            query = query.where(documents.c.collection == collection)
        with self._database.connect() as connection:
            return Counts(*connection.execute(query).one())

    def commit_documents(self, writes: Sequence[DocumentWrite]) -> None:
        """Put new versions of documents in place of the old ones: all of them, or on any error none.

        The collections must exist. A document that stood at the same source under another id is superseded.
        Recorded failures of these sources are forgotten.

        Raises:
            UsageError: a document or chunk id, or a source of a collection, occurs twice.
            ConflictError: a chunk id belongs to another document.
        """
        if not writes:
            return
        refuse_repeats("document id", [write.id for write in writes])
        refuse_repeats("source", [f"{write.collection}: {clean(write.source)}" for write in writes])
        new = [chunk_id for write in writes for chunk_id, _, _ in write.chunks]
        refuse_repeats("chunk id", new)
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            raise_revision(connection, self._database.dialect)
            replaced = {write.id for write in writes} | document_rows.superseded(connection, writes)
            chunk_rows.retire(connection, self._database.dialect, sorted(replaced), moment=now())
            chunk_rows.delete_in(connection, documents.c.id, sorted(replaced - {write.id for write in writes}))
            rows = [document_rows.document_values(write) for write in writes]
            connection.execute(upsert(self._database.dialect, documents, ("id",)), rows)
            chunk_rows.insert_rows(connection, *document_rows.chunk_values(writes))
            chunk_rows.delete_in(connection, stale_chunks.c.chunk_id, new)
            drop_failures(connection, document_rows.by_collection(writes))

    def remove_documents(self, document_ids: Sequence[str]) -> int:
        """Remove documents; their chunks become stale. Unknown ids are skipped; returns how many were removed."""
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            chunk_rows.retire(connection, self._database.dialect, document_ids, moment=now())
            removed = chunk_rows.delete_in(connection, documents.c.id, document_ids)
            if removed:
                raise_revision(connection, self._database.dialect)
        return removed

    def relocate(self, document_id: str, path: str, root: str, source: str, title: str | None = None) -> None:
        """Note that an unchanged document has moved; its id, chunks and vectors stay.

        Raises:
            NotFoundError: there is no such document.
            ConflictError: another document of the collection already has this source.
        """
        moved = {"path": path, "root": root, "source": source, "source_key": digest(source)}
        if title is not None:
            moved["title"] = title
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            query = select(documents.c.collection).where(documents.c.id == document_id)
            collection = connection.scalar(query)
            if collection is None:
                raise NotFoundError(f"There is no document {document_id!r} to relocate.")
            taken = document_rows.at_source(connection, collection, [source]) - {document_id}
            if taken:
                raise ConflictError(
                    f"{source} already belongs to document {taken.pop()} of collection {collection}.",
                    "Remove that document first.",
                )
            connection.execute(update(documents).where(documents.c.id == document_id).values(**moved))
            raise_revision(connection, self._database.dialect)

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> dict[str, StoredChunk]:
        """The live chunks among these ids, each with its document; one query, unknown ids are left out."""
        with self._database.connect() as connection:
            return chunk_rows.by_id(connection, chunk_ids)

    def chunk_ids(self, collection: str | None = None) -> list[str]:
        """The ids of all live chunks, or those of one collection, in order."""
        with self._database.connect() as connection:
            return chunk_rows.all_ids(connection, collection)

    def iterate_chunks(
        self, collection: str | None = None, batch: int = 1000, *, model_fingerprint: str | None = None
    ) -> Iterator[list[IndexedChunk]]:
        """The chunks that are live at the start, in batches by id, for building the derived indexes anew.

        Each batch is its own query: nothing stays locked while the caller works, and chunks that are removed
        meanwhile are left out.

        Args:
            collection: only this collection; None for all.
            batch: chunks in a batch, at least 1.
            model_fingerprint: vectors made by another model come as None; None takes any vector.
        """
        with self._database.connect() as connection:
            ids = chunk_rows.all_ids(connection, collection)
        for some in batches(ids, batch):
            with self._database.connect() as connection:
                rows = chunk_rows.for_indexing(connection, some, model_fingerprint)
            yield [
                IndexedChunk(row.id, row.embedded_text, row.vector, chunk_rows.scope_of(row.scope), row.document_id)
                for row in rows
            ]

    def replace_vectors(self, model_fingerprint: str, vectors: Sequence[tuple[str, bytes]]) -> None:
        """Store newly computed vectors; those of chunks that were removed in the meantime are dropped."""
        with self._database.begin(DOCUMENTS_LOCK) as connection:
            live = chunk_rows.live(connection, [chunk_id for chunk_id, _ in vectors])
            rows = [
                {"chunk_id": chunk_id, "model_fingerprint": model_fingerprint, "vector": vector}
                for chunk_id, vector in vectors
                if chunk_id in live
            ]
            if rows:
                connection.execute(upsert(self._database.dialect, chunk_vectors, ("chunk_id",)), rows)
                raise_revision(connection, self._database.dialect)
