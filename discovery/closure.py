"""Asks every question of a gap again, and closes it only when the documents answer all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from discovery.ports import Asker, Clock, Reasked
from discovery.preview import is_answered
from discovery.provenance import reachable
from discovery.verdict import DEFAULT_VERDICT, GapVerdict, opens_gap
from store.audit import AuditLog
from store.errors import NotFoundError, UnavailableError
from store.gaps import GapStore
from store.questions import QuestionRecord, QuestionStore
from store.records import AuditEntry, Gap, GapState, Question, Reply, Status, Visibility

CLOSED, STILL_OPEN, REOPENED = "gap.closed", "gap.still_open", "gap.reopened"
"""Actions in the audit log. Only what was closed with proof is in the regression set."""

BY_ITSELF = "gaplight"
"""Who did it where nobody decided."""

UNSETTLED = (
    GapState.OPEN,
    GapState.SUGGESTED,
    GapState.APPROVED,
    GapState.VERIFYING,
    GapState.STILL_OPEN,
    GapState.REOPENED,
)
"""States of gaps that nobody has closed or ignored."""

_SHOWN_DOCUMENTS = 3


@dataclass(frozen=True, slots=True)
class Checked:
    """A gap with the replies to all of its wordings, in their order.

    Attributes:
        answered: every wording is answered by documents.
        failed: a part of the search did not work, so that nothing can be said.
        support: of the wording with the least, in [0, 1].
        documents: cited and readable by everybody, each once; the names of others say too much.
    """

    gap: Gap
    replies: tuple[Reply, ...]
    answered: bool
    failed: bool
    support: float
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClosureParts:
    """What closure works with.

    Attributes:
        asker: the engine as in chat, its gate enforced, without a trace in the logs.
        collections: all collections by name.
        verdict: what counts as a gap even where something was answered.
    """

    gaps: GapStore
    questions: QuestionStore
    audit: AuditLog
    asker: Callable[[], Asker]
    collections: Callable[[], Mapping[str, Visibility]]
    now: Clock
    verdict: GapVerdict = DEFAULT_VERDICT


@dataclass(frozen=True, slots=True)
class Because:
    """Why gaps are asked again, and who brought it about. ``before``: support by gap id, where it was measured."""

    by: str = BY_ITSELF
    candidate: str = ""
    before: Mapping[str, float] = field(default_factory=dict)
    decided: bool = False
    """A source was ingested for these gaps: what is not answered now is still open, not just open."""


class Closure:
    """Checks gaps and settles them; may be used by many threads."""

    def __init__(self, parts: ClosureParts) -> None:
        self._parts = parts

    def find(self, gap_ids: Sequence[str]) -> list[Gap]:
        """The gaps, each once; a merged one is the gap that it was merged into.

        Raises:
            NotFoundError: there is no such gap.
        """
        found: dict[str, Gap] = {}
        for gap_id in gap_ids:
            gap = self._parts.gaps.get(gap_id)
            while gap.state is GapState.MERGED and gap.merged_into:
                gap = self._parts.gaps.get(gap.merged_into)
            found[gap.id] = gap
        return list(found.values())

    def existing(self, gap_ids: Sequence[str]) -> list[Gap]:
        """The same without those that do not exist any more."""
        found: list[Gap] = []
        for gap_id in gap_ids:
            with suppress(NotFoundError):
                found += [gap for gap in self.find([gap_id]) if gap.id not in {one.id for one in found}]
        return found

    def check(self, gap: Gap) -> Checked:
        """Ask every wording of a gap where its askers asked; changes nothing."""
        asker = self._parts.asker()
        logged = {(record.text, record.visibility): record for record in self._parts.questions.of_gap(gap.id)}
        collections = self._parts.collections()
        texts = [(gap.question, gap.visibility), *((one.text, one.visibility) for one in gap.additional_questions)]
        replies = tuple(
            asker.ask(_question(text, visibility, logged.get((text, visibility)), collections))
            for text, visibility in texts
        )
        cited = dict.fromkeys(one for reply in replies for one in _cited_openly(reply))
        return Checked(
            gap=gap,
            replies=replies,
            answered=all(self._holds(reply) for reply in replies),
            failed=any(reply.status is Status.ERROR for reply in replies),
            support=min(reply.support for reply in replies),
            documents=tuple(cited),
        )

    def verify(self, gap_ids: Sequence[str], because: Because | None = None) -> list[Reasked]:
        """Ask gaps again: close those that are answered, reopen closed ones that are not, leave ignored ones alone.

        Args:
            gap_ids: ids or beginnings of ids.
            because: who and what brought it about.

        Raises:
            NotFoundError: there is no such gap.
            UnavailableError: the search does not work now; what was settled before stays settled.
        """
        reason = because or Because()
        results = []
        for gap in self.find(gap_ids):
            if gap.state is GapState.IGNORED:
                continue
            if reason.decided:
                self._parts.gaps.transition(gap.id, UNSETTLED, GapState.VERIFYING)
            checked = self.check(gap)
            if checked.failed:
                self._parts.gaps.transition(gap.id, (GapState.APPROVED, GapState.VERIFYING), GapState.STILL_OPEN)
                raise UnavailableError(
                    f"Gap {gap.id[:8]} could not be asked again: {'; '.join(checked.replies[0].notes)}".rstrip(": "),
                    "Run `gaplight doctor`, then `gaplight verify`.",
                )
            results.append(self.settle(checked, reason))
        return results

    def settle(self, checked: Checked, because: Because) -> Reasked:
        """Write down what a check showed. A gap that somebody settled meanwhile keeps that state."""
        gap = checked.gap
        before = because.before.get(gap.id, self._support_before(gap))
        if checked.answered:
            moved = self._parts.gaps.transition(gap.id, UNSETTLED, GapState.CLOSED, _proof(checked))
            action = CLOSED
        elif gap.state is GapState.CLOSED:
            moved = self._parts.gaps.transition(gap.id, (GapState.CLOSED,), GapState.REOPENED, lost(checked))
            action = REOPENED
        else:
            moved = because.decided and self._parts.gaps.transition(gap.id, UNSETTLED, GapState.STILL_OPEN)
            action = STILL_OPEN
        if moved:
            self._record(action, checked, before, because)
        return Reasked(gap.id, public_question(gap), checked.answered, round(before, 4), round(checked.support, 4))

    def support_now(self, gap_ids: Sequence[str]) -> dict[str, float]:
        """Support of each gap's weakest wording as it is now, by gap id; what cannot be asked is left out."""
        checks = [self.check(gap) for gap in self.find(gap_ids) if gap.state is not GapState.IGNORED]
        return {one.gap.id: round(one.support, 4) for one in checks if not one.failed}

    def _holds(self, reply: Reply) -> bool:
        return is_answered(reply) and not opens_gap(reply.status, reply.reason, reply.rules, self._parts.verdict)

    def _support_before(self, gap: Gap) -> float:
        """As it was when the gap's questions were last asked."""
        last = {record.text: record.support for record in self._parts.questions.of_gap(gap.id)}
        return min(last.values(), default=0.0)

    def _record(self, action: str, checked: Checked, before: float, because: Because) -> None:
        detail: dict[str, object] = {
            "before": round(before, 4),
            "after": round(checked.support, 4),
            "wordings": len(checked.replies),
            "documents": list(checked.documents),
        }
        if because.candidate:
            detail["candidate"] = because.candidate
        self._parts.audit.record(AuditEntry(self._parts.now(), because.by, action, checked.gap.id, detail))


def public_question(gap: Gap) -> str:
    """What may be shown of a gap to whoever decides on sources."""
    return gap.question if gap.visibility is Visibility.PUBLIC else "a question asked in private"


def lost(checked: Checked) -> str:
    """Why a closed gap is open again, as its note."""
    unanswered = [reply for reply in checked.replies if not is_answered(reply)]
    reasons = sorted({reply.reason.value for reply in unanswered if reply.reason})
    why = f" ({', '.join(reasons)})" if reasons else ""
    return f"Asked again, it is no longer answered{why}; support {checked.support:.2f}."


def _proof(checked: Checked) -> str:
    documents = ", ".join(checked.documents[:_SHOWN_DOCUMENTS]) or "documents that not everybody may read"
    return f"Asked again and answered by {documents}; support {checked.support:.2f}."


def _cited_openly(reply: Reply) -> list[str]:
    readable = {one.document for one in reply.passages if one.visibility is Visibility.PUBLIC}
    return [one.document for one in reply.citations if one.document in readable]


def _question(
    text: str, visibility: Visibility, record: QuestionRecord | None, collections: Mapping[str, Visibility]
) -> Question:
    """The question as it was asked: in the same collections and scope, where that is known and still possible.

    What was asked in public is never answered from what has become private since.
    """
    if record is None:
        known = reachable(collections) if visibility is Visibility.PUBLIC else ()
        return Question(text, visibility=visibility, collections=known)
    within = reachable(collections) if visibility is Visibility.PUBLIC else tuple(collections)
    wanted = tuple(name for name in record.collections if name in within)
    if not wanted and (record.collections or visibility is Visibility.PUBLIC):
        wanted = reachable(collections)
    return Question(text, visibility=visibility, collections=wanted, scope=record.scope)
