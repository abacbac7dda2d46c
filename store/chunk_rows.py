"""Statements on the chunk tables, used inside the transactions of the document store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, Connection, Row, Text, and_, bindparam, cast, delete, select

from store.errors import ConflictError
from store.records import StoredChunk, Visibility
from store.statements import batches, upsert
from store.tables import chunk_vectors, chunks, collections, documents, stale_chunks

SECTION_SEPARATOR = " › "
_VISIBILITIES = {one.value: one for one in Visibility}
_VECTOR_OF_CHUNK = chunk_vectors.c.chunk_id == chunks.c.id

# Built once: SQLAlchemy then finds the compiled statement without walking the expression on every question.
_BY_ID = (
    select(
        chunks.c.id,
        chunks.c.document_id,
        chunks.c.ordinal,
        documents.c.collection,
        documents.c.path,
        documents.c.title,
        documents.c.url,
        # As text: few different values come again and again, and are taken apart once.
        cast(chunks.c.headings, Text),
        chunks.c.text,
        cast(documents.c.scope, Text),
        collections.c.visibility,
        chunk_vectors.c.vector,
    )
    .join(documents, documents.c.id == chunks.c.document_id)
    .join(collections, collections.c.name == documents.c.collection)
    .outerjoin(chunk_vectors, _VECTOR_OF_CHUNK)
    .where(chunks.c.id.in_(bindparam("ids", expanding=True)))
)


def by_id(connection: Connection, chunk_ids: Sequence[str]) -> dict[str, StoredChunk]:
    """The live chunks among these ids, in the order of the ids."""
    found: dict[str, StoredChunk] = {}
    for some in batches(chunk_ids):
        rows = connection.execute(_BY_ID, {"ids": some}).all()
        found.update((row[0], _stored_chunk(row)) for row in rows)
    return {one: found[one] for one in chunk_ids if one in found}


def all_ids(connection: Connection, collection: str | None) -> list[str]:
    """The ids of all live chunks, or those of one collection, in order."""
    query = select(chunks.c.id)
    if collection is not None:
        query = query.join(documents).where(documents.c.collection == collection)
    return list(connection.scalars(query.order_by(chunks.c.id)))


def for_indexing(
    connection: Connection, chunk_ids: Sequence[str], model_fingerprint: str | None
) -> list[Row[*tuple[Any, ...]]]:
    """The live chunks among these ids: id, embedded_text, vector, scope, document_id.

    The vector is None when it was not made by the given model.
    """
    vector_fits = _VECTOR_OF_CHUNK
    if model_fingerprint is not None:
        vector_fits = and_(_VECTOR_OF_CHUNK, chunk_vectors.c.model_fingerprint == model_fingerprint)
    query = (
        select(chunks.c.id, chunks.c.embedded_text, chunk_vectors.c.vector, documents.c.scope, chunks.c.document_id)
        .join(documents, documents.c.id == chunks.c.document_id)
        .outerjoin(chunk_vectors, vector_fits)
        .order_by(chunks.c.id)
    )
    return [row for some in batches(chunk_ids) for row in connection.execute(query.where(chunks.c.id.in_(some)))]


def live(connection: Connection, chunk_ids: Sequence[str]) -> set[str]:
    """Those of the ids that belong to a stored document."""
    found: set[str] = set()
    for some in batches(chunk_ids):
        found.update(connection.scalars(select(chunks.c.id).where(chunks.c.id.in_(some))))
    return found


def retire(connection: Connection, dialect: str, document_ids: Sequence[str], moment: datetime) -> None:
    """Delete the chunks and vectors of documents and note their ids as stale."""
    for some in batches(document_ids):
        query = select(chunks.c.id, documents.c.collection).join(documents).where(chunks.c.document_id.in_(some))
        mark_stale(connection, dialect, [(row[0], row[1]) for row in connection.execute(query)], moment)
        connection.execute(delete(chunks).where(chunks.c.document_id.in_(some)))


def mark_stale(connection: Connection, dialect: str, found: Sequence[tuple[str, str]], moment: datetime) -> None:
    """Note (chunk id, collection) pairs; an id that is noted already gets the new time."""
    if not found:
        return
    rows = [{"chunk_id": chunk_id, "collection": collection, "since": moment} for chunk_id, collection in found]
    connection.execute(upsert(dialect, stale_chunks, ("chunk_id",)), rows)


def insert_rows(
    connection: Connection, rows: Sequence[Mapping[str, Any]], vectors: Sequence[Mapping[str, Any]]
) -> None:
    """Insert chunks and their vectors.

    Raises:
        ConflictError: a chunk id belongs to another document.
    """
    taken = live(connection, [row["id"] for row in rows])
    if taken:
        raise ConflictError(
            f"The chunk id {min(taken)!r} already belongs to another document.",
            "Make chunk ids from the document's identity, the chunk's place and its text.",
        )
    if rows:
        connection.execute(chunks.insert(), list(rows))
    if vectors:
        connection.execute(chunk_vectors.insert(), list(vectors))


def delete_in(connection: Connection, column: Column[str], values: Sequence[str]) -> int:
    """Delete the rows of the column's table that have one of the values; the number of rows deleted."""
    return sum(connection.execute(delete(column.table).where(column.in_(some))).rowcount for some in batches(values))


def _stored_chunk(row: Row[*tuple[Any, ...]]) -> StoredChunk:
    identity, document_id, ordinal, collection, path, title, url, headings, text, scope, visibility, vector = row
    return StoredChunk(
        id=identity,
        document_id=document_id,
        ordinal=ordinal,
        collection=collection,
        path=path,
        title=title,
        url=url,
        section=_section(headings),
        text=text,
        scope=dict(_facts(scope)),
        visibility=_VISIBILITIES[visibility],
        vector=vector or b"",
    )


@lru_cache(maxsize=4096)
def _section(headings: str) -> str:
    return SECTION_SEPARATOR.join(json.loads(headings))


@lru_cache(maxsize=4096)
def _facts(scope: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(scope_of(json.loads(scope)).items())


def scope_of(value: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """A scope as records hold it, from its JSON."""
    return {key: tuple(values) for key, values in value.items()}
