"""Collects what a round's digest is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from discovery.closure import CLOSED, REOPENED, UNSETTLED
from discovery.digest import Digest, DigestInputs, DigestOptions, first_moment, make_digest
from discovery.rounds import Rounds
from store.audit import AuditLog
from store.candidates import CandidateStore
from store.errors import NotFoundError
from store.gap_activity import GapActivity
from store.gaps import GapStore
from store.records import CandidateState, Gap
from store.rounds import Round, RoundStore

_MOST_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class DigestParts:
    """What digests are made from."""

    rounds: RoundStore
    gaps: GapStore
    activity: GapActivity
    candidates: CandidateStore
    audit: AuditLog
    options: DigestOptions = field(default_factory=DigestOptions)


class Digests:
    """Digests of stored rounds; may be used by many threads."""

    def __init__(self, parts: DigestParts) -> None:
        self._parts = parts

    def latest(self) -> Digest | None:
        """The digest of the latest round, with the suggestions and gaps as they are now; None before the first."""
        made = self._parts.rounds.latest()
        return self.of(made) if made else None

    def preview(self, rounds: Rounds) -> Digest:
        """The digest that a round would give now, without looking for sources; nothing is kept."""
        return self.of(rounds.look())

    def of(self, made: Round) -> Digest:
        """The digest of a round."""
        parts = self._parts
        wanted = {gap_id for topic in made.topics for gap_id in topic.gap_ids}
        gaps = {gap.id: gap for gap in parts.gaps.list(UNSETTLED) if gap.id in wanted}
        inputs = DigestInputs(
            round=made,
            gaps=gaps,
            activity=parts.activity.of(sorted(gaps), self._since(made)),
            candidates=parts.candidates.listed((CandidateState.PENDING,)),
            closed=tuple(self._settled(made, CLOSED)),
            reopened=tuple(self._settled(made, REOPENED)),
        )
        return make_digest(inputs, parts.options)

    def _since(self, made: Round) -> datetime | None:
        """From where the question log is read: the chart's first week, or the window where it is longer."""
        first = first_moment(made.started_at, self._parts.options)
        return min(first, made.since) if made.since else None

    def _settled(self, made: Round, action: str) -> Iterator[Gap]:
        """Gaps that were settled so in the window and still are: closed and reopened ones are not counted as closed."""
        entries = self._parts.audit.entries(since=made.since, limit=_MOST_ENTRIES)
        last = {entry.subject: entry for entry in reversed(entries) if entry.action in {CLOSED, REOPENED}}
        for subject, entry in last.items():
            if entry.action == action and entry.at <= made.ended_at:
                try:
                    yield self._parts.gaps.get(subject)
                except NotFoundError:
                    continue
