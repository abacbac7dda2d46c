"""Measures a corpus' background from a sample of its chunks, and keeps the figures in the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from store.background import NEIGHBOURS, SMALLEST_CORPUS, Background
from store.chunking import telling_title
from store.documents import DocumentStore
from store.errors import UnavailableError
from store.index import Index
from store.language import detect_language
from store.records import StoredChunk
from store.text import stems

SAMPLE = 200
"""Chunks compared with the rest: the means are then known to about 0.01."""

_LOOK_AT = 30
"""Nearest chunks asked for, so that enough are left when those of the same document are taken out."""

_MUCH_CHANGED = 0.1
"""Share by which the number of chunks may change before the background is measured anew."""

_SOME = 0.05
_STATE = "background"


def measure_background(index: Index) -> Background | None:
    """The background of everything that is indexed.

    Kept figures are used as long as the number of chunks has not changed by a tenth and the model is the same.

    Returns:
        None for a small corpus, one of a single document, or while the vector store does not answer.
    """
    chunks = index.documents.counts().chunks
    if chunks < SMALLEST_CORPUS:
        return None
    kept = index.documents.index_state(_STATE)
    model = index.embedder.identity.fingerprint
    if isinstance(kept, Mapping) and kept.get("model") == model:
        background = Background(**kept["figures"])
        if abs(background.chunks - chunks) <= _MUCH_CHANGED * chunks:
            return background
    try:
        measured = _measured(index, chunks)
    except UnavailableError:
        return None  # the question itself is then answered by words, and its reply says why
    if measured:
        index.documents.set_index_state(_STATE, {"model": model, "figures": asdict(measured)})
    return measured


def sampled_languages(documents: DocumentStore) -> frozenset[str]:
    """ISO 639-1 codes of the languages in which at least a twentieth of the sampled chunks are written."""
    ids = documents.chunk_ids()
    places = np.unique(np.linspace(0, len(ids) - 1, min(SAMPLE, len(ids))).astype(int)) if ids else ()
    sample = documents.chunks_by_id([ids[place] for place in places]).values()
    counts = Counter(detect_language(chunk.text) for chunk in sample)
    return frozenset(language for language, count in counts.items() if count >= _SOME * len(sample))


def _measured(index: Index, chunks: int) -> Background | None:
    ids = index.documents.chunk_ids()
    places = np.unique(np.linspace(0, len(ids) - 1, min(SAMPLE, len(ids))).astype(int))
    sample = list(index.documents.chunks_by_id([ids[place] for place in places]).values())
    nearest = [mean for chunk in sample if (mean := _neighbours(index, chunk)) is not None]
    if not nearest:
        return None
    return Background(
        chunks=chunks,
        mean_terms=float(
            np.mean([len(stems(f"{telling_title(chunk.title)}\n{chunk.section}\n{chunk.text}")) for chunk in sample])
        ),
        neighbour_similarity=float(np.mean(nearest)),
        chance_similarity=_chance(sample),
    )


def _neighbours(index: Index, chunk: StoredChunk) -> float | None:
    """Mean similarity of a chunk to its nearest chunks of other documents; None when it has too few."""
    hits = index.vectors.query(chunk.collection, _vector(chunk), _LOOK_AT, {})
    others = [hit.score for hit in hits if not hit.chunk_id.startswith(f"{chunk.document_id}:")][:NEIGHBOURS]
    return float(np.mean(others)) if len(others) == NEIGHBOURS else None


def _chance(sample: Sequence[StoredChunk]) -> float:
    """Mean similarity of two chunks of different documents."""
    matrix = np.stack([_vector(chunk) for chunk in sample])
    codes = np.unique([chunk.document_id for chunk in sample], return_inverse=True)[1]
    different = codes[:, None] != codes[None, :]
    return float((matrix @ matrix.T)[different].mean()) if different.any() else 0.0


def _vector(chunk: StoredChunk) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.frombuffer(chunk.vector, dtype="<f4")
