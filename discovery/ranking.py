"""How good a suggestion is: one number in [0, 1] from what asking with it showed, with the reasons in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from discovery.licences import Standing
from store.records import Nearest, Preview, Source

ANSWERED_SHARE, GAIN_SHARE, NEARNESS_SHARE, PLACE_SHARE = 0.45, 0.25, 0.15, 0.15
"""What counts: questions answered, support gained, how near the best passage is, how early the finder named it."""

CHANGED_COST, CHANGED_MOST = 0.03, 0.15
"""Taken off for each answer that is fine today and would change, and at most."""

ARCHIVED_COST, FORK_COST, UNKNOWN_LICENCE_COST = 0.05, 0.02, 0.02
"""Small: they decide between sources that help equally, and never hide one that helps."""

NEAR_ENOUGH = 0.35
"""Similarity of the best passage below which a source that answers nothing is about something else."""

_EVIDENCE = 5


@dataclass(frozen=True, slots=True)
class AskedWith:
    """One question of the topic, asked today and with the source.

    Attributes:
        answered: with the source the question is answered, and the answer cites it.
        before: support today, in [0, 1].
        after: support with the source, in [0, 1].
        best_score: highest similarity of a passage of the source, in [-1, 1]; 0 when none came back.
        evidence: what the answer quotes of the source; None when it does not.
        shown: everybody may see the question, and so what answers it.
    """

    question: str
    answered: bool
    before: float
    after: float
    best_score: float
    evidence: Nearest | None = None
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Trial:
    """A source with everything that was seen of it.

    Attributes:
        place: 1 for the source that its finder named first.
        asked: the topic's questions; at least one.
        changed: answers that are fine today and would cite the source instead, or be lost.
        standing: how the licence policy stands to it.
    """

    source: Source
    place: int
    asked: Sequence[AskedWith]
    changed: int = 0
    standing: Standing = Standing.ALLOWED


def preview_of(trial: Trial) -> Preview:
    """What is shown of a trial; evidence best first. What answers a private question would tell what was asked."""
    evidence = [one.evidence for one in trial.asked if one.answered and one.evidence and one.shown]
    distinct = {(passage.section, passage.quote): passage for passage in evidence}
    return Preview(
        asked=len(trial.asked),
        answered=sum(one.answered for one in trial.asked),
        best_score=round(max((one.best_score for one in trial.asked), default=0.0), 4),
        changed=trial.changed,
        evidence=tuple(sorted(distinct.values(), key=lambda passage: -passage.score)[:_EVIDENCE]),
    )


def score(trial: Trial) -> float:
    """How good the suggestion is, in [0, 1]; what helps more questions is above what helps fewer, all else equal."""
    asked = trial.asked
    if not asked:
        return 0.0
    value = (
        ANSWERED_SHARE * fmean(one.answered for one in asked)
        + GAIN_SHARE * fmean(max(0.0, one.after - one.before) for one in asked)
        + NEARNESS_SHARE * max(0.0, *(one.best_score for one in asked), 0.0)
        + PLACE_SHARE / max(1, trial.place)
        - min(CHANGED_MOST, CHANGED_COST * trial.changed)
        - ARCHIVED_COST * trial.source.archived
        - FORK_COST * trial.source.fork
        - UNKNOWN_LICENCE_COST * (trial.standing is Standing.UNKNOWN)
    )
    return round(min(1.0, max(0.0, value)), 4)


def worth_suggesting(preview: Preview) -> bool:
    """Whether anybody should be asked about a source: it answers something, or at least comes near."""
    return preview.answered > 0 or preview.best_score >= NEAR_ENOUGH


def reasons(trial: Trial) -> tuple[str, ...]:
    """Why the source is suggested, and what speaks against it, the most important first."""
    told = [_helps(trial), *trial.source.reasons, *_objections(trial)]
    return tuple(dict.fromkeys(told))


def _helps(trial: Trial) -> str:
    answered, asked = sum(one.answered for one in trial.asked), len(trial.asked)
    gain = fmean(one.after - one.before for one in trial.asked) if asked else 0.0
    if answered:
        return f"With it, {answered} of {asked} questions would be answered."
    return f"No question would be answered with it; support changes by {gain:+.2f}."


def _objections(trial: Trial) -> list[str]:
    source = trial.source
    told = []
    if trial.changed:
        told.append(f"It would change {trial.changed} answers that are fine today.")
    if source.archived:
        told.append("Its repository is archived.")
    if source.fork:
        told.append("Its repository is a fork.")
    if trial.standing is Standing.UNKNOWN:
        told.append("Its licence is unknown: it is not ingested without an explicit yes.")
    if trial.standing is Standing.REFUSED:
        told.append(f"Its licence, {source.licence}, is not among those that are allowed.")
    return told
