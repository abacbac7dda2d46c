"""The decision on a suggested source as a small state machine. Pure.

    pending ──approve──▶ approved ──ingest──▶ ingested
       │ ▲                  └─────fail──────▶ failed ──approve──▶ approved
       │ └──wake── snoozed ◀──snooze──┐
       ├──────────────────────────────┘
       ├──reject──▶ rejected
       └──expire──▶ expired ──approve──▶ approved

The first decision wins: what is rejected or ingested stays so.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from store.records import CandidateState as State


class Step(StrEnum):
    """What can happen to a candidate."""

    APPROVE = "approve"
    INGEST = "ingest"
    FAIL = "fail"
    REJECT = "reject"
    SNOOZE = "snooze"
    WAKE = "wake"
    EXPIRE = "expire"


class Transition(NamedTuple):
    """States from which a step is allowed, and the state it leads to."""

    allowed: frozenset[State]
    to: State


_WAITING = frozenset({State.PENDING, State.SNOOZED, State.FAILED})

TRANSITIONS: Mapping[Step, Transition] = {
    Step.APPROVE: Transition(_WAITING | {State.EXPIRED}, State.APPROVED),
    Step.INGEST: Transition(frozenset({State.APPROVED}), State.INGESTED),
    Step.FAIL: Transition(frozenset({State.APPROVED}), State.FAILED),
    Step.REJECT: Transition(_WAITING, State.REJECTED),
    Step.SNOOZE: Transition(_WAITING, State.SNOOZED),
    Step.WAKE: Transition(frozenset({State.SNOOZED}), State.PENDING),
    Step.EXPIRE: Transition(frozenset({State.PENDING}), State.EXPIRED),
}


def allowed(step: Step, state: State) -> bool:
    """Whether a candidate in this state can take the step."""
    return state in TRANSITIONS[step].allowed
