"""What people's votes and decisions say about a recorded question. Pure."""

from __future__ import annotations

from discovery.measuring.rule_figures import Observed
from discovery.measuring.shadow import Answered
from store.questions import QuestionRecord, Votes
from store.records import GapState, Status

_CONFIRMED = {GapState.APPROVED, GapState.VERIFYING, GapState.CLOSED, GapState.STILL_OPEN, GapState.REOPENED}
"""States that a gap reaches only when somebody agreed that documents were missing."""


def observed(record: QuestionRecord, votes: Votes | None, state: GapState | None) -> Observed:
    """A recorded question for the figures of the rules.

    A decision on its gap counts first: ignored means that there was none. Without one, votes on an answer count:
    more against than for it mean that the documents had none.

    Args:
        record: the question.
        votes: on its reply; None without any.
        state: of its gap; None when it has none.
    """
    rules = frozenset(record.rules)
    if state in _CONFIRMED:
        return Observed(rules, gap=True)
    if state is GapState.IGNORED:
        return Observed(rules, gap=False)
    if votes and record.status is Status.ANSWERED and votes.helpful != votes.unhelpful:
        return Observed(rules, gap=votes.unhelpful > votes.helpful)
    return Observed(rules)


def answered(record: QuestionRecord, votes: Votes | None, threshold: float) -> Answered | None:
    """A recorded question for the comparison with the gate; None when no answer was given.

    Args:
        record: the question.
        votes: on its reply; None without any.
        threshold: support below which the gate refuses now; refusals that it noted while it only watched count too.
    """
    if record.status is not Status.ANSWERED:
        return None
    refuses = record.reason is not None or record.support < threshold
    return Answered(refuses, *((votes.helpful, votes.unhelpful) if votes else (0, 0)))
