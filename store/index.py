"""The derived indexes, vectors and words, kept in step with the database.

The order of steps makes a kill at any moment harmless. New chunks are *staged* in the database, then written to both
indexes, then the database switches from the old to the new version in one transaction, then what became stale is
deleted from the indexes. A search looks every hit up in the database, so that it sees the old version complete until
the switch and the new one complete after it. Whatever was left behind is deleted by the next run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from threading import RLock

import numpy as np

from store.documents import DocumentStore, DocumentWrite, IndexedChunk
from store.embedding import Embedder, ModelIdentity
from store.errors import IndexMismatchError, UnavailableError
from store.lexical import LexicalEntry, LexicalIndex
from store.text import stems
from store.vectors import VectorIndex, Vectors

logger = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Told how many of how many chunks are done."""

MODEL_STATE = "model"
_BATCH = 1000
_STALE_BATCH = 5000
_REINDEX = "Run `gaplight reindex` to rebuild it from the database."


class Index:
    """Vectors and words of all chunks. Every part is opened when it is first needed.

    Args:
        documents: the database side, which is the truth.
        open_embedder: loads the embedding model.
        open_vectors: opens the vector store for one model.
        open_lexical: opens the lexical index.
        discard_vectors: removes an embedded vector store as a whole, before it is opened; None for a server.
        report: told in a sentence when another process is waited for.
    """

    def __init__(
        self,
        documents: DocumentStore,
        open_embedder: Callable[[], Embedder],
        open_vectors: Callable[[ModelIdentity], VectorIndex],
        open_lexical: Callable[[], LexicalIndex],
        discard_vectors: Callable[[], None] | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.documents = documents
        self._open_embedder = open_embedder
        self._open_vectors = open_vectors
        self._open_lexical = open_lexical
        self._discard_vectors = discard_vectors
        self._opening = RLock()
        self._lexical: LexicalIndex | None = None
        self._lexical_is_whole = False
        self.report = report or (lambda _: None)
        self.turn = documents.turn(report)
        """Held by whoever writes: one deletes what another has staged and not yet committed."""
        self.claims = documents.claims()
        """Which run reads which document, so that several share the work."""
        self.changes = 0
        """Raised by every change of documents that this process makes."""

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model."""
        with self._opening:
            return self._open_embedder()

    @cached_property
    def vectors(self) -> VectorIndex:
        """The vector store, bound to the embedding model."""
        with self._opening:
            return self._open_vectors(self.embedder.identity)

    @property
    def lexical(self) -> LexicalIndex:
        """The lexical index; built anew from the database when it is missing, damaged or incomplete.

        While another thread or process is building it, it is given as it is.
        """
        with self._opening:
            if self._lexical is None:
                self._lexical = self._open_lexical()
        if not self._lexical_is_whole:
            self._complete_lexical(self._lexical)
        return self._lexical

    @lexical.setter
    def lexical(self, lexical: LexicalIndex) -> None:
        self._lexical, self._lexical_is_whole = lexical, True

    def _complete_lexical(self, lexical: LexicalIndex) -> None:
        if self._lacks_chunks(lexical):
            with self.turn.if_free() as free:
                if not free:
                    logger.warning("Another process is building the lexical index: words find little until it is done.")
                    return
                if self._lacks_chunks(lexical):  # it may just have been done
                    self._rebuild_lexical(lexical)
        self._lexical_is_whole = True

    def _lacks_chunks(self, lexical: LexicalIndex) -> bool:
        return lexical.rebuild_needed or lexical.size < self.documents.counts().chunks

    def close(self) -> None:
        """Finish running writes."""
        if self._lexical is not None:
            self._lexical.close()

    # Agreement with the model

    def start(self) -> None:
        """Make ready for questions: delete what a killed run left, refuse another model's index.

        A vector store that does not answer is no reason to refuse: words find passages until it is back.

        Raises:
            IndexMismatchError: as :meth:`check`.
        """
        try:
            with self.turn.if_free() as free:
                if free:  # whoever has the turn looks after what was left, too
                    self.purge()
            self.check()
        except UnavailableError as error:
            logger.warning("%s Questions are answered by words alone.", error.problem)

    def check(self) -> None:
        """Refuse an index that the configured model did not make, or that lost vectors.

        Raises:
            IndexMismatchError: with the command that mends it.
            UnavailableError: the vector store does not answer.
        """
        counts = self.documents.counts()
        if not counts.chunks:
            return
        self.check_model()
        held = sum(self.vectors.count(collection) for collection in self.documents.collections())
        if held < counts.chunks:
            raise IndexMismatchError(f"The vector store holds {held} of {counts.chunks} chunks.", _REINDEX)

    def check_model(self) -> None:
        """Refuse an index that the configured model did not make; nothing to check while there is none.

        Raises:
            IndexMismatchError: with the command that mends it.
        """
        if not self.documents.counts().chunks:
            return
        if not self._is_maker():
            raise self._foreign()

    def _is_maker(self) -> bool:
        made_by = self.documents.index_state(MODEL_STATE)
        return isinstance(made_by, Mapping) and made_by.get("fingerprint") == self.embedder.identity.fingerprint

    def _foreign(self) -> IndexMismatchError:
        made_by, identity = self.documents.index_state(MODEL_STATE), self.embedder.identity
        known = made_by.get("name", "unknown") if isinstance(made_by, Mapping) else "unknown"
        return IndexMismatchError(
            f"The index was made by the model {known!r} and the configured one is {identity.name!r} "
            f"({identity.dimension} dimensions, {identity.precision}), or its files have changed.",
            f"Set embedding.model back, or: {_REINDEX}",
        )

    def claim(self) -> None:
        """Before the first write: refuse another model's index, or note this model as its maker."""
        self.check()
        self.confirm_model()

    def confirm_model(self) -> None:
        """Before every write under a new turn: another process may have built the index anew with another model."""
        if self._is_maker():
            return
        if self.documents.counts().chunks:
            raise self._foreign()
        self._note_model()

    def _note_model(self) -> None:
        identity = self.embedder.identity
        state = {**identity.as_json(), "fingerprint": identity.fingerprint}
        if state != self.documents.index_state(MODEL_STATE):
            self.documents.set_index_state(MODEL_STATE, state, is_change=True)

    def _note_mixture(self) -> None:
        """From the first replaced vector to the last, no model may answer from them."""
        made_by, identity = self.documents.index_state(MODEL_STATE), self.embedder.identity
        if isinstance(made_by, Mapping) and made_by.get("fingerprint") not in {None, identity.fingerprint}:
            mixed = {"name": f"{made_by.get('name')}, in part replaced by {identity.name}"}
            self.documents.set_index_state(MODEL_STATE, mixed, is_change=True)

    # Writing

    def write(self, writes: Sequence[DocumentWrite]) -> None:
        """Put new versions of documents in place of the old ones, in the order described at the top."""
        by_collection: dict[str, list[DocumentWrite]] = {}
        for write in writes:
            by_collection.setdefault(write.collection, []).append(write)
        for collection, group in by_collection.items():
            ids = [chunk_id for write in group for chunk_id, _, _ in write.chunks]
            self.turn.confirm()
            self.documents.stage(collection, ids)
            if ids:
                scopes = [facts(write.scope) for write in group for _ in write.chunks]
                self.vectors.upsert(collection, ids, _matrix([v for w in group for _, _, v in w.chunks]), scopes)
        self.lexical.write(_entries(writes))
        self.documents.commit_documents(writes)
        self.changes += 1
        self.purge()

    def remove(self, document_ids: Sequence[str]) -> int:
        """Remove documents and what the indexes hold of them; returns how many were removed."""
        removed = self.documents.remove_documents(document_ids)
        self.changes += 1
        self.purge()
        return removed

    def purge(self) -> int:
        """Delete from both indexes what the database no longer knows; returns how many chunks."""
        purged = 0
        for collection in self.documents.stale_collections():
            self.turn.confirm()
            while stale := self.documents.stale(collection, _STALE_BATCH):
                self.vectors.delete(collection, stale)
                self.lexical.write(deleted=stale)
                self.documents.forget_stale(stale)
                purged += len(stale)
        return purged

    # Rebuilding

    def rebuild(self, progress: Progress | None = None) -> int:
        """Build both indexes anew from the database, with the configured model; returns the number of chunks.

        Vectors that this model already made are taken from the database; the others are computed. An interrupted
        rebuild can be run again: until it is complete, :meth:`check` refuses the index.

        Raises:
            IndexMismatchError: a stored chunk is longer than the configured model reads.
            BusyError: another process is bringing documents in.
        """
        with self.turn:
            return self._rebuild(progress)

    def _rebuild(self, progress: Progress | None) -> int:
        identity, total, done = self.embedder.identity, self.documents.counts().chunks, 0
        if self._discard_vectors and "vectors" not in self.__dict__:
            self._discard_vectors()  # a damaged store cannot even be asked to drop a collection
        for collection in self.documents.collections():
            self.vectors.drop(collection, identity.fingerprint)
            for batch in self.documents.iterate_chunks(collection, _BATCH, model_fingerprint=identity.fingerprint):
                vectors = self._vectors_of(batch, identity.fingerprint)
                self.vectors.upsert(
                    collection, [chunk.chunk_id for chunk in batch], vectors, [facts(chunk.scope) for chunk in batch]
                )
                done += len(batch)
                if progress:
                    progress(done, total)
        self._rebuild_lexical(self.lexical)
        self._note_model()
        self.changes += 1
        for collection, fingerprints in self.vectors.fingerprints().items():
            for former in fingerprints - {identity.fingerprint}:
                self.vectors.drop(collection, former)
        self.purge()
        return total

    def _vectors_of(self, batch: Sequence[IndexedChunk], fingerprint: str) -> Vectors:
        missing = [chunk for chunk in batch if chunk.vector is None]
        if missing:
            texts = [chunk.embedded_text for chunk in missing]
            self._refuse_too_long(texts)
            made = self.embedder.embed_documents(texts)
            rows = [(chunk.chunk_id, row.tobytes()) for chunk, row in zip(missing, made, strict=True)]
            self._note_mixture()
            self.documents.replace_vectors(fingerprint, rows)
            known = dict(rows)
        else:
            known = {}
        return _matrix([chunk.vector or known[chunk.chunk_id] for chunk in batch])

    def _refuse_too_long(self, texts: Sequence[str]) -> None:
        limit = self.embedder.identity.max_tokens
        longest = max(self.embedder.count_tokens_many(list(texts)))
        if longest > limit:
            raise IndexMismatchError(
                f"The documents were cut into chunks of up to {longest} tokens, and {self.embedder.identity.name!r} "
                f"reads {limit}.",
                "Set embedding.model back, or start a new data folder with --data and ingest the documents there.",
            )

    def _rebuild_lexical(self, lexical: LexicalIndex) -> None:
        logger.info("Building the lexical index from the database")
        lexical.rebuild(self._all_entries())

    def _all_entries(self) -> Iterator[LexicalEntry]:
        for collection in self.documents.collections():
            for batch in self.documents.iterate_chunks(collection, _BATCH):
                for chunk in batch:
                    yield LexicalEntry(chunk.chunk_id, collection, facts(chunk.scope), stems(chunk.embedded_text))


def facts(scope: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A scope as ``key=value`` facts, in a fixed order."""
    return tuple(sorted(f"{key}={value}" for key, values in scope.items() for value in values))


def _entries(writes: Sequence[DocumentWrite]) -> Iterator[LexicalEntry]:
    for write in writes:
        scope = facts(write.scope)
        for chunk_id, chunk, _ in write.chunks:
            yield LexicalEntry(chunk_id, write.collection, scope, stems(chunk.embedded_text))


def _matrix(vectors: Sequence[bytes]) -> Vectors:
    return np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1).astype(np.float32, copy=False)
