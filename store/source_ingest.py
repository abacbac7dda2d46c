"""One fetched document → the index: what is suggested from elsewhere and approved. No folder of ours holds its file.

Such a document is identified by its source's key, which is no path: pruning a folder never touches it. A new revision
replaces the old one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from store.chunking import CHUNKER_VERSION, OVERLAP_TOKENS, TARGET_TOKENS, chunk
from store.documents import DocumentWrite
from store.embedding import Embedder
from store.errors import LoadError
from store.index import Index, facts
from store.ingest_files import LOADER_VERSION, chunk_ids
from store.loading import load, normalised_bytes
from store.records import Chunk, Document, Visibility
from store.text import clean
from store.vectors import Vectors

_ID_LENGTH = 16


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as it was fetched, and what it becomes in the index.

    Attributes:
        key: identity within the collection, whatever the source is renamed to; no path, so that no folder claims it.
        root: what ``path`` is relative to, in words.
        path: how the document is cited.
        name: file name, whose ending says how it is read.
        metadata: provenance and licence as plain JSON values; added to what the document says of itself.
    """

    collection: str
    key: str
    root: str
    path: str
    name: str
    content: bytes
    url: str = ""
    visibility: Visibility = Visibility.PUBLIC
    scope: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document read, cut and embedded in memory; nothing of it is stored.

    Attributes:
        id: of the document, as it would be stored.
        chunks: id and chunk, in reading order.
        vectors: one row for each chunk, unit length.
    """

    id: str
    source: SourceDocument
    document: Document
    chunks: tuple[tuple[str, Chunk], ...]
    vectors: Vectors

    @property
    def scope(self) -> dict[str, tuple[str, ...]]:
        """What the document says that it is valid for, and what was said of it."""
        return {**self.document.scope, **self.source.scope}


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a document: its id, how many chunks it has, and whether anything had to be written."""

    document_id: str
    chunks: int
    changed: bool


def document_id(collection: str, key: str) -> str:
    """The id of a document by what identifies it."""
    return hashlib.sha256(f"{collection}\0{clean(key)}".encode()).hexdigest()[:_ID_LENGTH]


def prepare(source: SourceDocument, embedder: Embedder) -> Prepared:
    """Read, cut and embed a document without storing anything.

    Raises:
        LoadError: it cannot be read, or has no readable text.
    """
    document, pieces = _cut(source, embedder)
    identity = document_id(source.collection, source.key)
    texts = [piece.embedded_text for piece in pieces]
    ids = chunk_ids(identity, texts, facts({**document.scope, **source.scope}))
    return Prepared(identity, source, document, tuple(zip(ids, pieces, strict=True)), embedder.embed_documents(texts))


def _cut(source: SourceDocument, embedder: Embedder) -> tuple[Document, Sequence[Chunk]]:
    document = load(Path(clean(source.name)), data=source.content)
    pieces = chunk(document, count_tokens=embedder.count_tokens, limit=embedder.identity.max_tokens)
    if not pieces:
        raise LoadError("The file has no readable text.", "Add text to it, or leave it out.")
    return document, pieces


class SourceIngestor:
    """Brings fetched documents into the index; may be used by many threads, which then wait for each other."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def add(self, source: SourceDocument) -> Added:
        """Put a document in place of its former revision. A second call with the same content changes nothing.

        Whatever interrupts it, the complete old or the complete new revision answers.

        Raises:
            LoadError: it cannot be read, or has no readable text.
            IndexMismatchError: the index belongs to another embedding model.
            UnavailableError: the indexes cannot be written now.
        """
        with self._index.turn:
            self._index.documents.ensure_collection(source.collection, self._visibility(source))
            self._index.purge()
            known = self._index.documents.fingerprints(source.collection).get(clean(source.key))
            self._index.claim()
            fingerprint = self._fingerprint(source)
            if known and known.fingerprint == fingerprint:
                stored = self._index.documents.document(known.document_id)
                return Added(stored.id, stored.chunks, changed=False)
            prepared = prepare(source, self._index.embedder)
            self._index.write([self._write(prepared, fingerprint)])
            return Added(prepared.id, len(prepared.chunks), changed=True)

    def _visibility(self, source: SourceDocument) -> Visibility | None:
        """That of a new collection only: one document never changes who may see the others."""
        return None if source.collection in self._index.documents.collections() else source.visibility

    def _fingerprint(self, source: SourceDocument) -> str:
        versions = [LOADER_VERSION, CHUNKER_VERSION, TARGET_TOKENS, OVERLAP_TOKENS]
        limit = self._index.embedder.identity.max_tokens
        told = [source.path, source.url, facts(source.scope), dict(source.metadata)]
        settings = json.dumps([*versions, limit, *told], sort_keys=True)
        suffix = Path(source.name).suffix.lower()
        return hashlib.sha256(normalised_bytes(suffix, source.content) + settings.encode()).hexdigest()

    def _write(self, prepared: Prepared, fingerprint: str) -> DocumentWrite:
        source, document = prepared.source, prepared.document
        rows = zip(prepared.chunks, prepared.vectors, strict=True)
        return DocumentWrite(
            id=prepared.id,
            collection=source.collection,
            source=clean(source.key),
            root=clean(source.root),
            path=clean(source.path),
            title=document.title,
            fingerprint=fingerprint,
            ingested_at=datetime.now(UTC),
            model_fingerprint=self._index.embedder.identity.fingerprint,
            chunks=[(chunk_id, piece, vector.tobytes()) for (chunk_id, piece), vector in rows],
            url=source.url or document.url,
            scope=prepared.scope,
            language=document.language,
            metadata={**document.metadata, **source.metadata},
            notes=document.notes,
            partial=document.partial,
        )
