"""The files of a run that have changed → the index, in batches, beside other runs that work on the same files.

Reading, cutting and embedding go on in as many runs as there are: each claims the files that it is about to read, and
leaves those that another has claimed. Only writing a batch is done by one run at a time, under the turn.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from store.chunking import chunk
from store.document_claims import Claims
from store.documents import DocumentWrite
from store.errors import LoadError
from store.furniture import is_web_page
from store.index import Index, facts
from store.ingest_files import Work, chunk_ids, fingerprint, groups, is_stored, moved, read_bytes, short_digest
from store.ingest_summary import IngestProgress, IngestSummary
from store.loading import load
from store.loading.boilerplate import without_blocks
from store.records import Chunk, Document
from store.sources import IngestRequest, Issue

BATCH_CHUNKS = 256
"""Chunks that are embedded and committed together: what a kill can cost, and enough to sort by length."""


@dataclass(frozen=True, slots=True)
class Job:
    """What holds for all files of a run.

    Attributes:
        settings: everything but the content that the chunks depend on, as text.
        furniture: root → texts that its web pages repeat.
    """

    request: IngestRequest
    settings: str
    furniture: Mapping[Path, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Ready:
    """A file that has been read and cut, waiting to be embedded."""

    work: Work
    fingerprint: str
    document: Document
    chunks: Sequence[Chunk]


class Pipeline:
    """Brings the files of one run in, and notes in its summary what became of each."""

    def __init__(
        self, index: Index, claims: Claims, job: Job, progress: IngestProgress, summary: IngestSummary
    ) -> None:
        self._index = index
        self._claims = claims
        self._job = job
        self._progress = progress
        self._summary = summary
        self._left: list[Work] = []
        self._broken_off = threading.Event()

    def process(self, work: Sequence[Work]) -> list[Work]:
        """Bring files in; returns those that were left to other runs."""
        self._left = []
        batches = self._batches(work)
        # While one batch is embedded, the next is read and the one before is written.
        with ThreadPoolExecutor(1, "ingest-reader") as reader, ThreadPoolExecutor(1, "ingest-writer") as writer:
            try:
                written: Future[None] | None = None
                coming = reader.submit(next, batches, None)
                while batch := coming.result():
                    coming = reader.submit(next, batches, None)
                    written = self._handed_over(batch, writer, written)
                if written:
                    written.result()
            except BaseException:
                self._broken_off.set()  # a writer that waits for its turn would be waited for
                raise
        return self._left

    # Reading

    def _batches(self, work: Sequence[Work]) -> Iterator[list[_Ready]]:
        """Documents read and cut, in groups of about as many chunks; files that cannot be read are noted."""
        batch: list[_Ready] = []
        waiting = 0
        for item in self._claimed(work):
            try:
                batch.append(self._prepared(item))
                waiting += len(batch[-1].chunks)
            except LoadError as error:
                self._failed(item, error)
            if waiting >= BATCH_CHUNKS:
                yield batch
                batch, waiting = [], 0
        if batch:
            yield batch

    def _claimed(self, work: Sequence[Work]) -> Iterator[Work]:
        """The files that are this run's to read, with what is stored of them now that nobody else writes them."""
        for group in groups(work):
            won = self._claims.claim([item.source for item in group])
            self._left += [item for item in group if item.source not in won]
            stored = self._index.documents.fingerprints(self._job.request.collection, sorted(won))
            for item in group:
                if item.source in won:
                    present = replace(item, known=stored.get(item.source))
                    if present.known == item.known or not self._is_done(present):
                        yield present

    def _is_done(self, item: Work) -> bool:
        """Whether another run has brought in just this, or the file can no longer be read; both are noted."""
        try:
            if not is_stored(item.file, item.known, self._job.settings) or not moved(self._index.documents, item):
                return False
        except LoadError as error:
            self._failed(item, error)
            return True
        self._claims.release([item.source])
        self._summary.unchanged += 1
        self._summary.elsewhere += 1
        self._progress.done(item.file.path)
        return True

    def _failed(self, item: Work, error: LoadError) -> None:
        self._claims.release([item.source])
        self._summary.failed.append(Issue(item.file.path, str(error)))
        self._progress.done(item.file.path)

    def _prepared(self, item: Work) -> _Ready:
        data = read_bytes(item.file.source)
        document = load(item.file.source, data=data)
        if is_web_page(item):
            document = without_blocks(document, self._job.furniture[item.root])
        embedder = self._index.embedder
        chunks = chunk(document, count_tokens=embedder.count_tokens, limit=embedder.identity.max_tokens)
        if not chunks:
            raise LoadError("The file has no readable text.", "Add text to it, or leave it out.")
        return _Ready(item, fingerprint(item.file, data, self._job.settings), document, chunks)

    # Embedding and writing

    def _handed_over(
        self, batch: Sequence[_Ready], writer: ThreadPoolExecutor, before: Future[None] | None
    ) -> Future[None]:
        """Embed a batch and give it to the writer, once the batch before it is written."""
        texts = [piece.embedded_text for ready in batch for piece in ready.chunks]
        vectors = iter(self._index.embedder.embed_documents(texts))
        writes = [self._write(ready, [next(vectors).tobytes() for _ in ready.chunks]) for ready in batch]
        if before:
            before.result()
        return writer.submit(self._commit, writes, batch)

    def _commit(self, writes: Sequence[DocumentWrite], batch: Sequence[_Ready]) -> None:
        """Write a batch, but for what another run took over because this one seemed dead: that has the newer text."""
        with self._index.turn.awaited(self._broken_off):
            self._index.confirm_model()
            kept = self._claims.kept([write.source for write in writes])
            self._index.write([write for write in writes if write.source in kept])
            self._claims.release(kept)
        for ready in batch:
            if ready.work.source in kept:
                self._written(ready)
            else:
                self._left.append(ready.work)

    def _written(self, ready: _Ready) -> None:
        path = ready.work.file.path
        self._summary.chunks += len(ready.chunks)
        self._summary.added += ready.work.known is None
        self._summary.updated += ready.work.known is not None
        if ready.document.partial:
            self._summary.partial.append(Issue(path, " ".join(ready.document.notes)))
        self._progress.done(path)

    def _write(self, ready: _Ready, vectors: Sequence[bytes]) -> DocumentWrite:
        item, document, request = ready.work, ready.document, self._job.request
        scope = {**document.scope, **request.scope}
        document_id = item.known.document_id if item.known else short_digest(request.collection, item.source)
        ids = chunk_ids(document_id, [piece.embedded_text for piece in ready.chunks], facts(scope))
        return DocumentWrite(
            id=document_id,
            collection=request.collection,
            source=item.source,
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
