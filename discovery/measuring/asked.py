"""Questions put to the engine, and what came back: the raw material of every figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discovery.measuring.questions import Probe
from discovery.ports import Asker
from store.records import Question, Reply, Status


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its reply."""

    probe: Probe
    reply: Reply

    @property
    def measured(self) -> bool:
        """Whether the gate judged it: no small talk, nothing too vague to search, no failing part."""
        return self.reply.status in {Status.ANSWERED, Status.ABSTAINED}

    @property
    def covered(self) -> bool:
        """Whether the documents answer it, as chat would decide."""
        return self.reply.status is Status.ANSWERED and self.reply.reason is None

    @property
    def score(self) -> float:
        """What is compared with the threshold: a given score, else the support, in [0, 1]."""
        return self.reply.support if self.probe.score is None else self.probe.score


def ask_all(
    probes: Sequence[Probe], asker: Asker, done: Callable[[], None] = lambda: None, collections: Sequence[str] = ()
) -> list[Asked]:
    """Ask each question as chat would, with its scope.

    Args:
        probes: in order.
        asker: the engine, leaving no trace.
        done: called after each question.
        collections: that are searched; empty for all.
    """
    asked = []
    for probe in probes:
        question = Question(probe.text, scope=probe.scope, channel=probe.channel, collections=tuple(collections))
        asked.append(Asked(probe, asker.ask(question)))
        done()
    return asked


def given(probe: Probe) -> Asked:
    """A question whose score was measured elsewhere, without asking."""
    assert probe.score is not None
    return Asked(probe, Reply(probe.text, Status.ABSTAINED, "", support=probe.score))


def left_out(asked: Sequence[Asked]) -> list[str]:
    """What was not measured, in sentences."""
    skipped = [one for one in asked if not one.measured]
    failed = [one for one in skipped if one.reply.status is Status.ERROR]
    others = len(skipped) - len(failed)
    notes = []
    if failed:
        what = failed[0].reply.notes[0] if failed[0].reply.notes else "unavailable"
        notes.append(f"{len(failed)} questions could not be asked: {what}")
    if others:
        notes.append(f"{others} questions are small talk or too vague to be searched, and were left out.")
    return notes
