"""How fast the prepared embedding model is: ``python tests/benchmarks/bench_embedding.py [MODEL] [--precision P]``.

Prints one JSON object: milliseconds of one question (median, 14 tokens or so, as questions are), chunks per second
(about 130 tokens each, all threads), seconds to load. Asserts nothing: a shared machine varies by a factor of two.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from store.embedding import Embedder
from store.model_sources import DEFAULT_MODEL
from store.models import load, prepare

TOPICS = ("backup", "rollback", "certificate", "queue", "alert", "index", "replica", "token", "cache", "release")
QUESTION = "How do I restore the {} of a cluster after the last release failed?"
SENTENCE = (
    "Before the {0} of service {1} is changed, note its present state in the log. Run the check, wait {1} minutes, "
    "and compare both values; when they differ by more than {1} percent, stop and call whoever owns the {0}. "
)


def questions(count: int) -> list[str]:
    """Questions that differ in a word each."""
    return [QUESTION.format(f"{TOPICS[place % len(TOPICS)]} {place}") for place in range(count)]


def chunks(count: int) -> list[str]:
    """Chunks of one to four sentences."""
    return [SENTENCE.format(TOPICS[place % len(TOPICS)], place) * (1 + place % 4) for place in range(count)]


def measure(embedder: Embedder, size: int) -> dict[str, float]:
    """Time questions one by one, then chunks together."""
    waits = []
    for question in questions(size):
        start = time.perf_counter()
        embedder.embed_queries([question])
        waits.append((time.perf_counter() - start) * 1000)
    texts = chunks(size)
    start = time.perf_counter()
    embedder.embed_documents(texts)
    seconds = time.perf_counter() - start
    return {
        "query_ms_p50": round(statistics.median(waits), 2),
        "chunks_per_second": round(size / seconds, 1),
        "chunk_tokens_mean": round(statistics.fmean(embedder.count_tokens_many(texts)), 1),
    }


def main() -> None:
    """Measure one model and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default=DEFAULT_MODEL)
    parser.add_argument("--precision", choices=("auto", "fp32", "int8"), default="auto")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "gaplight-bench-models")
    parser.add_argument("--size", type=int, default=200)
    options = parser.parse_args()
    prepared = prepare(options.model, cache=options.cache, precision=options.precision)
    start = time.perf_counter()
    embedder = load(options.model, cache=options.cache, precision=options.precision)
    embedder.embed_queries(["warm"])
    seconds = round(time.perf_counter() - start, 2)
    identity = prepared.identity
    print(
        json.dumps(
            {
                "model": identity.name,
                "engine": identity.engine,
                "precision": identity.precision,
                "load_seconds": seconds,
                **measure(embedder, options.size),
            }
        )
    )


if __name__ == "__main__":
    main()
