"""Calibrates the gate from the corpus itself, and keeps what was found.

Headings and sentences are asked with and without their own document. They are worded like the documents, which people's
questions are not; so the corpus may move the built-in threshold a little, and only labelled questions may move it far.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import numpy as np

from bot.answering.corpus import Corpus
from bot.answering.evidence import support_evidence
from bot.answering.gate import DEFAULT_SUPPORT
from bot.answering.support import support
from bot.app import App
from discovery.measuring.calibrate import Calibration, best_threshold, judge
from discovery.measuring.corpus_questions import CorpusQuestion, corpus_questions
from store.calibrations import CalibrationRecord
from store.index import Index
from store.records import StoredChunk
from store.search import Searcher, SearchOptions, document_of
from store.searchable import Searchable
from store.without import Without

SAMPLE = 30
"""Chunks that are asked about: error rates are then known to about an eighth."""
SECONDS = 20.0
"""A calibration that nobody asked for stops sampling after this time, which only a slow or overloaded machine needs."""

UNLABELLED_RANGE = (0.53, 0.57)
"""How far the corpus alone may move the threshold. Measured on five labelled sets: their own sentences would set it to
0.91 and more, while around 0.55 the gaps of four of them are found nearly as well as with the best threshold."""

_MUCH_CHANGED = 0.3
"""Share by which the number of chunks may change before the corpus is asked again."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What asking the corpus about itself needs; the parts of the engine that answers in chat."""

    index: Index
    corpus: Corpus
    options: SearchOptions
    clock: Callable[[], float] = time.monotonic


def unlabelled(asking: Asking, sample: int = SAMPLE, seconds: float = SECONDS) -> Calibration | None:
    """Calibrate on headings and sentences of the corpus, asked with and without their own document.

    Returns:
        None when no heading and no sentence says enough to be asked.
    """
    ids = asking.index.documents.chunk_ids()
    sizes = Counter(map(document_of, ids))
    covered: list[float] = []
    gaps: list[float] = []
    deadline = asking.clock() + seconds
    for question in corpus_questions(_spread(asking.index, ids, sample)):
        if asking.clock() > deadline and covered:
            break
        hidden = {question.document_id}
        covered.append(_support(asking, asking.index, question))
        gaps.append(_support(asking, Without(asking.index, hidden, sizes[question.document_id]), question))
    if not covered:
        return None
    return _moved(covered, gaps)


def _moved(covered: Sequence[float], gaps: Sequence[float]) -> Calibration:
    """The best threshold for these scores, as far as they may move the built-in one."""
    best = best_threshold(covered, gaps)
    apart = judge(covered, gaps, best, "unlabelled").tells_apart
    low, high = UNLABELLED_RANGE
    threshold = min(high, max(low, best)) if apart else DEFAULT_SUPPORT
    notes = [
        (
            f"Labelled by the documents themselves: {len(covered)} headings and sentences, asked with and without "
            "their own document. Other documents may answer some of those that count as gaps."
        )
    ]
    if not apart:
        notes.append("The documents repeat each other so much that this shows nothing: the built-in threshold stays.")
    elif threshold != best:
        notes.append(
            f"These alone would give {best:.2f}. They are worded like the documents, so they move the threshold "
            f"to between {low:.2f} and {high:.2f} only; a file with labelled questions moves it further."
        )
    return judge(covered, gaps, threshold, "unlabelled", notes)


def _support(asking: Asking, index: Searchable, question: CorpusQuestion) -> float:
    corpus = asking.corpus
    found = Searcher(index, asking.options).search(question.text, corpus.resolved(()), {}, corpus.route_weights)
    return support(support_evidence(question.text, found, corpus.background)).value


def _spread(index: Index, ids: Sequence[str], sample: int) -> list[StoredChunk]:
    """Chunks from all over the corpus, the same ones every time."""
    places = np.unique(np.linspace(0, len(ids) - 1, min(sample, len(ids))).astype(int))
    chosen = [ids[place] for place in places]
    known = index.documents.chunks_by_id(chosen)
    return [known[one] for one in chosen if one in known]


def asking_of(app: App) -> Asking:
    """The same search as in chat."""
    app.index.start()
    options = SearchOptions(app.settings.answer.passages, app.settings.answer.per_document)
    return Asking(app.index, app.engine_parts.corpus(), options)


def record_of(app: App, found: Calibration, now: datetime, *, applied: bool) -> CalibrationRecord:
    """A calibration as it is kept."""
    return CalibrationRecord(
        created_at=now,
        threshold=found.threshold,
        method=found.method,
        space=app.support_space,
        chunks=app.documents.counts().chunks,
        result=asdict(found),
        applied=applied,
    )


def keep_calibrated(app: App, now: datetime) -> CalibrationRecord | None:
    """Calibrate from the corpus where that is due: after the first ingestion, and when corpus or model changed much.

    Returns:
        What was measured and applied now; None when the settings name a threshold, labelled questions gave one,
        the present one still holds, or the corpus is too small (fewer than 40 chunks, or a single document).
    """
    if app.settings.gate.support is not None:
        return None
    chunks = app.documents.counts().chunks
    present = app.calibrations.in_force(app.support_space)
    if present and (present.method == "labelled" or abs(chunks - present.chunks) <= _MUCH_CHANGED * present.chunks):
        return None
    asking = asking_of(app)
    found = unlabelled(asking) if asking.corpus.background else None
    if found is None:
        return None
    record = record_of(app, found, now, applied=True)
    app.calibrations.add(record)
    return record
