"""From a question that exposed a gap to its record: topic key, type, merging with what means the same."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from discovery.detector import gap_type
from discovery.gap_sketches import GapSketches
from discovery.platforms import PlatformNames
from discovery.topics import near_duplicate, topic_id, topic_key
from store.gaps import REPEAT_SECONDS, GapStore
from store.records import OPEN_GAPS, GapReference, GapSighting, Nearest, Passage, Rule, Visibility
from store.vectors import Vector

MERGE_SIMILARITY = 0.9
"""Cosine from which two wordings count as the same question, if platforms, numbers and negation agree as well."""

_QUOTE = 240
_CLOSEST = 3
_REFRESH_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Exposure:
    """A question that the documents did not answer, with all that was seen of it. Its text is already redacted."""

    question: str
    asker: str
    platform: str
    channel: str
    visibility: Visibility
    language: str
    passages: Sequence[Passage]
    reasons: tuple[Rule, ...]
    vector: Vector
    seen_at: datetime
    question_id: str = ""
    """The recorded question to link to the gap, where it was recorded before the gap."""


class GapLog:
    """Records gaps; may be used by many threads.

    Args:
        gaps: where gaps are kept.
        platforms: the platform names known now.
        merge_similarity: cosine from which wordings may merge, see :data:`MERGE_SIMILARITY`.
        repeat_seconds: the same wording by the same asker within this time counts once.
        clock: seconds that only ever grow.
    """

    def __init__(
        self,
        gaps: GapStore,
        platforms: Callable[[], PlatformNames],
        merge_similarity: float = MERGE_SIMILARITY,
        repeat_seconds: float = REPEAT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._gaps = gaps
        self._platforms = platforms
        self._merge_similarity = merge_similarity
        self._repeat_seconds = repeat_seconds
        self._clock = clock
        self._turn = threading.Lock()
        self._sketches = GapSketches()
        self._read_at = -_REFRESH_SECONDS

    def record(self, exposure: Exposure) -> GapReference:
        """Open a gap, or count the question towards the gap that it belongs to."""
        key = topic_key(exposure.question, self._platforms())
        with self._turn:  # two wordings of one new gap at the same moment must find each other
            target, because = self._same_meaning(key, exposure)
            gap = self._gaps.record(
                _sighting(key, exposure),
                merge_into=target,
                merged_because=because,
                repeat_seconds=self._repeat_seconds,
            )
            if gap.id not in self._sketches:
                self._sketches.add(gap.id, exposure.vector)
        opened = gap.first_seen == exposure.seen_at
        return GapReference(gap.id, gap_type(exposure.reasons), exposure.reasons, opened)

    def _same_meaning(self, key: str, exposure: Exposure) -> tuple[str | None, str]:
        """The gap that another wording of this question has opened, and why they are the same."""
        self._refresh()
        if topic_id(key) in self._sketches:
            return None, ""
        for gap_id, similarity in self._nearest(exposure.vector):
            other = self._gaps.get(gap_id)
            likeness = near_duplicate(
                exposure.question, other.question, similarity, self._merge_similarity, self._platforms()
            )
            if likeness.same:
                return other.id, likeness.reason
        return None, ""

    def _nearest(self, vector: Vector) -> list[tuple[str, float]]:
        """The open gaps that are similar enough to merge with, the most similar first, with their cosine."""
        near = self._gaps.vectors(self._sketches.near(vector, self._merge_similarity), OPEN_GAPS)
        similarities = {gap_id: float(np.frombuffer(raw, dtype="<f4") @ vector) for gap_id, raw in near}
        enough = [one for one in similarities.items() if one[1] >= self._merge_similarity]
        return sorted(enough, key=lambda one: (-one[1], one[0]))[:_CLOSEST]

    def _refresh(self) -> None:
        """Read the gaps of other processes now and then; a read for every refusal would grow with the log."""
        if self._clock() - self._read_at < _REFRESH_SECONDS:
            return
        if sum(self._gaps.counts().values()) != len(self._sketches):
            gap_ids = self._gaps.ids()
            self._sketches.keep(gap_ids)
            for gap_id, raw in self._gaps.vectors(self._sketches.missing(gap_ids)):
                self._sketches.add(gap_id, np.frombuffer(raw, dtype="<f4"))
        self._read_at = self._clock()


def _sighting(key: str, exposure: Exposure) -> GapSighting:
    best = max((passage.score for passage in exposure.passages), default=0.0)
    return GapSighting(
        key=key,
        question=exposure.question,
        type=gap_type(exposure.reasons),
        reasons=exposure.reasons,
        seen_at=exposure.seen_at,
        asker=exposure.asker,
        platform=exposure.platform,
        channel=exposure.channel,
        visibility=exposure.visibility,
        language=exposure.language,
        best_score=best,
        nearest=_nearest(exposure),
        vector=exposure.vector.astype("<f4").tobytes(),
        question_id=exposure.question_id,
    )


def _nearest(exposure: Exposure) -> Nearest | None:
    """The best passage; for a question that everybody may see, the best that everybody may read."""
    everybody = exposure.visibility is Visibility.PUBLIC
    shown = [one for one in exposure.passages if not everybody or one.visibility is Visibility.PUBLIC]
    best = max(shown, key=lambda passage: passage.score, default=None)
    if best is None:
        return None
    return Nearest(best.document, best.section, _quote(best.text), best.score, best.collection)


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTE else line[: _QUOTE - 1].rsplit(" ", 1)[0] + "…"
