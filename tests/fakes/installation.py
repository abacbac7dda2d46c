"""A data folder with real SQLite, real Chroma and real tantivy, over a chosen embedder."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.answering.corpus import CorpusWatch
from bot.answering.engine import Engine, Parts, Policy
from bot.answering.extractive import ExtractiveOptions
from bot.answering.gate import DEFAULT_SUPPORT
from bot.answering.observing import Nobody
from discovery.gap_log import GapLog
from discovery.rules import RuleThresholds
from discovery.verdict import DEFAULT_VERDICT
from store.database import open_database
from store.documents import DocumentStore
from store.gaps import GapStore
from store.index import Index
from store.ingest import Ingestor
from store.lexical_tantivy import TantivyIndex
from store.questions import QuestionStore
from store.search import Searcher, SearchOptions
from store.sources import IngestRequest
from store.vectors import ChromaVectors, embedded_client
from tests.fakes.embedder import HashEmbedder

POLICY = Policy(
    version="test",
    threshold=DEFAULT_SUPPORT,
    mode="enforce",
    rules=RuleThresholds(),
    disabled=frozenset(),
    verdict=DEFAULT_VERDICT,
    extractive=ExtractiveOptions(),
)


class Clock:
    """A time that stands still until it is moved."""

    def __init__(self):
        self.time = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)

    def __call__(self):
        return self.time

    def forward(self, **duration):
        self.time += timedelta(**duration)


class Installation:
    """What :mod:`bot.app` wires, as far as ingesting, searching and answering go."""

    def __init__(self, folder, embedder=None, database=None):
        self.folder = folder
        self.embedder = embedder or HashEmbedder()
        self.database = database or open_database(f"sqlite:///{folder / 'gaplight.db'}")
        self.documents = DocumentStore(self.database)
        self.questions = QuestionStore(self.database)
        self.gaps = GapStore(self.database)
        self.clock = Clock()
        self._opened = ExitStack()
        self.index = Index(
            self.documents, lambda: self.embedder, self._vectors, lambda: TantivyIndex(folder / "lexical")
        )

    def _vectors(self, identity):
        client = embedded_client(self.folder / "vectors")
        self._opened.callback(client.close)
        return ChromaVectors(client, identity.fingerprint)

    def ingest(self, *paths, **options):
        return Ingestor(self.index).run(IngestRequest(paths=paths, **options))

    def write(self, files, **options):
        """Write texts as files below the folder's ``docs``, named as they are, and ingest them."""
        docs = self.folder / "docs" / options.get("collection", "default")
        for name, text in files.items():
            (docs / name).parent.mkdir(parents=True, exist_ok=True)
            (docs / name).write_text(text, encoding="utf-8")
        return self.ingest(docs, **options)

    def search(self, question, collections=("default",), scope=None, **options):
        return Searcher(self.index, SearchOptions(**options)).search(question, collections, scope)

    def engine(self, *, questions=None, observer=None, **policy):
        """The engine over everything here; ``policy`` replaces values of :data:`POLICY`."""
        corpus = CorpusWatch(self.index, self.database)
        parts = Parts(
            searcher=Searcher(self.index),
            gaps=GapLog(self.gaps, lambda: corpus.current().platforms),
            questions=questions or self.questions,
            corpus=corpus.current,
            now=self.clock,
            observer=observer or Nobody(),
        )
        return Engine(parts, replace(POLICY, **policy))

    def found(self, question, **options):
        """Documents found for a question, each once, best first."""
        return list(dict.fromkeys(passage.document for passage in self.search(question, **options).passages))

    def state(self):
        """Path → texts, comparable between installations; no snapshot while something writes: it reads step by step."""
        texts = {}
        for document in self.documents.documents():
            texts[document.path] = []
        for batch in self.documents.iterate_chunks():
            for chunk in batch:
                document = self.documents.document(chunk.document_id)
                texts[document.path].append(chunk.embedded_text)
        return {path: sorted(found) for path, found in texts.items()}

    def live_ids(self):
        return {chunk.chunk_id for batch in self.documents.iterate_chunks() for chunk in batch}

    def close(self):
        self.index.close()
        self._opened.close()
        self.database.close()
