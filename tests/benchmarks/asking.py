"""A warm ``ask`` in a large index: how much of it is neither embedding nor one of the two searches."""

from __future__ import annotations

import random
import re
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bot.app import App
from bot.settings import Settings
from store.documents import DocumentWrite
from store.index import Index
from store.ingest_files import chunk_ids
from store.models import load
from store.records import Chunk, Question, Status
from store.search import OVERSAMPLE
from store.text import stems
from tests.benchmarks.ingesting import MODEL_CACHE

_CHUNK_WORDS = 90
_CHUNKS_A_DOCUMENT = 10
_BATCH = 2000
_THREADS = 2


class HashedDocuments:
    """The real model for questions; hashed words for documents."""

    def __init__(self, real):
        self._real = real
        self.identity = real.identity
        self.embed_queries = real.embed_queries
        self.count_tokens = real.count_tokens
        self.count_tokens_many = real.count_tokens_many
        self._directions = {}

    def embed_documents(self, texts, *, progress=None):
        rows = np.stack([np.sum([self._direction(word) for word in set(text.split())], axis=0) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def _direction(self, word):
        if word not in self._directions:
            seed = int.from_bytes(word.encode()[:8].ljust(8, b"\0"), "little")
            self._directions[word] = np.random.default_rng(seed).normal(size=self.identity.dimension)
        return self._directions[word]


def measure(work, folders, chunks, questions):
    """Rows of (what, figure, what it should be)."""
    work.mkdir(parents=True, exist_ok=True)
    app = App(Settings(data=work, embedding={"cache": MODEL_CACHE}))
    # Without the memory for recent questions: each is asked several times here and should cost what a new one does.
    real = load(cache=MODEL_CACHE)
    app.index.embedder = HashedDocuments(real)
    sentences = sentences_of(folders)
    choice = random.Random(50)
    asked = fill(app.index, sentences, chunks, choice, questions)
    engine = app.engine
    for text in sentences[:20]:
        engine.ask(Question(text, asker="bench"))
    cold = _asked(engine, asked)
    warm = _asked(engine, asked)
    throughput = _throughput(app.index, engine, asked)
    answered = [reply for reply in warm if reply.status is Status.ANSWERED]
    median = {step: _median(warm, step) for step in ("embed", "dense", "lexical", "gate", "answer", "total")}
    app.close()
    rows = [(f"ask with {chunks:,} chunks: {step}, ms p50", f"{value:.2f}", "") for step, value in median.items()]
    return [
        *rows,
        *throughput,
        ("ask: answered", f"{len(answered)}/{len(warm)}", ""),
        ("ask: neither embedding nor search, answered and logged (p50)", f"{_rest(answered):.0%}", "at most 30 %"),
        ("ask: the same, refusals with their gaps included", f"{_rest(warm):.0%}", ""),
        ("ask: the same, each passage seen for the first time", f"{_rest(cold):.0%}", ""),
        ("lexical search as a ratio to dense (p50)", f"{median['lexical'] / median['dense']:.2f}", "at most 1"),
    ]


def _asked(engine, questions):
    return [engine.ask(Question(text, asker="bench")) for text in questions]


def _throughput(index, engine, asked):
    """Questions a second of two threads beside the bare embedding engine, by the clock and by processor time.

    What embedding, Chroma and tantivy do alone is the most that any product of these three can reach.
    """
    words = {text: dict.fromkeys(stems(text), 1.0) for text in asked}

    def embed(text):
        return index.embedder.embed_queries([text])[0]

    def by_meaning(text):
        index.vectors.query("default", embed(text), OVERSAMPLE, {})

    def by_both(text):
        by_meaning(text)
        index.lexical.search(words[text], OVERSAMPLE, ("default",), {})

    bare, bare_cpu = _rate(embed, asked)
    meaning, _ = _rate(by_meaning, asked)
    both, _ = _rate(by_both, asked)
    whole, whole_cpu = _rate(lambda text: engine.ask(Question(text, asker="bench")), asked)
    again, again_cpu = _rate(embed, asked)
    bare, bare_cpu = (bare + again) / 2, (bare_cpu + again_cpu) / 2
    return [
        (f"{_THREADS} threads: questions a second, ask / bare embedding engine", f"{whole:.0f}/{bare:.0f}", ""),
        ("ask: questions a second as a ratio to the bare embedding engine", f"{whole / bare:.2f}", "at least .6"),
        ("the same ratio of embedding and Chroma alone", f"{meaning / bare:.2f}", ""),
        ("the same ratio of embedding, Chroma and tantivy alone", f"{both / bare:.2f}", ""),
        ("ask: processor time of a question, of which embedding, ms", f"{whole_cpu:.1f}/{bare_cpu:.1f}", ""),
    ]


def _rate(call, texts):
    started, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(call, texts))
    seconds, used = time.perf_counter() - started, time.process_time() - used
    return len(texts) / seconds, used * 1000 / len(texts)


def _median(replies, step):
    return statistics.median(reply.timings_ms.get(step, 0.0) for reply in replies)


def _rest(replies):
    """Median share of the total that is neither embedding nor one of the two searches."""
    return statistics.median(
        1 - sum(reply.timings_ms.get(step, 0.0) for step in ("embed", "dense", "lexical")) / reply.timings_ms["total"]
        for reply in replies
    )


def sentences_of(folders):
    text = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for folder in folders
        for path in sorted(Path(folder).rglob("*"))
        if path.suffix in {".md", ".rst", ".txt"}
    )
    found = (" ".join(sentence.split()) for sentence in re.split(r"(?<=[.!?])\s+|\n{2,}", text))
    return [sentence for sentence in found if len(sentence.split()) >= 5 and stems(sentence)]


def fill(index: Index, sentences, chunks, choice, questions):
    """Write the chunks; every so many-th is embedded for real and gives a question that it answers."""
    asked, every = [], max(1, chunks // questions)
    index.claim()
    index.documents.ensure_collection("default")
    for start in range(0, chunks, _BATCH):
        writes = []
        for number in range(start, min(start + _BATCH, chunks), _CHUNKS_A_DOCUMENT):
            texts = [_text(sentences, choice) for _ in range(_CHUNKS_A_DOCUMENT)]
            vectors = index.embedder.embed_documents(texts)
            if number // every != (number - _CHUNKS_A_DOCUMENT) // every:
                vectors[0] = index.embedder.embed_queries(texts[:1])[0]
                asked.append(" ".join(texts[0].split()[:12]))
            ids = chunk_ids(f"bench{number}", texts, ())
            pieces = [Chunk(text, (f"Section {place}",), len(text.split()), text) for place, text in enumerate(texts)]
            writes.append(
                DocumentWrite(
                    id=f"bench{number}",
                    collection="default",
                    source=f"/bench/{number}.md",
                    root="/bench",
                    path=f"{number}.md",
                    title=f"Document {number}",
                    fingerprint=str(number),
                    ingested_at=datetime.now(UTC),
                    model_fingerprint=index.embedder.identity.fingerprint,
                    chunks=list(zip(ids, pieces, (row.tobytes() for row in vectors), strict=True)),
                )
            )
        index.write(writes)
    return asked


def _text(sentences, choice):
    words = []
    while len(words) < _CHUNK_WORDS:
        words += choice.choice(sentences).split()[:40]
    return " ".join(words)
