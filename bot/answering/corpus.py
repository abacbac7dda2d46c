"""What has to be known of all documents to judge one question, kept until the documents change."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.answering.support import HALF_TRUST_TERMS, Background
from discovery.platforms import PlatformNames
from discovery.vocabulary import PlatformCache
from store.database import Database
from store.errors import IndexMismatchError, ModelError, UsageError
from store.fusion import RouteWeights
from store.index import Index
from store.records import Visibility
from store.sampling import measure_background, sampled_languages
from store.scopes import scope_values

_CHECK_SECONDS = 0.25
"""How long the corpus is taken as it was without asking the database, which would cost every question a query."""


_EXAMPLE_WEIGHTS = RouteWeights(dense=0.75, lexical=0.25)
"""Right intent among the first three of 1,158 banking requests: .964 instead of .949; of 1,000 assistant requests:
.946 instead of .941. On documents equal weights are best; docs/measurements.md has the table."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents as a whole, at one revision.

    Attributes:
        revision: raised by every change of documents.
        chunks: how many are indexed.
        collections: all collections by name.
        platforms: shipped and learned platform names.
        languages: of a sample of the documents.
        background: the similarity that the corpus reaches by chance; None while it is too small to tell.
        scopes: everything that documents say they are valid for: all values of each key.
    """

    revision: int
    chunks: int
    collections: Mapping[str, Visibility]
    platforms: PlatformNames
    languages: frozenset[str]
    background: Background | None
    scopes: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def route_weights(self) -> RouteWeights:
        """How much meaning and words count in the search: one-line examples share too many words to go by them."""
        examples = self.background is not None and self.background.mean_terms < HALF_TRUST_TERMS
        return _EXAMPLE_WEIGHTS if examples else RouteWeights()

    def resolved(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The collections to search: those wanted, or all.

        Raises:
            UsageError: a wanted collection does not exist; a restriction is never dropped in silence.
        """
        unknown = [name for name in wanted if name not in self.collections]
        if unknown:
            known = ", ".join(self.collections) or "none yet"
            raise UsageError(f"There is no collection {unknown[0]!r}.", f"Known collections: {known}.")
        return tuple(wanted or self.collections)


class CorpusWatch:
    """Gives the present :class:`Corpus`; may be used by many threads.

    Changes that this process makes show at once, those of others within a fraction of a second.
    """

    def __init__(self, index: Index, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._index = index
        self._database = database
        self._clock = clock
        self._asked = (-1, -_CHECK_SECONDS)
        self._platforms = PlatformCache(database)
        self._turn = threading.Lock()
        self._corpus: Corpus | None = None

    def current(self) -> Corpus:
        """The corpus at the documents' present revision.

        Raises:
            ModelError: another process has built the index with another embedding model.
        """
        corpus = self._corpus
        asked = self._index.changes, self._clock()
        if corpus and asked[0] == self._asked[0] and asked[1] - self._asked[1] < _CHECK_SECONDS:
            return corpus
        revision = self._index.documents.revision()
        self._asked = asked
        if corpus is None or corpus.revision != revision:
            with self._turn:
                corpus = self._corpus
                if corpus is None or corpus.revision != revision:
                    corpus = self._corpus = self._measured(revision)
        return corpus

    def _measured(self, revision: int) -> Corpus:
        documents = self._index.documents
        try:
            self._index.check_model()
        except IndexMismatchError as error:
            step = "Start this process again with that model, or run `gaplight reindex`."
            raise ModelError(error.problem, step) from error
        return Corpus(
            revision,
            documents.counts().chunks,
            documents.collections(),
            self._platforms.current(revision),
            sampled_languages(documents),
            measure_background(self._index),
            scope_values(self._database),
        )
