"""Folders and files → documents in the index. A second run does nothing; one changed file costs one file.

A document is identified by collection and absolute path. Whether it has to be read again is decided by a fingerprint
of its normalised content and of everything else its chunks depend on, never by its time stamp.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from store.chunking import CHUNKER_VERSION, OVERLAP_TOKENS, TARGET_TOKENS, chunk
from store.documents import DocumentWrite, Known
from store.errors import LoadError
from store.index import MODEL_STATE, Index, facts
from store.loading import SIZE_LIMIT, load, normalised_bytes
from store.loading.boilerplate import repeated_blocks, without_blocks
from store.records import Chunk, Document
from store.sources import IngestRequest, Issue, Survey, Target, files_of, gone_documents, targets_of
from store.text import clean
from store.walk import FoundFile, Refused, readable

_BATCH_CHUNKS = 256
"""Chunks that are embedded and committed together: what a kill can cost, and enough to sort by length."""
LOADER_VERSION = "1"
"""Raise it when the same file would be read differently: every document is then read again."""
_WEB_PAGES = frozenset({".html", ".htm", ".xhtml"})
_ROOTS = "roots:"
_FURNITURE = "furniture:"
_ID_LENGTH = 16


class IngestProgress(Protocol):
    """Told how far a run is, for a person who waits."""

    def found(self, files: int) -> None:
        """So many files are to be read in full."""

    def done(self, path: str) -> None:
        """One of them is finished."""


@dataclass(slots=True)
class IngestSummary:
    """What a run did. ``documents`` counts the index afterwards, ``chunks`` what this run wrote."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: list[Issue] = field(default_factory=list)
    partial: list[Issue] = field(default_factory=list)
    skipped: list[Issue] = field(default_factory=list)
    documents: int = 0
    chunks: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Work:
    """A file that has to be read in full."""

    file: FoundFile
    root: Path
    known: Known | None


@dataclass(frozen=True, slots=True)
class _Ready:
    """A file that has been read and cut, waiting to be embedded."""

    work: _Work
    fingerprint: str
    document: Document
    chunks: Sequence[Chunk]


@dataclass(frozen=True, slots=True)
class _Look:
    """What one look at the disk compares with, and where it notes what it saw."""

    skip: Sequence[Path]
    known: Mapping[str, Known]
    survey: Survey
    settings: str
    summary: IngestSummary


class _Silent:
    def found(self, files: int) -> None:
        pass

    def done(self, path: str) -> None:
        pass


class Ingestor:
    """Runs ingests into one index, one at a time."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._documents = index.documents

    def run(self, request: IngestRequest, progress: IngestProgress | None = None) -> IngestSummary:
        """Bring the collection up to date with the given folders and files.

        Whatever interrupts it, every document answers in its complete old or its complete new version, and the next
        run finishes.

        Raises:
            UsageError: no path, a path that does not exist, or ``prune`` asked for with a part of a folder.
            IndexMismatchError: the index belongs to another embedding model.
        """
        with self._index.turn:
            return self._run(request, progress)

    def _run(self, request: IngestRequest, progress: IngestProgress | None) -> IngestSummary:
        started = time.monotonic()
        targets = targets_of(request, [Path(root) for root in self._roots(request.collection)])
        self._documents.ensure_collection(request.collection, request.visibility)
        known = self._documents.fingerprints(request.collection)
        summary, survey = IngestSummary(), Survey()
        settings = self._settings(request)
        look = _Look(request.skip, known, survey, settings, summary)
        work = [item for target in targets for item in self._changed(target, look)]
        self._index.purge()
        if work:
            self._index.claim()
            self._read(request, work, settings, progress or _Silent(), summary)
        self._remember_roots(request.collection, targets)
        gone = gone_documents(request, targets, known, survey, summary.skipped)
        if gone:
            summary.removed = self._index.remove(gone)
        summary.documents = self._documents.counts().documents
        summary.seconds = round(time.monotonic() - started, 3)
        return summary

    # Roots

    def _roots(self, collection: str) -> list[str]:
        """Folders that were ingested as a whole."""
        stored = self._documents.index_state(_ROOTS + collection)
        return [str(root) for root in stored] if isinstance(stored, list) else []

    def _remember_roots(self, collection: str, targets: Sequence[Target]) -> None:
        known = self._roots(collection)
        roots = sorted({*known, *(str(target.root) for target in targets if target.whole)})
        if roots != known:
            self._documents.set_index_state(_ROOTS + collection, roots)

    # What has changed

    def _changed(self, target: Target, look: _Look) -> Iterator[_Work]:
        survey, summary, known = look.survey, look.summary, look.known
        for file in files_of(target, frozenset(path.resolve() for path in look.skip)):
            if isinstance(file, Refused):
                summary.skipped.append(Issue(file.path, file.reason))
                if file.folder:
                    survey.unlisted.append(file.folder)
                continue
            source = _source_of(file)
            if source in survey.seen:
                if survey.seen[source].source != file.source:
                    summary.failed.append(Issue(file.path, "another file has the same name once accents are composed"))
                continue
            survey.seen[source] = file
            entry = known.get(source)
            try:
                changed = entry is None or entry.fingerprint != _fingerprint(
                    file, _read_bytes(file.source), look.settings
                )
            except LoadError as error:
                summary.failed.append(Issue(file.path, str(error)))
                continue
            if changed:
                yield _Work(file, target.root, entry)
            elif entry:
                summary.unchanged += 1
                if (entry.path, entry.root) != (clean(file.path), clean(str(target.root))):
                    self._documents.relocate(entry.document_id, file.path, str(target.root), source)

    def _settings(self, request: IngestRequest) -> str:
        """Everything but the content that the chunks of this run depend on.

        The model's limit is taken from the index where there is one: a run without changes need not load the model.
        """
        model = self._documents.index_state(MODEL_STATE)
        known = model.get("max_tokens") if isinstance(model, Mapping) else None
        limit = known or self._index.embedder.identity.max_tokens
        versions = [LOADER_VERSION, CHUNKER_VERSION, TARGET_TOKENS, OVERLAP_TOKENS]
        return json.dumps([*versions, limit, facts(request.scope)])

    # Reading what has changed

    def _read(
        self,
        request: IngestRequest,
        work: Sequence[_Work],
        settings: str,
        progress: IngestProgress,
        summary: IngestSummary,
    ) -> None:
        progress.found(len(work))
        batches = self._batches(request, work, settings, progress, summary)
        # While one batch is embedded, the next is read and the one before is written.
        with ThreadPoolExecutor(1, "ingest-reader") as reader, ThreadPoolExecutor(1, "ingest-writer") as writer:
            written: Future[None] | None = None
            coming = reader.submit(next, batches, None)
            while batch := coming.result():
                coming = reader.submit(next, batches, None)
                written = self._handed_over(request, batch, writer, written, progress, summary)
            if written:
                written.result()

    def _batches(
        self,
        request: IngestRequest,
        work: Sequence[_Work],
        settings: str,
        progress: IngestProgress,
        summary: IngestSummary,
    ) -> Iterator[list[_Ready]]:
        """Documents read and cut, in groups of about as many chunks; files that cannot be read are noted."""
        furniture = {root: self._furniture(request.collection, root, work) for root in {item.root for item in work}}
        batch: list[_Ready] = []
        waiting = 0
        for item in work:
            try:
                batch.append(self._prepared(item, settings, furniture[item.root]))
                waiting += len(batch[-1].chunks)
            except LoadError as error:
                summary.failed.append(Issue(item.file.path, str(error)))
                progress.done(item.file.path)
            if waiting >= _BATCH_CHUNKS:
                yield batch
                batch, waiting = [], 0
        if batch:
            yield batch

    def _handed_over(
        self,
        request: IngestRequest,
        batch: Sequence[_Ready],
        writer: ThreadPoolExecutor,
        before: Future[None] | None,
        progress: IngestProgress,
        summary: IngestSummary,
    ) -> Future[None]:
        """Embed a batch and give it to the writer, once the batch before it is written."""
        texts = [piece.embedded_text for ready in batch for piece in ready.chunks]
        vectors = iter(self._index.embedder.embed_documents(texts))
        writes = [self._write(request, ready, [next(vectors).tobytes() for _ in ready.chunks]) for ready in batch]
        if before:
            before.result()
        return writer.submit(self._commit, writes, batch, progress, summary)

    def _prepared(self, item: _Work, settings: str, furniture: frozenset[str]) -> _Ready:
        data = _read_bytes(item.file.source)
        document = load(item.file.source, data=data)
        if item.file.source.suffix.lower() in _WEB_PAGES:
            document = without_blocks(document, furniture)
        embedder = self._index.embedder
        chunks = chunk(document, count_tokens=embedder.count_tokens, limit=embedder.identity.max_tokens)
        if not chunks:
            raise LoadError("The file has no readable text.", "Add text to it, or leave it out.")
        return _Ready(item, _fingerprint(item.file, data, settings), document, chunks)

    def _furniture(self, collection: str, root: Path, work: Sequence[_Work]) -> frozenset[str]:
        """What the web pages of a root repeat: known from earlier runs, and seen among the pages of this one."""
        pages = [item for item in work if item.root == root and item.file.source.suffix.lower() in _WEB_PAGES]
        if not pages:
            return frozenset()
        key = _FURNITURE + _digest(collection, str(root))
        stored = self._documents.index_state(key)
        known = frozenset(str(text) for text in stored) if isinstance(stored, list) else frozenset()
        found = repeated_blocks([page for page in map(_loaded, pages) if page])
        if found - known:
            self._documents.set_index_state(key, sorted(known | found))
        return known | found

    def _commit(
        self,
        writes: Sequence[DocumentWrite],
        batch: Sequence[_Ready],
        progress: IngestProgress,
        summary: IngestSummary,
    ) -> None:
        self._index.write(writes)
        for ready in batch:
            path = ready.work.file.path
            summary.chunks += len(ready.chunks)
            summary.added += ready.work.known is None
            summary.updated += ready.work.known is not None
            if ready.document.partial:
                summary.partial.append(Issue(path, " ".join(ready.document.notes)))
            progress.done(path)

    def _write(self, request: IngestRequest, ready: _Ready, vectors: Sequence[bytes]) -> DocumentWrite:
        item, document = ready.work, ready.document
        source = _source_of(item.file)
        scope = {**document.scope, **request.scope}
        document_id = item.known.document_id if item.known else _digest(request.collection, source)
        ids = chunk_ids(document_id, [piece.embedded_text for piece in ready.chunks], facts(scope))
        return DocumentWrite(
            id=document_id,
            collection=request.collection,
            source=source,
            root=str(item.root),
            path=item.file.path,
            title=document.title,
            fingerprint=ready.fingerprint,
            ingested_at=datetime.now(UTC),
            model_fingerprint=self._index.embedder.identity.fingerprint,
            chunks=list(zip(ids, ready.chunks, vectors, strict=True)),
            url=document.url,
            scope=scope,
            language=document.language,
            metadata=document.metadata,
            notes=document.notes,
            partial=document.partial,
        )


def chunk_ids(document_id: str, texts: Sequence[str], scope: Sequence[str]) -> list[str]:
    """Ids ``document:digest`` that differ between documents, between repeats in one document, and with the scope.

    An unchanged chunk keeps its id when others of its document change or move.
    """
    counts: dict[str, int] = {}
    ids = []
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
        ids.append(f"{document_id}:{_digest(text, str(counts[text]), *scope)}")
    return ids


def _source_of(file: FoundFile) -> str:
    """What identifies a file: its real path as text, in the form in which the database keeps it."""
    return clean(readable(str(file.source)))


def _read_bytes(source: Path) -> bytes:
    try:
        if source.stat().st_size > SIZE_LIMIT:
            raise LoadError(f"It is larger than {SIZE_LIMIT // 1_000_000} MB.", "Split it, or leave it out.")
        return source.read_bytes()
    except OSError as error:
        raise LoadError(f"It cannot be read: {error.strerror}.", "Check its permissions.") from error


def _fingerprint(file: FoundFile, data: bytes, settings: str) -> str:
    content = normalised_bytes(file.source.suffix.lower(), data)
    return hashlib.sha256(content + settings.encode()).hexdigest()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_ID_LENGTH]


def _loaded(item: _Work) -> Document | None:
    """A page for comparison with others; a page that cannot be read is reported when its turn comes."""
    try:
        return load(item.file.source)
    except LoadError:
        return None
