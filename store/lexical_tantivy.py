"""BM25 over the chunks by an embedded tantivy index, in a folder of one process.

tantivy sees stems separated by spaces, and has the constants of :mod:`store.lexical` built in. It was chosen over
SQLite FTS5, bm25s and a postings table by query time at 100,000 chunks; docs/benchmarks.md has the figures.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import tantivy

from store.errors import UnavailableError
from store.lexical import FORMAT, LexicalEntry, LexicalHit
from store.private_folder import make_private
from store.records import ScopeFilter

_WRITER_HEAP = 64_000_000
"""Bytes that tantivy may hold before it writes a segment; its minimum is 15 MB a thread."""
_BATCH = 1000


class TantivyIndex:
    """The :class:`store.lexical.LexicalIndex` promise kept by tantivy in one folder, for one process.

    Args:
        folder: where the index lives; made when missing.

    Raises:
        UnavailableError: the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._writer: Any = None
        self._schema = _schema()
        self.rebuild_needed = not self._is_current()
        if self.rebuild_needed:
            self._start_empty()
        else:
            self._index = self._open()
        self._searcher = self._index.searcher()

    def _is_current(self) -> bool:
        """Whether the folder holds an index of this format that opens; a damaged one counts as absent."""
        try:
            known = json.loads((self._folder / "gaplight.json").read_text(encoding="utf-8"))
            if known.get("format") != FORMAT:
                return False
            self._open()
        except (OSError, ValueError):
            return False
        return True

    def _open(self) -> Any:
        return tantivy.Index(self._schema, path=str(self._folder / "index"))

    def _start_empty(self) -> None:
        try:
            shutil.rmtree(self._folder, ignore_errors=True)
            make_private(self._folder / "index")
            self._index = self._open()
        except (OSError, ValueError) as error:
            raise UnavailableError(
                f"The lexical index in {self._folder} cannot be written: {error}.",
                "Check that the folder exists, is writable and that the disk is not full.",
            ) from error

    def mark_complete(self) -> None:
        """Note that the index holds every chunk of the database, so that the next start need not rebuild it."""
        (self._folder / "gaplight.json").write_text(json.dumps({"format": FORMAT}), encoding="utf-8")
        self.rebuild_needed = False

    def clear(self) -> None:
        """Drop everything; the index counts as incomplete until :meth:`mark_complete`."""
        with self._lock:
            self._close_writer()
            (self._folder / "gaplight.json").unlink(missing_ok=True)
            self._start_empty()
            self._searcher = self._index.searcher()
            self.rebuild_needed = True

    def write(self, entries: Iterable[LexicalEntry] = (), deleted: Iterable[str] = ()) -> None:
        """Delete and add chunks in one commit; an id that is already there is replaced.

        Raises:
            UnavailableError: another process holds the writer, or the disk is full.
        """
        with self._lock:
            try:
                writer = self._open_writer()
                for chunk_id in deleted:
                    writer.delete_documents_by_term("id", chunk_id)
                for entry in entries:
                    writer.delete_documents_by_term("id", entry.chunk_id)
                    writer.add_document(_document(entry))
                writer.commit()
            except (OSError, ValueError) as error:
                self._writer = None
                raise UnavailableError(
                    f"The lexical index in {self._folder} could not be written: {error}.",
                    "Free some disk space or stop the other process, then run the command again.",
                ) from error
            self._index.reload()
            self._searcher = self._index.searcher()

    def rebuild(self, entries: Iterable[LexicalEntry]) -> None:
        """Put these chunks in place of everything; searches find what is there so far."""
        with self._lock:
            self.clear()
            coming = iter(entries)
            while batch := list(islice(coming, _BATCH)):
                self.write(batch)
            self.mark_complete()

    def _open_writer(self) -> Any:
        if self._writer is None:
            self._writer = self._index.writer(_WRITER_HEAP, 1)
        return self._writer

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.wait_merging_threads()
            self._writer = None

    def close(self) -> None:
        """Wait for running merges and give the writer's lock back."""
        with self._lock:
            self._close_writer()

    def search(
        self,
        stems: Mapping[str, float],
        limit: int,
        collections: Sequence[str],
        scope: ScopeFilter | None = None,
    ) -> list[LexicalHit]:
        """The chunks that match any of the stems, best first.

        Args:
            stems: query stems with their weights (1.0 for plain BM25).
            limit: at most so many hits.
            collections: only chunks of these.
            scope: only chunks that carry one of the values for every key.
        """
        if not stems or not collections or limit <= 0:
            return []
        searcher = self._searcher
        try:
            hits = searcher.search(self._query(stems, collections, scope or {}), limit, count=False).hits
            return [LexicalHit(searcher.doc(address)["id"][0], score) for score, address in hits]
        except (OSError, ValueError) as error:
            raise UnavailableError(
                f"The lexical index in {self._folder} could not be read: {error}.",
                "Run `gaplight reindex` to rebuild it from the database.",
            ) from error

    def _query(self, stems: Mapping[str, float], collections: Sequence[str], scope: ScopeFilter) -> Any:
        words = [(tantivy.Occur.Should, self._word(stem, weight)) for stem, weight in stems.items()]
        clauses = [(tantivy.Occur.Must, tantivy.Query.boolean_query(words))]
        allowed = [("collection", list(collections))]
        allowed += [("scope", [f"{key}={value}" for value in values]) for key, values in scope.items()]
        for field, values in allowed:
            restriction = tantivy.Query.term_set_query(self._schema, field, values)
            clauses.append((tantivy.Occur.Must, tantivy.Query.const_score_query(restriction, 0.0)))
        return tantivy.Query.boolean_query(clauses)

    def _word(self, stem: str, weight: float) -> Any:
        query = tantivy.Query.term_query(self._schema, "body", stem, "freq")
        return query if weight == 1.0 else tantivy.Query.boost_query(query, weight)

    def document_frequencies(self, stems: Iterable[str]) -> dict[str, int]:
        """In how many chunks each stem occurs (deleted chunks may still count until they are merged away)."""
        searcher = self._searcher
        return {stem: searcher.doc_freq("body", stem) for stem in stems}

    @property
    def size(self) -> int:
        """Number of indexed chunks."""
        return int(self._searcher.num_docs)


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("collection", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("scope", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _document(entry: LexicalEntry) -> Any:
    document = tantivy.Document()
    document.add_text("id", entry.chunk_id)
    document.add_text("collection", entry.collection)
    for fact in entry.scope:
        document.add_text("scope", fact)
    document.add_text("body", " ".join(entry.stems))
    return document
