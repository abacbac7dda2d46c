"""The search by meaning under a scope, and over many collections: through Chroma alone, and with few chunks compared.

Vectors are random: what is measured is how many there are and how they are chosen, not what they mean.
"""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime

import numpy as np

from store.database import open_database
from store.documents import DocumentStore, DocumentWrite
from store.exact_vectors import ExactVectors
from store.records import Chunk
from store.search import all_nearest
from store.vectors import ChromaVectors, embedded_client

_DIMENSION = 384
_CHUNKS_A_DOCUMENT = 10
_QUESTIONS = 40
_MODEL = "bench"


def measure(work, chunks=50_000, collections=50):
    """Rows of (what, figure, what it should be)."""
    work.mkdir(parents=True, exist_ok=True)
    database = open_database(f"sqlite:///{work / 'gaplight.db'}")
    documents, choice = DocumentStore(database), np.random.default_rng(7)
    client = embedded_client(work / "vectors")
    chroma = ChromaVectors(client, _MODEL)
    small = [f"small{number}" for number in range(collections)]
    _fill(documents, chroma, "large", chunks, choice)
    for name in small:
        _fill(documents, chroma, name, chunks // collections, choice)
    exact = ExactVectors(chroma, database, _MODEL)
    asked = _rows(choice, _QUESTIONS)
    rows = []
    for label, where, scope in (
        ("a scope that keeps 1 %", ["large"], {"page": ("7",)}),
        ("a scope that keeps 10 %", ["large"], {"version": ("3",)}),
        ("a scope that keeps 30 %", ["large"], {"version": ("1", "2", "3")}),
        (f"{collections} collections", small, {}),
    ):
        before = _milliseconds(lambda row, where=where, scope=scope: all_nearest(chroma, where, row, 50, scope), asked)
        after = _milliseconds(lambda row, where=where, scope=scope: all_nearest(exact, where, row, 50, scope), asked)
        rows.append((f"{label}, {chunks:,} chunks: Chroma alone / as it is, ms p50", f"{before:.1f}/{after:.1f}", ""))
    client.close()
    database.close()
    return rows


def _milliseconds(search, asked):
    search(asked[0])
    times = []
    for row in asked:
        started = time.perf_counter()
        search(row)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def _rows(choice, count):
    rows = choice.normal(size=(count, _DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _fill(documents, vectors, collection, count, choice):
    documents.ensure_collection(collection)
    rows = _rows(choice, count)
    ids = [f"{collection}-{number // _CHUNKS_A_DOCUMENT}:{number}" for number in range(count)]
    scopes = [_scope(number // _CHUNKS_A_DOCUMENT) for number in range(count)]
    vectors.upsert(collection, ids, rows, [[f"{k}={v[0]}" for k, v in scope.items()] for scope in scopes])
    writes = [
        DocumentWrite(
            id=ids[start].partition(":")[0],
            collection=collection,
            source=ids[start],
            root="/bench",
            path=ids[start],
            title="",
            fingerprint="1",
            ingested_at=datetime.now(UTC),
            model_fingerprint=_MODEL,
            scope=scopes[start],
            chunks=[(one, Chunk("text", (), 1, "text"), row.tobytes()) for one, row in _part(ids, rows, start)],
        )
        for start in range(0, count, _CHUNKS_A_DOCUMENT)
    ]
    for start in range(0, len(writes), 500):
        documents.commit_documents(writes[start : start + 500])


def _part(ids, rows, start):
    part = slice(start, start + _CHUNKS_A_DOCUMENT)
    return zip(ids[part], rows[part], strict=True)


def _scope(document):
    return {"version": (str(document % 10),), "page": (str(document % 100),)}
