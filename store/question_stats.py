"""Figures about recorded questions. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil

from store.records import Status

QuestionFacts = tuple[str, str, Sequence[str], Mapping[str, float]]
"""Status, reason (empty for none), tags of the fired rules, milliseconds by stage."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long a stage took, in milliseconds, over ``n`` questions."""

    n: int
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Stats:
    """What happened to the questions of a period.

    Attributes:
        statuses: questions by status.
        reasons: refused or failed questions by reason.
        rules: questions by fired rule.
        combinations: questions by the set of rules that fired together (tags joined by ``+``).
        abstention_rate: abstained among answered and abstained, in [0, 1]; None without any.
        latencies: by stage.
        helpful, unhelpful: votes on these questions.
    """

    questions: int
    statuses: Mapping[str, int]
    reasons: Mapping[str, int]
    rules: Mapping[str, int]
    combinations: Mapping[str, int]
    abstention_rate: float | None
    latencies: Mapping[str, Latency]
    helpful: int
    unhelpful: int


def summed_up(asked: Iterable[QuestionFacts], votes: Iterable[bool], sample: int) -> Stats:
    """The figures of questions, latest first; latencies are those of the first ``sample``."""
    facts = list(asked)
    statuses = Counter(status for status, _, _, _ in facts)
    decided = statuses[Status.ANSWERED] + statuses[Status.ABSTAINED]
    helpful = Counter(votes)
    return Stats(
        questions=len(facts),
        statuses=dict(statuses),
        reasons=dict(Counter(reason for _, reason, _, _ in facts if reason)),
        rules=dict(Counter(tag for _, _, tags, _ in facts for tag in tags)),
        combinations=dict(Counter("+".join(tags) for _, _, tags, _ in facts if tags)),
        abstention_rate=statuses[Status.ABSTAINED] / decided if decided else None,
        latencies=_latencies(timings for _, _, _, timings in islice(facts, sample)),
        helpful=helpful[True],
        unhelpful=helpful[False],
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank percentile of ascending values: the smallest that ``share`` of them do not exceed."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def _latencies(timings: Iterable[Mapping[str, float]]) -> dict[str, Latency]:
    stages: defaultdict[str, list[float]] = defaultdict(list)
    for one in timings:
        for stage, milliseconds in one.items():
            stages[stage].append(milliseconds)
    ordered = {stage: sorted(values) for stage, values in stages.items()}
    return {
        stage: Latency(len(values), percentile(values, 0.5), percentile(values, 0.95))
        for stage, values in ordered.items()
    }
