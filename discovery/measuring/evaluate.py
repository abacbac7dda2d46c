"""Every stage judged apart: retrieval, gate, answer, end to end, in slices and against another policy. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from discovery.measuring.asked import Asked, left_out
from discovery.measuring.judged import CUT, Failure, Judged, judge
from discovery.measuring.statistics import Interval, Share, auroc, auroc_interval, mean_interval, paired_interval
from store.question_stats import percentile


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % interval over ``n`` questions; ``value`` is None without any."""

    value: float | None
    interval: Interval | None
    n: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The figures of one policy, by stage and name, and the judged questions behind them."""

    policy: str
    threshold: float
    stages: Mapping[str, Mapping[str, Figure]]
    failures: Mapping[str, int]
    slices: Mapping[str, Mapping[str, Mapping[str, Figure]]]
    judged: tuple[Judged, ...]
    notes: tuple[str, ...]


def evaluate(asked: Sequence[Asked], threshold: float) -> Evaluation:
    """Judge asked questions.

    Args:
        asked: with labels and right documents where they are known; each figure takes those that it can use.
        threshold: of the policy, for the record.
    """
    judged = tuple(judge(one) for one in asked if one.measured)
    return Evaluation(
        policy=next((one.reply.policy for one in asked if one.reply.policy), ""),
        threshold=threshold,
        stages=_stages(judged),
        failures=_failures(judged),
        slices=_slices(judged),
        judged=judged,
        notes=(*left_out(asked), *_missing(judged)),
    )


def differences(first: Evaluation, second: Evaluation) -> dict[str, Figure]:
    """What the second policy does better (above 0) or worse, question by question.

    Both must come from the same questions in the same order; those that one of them could not measure are left out.
    """
    other = {id(one.asked.probe): one for one in second.judged}
    pairs = [(one, other[id(one.asked.probe)]) for one in first.judged if id(one.asked.probe) in other]
    found = {}
    for name, (usable, value) in _COMPARED.items():
        kept = [pair for pair in pairs if usable(pair[0])]
        before, after = [one for one, _ in kept], [one for _, one in kept]
        mean = fmean(value(b) - value(a) for a, b in kept) if kept else None
        found[name] = Figure(mean, paired_interval(before, after, value), len(kept))
    return found


def evaluation_json(found: Evaluation) -> dict[str, Any]:
    """Plain values; every figure as ``{"value", "low", "high", "n"}``."""
    return {
        "questions": len(found.judged),
        "policy": found.policy,
        "threshold": found.threshold,
        **{stage: {name: figure_json(one) for name, one in figures.items()} for stage, figures in found.stages.items()},
        "failures": dict(found.failures),
        "slices": {
            by: [{"name": name, **{key: figure_json(one) for key, one in row.items()}} for name, row in rows.items()]
            for by, rows in found.slices.items()
        },
        "notes": list(found.notes),
    }


def figure_json(figure: Figure) -> dict[str, float | int | None]:
    """A figure as plain values."""
    interval = figure.interval
    return {
        "value": figure.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "n": figure.n,
    }


def _stages(judged: Sequence[Judged]) -> dict[str, dict[str, Figure]]:
    with_gold = [one for one in judged if one.ranks is not None and one.asked.probe.answerable is not False]
    answered = [one for one in judged if one.citations_valid is not None]
    return {
        "retrieval": {
            "top_1": _mean(with_gold, lambda one: one.found_within(1)),
            **{f"recall@{k}": _mean(with_gold, lambda one, k=k: one.recall[k]) for k in (1, 3, 5, CUT)},  # type: ignore[misc]
            f"mrr@{CUT}": _mean(with_gold, lambda one: one.reciprocal_rank),
            f"ndcg@{CUT}": _mean(with_gold, lambda one: one.gain),
            "injected_tokens": _mean(judged, lambda one: one.tokens),
        },
        "gate": _gate(judged),
        "answer": {
            "citations_valid": _mean(answered, lambda one: bool(one.citations_valid)),
            "support": _mean(answered, lambda one: one.asked.reply.support),
        },
        "end_to_end": {
            "correct": _mean(_labelled(judged), lambda one: bool(one.correct)),
            "p50_ms": _time(judged, 0.5),
            "p95_ms": _time(judged, 0.95),
        },
    }


def _gate(judged: Sequence[Judged]) -> dict[str, Figure]:
    covered = [one for one in judged if one.asked.probe.answerable is True]
    gaps = [one for one in judged if one.asked.probe.answerable is False]
    return {
        "false_accepts": _share(gaps, lambda one: one.asked.covered),
        "false_abstentions": _share(covered, lambda one: not one.asked.covered),
        "gap_f1": _f1(covered, gaps),
        "auroc_support": _auroc(covered, gaps, lambda one: one.asked.reply.support),
        "auroc_max_score": _auroc(covered, gaps, lambda one: one.asked.reply.max_score),
    }


def _f1(covered: Sequence[Judged], gaps: Sequence[Judged]) -> Figure:
    caught = sum(not one.asked.covered for one in gaps)
    flagged = caught + sum(not one.asked.covered for one in covered)
    total = flagged + len(gaps)
    return Figure(2 * caught / total if total else None, None, len(covered) + len(gaps))


def _auroc(covered: Sequence[Judged], gaps: Sequence[Judged], score: Callable[[Judged], float]) -> Figure:
    first, second = [score(one) for one in covered], [score(one) for one in gaps]
    value = auroc(first, second)
    return Figure(value, auroc_interval(first, second) if value is not None else None, len(first) + len(second))


def _share(judged: Sequence[Judged], flag: Callable[[Judged], bool]) -> Figure:
    share = Share(sum(map(flag, judged)), len(judged))
    return Figure(share.value, share.interval if share.of else None, share.of)


def _mean(judged: Sequence[Judged], value: Callable[[Judged], float]) -> Figure:
    values = [float(value(one)) for one in judged]
    return Figure(fmean(values) if values else None, mean_interval(values), len(values))


def _time(judged: Sequence[Judged], share: float) -> Figure:
    times = sorted(one.asked.reply.timings_ms.get("total", 0.0) for one in judged)
    return Figure(percentile(times, share) if times else None, None, len(times))


def _failures(judged: Iterable[Judged]) -> dict[str, int]:
    counts = Counter(one.failure.value for one in judged if one.failure)
    return {kind.value: counts[kind.value] for kind in Failure}


def _slices(judged: Sequence[Judged]) -> dict[str, dict[str, dict[str, Figure]]]:
    """By everything that has more than one value among the questions; the worst slice first."""
    found = {}
    for by, value in _DIMENSIONS.items():
        names = {value(one) for one in judged}
        if len(names) > 1:
            rows = {name or "none": _row([one for one in judged if value(one) == name]) for name in sorted(names)}
            found[by] = dict(sorted(rows.items(), key=lambda row: _worst_first(row[1])))
    return found


def _worst_first(row: Mapping[str, Figure]) -> tuple[bool, float]:
    value = row["correct"].value
    return value is None, value or 0.0


def _row(judged: Sequence[Judged]) -> dict[str, Figure]:
    stages = _stages(judged)
    return {
        "correct": stages["end_to_end"]["correct"],
        "recall@3": stages["retrieval"]["recall@3"],
        "false_accepts": stages["gate"]["false_accepts"],
        "false_abstentions": stages["gate"]["false_abstentions"],
    }


def _labelled(judged: Iterable[Judged]) -> list[Judged]:
    return [one for one in judged if one.correct is not None]


def _missing(judged: Sequence[Judged]) -> list[str]:
    unlabelled = sum(one.asked.probe.answerable is None for one in judged)
    without = sum(one.asked.probe.answerable is True and one.ranks is None for one in judged)
    found = [bool(one.ranks) for one in judged if one.ranks is not None]
    notes = []
    if found and not any(found):
        notes.append("No gold document was ever found: write them as they were ingested, such as guide/install.md.")
    if unlabelled:
        notes.append(f"{unlabelled} questions have no label (answerable 1 or 0): gate and end to end leave them out.")
    if without:
        notes.append(f"{without} answerable questions name no gold_documents: retrieval leaves them out.")
    return notes


_DIMENSIONS: Mapping[str, Callable[[Judged], str]] = {
    "scenario": lambda one: one.asked.probe.scenario,
    "language": lambda one: one.asked.probe.language,
    "scope": lambda one: "; ".join(f"{key}={'|'.join(v)}" for key, v in sorted(one.asked.probe.scope.items())),
    "channel": lambda one: one.asked.probe.channel,
}

_COMPARED: Mapping[str, tuple[Callable[[Judged], bool], Callable[[Judged], float]]] = {
    "correct": (lambda one: one.correct is not None, lambda one: float(bool(one.correct))),
    "recall@3": (lambda one: one.ranks is not None, lambda one: one.recall[3]),
    "answered_gaps": (lambda one: one.asked.probe.answerable is False, lambda one: float(one.asked.covered)),
    "refused_covered": (lambda one: one.asked.probe.answerable is True, lambda one: float(not one.asked.covered)),
    "support": (lambda _: True, lambda one: one.asked.reply.support),
}
