"""Closed gaps are a regression set: asked again after every change, opened again when they are no longer answered."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from discovery.closure import CLOSED, REOPENED, Because, Closure
from discovery.ports import Reasked
from store.audit import AuditLog
from store.documents import DocumentStore
from store.errors import NotFoundError
from store.records import GapState

_STATE = "regression"


@dataclass(frozen=True, slots=True)
class RegressionResult:
    """What a check of the closed gaps showed.

    Attributes:
        kept: how many are still answered.
        reopened: those that are not any more.
        unknown: gaps that could not be asked; they stay closed.
        complete: False when the check was cut short.
    """

    kept: int
    reopened: tuple[Reasked, ...]
    unknown: tuple[str, ...]
    complete: bool = True


class Regression:
    """Checks the gaps that were closed with proof; those that a maintainer closed by hand are left alone.

    Args:
        closure: asks and settles.
        audit: knows what was closed with proof.
        documents: whose revision says whether anything has changed.
        policy: gives the version of everything else that answers depend on.
    """

    def __init__(self, closure: Closure, audit: AuditLog, documents: DocumentStore, policy: Callable[[], str]) -> None:
        self._closure = closure
        self._audit = audit
        self._documents = documents
        self._policy = policy

    def members(self) -> list[str]:
        """Ids of the gaps that are closed with proof, those closed last first."""
        last = self._audit.latest((CLOSED, REOPENED))
        proven = [entry for entry in last.values() if entry.action == CLOSED]
        return [entry.subject for entry in sorted(proven, key=lambda entry: entry.at, reverse=True)]

    def check(
        self, because: Because | None = None, most: int | None = None, skip: Collection[str] = ()
    ) -> RegressionResult:
        """Ask the closed gaps again; reopen those that are no longer answered.

        A search that does not work is no reason to reopen anything.

        Args:
            because: who and what brought it about.
            most: at most so many gaps, those closed last first.
            skip: ids of gaps that have just been asked.
        """
        members = [gap_id for gap_id in self.members() if gap_id not in skip]
        kept, reopened, unknown = 0, [], []
        for gap_id in members[:most]:
            try:
                gap = self._closure.find([gap_id])[0]
            except NotFoundError:
                continue
            if gap.state is not GapState.CLOSED:
                continue
            checked = self._closure.check(gap)
            if checked.failed:
                unknown.append(gap.id)
            elif checked.answered:
                kept += 1
            else:
                reopened.append(self._closure.settle(checked, because or Because()))
        complete = most is None or len(members) <= most
        return RegressionResult(kept, tuple(reopened), tuple(unknown), complete)

    def check_if_changed(self) -> RegressionResult | None:
        """The same, if documents or policy have changed since the last complete check; None when nothing has."""
        now = [self._documents.revision(), self._policy()]
        if self._documents.index_state(_STATE) == now:
            return None
        result = self.check()
        if not result.unknown:
            self._documents.set_index_state(_STATE, now)
        return result
