"""Which of many questions the documents cover: by scenario, with the nearest passage of each gap. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discovery.measuring.asked import Asked, left_out
from discovery.measuring.statistics import Share
from store.errors import UsageError
from store.privacy import redact
from store.records import Passage, Visibility
from store.text import fold, informative, stems, terms

ALL = "all questions"
"""Name of the scenario of questions that belong to none."""
QUOTE = 240
"""Characters of a nearest passage that are quoted."""

_PIECES = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Near:
    """The passage nearest to a question; ``private`` when only readers of its collection may see it."""

    document: str
    section: str
    quote: str
    private: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One question: whether it is covered, its best cosine similarity, its support, and why it is a gap."""

    question: str
    scenario: str
    covered: bool
    max_score: float
    support: float
    reason: str
    nearest: Near | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of the questions of an earlier probe; ``added`` and ``dropped`` were asked in one of both only."""

    closed: tuple[str, ...]
    new: tuple[str, ...]
    added: int
    dropped: int

    @property
    def sentence(self) -> str:
        """Such as ``3 gaps closed, 1 new gap``."""
        parts = [f"{_count(len(self.closed), 'gap')} closed", f"{len(self.new)} new {_noun(len(self.new), 'gap')}"]
        parts += [f"{_count(self.added, 'question')} asked for the first time"] if self.added else []
        parts += [f"{_count(self.dropped, 'question')} no longer asked"] if self.dropped else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Scenario:
    """How many questions of a scenario are covered."""

    name: str
    covered: Share

    @property
    def gaps(self) -> int:
        """Questions that are not covered."""
        return self.covered.of - self.covered.hits


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """A whole probe. ``notes`` say what was left out."""

    items: tuple[Item, ...]
    threshold: float
    policy: str
    notes: tuple[str, ...] = ()

    @property
    def coverage(self) -> Share:
        """Covered questions of all."""
        return Share(sum(item.covered for item in self.items), len(self.items))

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """Scenarios, those with the smallest coverage first."""
        names = dict.fromkeys(item.scenario for item in self.items)
        found = [Scenario(name, _share(item for item in self.items if item.scenario == name)) for name in names]
        return tuple(sorted(found, key=lambda one: (one.covered.value or 0.0, one.name)))

    @property
    def gaps(self) -> tuple[Item, ...]:
        """Questions that are not covered, the farthest from it first."""
        return tuple(sorted((item for item in self.items if not item.covered), key=lambda item: item.support))


def probe(asked: Sequence[Asked], threshold: float, *, masked: bool = True) -> ProbeResult:
    """Sum up what asking showed.

    Args:
        asked: every question with its reply.
        threshold: support from which the gate answers.
        masked: take secrets and personal data out of what is shown.
    """
    items = tuple(_item(one, masked=masked) for one in asked if one.measured)
    policy = next((one.reply.policy for one in asked if one.reply.policy), "")
    return ProbeResult(items, threshold, policy, tuple(left_out(asked)))


def compare(now: ProbeResult, earlier: Mapping[str, Any]) -> Comparison:
    """What changed since an earlier probe.

    Args:
        now: the present probe.
        earlier: the JSON of the earlier one.

    Raises:
        UsageError: that is no probe.
    """
    try:
        before = {_key(item["question"], item["scenario"]): bool(item["covered"]) for item in earlier["items"]}
    except (KeyError, TypeError) as error:
        raise UsageError("The earlier probe is not the JSON of a probe.", "Give the probe.json of a report.") from error
    after = {_key(item.question, item.scenario): item for item in now.items}
    both = [(item, before[key]) for key, item in after.items() if key in before]
    return Comparison(
        tuple(item.question for item, covered in both if item.covered and not covered),
        tuple(item.question for item, covered in both if covered and not item.covered),
        len(after.keys() - before.keys()),
        len(before.keys() - after.keys()),
    )


def probe_json(result: ProbeResult, compared: Comparison | None = None) -> dict[str, Any]:
    """The fields of the contract, then supports, intervals, notes and what changed."""
    coverage = result.coverage
    values: dict[str, Any] = {
        "questions": coverage.of,
        "covered": coverage.hits,
        "gaps": coverage.of - coverage.hits,
        "threshold": result.threshold,
        "scenarios": [{"name": one.name, "covered": one.covered.hits, "gaps": one.gaps} for one in result.scenarios],
        "items": [_item_json(item) for item in result.items],
        "coverage": coverage.value,
        "coverage_interval": [coverage.interval.low, coverage.interval.high],
        "policy": result.policy,
        "notes": list(result.notes),
    }
    if compared:
        values["compared"] = {
            "closed": list(compared.closed),
            "new": list(compared.new),
            "added": compared.added,
            "dropped": compared.dropped,
        }
    return values


def _item_json(item: Item) -> dict[str, Any]:
    near = item.nearest
    return {
        "question": item.question,
        "scenario": item.scenario,
        "covered": item.covered,
        "max_score": item.max_score,
        "nearest": {"document": near.document, "section": near.section, "quote": near.quote} if near else None,
        "support": item.support,
        "reason": item.reason,
    }


def _item(asked: Asked, *, masked: bool) -> Item:
    reply = asked.reply
    nearest = max(reply.passages, key=lambda passage: passage.score, default=None)
    shown = redact if masked else str
    near = None
    if nearest:
        quote = shown(quote_for(asked.probe.text, nearest))
        near = Near(nearest.document, nearest.section, quote, nearest.visibility is Visibility.PRIVATE)
    reason = "" if asked.covered else str(reply.reason or "")
    return Item(
        shown(asked.probe.text),
        asked.probe.scenario or ALL,
        asked.covered,
        reply.max_score,
        reply.support,
        reason,
        near,
    )


def quote_for(question: str, passage: Passage) -> str:
    """The piece of a passage that shares most words with a question, at most 240 characters."""
    wanted = {term.stem for term in informative(terms(question))}
    pieces = [piece.strip() for piece in _PIECES.split(passage.text) if piece.strip()]
    best = max(pieces, key=lambda piece: len(wanted & set(stems(piece))), default="")
    text = " ".join(best.split())
    return text if len(text) <= QUOTE else f"{text[: QUOTE - 1].rstrip()}…"


def _share(items: Iterable[Item]) -> Share:
    flags = [item.covered for item in items]
    return Share(sum(flags), len(flags))


def _key(question: str, scenario: str) -> tuple[str, str]:
    return " ".join(fold(question).split()), scenario


def _count(number: int, noun: str) -> str:
    return f"{number} {_noun(number, noun)}"


def _noun(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"
