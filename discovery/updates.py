"""New versions of documents that were ingested from elsewhere, offered like any other source."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from discovery.candidate_states import TRANSITIONS, Step
from discovery.ports import Clock, Finder
from store.candidates import CandidateStore, candidate_id
from store.errors import ConflictError, GaplightError
from store.records import Candidate, Source
from store.records import CandidateState as State

logger = logging.getLogger(__name__)

_PREFIX = "update:"


@runtime_checkable
class Following(Protocol):
    """A finder that can say how a source is doing."""

    def current(self, source: Source) -> Source | None:
        """The source as it is now, which may be at another revision; None when it is gone.

        Raises:
            GaplightError: it cannot be found out now.
        """


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """New suggestions, and what was noticed on the way, in words."""

    offered: tuple[Candidate, ...]
    notes: tuple[str, ...]


class Updates:
    """Looks after what was ingested; may be used by one process at a time.

    Args:
        finders: by name; those that cannot follow a source are left out.
    """

    def __init__(self, candidates: CandidateStore, finders: Mapping[str, Finder], now: Clock) -> None:
        self._candidates = candidates
        self._finders = finders
        self._now = now

    def check(self) -> UpdateResult:
        """Offer a candidate for each ingested source that has another revision now. Ingests nothing by itself."""
        offered: list[Candidate] = []
        notes: list[str] = []
        for candidate in self._latest():
            finder: object = self._finders.get(candidate.source.finder)
            if not isinstance(finder, Following):
                continue
            try:
                current = finder.current(candidate.source)
            except GaplightError as error:
                notes.append(f"{candidate.source.location}: {error.problem}")
                continue
            if current is None:
                notes.append(f"{candidate.source.location} is gone; what was ingested of it still answers.")
            elif current.revision != candidate.source.revision and (update := self._offered(candidate, current)):
                offered.append(update)
        return UpdateResult(tuple(offered), tuple(notes))

    def _latest(self) -> list[Candidate]:
        """The last approved revision of every source."""
        latest: dict[str, Candidate] = {}
        for candidate in self._candidates.listed((State.INGESTED,)):
            known = latest.get(candidate.source.key)
            if known is None or _decided(candidate) > _decided(known):
                latest[candidate.source.key] = candidate
        return list(latest.values())

    def _offered(self, former: Candidate, current: Source) -> Candidate | None:
        topic = f"{_PREFIX}{current.revision}"
        identity = candidate_id(topic, current.key)
        known = {one.id: one for one in self._candidates.of_source(current.key)}
        if identity in known:
            return None
        for other in known.values():
            if other.topic_id.startswith(_PREFIX) and other.state is State.PENDING:
                self._superseded(other)
        label = former.topic_label.removeprefix("New version for: ")
        return self._candidates.suggest(
            Candidate(
                id=identity,
                topic_id=topic,
                topic_label=f"New version for: {label}",
                source=replace(current, reasons=("It has changed since it was ingested.", *current.reasons)),
                created_at=self._now(),
                gap_ids=former.gap_ids,
                score=former.score,
                collection=former.collection,
                visibility=former.visibility,
            )
        )

    def _superseded(self, candidate: Candidate) -> None:
        step = TRANSITIONS[Step.EXPIRE]
        try:
            self._candidates.change(candidate, step.allowed, state=step.to, note="There is a newer version.")
        except ConflictError:
            logger.info("Candidate %s was decided on meanwhile", candidate.id)


def _decided(candidate: Candidate) -> tuple[bool, float]:
    return candidate.decided_at is not None, candidate.decided_at.timestamp() if candidate.decided_at else 0.0
