"""Search by words in many chunks: tantivy in a folder beside the tables of a database that processes share.

``python -m tests.benchmarks.words DATABASE_URL FOLDER...``, with an empty database or schema, and folders with texts
from whose sentences chunks and questions are drawn.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from store.database import open_database
from store.lexical import LexicalEntry
from store.lexical_tantivy import TantivyIndex
from store.postings import PostingsIndex
from store.text import informative, stems, terms
from tests.benchmarks.asking import _text, sentences_of

_LIMIT = 50
_LONG = 4
"""Sentences in a long question, as people paste them."""


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    sentences, choice = sentences_of(options.folders), random.Random(50)
    entries = [
        LexicalEntry(f"{number:08d}", "default", (), stems(_text(sentences, choice)))
        for number in range(options.chunks)
    ]
    short = [" ".join(choice.choice(sentences).split()[:12]) for _ in range(options.questions)]
    long = [" ".join(choice.sample(sentences, _LONG)) for _ in range(options.questions)]
    with tempfile.TemporaryDirectory() as folder:
        tantivy, database = TantivyIndex(Path(folder)), open_database(options.database)
        shared = PostingsIndex(database)
        for name, index in (("tantivy", tantivy), ("database", shared)):
            seconds = _seconds(lambda index=index: index.rebuild(entries))
            print(f"| {name}: build of {options.chunks:,} chunks, s | {seconds:.0f} |")
        for name, index in (("tantivy", tantivy), ("database, first time", shared), ("database", shared)):
            for kind, questions in (("short", short), ("long", long)):
                statistic, search = _asked(index, questions)
                print(f"| {name}: {kind} questions: statistics / search, ms p50 | {statistic:.1f} / {search:.1f} |")
        seconds = [_seconds(lambda one=one: shared.write([one])) for one in entries[:20]]
        print(f"| database: one chunk replaced, ms p50 | {statistics.median(seconds) * 1000:.0f} |")
        tantivy.close()
        database.close()


def _asked(index, questions):
    """Median milliseconds of what a search asks first, and of the search."""
    before, searching = [], []
    for question in questions:
        wanted = {}
        before.append(_seconds(lambda: wanted.update(_wanted(index, question))))  # noqa: B023
        searching.append(_seconds(lambda: index.search(wanted, _LIMIT, ("default",))))  # noqa: B023
    return statistics.median(before) * 1000, statistics.median(searching) * 1000


def _wanted(index, question):
    """The words that a question is searched for, as in :mod:`store.search`: the stop words that half of all have not."""
    read = terms(question)
    found = dict.fromkeys((term.stem for term in informative(read)), 1.0)
    others = {term.stem for term in read} - found.keys()
    everywhere = index.size / 2
    known = index.document_frequencies(found)
    found = {stem: weight for stem, weight in found.items() if known[stem]}
    return found | {stem: 1.0 for stem, n in index.document_frequencies(others).items() if 0 < n <= everywhere}


def _seconds(call):
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
