"""A data folder with real SQLite, real Chroma and real tantivy, over a chosen embedder."""

from __future__ import annotations

from store.database import open_database
from store.documents import DocumentStore
from store.index import Index
from store.ingest import Ingestor
from store.lexical import LexicalIndex
from store.search import Searcher
from store.sources import IngestRequest
from store.vectors import ChromaVectors, embedded_client
from tests.fakes.embedder import HashEmbedder


class Installation:
    """What :mod:`bot.app` wires, as far as ingesting and searching go."""

    def __init__(self, folder, embedder=None):
        self.folder = folder
        self.embedder = embedder or HashEmbedder()
        self.database = open_database(f"sqlite:///{folder / 'gaplight.db'}")
        self.documents = DocumentStore(self.database)
        self.index = Index(
            self.documents,
            lambda: self.embedder,
            lambda identity: ChromaVectors(embedded_client(folder / "vectors"), identity.fingerprint),
            lambda: LexicalIndex(folder / "lexical"),
        )

    def ingest(self, *paths, **options):
        return Ingestor(self.index).run(IngestRequest(paths=paths, **options))

    def search(self, question, collections=("default",), scope=None):
        return Searcher(self.index).search(question, collections, scope)

    def found(self, question, **options):
        """Documents found for a question, each once, best first."""
        return list(dict.fromkeys(passage.document for passage in self.search(question, **options).passages))

    def state(self):
        """What is stored, comparable between installations: path → texts, and the ids in each derived index."""
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
        self.database.close()
