"""Many questions in a row: ``python -m tests.benchmarks.soak FOLDER... [--questions 100000]``.

One process ingests the folders and asks, each question worded anew from their sentences so that no cache helps, logged
as in chat and by many askers. Prints memory, open files and threads as it goes. Exit code 1 when memory grows by more
than 5 % after the first tenth, or if files or threads do. A few files come and go: connections of the database's pool.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

from bot.app import App
from bot.memory import keep_memory_together
from bot.settings import Settings
from store.records import Question
from store.sources import IngestRequest
from tests.benchmarks.asking import sentences_of
from tests.benchmarks.ingesting import MODEL_CACHE

_WORKERS = 2
_STEPS = 20
_GROWTH = 0.05
_CONNECTIONS = 10
_ASKERS = 500


def main() -> None:
    """Ask, and print a line now and then."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=100_000)
    options = parser.parse_args()
    keep_memory_together()
    with tempfile.TemporaryDirectory(prefix="gaplight-soak-") as work:
        app = App(Settings(data=Path(work), embedding={"cache": MODEL_CACHE}))
        app.ingestor.run(IngestRequest(paths=tuple(options.folders)))
        fine = _soak(app, sentences_of(options.folders), options.questions)
        app.close()
    sys.exit(0 if fine else 1)


def _soak(app, sentences, questions):
    words = sorted({word for sentence in sentences for word in sentence.split() if word.isalpha()})
    print(f"{'asked':>8} {'a second':>9} {'memory MB':>10} {'files':>6} {'threads':>8}")
    lines, started = [], time.monotonic()
    for step in range(_STEPS):
        _ask(app, sentences, words, questions // _STEPS, step)
        gc.collect()
        asked = (step + 1) * (questions // _STEPS)
        line = (_memory(), sum(1 for _ in Path("/proc/self/fd").iterdir()), threading.active_count())
        lines.append(line)
        rate = asked / (time.monotonic() - started)
        print(f"{asked:>8,} {rate:>9.0f} {line[0]:>10.0f} {line[1]:>6} {line[2]:>8}", flush=True)
    first, last = lines[_STEPS // 10 - 1], lines[-1]
    growth = last[0] / first[0] - 1
    print(
        f"memory since the first tenth: {growth:+.1%}; files {last[1] - first[1]:+d}; threads {last[2] - first[2]:+d}"
    )
    print(f"memory at its highest: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return growth <= _GROWTH and last[1] <= first[1] + _CONNECTIONS and last[2] <= first[2]


def _ask(app, sentences, words, count, step):
    def work(worker):
        choice = random.Random(step * _WORKERS + worker)
        for number in range(worker, count, _WORKERS):
            text = " ".join([*choice.choice(sentences).split()[:8], choice.choice(words), f"case {step}-{number}"])
            app.engine.ask(Question(text, asker=f"soak:{number % _ASKERS}", platform="soak"))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(_WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _memory():
    """Resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
