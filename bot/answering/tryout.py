"""The engine as discovery asks it: without a trace in the logs, always through the gate, and with one more document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from bot.answering.corpus import Corpus
from bot.answering.engine import Engine, Parts, Policy
from store.index import Index
from store.overlay import Overlay, mean_terms
from store.records import Question, Reply
from store.search import Searcher, SearchOptions
from store.source_ingest import Prepared, SourceDocument, prepare
from store.vectors import Vectors


class SilentAsker:
    """Asks an engine and leaves no trace."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ask(self, question: Question) -> Reply:
        """Answer a question or refuse; nothing is logged."""
        return self._engine.ask(question, log=False)


@dataclass(frozen=True)
class Tryout:
    """Builds engines over the index, and over the index with one more document.

    Attributes:
        parts: of the engine that answers in chat.
        policy: the present one of the same; its gate counts here even where chat only watches it.
        corpus: as in ``parts``, changed with the document that is tried.
        options: of the same search.
    """

    index: Index
    parts: Parts
    policy: Callable[[], Policy]
    options: SearchOptions
    corpus: Callable[[], Corpus]

    def served(self) -> SilentAsker:
        """As chat answers now, with a language model where one is configured."""
        return SilentAsker(Engine(self.parts, self._strict))

    def today(self) -> SilentAsker:
        """As it answers now, by quoting."""
        return SilentAsker(Engine(self._quoting, self._strict))

    def with_document(self, document: Prepared) -> SilentAsker:
        """As it would answer with one more document, by quoting."""
        searcher = Searcher(Overlay(self.index, document, self._mean_terms()), self.options)
        source = document.source

        def corpus() -> Corpus:
            present = self.corpus()
            collections = {source.collection: source.visibility, **present.collections}
            return replace(present, chunks=present.chunks + len(document.chunks), collections=collections)

        return SilentAsker(Engine(replace(self._quoting, searcher=searcher, corpus=corpus), self._strict))

    def prepare(self, document: SourceDocument) -> Prepared:
        """Read, cut and embed a document in memory.

        Raises:
            LoadError: it cannot be read.
        """
        return prepare(document, self.index.embedder)

    def embed(self, questions: Sequence[str]) -> Vectors:
        """One unit-length row for each question."""
        return self.index.embedder.embed_queries(list(questions))

    @property
    def _strict(self) -> Policy:
        return replace(self.policy(), mode="enforce")

    @cached_property
    def _quoting(self) -> Parts:
        """Without the language model: a round tries hundreds of questions, and compares what was found for them."""
        return replace(self.parts, writer=None, grader=None)

    @cached_property
    def _lengths(self) -> dict[int, float]:
        return {}

    def _mean_terms(self) -> float:
        """Measured once for a state of the documents."""
        revision = self.corpus().revision
        if revision not in self._lengths:
            self._lengths.clear()
            self._lengths[revision] = mean_terms(self.index.documents)
        return self._lengths[revision]
