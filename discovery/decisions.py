"""What admins decide on sources, carried out: ingested at the pinned revision, and proven by asking again.

Every step is written down before the next one begins. A source that was approved and not ingested, because the process
ended in between, is taken up again; ingesting the same revision twice changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from discovery.candidate_states import TRANSITIONS, Step, allowed
from discovery.closure import BY_ITSELF, Because, Closure
from discovery.licences import DEFAULT_ALLOWED, Standing, standing
from discovery.ports import Clock, Fetched, Finder, Outcome, Reasked, Via
from discovery.provenance import Target, document_of
from discovery.regression import Regression
from store.audit import AuditLog
from store.candidates import CandidateStore
from store.errors import ConflictError, GaplightError, LoadError, NotFoundError, UnavailableError, UsageError
from store.questions import QuestionStore
from store.records import AuditEntry, Candidate, GapState, Visibility
from store.records import CandidateState as State
from store.source_ingest import SourceIngestor

logger = logging.getLogger(__name__)

EXPIRE_DAYS = 30
"""Days after which nobody is asked about a source any more."""
LONGEST_SNOOZE = 365
_KIND = "ingest-candidate"
_SETTLED = (GapState.CLOSED, GapState.IGNORED)
_REGRESSIONS = 200
"""Closed gaps that are asked again while somebody waits for a decision; the schedule does the rest."""


@dataclass(frozen=True, slots=True)
class DecisionParts:
    """What decisions work with.

    Attributes:
        finders: by name; they fetch what they found.
        collections: all collections by name.
        claims: make sure that one process at a time carries a decision out.
        allowed: licences that may be ingested.
        expire_days: 0 for never.
    """

    candidates: CandidateStore
    audit: AuditLog
    claims: QuestionStore
    finders: Mapping[str, Finder]
    ingestor: Callable[[], SourceIngestor]
    closure: Callable[[], Closure]
    regression: Callable[[], Regression]
    collections: Callable[[], Mapping[str, Visibility]]
    now: Clock
    allowed: Collection[str] = DEFAULT_ALLOWED
    expire_days: int = EXPIRE_DAYS


class Decisions:
    """Keeps the promise of :class:`discovery.ports.Deciding`; may be used by many threads and processes."""

    def __init__(self, parts: DecisionParts) -> None:
        self._parts = parts

    def approve(
        self,
        candidate_id: str,
        by: str,
        *,
        unknown_licence: bool = False,
        collection: str = "",
        via: Via | None = None,
    ) -> Outcome:
        """Ingest a source at its pinned revision, ask the gaps again, close those that are answered.

        Args:
            candidate_id: the id, or the beginning of it.
            by: id of the person who decides; whoever calls has checked that they may.
            unknown_licence: says yes to a source whose licence is unknown.
            collection: where the source goes; empty keeps what was proposed.
            via: where and as what the person decides; for the audit log.

        Raises:
            ConflictError: somebody else was first, or the state does not allow it; says who and what.
            NotFoundError: there is no such candidate.
            UsageError: the licence is unknown or not allowed, or a private source would become public.
            UnavailableError: the source or the index cannot be reached; the candidate can be approved again.
        """
        candidate = self._parts.candidates.get(candidate_id)
        if allowed(Step.APPROVE, candidate.state):
            self._check_licence(candidate, unknown_licence=unknown_licence)
            self._check_visibility(candidate, collection or candidate.collection)
        target = {"collection": collection} if collection else {}
        before = self._support(candidate)
        approved = self._step(candidate, Step.APPROVE, by, note="", snoozed_until=None, **target)
        detail = {"revision": approved.source.revision, "collection": approved.collection, "before": before}
        self._record(by, Step.APPROVE, approved, {**detail, "unknown_licence": unknown_licence, **_told(via)})
        return self._carried_out(approved)

    def reject(self, candidate_id: str, by: str, reason: str, *, via: Via | None = None) -> Outcome:
        """Never suggest the source for this topic again; raises as :meth:`approve` does."""
        rejected = self._step(self._parts.candidates.get(candidate_id), Step.REJECT, by, note=reason)
        self._record(by, Step.REJECT, rejected, {"reason": reason, **_told(via)})
        return Outcome(rejected)

    def snooze(self, candidate_id: str, by: str, days: int, *, via: Via | None = None) -> Outcome:
        """Ask again after some days; raises as :meth:`approve` does, and UsageError for days that cannot be."""
        if not 1 <= days <= LONGEST_SNOOZE:
            raise UsageError(f"A source cannot be snoozed for {days} days.", f"Give 1 to {LONGEST_SNOOZE} days.")
        until = self._parts.now() + timedelta(days=days)
        snoozed = self._step(self._parts.candidates.get(candidate_id), Step.SNOOZE, by, snoozed_until=until)
        self._record(by, Step.SNOOZE, snoozed, {"days": days, **_told(via)})
        return Outcome(snoozed)

    # Care

    def resume(self) -> list[Outcome]:
        """Carry out what was approved and not finished. What cannot be reached now is left failed, with the reason."""
        outcomes = []
        for candidate in self._parts.candidates.listed((State.APPROVED,)):
            try:
                outcomes.append(self._carried_out(candidate))
            except (UnavailableError, ConflictError) as error:
                logger.warning("Candidate %s could not be finished: %s", candidate.id, error)
        return outcomes

    def tidy(self) -> list[Candidate]:
        """Wake what was snoozed long enough; let expire what waited too long, or whose gaps are all settled."""
        now = self._parts.now()
        moved = [
            self._moved(candidate, Step.WAKE, created_at=now, snoozed_until=None)
            for candidate in self._parts.candidates.listed((State.SNOOZED,))
            if candidate.snoozed_until and candidate.snoozed_until <= now
        ]
        moved += [
            self._moved(candidate, Step.EXPIRE, note=note)
            for candidate in self._parts.candidates.listed((State.PENDING,))
            if (note := self._stale(candidate))
        ]
        return [candidate for candidate in moved if candidate]

    def _moved(self, candidate: Candidate, step: Step, **changes: object) -> Candidate | None:
        """None when somebody decided at the same moment."""
        try:
            moved = self._parts.candidates.change(
                candidate, TRANSITIONS[step].allowed, state=TRANSITIONS[step].to, **changes
            )
        except (ConflictError, NotFoundError):
            return None
        self._record(BY_ITSELF, step, moved, {})
        return moved

    def _stale(self, candidate: Candidate) -> str:
        """Why nobody need be asked about a source any more; empty when somebody should."""
        days = self._parts.expire_days
        if days and candidate.created_at + timedelta(days=days) <= self._parts.now():
            return f"Nobody decided within {days} days."
        if not candidate.gap_ids:
            return ""
        gaps = self._parts.closure().existing(candidate.gap_ids)
        return "Its gaps are settled." if all(gap.state in _SETTLED for gap in gaps) else ""

    # Steps

    def _support(self, candidate: Candidate) -> dict[str, float]:
        """Of its gaps as it is now; not worth asking when the decision is not open any more."""
        if not allowed(Step.APPROVE, candidate.state):
            return {}
        closure = self._parts.closure()
        return closure.support_now([gap.id for gap in closure.existing(candidate.gap_ids)])

    def _step(self, candidate: Candidate, step: Step, by: str, **changes: object) -> Candidate:
        decided = {"decided_by": by, "decided_at": self._parts.now(), **changes}
        return self._parts.candidates.change(
            candidate, TRANSITIONS[step].allowed, state=TRANSITIONS[step].to, **decided
        )

    def _check_licence(self, candidate: Candidate, *, unknown_licence: bool) -> None:
        licence = candidate.source.licence
        match standing(licence, self._parts.allowed):
            case Standing.REFUSED:
                raise UsageError(
                    f"The licence of {candidate.source.location} is {licence}, which is not allowed.",
                    "Add it to discovery.licences if it may be used, or reject the source.",
                )
            case Standing.UNKNOWN if not unknown_licence:
                raise UsageError(
                    f"The licence of {candidate.source.location} is unknown.",
                    "Approve it with --unknown-licence (in chat: approve ID unknown-licence) if you know that it may "
                    "be used.",
                )

    def _check_visibility(self, candidate: Candidate, collection: str) -> None:
        present = self._parts.collections().get(collection, candidate.visibility)
        if candidate.visibility is Visibility.PRIVATE and present is Visibility.PUBLIC:
            raise UsageError(
                f"{candidate.source.title!r} is private, and everybody may read the collection {collection!r}.",
                "Approve it with --collection and a private collection.",
            )

    def _carried_out(self, candidate: Candidate) -> Outcome:
        key = f"{candidate.id}:{candidate.version}"
        if not self._parts.claims.claim(_KIND, key, now=self._parts.now()):
            return Outcome(candidate)  # somebody else is at it
        try:
            outcome = self._ingested(candidate)
        except BaseException:
            self._parts.claims.release(_KIND, key)
            raise
        self._parts.claims.finish(_KIND, key, now=self._parts.now())
        return outcome

    def _ingested(self, candidate: Candidate) -> Outcome:
        try:
            fetched = self._fetched(candidate)
            decision = {"approved_by": candidate.decided_by, "candidate": candidate.id}
            target = Target(candidate.collection, candidate.visibility)
            added = self._parts.ingestor().add(document_of(candidate.source, fetched, target, **decision))
            reasked = self._verified(candidate)
        except (NotFoundError, LoadError) as error:
            return Outcome(self._failed(candidate, error))
        except GaplightError as error:
            self._failed(candidate, error)
            raise
        note = _summary(reasked, self._lost(candidate, reasked))
        done = self._parts.candidates.change(
            candidate, TRANSITIONS[Step.INGEST].allowed, state=TRANSITIONS[Step.INGEST].to, note=note
        )
        self._record(candidate.decided_by, Step.INGEST, done, {"document": added.document_id, "chunks": added.chunks})
        return Outcome(done, tuple(reasked))

    def _fetched(self, candidate: Candidate) -> Fetched:
        if candidate.source.content:
            return Fetched("reply.md", candidate.source.content.encode())
        finder = self._parts.finders.get(candidate.source.finder)
        if finder is None:
            raise NotFoundError(
                f"Nothing fetches sources of the kind {candidate.source.finder!r}.", "See discovery.finders."
            )
        return finder.fetch(candidate.source)

    def _verified(self, candidate: Candidate) -> list[Reasked]:
        because = Because(candidate.decided_by, candidate.id, self._before(candidate), decided=True)
        closure = self._parts.closure()
        return closure.verify([gap.id for gap in closure.existing(candidate.gap_ids)], because)

    def _before(self, candidate: Candidate) -> Mapping[str, float]:
        """Support as it was when the source was approved, also for whoever goes on after a crash."""
        for entry in self._parts.audit.entries(candidate.id):
            if entry.action == _action(Step.APPROVE) and isinstance(entry.detail.get("before"), Mapping):
                return {str(gap): float(value) for gap, value in dict(entry.detail["before"]).items()}  # type: ignore[call-overload]
        return {}

    def _lost(self, candidate: Candidate, reasked: Sequence[Reasked]) -> int:
        """How many other closed gaps are open again, now that this document is there too."""
        mine = {one.gap_id for one in reasked}
        because = Because(candidate.decided_by, candidate.id)
        return len(self._parts.regression().check(because, _REGRESSIONS, skip=mine).reopened)

    def _failed(self, candidate: Candidate, error: GaplightError) -> Candidate:
        step = TRANSITIONS[Step.FAIL]
        failed = self._parts.candidates.change(candidate, step.allowed, state=step.to, note=str(error))
        self._record(candidate.decided_by, Step.FAIL, failed, {"reason": error.problem})
        return failed

    def _record(self, by: str, step: Step, candidate: Candidate, detail: Mapping[str, object]) -> None:
        told = {"source": candidate.source.key, "topic": candidate.topic_id, **detail}
        self._parts.audit.record(AuditEntry(self._parts.now(), by, _action(step), candidate.id, told))


def _told(via: Via | None) -> Mapping[str, object]:
    return {"place": via.place, "role": via.role} if via else {}


def _action(step: Step) -> str:
    return f"candidate.{step.value}"


def _summary(reasked: Sequence[Reasked], lost: int) -> str:
    closed = sum(one.closed for one in reasked)
    told = f"{closed} of {len(reasked)} gaps are closed." if reasked else "No gap was waiting for it."
    return told + (f" {lost} gaps that were closed are open again." if lost else "")
