"""What documents look like on their way into the database and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from store.chunk_rows import scope_of
from store.columns import digest
from store.records import Chunk, StoredDocument, Visibility
from store.statements import batches
from store.tables import documents


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """A document as ingested, ready to replace whatever is stored under its id.

    Attributes:
        id: stays the same when the document changes or moves.
        source: identity within the collection, such as the absolute path or the URL.
        root: the ingested folder (or base address); ``path`` is relative to it.
        fingerprint: hash of everything the chunks depend on; equal means nothing to do.
        chunks: id, chunk and unit-length little-endian float32 vector, in reading order. Ids must differ between
            documents even where texts are equal; an id may stay when a document is replaced.
        model_fingerprint: identity of the model that made the vectors.
    """

    id: str
    collection: str
    source: str
    root: str
    path: str
    title: str
    fingerprint: str
    ingested_at: datetime
    model_fingerprint: str
    chunks: Sequence[tuple[str, Chunk, bytes]]
    url: str = ""
    scope: Mapping[str, Sequence[str]] = field(default_factory=dict)
    language: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    notes: Sequence[str] = ()
    partial: bool = False


class Known(NamedTuple):
    """What a second ingest needs to know of a stored document."""

    document_id: str
    fingerprint: str
    path: str
    root: str


class Counts(NamedTuple):
    """How much is stored."""

    documents: int
    chunks: int


class IndexedChunk(NamedTuple):
    """What the derived indexes are built from; ``vector`` is None when it has to be computed."""

    chunk_id: str
    embedded_text: str
    vector: bytes | None
    scope: Mapping[str, tuple[str, ...]]
    document_id: str


def document_values(write: DocumentWrite) -> dict[str, object]:
    """One row of the documents table."""
    return {
        "id": write.id,
        "collection": write.collection,
        "source": write.source,
        "source_key": digest(write.source),
        "root": write.root,
        "path": write.path,
        "title": write.title,
        "url": write.url,
        "fingerprint": write.fingerprint,
        "scope": {key: list(values) for key, values in write.scope.items()},
        "language": write.language,
        "metadata": write.metadata,
        "notes": list(write.notes),
        "partial": write.partial,
        "chunks": len(write.chunks),
        "ingested_at": write.ingested_at,
    }


def chunk_values(writes: Sequence[DocumentWrite]) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Rows of the chunks table and of the chunk_vectors table."""
    rows: list[dict[str, object]] = []
    vectors: list[dict[str, object]] = []
    for write in writes:
        for ordinal, (chunk_id, chunk, vector) in enumerate(write.chunks):
            row = {"id": chunk_id, "document_id": write.id, "ordinal": ordinal, "headings": list(chunk.headings)}
            row |= {"text": chunk.text, "embedded_text": chunk.embedded_text, "tokens": chunk.tokens}
            rows.append(row)
            vectors.append({"chunk_id": chunk_id, "model_fingerprint": write.model_fingerprint, "vector": vector})
    return rows, vectors


def by_collection(writes: Sequence[DocumentWrite]) -> dict[str, list[str]]:
    """The written sources, grouped by collection."""
    grouped: dict[str, list[str]] = {}
    for write in writes:
        grouped.setdefault(write.collection, []).append(write.source)
    return grouped


def superseded(connection: Connection, writes: Sequence[DocumentWrite]) -> set[str]:
    """Documents with another id at the sources that are being written."""
    found: set[str] = set()
    for collection, sources in by_collection(writes).items():
        found |= at_source(connection, collection, sources)
    return found - {write.id for write in writes}


def at_source(connection: Connection, collection: str, sources: Sequence[str]) -> set[str]:
    """Ids of the documents at these sources of a collection."""
    found: set[str] = set()
    for some in batches([digest(source) for source in sources]):
        query = select(documents.c.id).where(documents.c.collection == collection, documents.c.source_key.in_(some))
        found.update(connection.scalars(query))
    return found


def stored_document(row: Row[*tuple[Any, ...]]) -> StoredDocument:
    """A row of documents with the visibility of its collection, as a record."""
    return StoredDocument(
        id=row.id,
        collection=row.collection,
        source=row.source,
        root=row.root,
        path=row.path,
        title=row.title,
        url=row.url,
        fingerprint=row.fingerprint,
        scope=scope_of(row.scope),
        visibility=Visibility(row.visibility),
        language=row.language,
        metadata=row.metadata,
        notes=tuple(row.notes),
        partial=row.partial,
        chunks=row.chunks,
        ingested_at=row.ingested_at,
    )
