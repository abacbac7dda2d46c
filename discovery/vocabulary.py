"""Platform names of the shipped list and of the corpus itself, learned anew when the documents have changed."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from discovery.platform_learning import learn_platforms
from discovery.platforms import PlatformNames, load_platforms
from store.database import Database
from store.index_log import IndexLog
from store.outline import outline

_STATE = "platforms"


class PlatformCache:
    """The platform names known now; may be used by many threads.

    Args:
        database: whose documents' titles, headings and tags teach further names.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._log = IndexLog(database)
        self._turn = threading.Lock()
        self._revision = -1
        self._names = load_platforms()

    def current(self, revision: int) -> PlatformNames:
        """The shipped names and those that the documents taught at this revision of theirs."""
        if revision != self._revision:
            with self._turn:
                self._names = load_platforms().with_learned(self._learned(revision))
                self._revision = revision
        return self._names

    def _learned(self, revision: int) -> frozenset[str]:
        """What was learned, from the database where the same documents have taught it before."""
        known = self._log.index_state(_STATE)
        if isinstance(known, Mapping) and known.get("revision") == revision:
            return frozenset(map(str, known["names"]))
        names = learn_platforms(*outline(self._database), load_platforms())
        self._log.set_index_state(_STATE, {"revision": revision, "names": sorted(names)})
        return names
