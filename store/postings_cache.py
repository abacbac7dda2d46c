"""What a process has read of the shared index of words, kept because segments never change."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

from sqlalchemy import Connection

from store import postings_rows as rows
from store.postings_rows import SegmentSize
from store.postings_scoring import Part, View, view
from store.postings_segments import Counts, Places, Segment, unpack

Lists = tuple[Places, Counts] | None
Groups = dict[int, tuple[str, frozenset[str]]]

_ENTRY_BYTES = 300
"""What keeping a list costs beside its content."""
RECENT_SECONDS = 0.05
"""How old a view may be for figures that only weigh words: one question asks for several of them."""


class MergedMeanwhileError(Exception):
    """Segments were merged between two statements: look again."""


class PostingsCache:
    """Segments, their deletions and the latest view of them, and the postings used last; threads share it.

    Args:
        limit: bytes of postings to keep.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._turn = threading.Lock()
        self._segments: dict[int, Segment] = {}
        self._view = view(())
        self._key: Sequence[SegmentSize] = ()
        self._seen_at = -RECENT_SECONDS
        self._postings: OrderedDict[tuple[int, str], Lists] = OrderedDict()
        self._bytes = 0
        self._groups: Groups = {}

    def view(self, connection: Connection) -> View:
        """The segments as they are now.

        Raises:
            MergedMeanwhileError: one of them went while they were read.
        """
        looked_at = time.monotonic()
        present = rows.sizes(connection)
        with self._turn:
            if present == self._key:
                self._seen_at = looked_at
                return self._view
            before = {(part.size.id, part.size.deleted): part.deleted for part in self._view.parts}
        changed = [one.size.id for one in present if (one.size.id, one.size.deleted) not in before]
        deletions = rows.deletions(connection, changed)
        known = self.segments(connection, [one.size.id for one in present])
        parts = []
        for size, terms in present:
            deleted = before.get((size.id, size.deleted), deletions.get(size.id))
            if deleted is None or size.id not in known:
                raise MergedMeanwhileError
            parts.append(Part(size, terms, known[size.id], deleted))
        seen = view(parts)
        with self._turn:
            self._view, self._key, self._segments, self._seen_at = seen, present, known, looked_at
        return seen

    def recent(self) -> View | None:
        """The latest view, unless it is older than :data:`RECENT_SECONDS`."""
        with self._turn:
            return self._view if time.monotonic() - self._seen_at < RECENT_SECONDS else None

    def outdated(self) -> None:
        """Take the latest view for an old one: this process has changed the index."""
        with self._turn:
            self._seen_at = -RECENT_SECONDS

    def segments(self, connection: Connection, ids: Sequence[int]) -> dict[int, Segment]:
        """Those of the segments that still exist; what is not known yet is read."""
        with self._turn:
            known = {one: self._segments[one] for one in ids if one in self._segments}
        return known | rows.segments(connection, [one for one in ids if one not in known])

    def postings(self, connection: Connection, ids: Sequence[int], terms: Sequence[str]) -> dict[str, list[Lists]]:
        """For each term what each of the segments has of it, in their order.

        Raises:
            MergedMeanwhileError: a segment went while it was read.
        """
        found, missing = self._kept(ids, terms)
        if missing:
            segments = sorted({segment for segment, _ in missing})
            read = rows.postings(connection, segments, sorted({term for _, term in missing}))
            if len(read) < len(segments):
                raise MergedMeanwhileError
            fresh: dict[tuple[int, str], Lists] = {}
            for segment, term in missing:
                data = read[segment].get(term)
                fresh[segment, term] = None if data is None else unpack(data)
            self._keep(fresh)
            found |= fresh
        return {term: [found[segment, term] for segment in ids] for term in terms}

    def kept(self, seen: View, terms: Sequence[str]) -> dict[str, list[Lists]] | None:
        """As :meth:`postings`, where nothing has to be read for it; None otherwise."""
        ids = [part.size.id for part in seen.parts]
        found, missing = self._kept(ids, terms)
        return None if missing else {term: [found[segment, term] for segment in ids] for term in terms}

    def _kept(
        self, ids: Sequence[int], terms: Sequence[str]
    ) -> tuple[dict[tuple[int, str], Lists], list[tuple[int, str]]]:
        found: dict[tuple[int, str], Lists] = {}
        missing = []
        with self._turn:
            for term in terms:
                for segment in ids:
                    key = (segment, term)
                    if key in self._postings:
                        self._postings.move_to_end(key)
                        found[key] = self._postings[key]
                    else:
                        missing.append(key)
        return found, missing

    def _keep(self, fresh: dict[tuple[int, str], Lists]) -> None:
        with self._turn:
            for key, lists in fresh.items():
                if key not in self._postings:
                    self._bytes += _bytes(lists)
                self._postings[key] = lists
            while self._bytes > self._limit:
                _, lists = self._postings.popitem(last=False)
                self._bytes -= _bytes(lists)

    def groups(self, connection: Connection, seen: View) -> Groups:
        """All groups that a view's chunks can have; they never change, so only new ones make them be read again."""
        used = seen.groups
        if not used <= self._groups.keys():
            self._groups = rows.groups(connection)
        return self._groups


def _bytes(lists: Lists) -> int:
    return _ENTRY_BYTES + (0 if lists is None else lists[0].nbytes + lists[1].nbytes)
