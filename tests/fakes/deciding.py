"""Decisions that are only written down: for testing who may make them, and what is shown of them."""

from __future__ import annotations

from discovery.ports import Outcome, Reasked
from store.candidates import CandidateStore
from store.records import CandidateState


class Decider:
    """Carries decisions out on the stored candidate, and closes one of two gaps."""

    def __init__(self, here):
        self.candidates = CandidateStore(here.database)

    def approve(self, candidate_id, by, *, unknown_licence=False, via=None):
        done = self._changed(candidate_id, by, CandidateState.INGESTED)
        return Outcome(done, (Reasked("g1", "Where?", True, 0.2, 0.8), Reasked("g2", "When?", False, 0.2, 0.3)))

    def reject(self, candidate_id, by, reason, *, via=None):
        return Outcome(self._changed(candidate_id, by, CandidateState.REJECTED, note=reason))

    def snooze(self, candidate_id, by, days, *, via=None):
        return Outcome(self._changed(candidate_id, by, CandidateState.SNOOZED))

    def _changed(self, candidate_id, by, state, **more):
        pending = self.candidates.get(candidate_id)
        return self.candidates.change(pending, [CandidateState.PENDING], state=state, decided_by=by, **more)
