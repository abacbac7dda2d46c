"""BM25 over the chunks by tables in the database, for several processes that share it.

What one process commits, every other finds with its next question. The index consists of segments
(:mod:`store.postings_segments`) that never change once they are written, apart from the list of what is deleted of
them. So each process keeps what it has read, and asks the database only which segments there are now;
docs/benchmarks.md has what a question costs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from sqlalchemy import Connection

from store import postings_rows as rows
from store.database import Database
from store.errors import UnavailableError
from store.lexical import LexicalEntry, LexicalHit
from store.postings_cache import Lists, MergedMeanwhileError, PostingsCache
from store.postings_scoring import View, frequency, ranked
from store.postings_segments import Entry, Places, Segment, build, merge, merges, united
from store.records import ScopeFilter

LOCK = "words"
"""Writers take turns under this name."""
CACHE_BYTES = 64_000_000
"""Postings that a process keeps; 100,000 chunks have about as many."""
_BATCH = 5000
"""Chunks that a rebuild makes into one segment at a time."""
_TRIES = 20
"""Looks at the segments before giving up: each fails only when they were merged between two statements."""
_Result = TypeVar("_Result")


class PostingsIndex:
    """The :class:`store.lexical.LexicalIndex` promise kept by the database itself.

    Args:
        database: where the chunks are, too.
        cache_bytes: how much of the postings to keep in memory.
    """

    def __init__(self, database: Database, cache_bytes: int = CACHE_BYTES) -> None:
        self._database = database
        self._cache = PostingsCache(cache_bytes)

    @property
    def rebuild_needed(self) -> bool:
        """Whether the index was never completely built, or in another format."""
        with self._database.connect() as connection:
            return not rows.is_built(connection)

    @property
    def size(self) -> int:
        """Number of indexed chunks, at most a moment ago."""
        seen = self._cache.recent() or self._read(self._cache.view)
        return seen.live

    def close(self) -> None:
        """Nothing is held; the database is closed by whoever opened it."""

    # Reading

    def search(
        self,
        stems: Mapping[str, float],
        limit: int,
        collections: Sequence[str],
        scope: ScopeFilter | None = None,
    ) -> list[LexicalHit]:
        """The chunks that match any of the stems, best first; of equal ones the smaller id."""
        if not stems or not collections or limit <= 0:
            return []

        def found(connection: Connection) -> list[LexicalHit]:
            seen, lists = self._lists(connection, list(stems))
            return ranked(seen, lists, stems, limit, self._groups(connection, seen, collections, scope or {}))

        return self._read(found)

    def document_frequencies(self, stems: Iterable[str]) -> dict[str, int]:
        """In how many chunks each stem occurs, at most a moment ago (deleted ones count until they are merged away)."""
        wanted = list(dict.fromkeys(stems))
        seen = self._cache.recent()
        lists = self._cache.kept(seen, wanted) if seen else None
        if lists is None:
            lists = self._read(lambda connection: self._lists(connection, wanted)[1])
        return {stem: frequency(lists[stem]) for stem in wanted}

    def _read(self, look: Callable[[Connection], _Result]) -> _Result:
        with self._database.connect() as connection:
            for _ in range(_TRIES):
                try:
                    return look(connection)
                except MergedMeanwhileError:
                    continue
        raise UnavailableError("The index of words changes faster than it can be read.", "Ask again.")

    def _lists(self, connection: Connection, terms: Sequence[str]) -> tuple[View, dict[str, list[Lists]]]:
        """The segments as they are now, and for each term what each of them has of it."""
        seen = self._cache.view(connection)
        return seen, self._cache.postings(connection, [part.size.id for part in seen.parts], terms)

    def _groups(
        self, connection: Connection, seen: View, collections: Sequence[str], scope: ScopeFilter
    ) -> Collection[int] | None:
        """The groups that pass; None when all do."""
        known = self._cache.groups(connection, seen)
        wanted = [{f"{key}={value}" for value in values} for key, values in scope.items()]
        names = set(collections)
        passing = [
            one
            for one, (collection, facts) in known.items()
            if collection in names and all(facts & some for some in wanted)
        ]
        return None if len(passing) == len(known) else passing

    # Writing

    def write(self, entries: Iterable[LexicalEntry] = (), deleted: Iterable[str] = ()) -> None:
        """Delete and add chunks in one transaction; an id that is already there is replaced."""
        added, gone = list(entries), set(deleted)
        if not added and not gone:
            return
        with self._database.begin(LOCK) as connection:
            self._delete(connection, gone | {entry.chunk_id for entry in added})
            if added:
                self._add(connection, added)
            self._merge(connection)
        self._cache.outdated()

    def rebuild(self, entries: Iterable[LexicalEntry]) -> None:
        """Put these chunks in place of everything, in one transaction: until its end, questions find what was there."""
        coming = iter(entries)
        with self._database.begin(LOCK) as connection:
            former = [one.size.id for one in rows.sizes(connection)]
            while batch := list(islice(coming, _BATCH)):
                self._add(connection, batch)
                self._merge(connection, former)
            rows.drop(connection, former)
            rows.note_built(connection)
        self._cache.outdated()

    def _add(self, connection: Connection, added: Sequence[LexicalEntry]) -> None:
        groups = {rows.group_id(entry.collection, entry.scope): (entry.collection, entry.scope) for entry in added}
        rows.add_groups(connection, self._database.dialect, groups)
        segment, lists = build(
            Entry(entry.chunk_id, rows.group_id(entry.collection, entry.scope), entry.stems) for entry in added
        )
        rows.insert(connection, segment, lists.items())

    def _delete(self, connection: Connection, chunk_ids: Collection[str]) -> None:
        wanted = [one.encode() for one in chunk_ids]
        ids = [one.size.id for one in rows.sizes(connection)]
        for one, (segment, deleted) in self._parts(connection, ids).items():
            now_deleted = united(deleted, segment.places(wanted))
            if len(now_deleted) > len(deleted):
                rows.mark_deleted(connection, one, now_deleted)

    def _merge(self, connection: Connection, untouched: Collection[int] = ()) -> None:
        """Bring segments together until none are left to be."""
        while chosen := merges([size for size, _ in rows.sizes(connection) if size.id not in untouched]):
            for some in chosen:
                self._merge_these(connection, some)

    def _merge_these(self, connection: Connection, ids: Sequence[int]) -> None:
        parts = self._parts(connection, ids)
        if any(len(segment.members) > len(deleted) for segment, deleted in parts.values()):
            segment, lists = merge(list(parts.values()), rows.every_posting(connection, list(parts)))
            rows.insert(connection, segment, lists)
        rows.drop(connection, ids)

    def _parts(self, connection: Connection, ids: Sequence[int]) -> dict[int, tuple[Segment, Places]]:
        """Segments with what is deleted of them. Deletions are not kept: the transaction may yet be undone."""
        segments, deletions = self._cache.segments(connection, ids), rows.deletions(connection, ids)
        return {one: (segments[one], deletions[one]) for one in ids}
