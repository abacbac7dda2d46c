"""Topics against labels, and how long they take: ``python -m tests.benchmarks.topics DATA_DIR``.

Every folder of DATA_DIR that has a ``questions.jsonl`` whose lines name a ``topic`` is measured: unanswerable questions
(the gaps) and answerable ones, without telling how many topics there are. Beside it stands k-means with the true
number. Then the whole step from gaps to named topics is timed on 800 and on 50,000 gaps, the latter made from the
same questions by moving their vectors a little.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from discovery.clustering import cluster
from discovery.platforms import load_platforms
from discovery.topic_building import TopicInputs, build_topics
from store.models import load
from store.records import Gap, GapState, GapType, Visibility
from store.text import terms
from tests.benchmarks.ingesting import MODEL_CACHE

_FEWEST = 30
_NOW = datetime(2026, 6, 19, tzinfo=UTC)
_BATCH = 256


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--most", type=int, default=50_000)
    options = parser.parse_args()
    embedder = load(cache=MODEL_CACHE)
    texts, vectors = [], []
    print(f"{'set':<32}{'n':>7}{'true':>6}{'found':>7}{'NMI':>7}{'ARI':>7}   k-means, true number")
    for name, questions in _sets(options.data):
        asked = [one["question"] for one in questions]
        rows = np.concatenate([embedder.embed_queries(asked[at : at + _BATCH]) for at in range(0, len(asked), _BATCH)])
        texts += asked
        vectors.append(rows)
        print(_quality(name, rows, [one["topic"] for one in questions]), flush=True)
    if texts:
        for count in (800, options.most):
            print(_speed(texts, np.concatenate(vectors), count), flush=True)


def _sets(data: Path):
    for path in sorted(data.glob("*/questions.jsonl")):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for kind, answerable in (("gaps", False), ("answerable", True)):
            chosen = [one for one in lines if one.get("topic") and bool(one["answerable"]) is answerable]
            if len(chosen) >= _FEWEST and len({one["topic"] for one in chosen}) > 1:
                yield f"{path.parent.name}, {kind}", chosen


def _quality(name, vectors, topics):
    found = cluster(vectors)
    true = len(set(topics))
    means = KMeans(true, n_init=3, random_state=0).fit_predict(vectors)
    scores = [score(topics, labels) for labels in (found, means) for score in (normalized_mutual_info_score, adjusted_rand_score)]  # fmt: skip
    return f"{name:<32}{len(topics):>7}{true:>6}{found.max() + 1:>7}{scores[0]:>7.2f}{scores[1]:>7.2f}   {scores[2]:.2f} / {scores[3]:.2f}"


def _speed(texts, vectors, count):
    gaps = _gaps(texts, vectors, count)
    inputs = TopicInputs(gaps, {}, (), load_platforms(), _NOW)
    terms("中文")  # the Chinese dictionary is loaded once for a process, whatever reads Chinese first
    started, worked = time.perf_counter(), time.process_time()
    topics = build_topics(inputs)
    seconds, work = time.perf_counter() - started, time.process_time() - worked
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return f"{count:,} gaps into {len(topics):,} named topics: {seconds:.1f} s ({work:.1f} s of processors); {memory:.2f} GB at most so far"


def _gaps(texts, vectors, count):
    chance = np.random.default_rng(0)
    places = chance.integers(0, len(texts), count)
    made = []
    for number, place in enumerate(places):
        vector = vectors[place] + 0.02 * chance.normal(size=vectors.shape[1])
        made.append(
            Gap(
                id=f"{number:032x}",
                key=texts[place],
                question=texts[place],
                type=GapType.NO_COVERAGE,
                state=GapState.OPEN,
                reasons={},
                count=1,
                askers=1,
                first_seen=_NOW,
                last_seen=_NOW,
                best_score=0.0,
                nearest=None,
                visibility=Visibility.PUBLIC,
                language="en",
                vector=(vector / np.linalg.norm(vector)).astype("<f4").tobytes(),
            )
        )
    return made


if __name__ == "__main__":
    main()
