"""Gaps and vectors for tests: directions stand for subjects, with a little noise for each question."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from store.gaps import gap_id_of
from store.records import Gap, GapState, GapType, GapWording, Nearest, Visibility

NOW = datetime(2026, 6, 19, 12, tzinfo=UTC)
DIMENSION = 64


def direction(subject):
    """A unit vector for a subject; those of different subjects are nearly orthogonal."""
    seed = int.from_bytes(subject.encode()[:8].ljust(8, b"\0"), "little")
    vector = np.random.default_rng(seed).normal(size=DIMENSION)
    return vector / np.linalg.norm(vector)


def about(subject, number=0, noise=0.5):
    """The vector of one question on a subject."""
    jitter = np.random.default_rng(number).normal(size=DIMENSION)
    vector = direction(subject) + noise * jitter / np.linalg.norm(jitter)
    return (vector / np.linalg.norm(vector)).astype("<f4")


def gap(question, subject="", number=0, **values):
    """An open gap, seen today by one person; ``subject`` gives it a vector."""
    defaults = {
        "id": gap_id_of(question),
        "key": question,
        "type": GapType.NO_COVERAGE,
        "state": GapState.OPEN,
        "reasons": {"no_relevant_chunks": 1},
        "count": 1,
        "askers": 1,
        "first_seen": NOW - timedelta(days=1),
        "last_seen": NOW,
        "best_score": 0.2,
        "nearest": Nearest("guide.md", "Setup", f"Near to: {question}", 0.2),
        "visibility": Visibility.PUBLIC,
        "language": "en",
        "vector": about(subject, number).tobytes() if subject else b"",
    }
    return Gap(question=question, **defaults | values)


def wording(text, visibility=Visibility.PUBLIC, **values):
    """Another wording of a gap."""
    return GapWording(text, 1, 1, NOW, NOW, visibility, **values)
