"""A large installation: ``python -m tests.benchmarks.scale FOLDER... [--chunks 1000000] [--collections 50]``.

Texts are drawn from the sentences of the folders. Vectors are simulated: each is a real sentence's vector with noise, so
that neighbourhoods are about as dense as in a real corpus and nobody has to wait for a million embeddings. Filling and
searching happen in two processes, so that the memory told is that of a bot that answers.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bot.app import App
from bot.settings import Settings
from store.documents import DocumentWrite
from store.ingest_files import chunk_ids
from store.records import Chunk
from store.search import Searcher
from tests.benchmarks.asking import sentences_of
from tests.benchmarks.ingesting import MODEL_CACHE

_SEEDS = 600
_NOISE = 0.6
_WORDS = 45
_CHUNKS_A_DOCUMENT = 20
_BATCH = 4000
_VERSIONS = 10
_PRODUCTS = 1000


def main() -> None:
    """Fill, then search in a process of its own; prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--collections", type=int, default=50)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--work", type=Path, help="keep the installation here, and use it when it is there")
    parser.add_argument("--search", action="store_true", help="only search what --work holds")
    options = parser.parse_args()
    if options.search:
        _search(options)
        return
    with tempfile.TemporaryDirectory(prefix="gaplight-scale-") as temporary:
        work = options.work or Path(temporary)
        if not (work / "gaplight.db").exists():
            _fill(work, options)
        again = [sys.executable, "-m", "tests.benchmarks.scale", *map(str, options.folders), "--search"]
        again += ["--work", str(work), "--questions", str(options.questions)]
        subprocess.run(again, check=True)


def _opened(work) -> App:
    return App(Settings(data=work, embedding={"cache": MODEL_CACHE}))


def _fill(work, options):
    work.mkdir(parents=True, exist_ok=True)
    app = _opened(work)
    choice, started = random.Random(7), time.monotonic()
    sentences = choice.sample(_sentences(options.folders), _SEEDS)
    seeds = app.index.embedder.embed_queries(sentences)
    noise = np.random.default_rng(7)
    each = options.chunks // options.collections
    app.index.claim()
    for collection in range(options.collections):
        app.documents.ensure_collection(f"c{collection:02d}")
        for start in range(0, each, _BATCH):
            numbers = range(start, min(start + _BATCH, each), _CHUNKS_A_DOCUMENT)
            app.index.write([_document(f"c{collection:02d}", n, sentences, seeds, choice, noise, app) for n in numbers])
        done = (collection + 1) * each
        print(f"{done:,} chunks, {done / (time.monotonic() - started):.0f} a second", file=sys.stderr, flush=True)
    app.close()


def _document(collection, number, sentences, seeds, choice, noise, app):
    chosen = [choice.randrange(len(sentences)) for _ in range(_CHUNKS_A_DOCUMENT)]
    texts = [_text(sentences, one, choice) for one in chosen]
    rows = seeds[chosen] + _NOISE * noise.normal(size=(len(chosen), seeds.shape[1])) / np.sqrt(seeds.shape[1])
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    name = f"{collection}-{number}"
    ids = chunk_ids(name, texts, ())
    pieces = [Chunk(text, (f"Section {place}",), len(text.split()), text) for place, text in enumerate(texts)]
    scope = {"version": (str(number // _CHUNKS_A_DOCUMENT % _VERSIONS),)}
    scope["product"] = (f"p{number // _CHUNKS_A_DOCUMENT % _PRODUCTS}",)
    return DocumentWrite(
        id=name,
        collection=collection,
        source=f"/scale/{name}.md",
        root="/scale",
        path=f"{name}.md",
        title=f"Document {name}",
        fingerprint=name,
        scope=scope,
        ingested_at=datetime.now(UTC),
        model_fingerprint=app.index.embedder.identity.fingerprint,
        chunks=list(zip(ids, pieces, (row.tobytes() for row in rows), strict=True)),
    )


def _sentences(folders):
    """Those that are no pasted file."""
    return [sentence for sentence in sentences_of(folders) if len(sentence.split()) <= _WORDS]


def _text(sentences, first, choice):
    words = sentences[first].split()[:_WORDS]
    while len(words) < _WORDS:
        words += choice.choice(sentences).split()
    return " ".join(words[:_WORDS])


def _search(options):
    app = _opened(options.work)
    started = time.monotonic()
    app.index.start()
    searcher = Searcher(app.index)
    names = tuple(app.documents.collections())
    asked = random.Random(8).sample(_sentences(options.folders), options.questions)
    searcher.search(asked[0], names)
    print(f"{app.documents.counts().chunks:,} chunks in {len(names)} collections")
    print(f"start to first answer: {time.monotonic() - started:.0f} s")
    print(f"{'search':<44} {'p50 ms':>8} {'p95 ms':>8} {'dense p50':>10} {'lexical p50':>12}")
    for label, collections, scope in (
        ("one collection", names[:1], {}),
        ("one collection, a tenth of it (version)", names[:1], {"version": ("3",)}),
        ("one collection, one document (product)", names[:1], {"product": ("p7",)}),
        ("ten collections", names[:10], {}),
        ("all collections", names, {}),
        ("all collections, a tenth of them (version)", names, {"version": ("3",)}),
        ("all collections, a thousandth (product)", names, {"product": ("p7",)}),
    ):
        found = [searcher.search(text, collections, scope) for text in asked]
        steps = {step: sorted(one.timings_ms[step] for one in found) for step in ("search", "dense", "lexical")}
        p95 = steps["search"][int(len(found) * 0.95) - 1]
        middle = {step: statistics.median(times) for step, times in steps.items()}
        print(f"{label:<44} {middle['search']:8.1f} {p95:8.1f} {middle['dense']:10.1f} {middle['lexical']:12.1f}")
    print(f"memory at its highest: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB")
    parts = {"database": "gaplight.db*", "vectors": "vectors/**/*", "words": "lexical/**/*"}
    sizes = {
        name: sum(f.stat().st_size for f in options.work.glob(glob) if f.is_file()) for name, glob in parts.items()
    }
    print("disk: " + json.dumps({name: f"{size / 2**30:.2f} GB" for name, size in sizes.items()}))
    app.close()


if __name__ == "__main__":
    main()
