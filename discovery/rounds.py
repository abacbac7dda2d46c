"""The round: all open gaps become topics, sources are looked for, and the whole is kept. Made weekly, or by hand.

A round that is killed leaves nothing but suggestions, which the next one finds again. What is news is measured against
the last round that people were told of: its window begins where that one's ended, whatever the clocks did in between.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from discovery.closure import UNSETTLED
from discovery.clustering import SAME_TOPIC
from discovery.platforms import PlatformNames
from discovery.ports import Clock
from discovery.suggesting import Suggested
from discovery.topic_building import TopicInputs, build_topics
from discovery.topic_identity import Known
from store.embedding import Embedder
from store.errors import GaplightError
from store.gap_activity import GapActivity
from store.gaps import GapStore
from store.records import Gap, Topic
from store.rounds import KnownTopic, Round, RoundStore

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Told what is done, how many topics are through, and how many there are."""
_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class RoundParts:
    """What a round works with.

    Attributes:
        platforms: the platform names known now.
        suggest: looks for sources for a topic; None where no finder is set up.
        embedder: embeds gaps that have no vector of the present model; None leaves them to their words.
        searched: sources are looked for for so many topics, those that matter most first.
        same_topic: see :func:`discovery.clustering.cluster`.
    """

    gaps: GapStore
    activity: GapActivity
    rounds: RoundStore
    platforms: Callable[[], PlatformNames]
    now: Clock
    suggest: Callable[[Topic], Suggested] | None = None
    embedder: Callable[[], Embedder] | None = None
    searched: int = 20
    same_topic: float = SAME_TOPIC


class Rounds:
    """Makes rounds; two at once do no harm, but do everything twice."""

    def __init__(self, parts: RoundParts) -> None:
        self._parts = parts

    def look(self) -> Round:
        """The round that would be made now, without looking for sources; nothing is kept, and its number is 0."""
        return self._begun()

    def run(self, progress: Progress | None = None) -> Round:
        """Make a round and keep it. What does not work is left out and noted.

        Raises:
            UnavailableError: the database does not answer.
        """
        begun = self._begun()
        notes = list(begun.notes)
        candidates = self._suggested(begun.topics, notes, progress)
        finished = replace(
            begun,
            ended_at=self._parts.now(),
            candidates=tuple(dict.fromkeys(candidates)),
            notes=tuple(dict.fromkeys(notes)),
        )
        return self._parts.rounds.save(finished)

    def _begun(self) -> Round:
        before = self._parts.rounds.reported()
        started = self._parts.now()
        notes: list[str] = []
        topics = self._topics(started, before, notes)
        return Round(started, started, tuple(topics), before.started_at if before else None, notes=tuple(notes))

    def _topics(self, now: datetime, before: Round | None, notes: list[str]) -> list[Topic]:
        parts = self._parts
        gaps = self._with_vectors(parts.gaps.list(UNSETTLED), notes)
        told = {topic.id: topic for topic in before.topics} if before else {}
        inputs = TopicInputs(
            gaps=gaps,
            activity=parts.activity.of([gap.id for gap in gaps], now),
            known=[_known(one, told.get(one.topic.id), before) for one in parts.rounds.known_topics()],
            platforms=parts.platforms(),
            now=now,
        )
        return build_topics(inputs, parts.same_topic)

    def _with_vectors(self, gaps: Sequence[Gap], notes: list[str]) -> Sequence[Gap]:
        """Gaps whose vectors can be compared, as far as the model is there."""
        if self._parts.embedder is None or not gaps:
            return gaps
        try:
            embedder = self._parts.embedder()
            size = embedder.identity.dimension * _FLOAT_BYTES
            bare = [gap for gap in gaps if len(gap.vector) != size]
            if not bare:
                return gaps
            rows = embedder.embed_queries([gap.question for gap in bare])
        except GaplightError as error:
            logger.warning("Gaps are compared by the vectors they have: %s", error)
            notes.append(f"Gaps without a vector of the present model were compared by their words: {error.problem}")
            return gaps
        made = {gap.id: row.astype("<f4").tobytes() for gap, row in zip(bare, rows, strict=True)}
        return [replace(gap, vector=made.get(gap.id, gap.vector)) for gap in gaps]

    def _suggested(self, topics: Sequence[Topic], notes: list[str], progress: Progress | None) -> list[str]:
        """Ids of the sources that were suggested for the topics that matter most and may be told about."""
        suggest = self._parts.suggest
        if suggest is None:
            return []
        chosen = [topic for topic in topics if topic.question][: self._parts.searched]
        found: list[str] = []
        for number, topic in enumerate(chosen):
            if progress:
                progress(topic.label, number, len(chosen))
            found += self._of_topic(suggest, topic, notes)
        return found

    @staticmethod
    def _of_topic(suggest: Callable[[Topic], Suggested], topic: Topic, notes: list[str]) -> list[str]:
        try:
            suggested = suggest(topic)
        except GaplightError as error:
            logger.warning("No sources for topic %s: %s", topic.id, error)
            notes.append(f"No sources were looked for for “{topic.label}”: {error}")
            return []
        except Exception:
            # One topic, finder or document that breaks in a way nobody thought of must not cost the others theirs.
            logger.exception("Looking for sources for topic %s failed in an unforeseen way", topic.id)
            notes.append(f"Looking for sources for “{topic.label}” failed; the log has the details.")
            return []
        notes += suggested.notes
        if suggested.retry_at:
            notes.append(f"Some searches have to wait until {suggested.retry_at:%Y-%m-%d %H:%M} UTC.")
        return [candidate.id for candidate in suggested.candidates]


def _known(seen: KnownTopic, told: Topic | None, before: Round | None) -> Known:
    """A topic by the gaps it was last seen with, and what people were told of it last."""
    topic = seen.topic
    unheard = told is None and (before is None or seen.first > before.number)
    return Known(topic.id, frozenset(topic.gap_ids), told.count if told else 0, told is not None, unheard)
