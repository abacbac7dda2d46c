"""From a topic to suggestions that wait for a decision: found, tried out, ranked and stored."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, zip_longest

from discovery.ports import Clock, Finder, Found, Previewer, Tried
from discovery.provenance import Target
from discovery.ranking import worth_suggesting
from store.candidates import CandidateStore, candidate_id
from store.errors import GaplightError, NotFoundError
from store.gaps import GapStore
from store.records import Candidate, GapState, Source, Topic, Visibility

logger = logging.getLogger(__name__)

_OPEN = (GapState.OPEN, GapState.STILL_OPEN, GapState.REOPENED)


@dataclass(frozen=True, slots=True)
class Suggested:
    """What a topic's search came to.

    Attributes:
        candidates: stored and waiting, best first.
        notes: what was left out or did not work, in words.
        retry_at: when a spent budget allows the rest; None when nothing is missing.
        failed: finders that did not work at all.
    """

    topic: Topic
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()
    retry_at: datetime | None = None
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuggestingParts:
    """What suggesting works with.

    Attributes:
        finders: by name.
        found: sources asked of each finder.
        kept: suggestions stored for a topic.
    """

    finders: Mapping[str, Finder]
    previews: Previewer
    candidates: CandidateStore
    gaps: GapStore
    target: Target
    now: Clock
    found: int = 12
    kept: int = 3


class Suggesting:
    """Suggests sources for topics; one topic at a time."""

    def __init__(self, parts: SuggestingParts) -> None:
        self._parts = parts

    def suggest(self, topic: Topic) -> Suggested:
        """Find, try out and store sources for a topic. A finder that does not work leaves the others their turn."""
        founds: list[Found] = []
        failed: dict[str, str] = {}
        for name, finder in self._parts.finders.items():
            try:
                founds.append(finder.find(topic, self._parts.found))
            except GaplightError as error:
                logger.warning("The finder %s did not work: %s", name, error)
                failed[name] = str(error)
        texts = self.questions(topic)
        tried = self._parts.previews.preview(topic, list(texts), _in_turn(founds), private_ones(texts))
        worth = [one for one in tried if worth_suggesting(one.preview)][: self._parts.kept]
        stored = tuple(self._stored(topic, one) for one in worth)
        if stored:
            for gap_id in topic.gap_ids:
                self._parts.gaps.transition(gap_id, _OPEN, GapState.SUGGESTED)
        moments = [found.retry_at for found in founds if found.retry_at]
        return Suggested(
            topic=topic,
            candidates=stored,
            notes=(*(note for found in founds for note in found.notes), *failed.values()),
            retry_at=max(moments, default=None),
            failed=tuple(failed),
        )

    def questions(self, topic: Topic) -> dict[str, Visibility]:
        """All wordings of a topic's gaps, its most central question first. They are asked, never shown."""
        texts = {topic.question: Visibility.PUBLIC} if topic.question else {}
        for gap_id in topic.gap_ids:
            try:
                gap = self._parts.gaps.get(gap_id)
            except NotFoundError:
                continue
            texts.setdefault(gap.question, gap.visibility)
            for wording in gap.additional_questions:
                texts.setdefault(wording.text, wording.visibility)
        return texts

    def _stored(self, topic: Topic, tried: Tried) -> Candidate:
        return self._parts.candidates.suggest(
            Candidate(
                id=candidate_id(topic.id, tried.source.key),
                topic_id=topic.id,
                topic_label=topic.label,
                source=tried.source,
                created_at=self._parts.now(),
                gap_ids=topic.gap_ids,
                score=tried.score,
                preview=tried.preview,
                collection=self._parts.target.collection,
                visibility=self._parts.target.visibility,
            )
        )


def private_ones(questions: Mapping[str, Visibility]) -> frozenset[str]:
    """Those that not everybody may see."""
    return frozenset(text for text, visibility in questions.items() if visibility is not Visibility.PUBLIC)


def _in_turn(founds: Sequence[Found]) -> list[Source]:
    """The sources of all finders, the first of each, then the second of each."""
    mixed = chain.from_iterable(zip_longest(*(found.sources for found in founds)))
    return [source for source in mixed if source is not None]
