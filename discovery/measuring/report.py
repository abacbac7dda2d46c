"""A probe as one HTML page that needs nothing but itself: no script, no network, light and dark. Pure.

Every text is escaped by the template engine; texts of people and documents are never templates themselves.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from discovery.measuring.probe import Comparison, Item, ProbeResult, Scenario

BINS = 10
_SHADES = 5
_BAR_WIDTH, _BAR_HEIGHT = 64, 160

REASONS = {
    "no_relevant_passages": "nothing in the documents comes near",
    "insufficient_evidence": "related passages, but none that answers",
    "scope_conflict": "the passages are valid for something else",
    "out_of_scope": "outside what the documents are about",
    "ambiguous_evidence": "the passages contradict each other",
    "unsupported_citation": "the passages do not support an answer",
    "ungrounded_answer": "an answer would not be grounded",
}
"""What a machine-readable reason means, for people who don't run the bot."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the histogram: how many covered questions and gaps have a support in its range."""

    low: float
    high: float
    covered: int
    gaps: int


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the heat map: a scenario and its questions by support."""

    scenario: Scenario
    cells: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What the report tells beside the probe itself: when, of what, and what changed since the last one."""

    made_at: datetime
    documents: int
    chunks: int
    compared: Comparison | None = None
    earlier: str = ""


def render(result: ProbeResult, context: Context) -> str:
    """The report as one HTML document."""
    style = _source("report.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    bars = histogram(result.items)
    return (
        _environment()
        .get_template("report.html")
        .render(
            result=result,
            context=context,
            style=style,
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
            rows=heat_map(result),
            bars=bars,
            tallest=max((bar.covered + bar.gaps for bar in bars), default=0) or 1,
            ranges=[(place / BINS, (place + 1) / BINS) for place in range(BINS)],
            shade=shade,
            reasons=REASONS,
            gaps=_by_scenario(result),
            covered=[item for item in result.items if item.covered],
            private=sum(item.nearest is not None and item.nearest.private for item in result.items),
            width=_BAR_WIDTH,
            height=_BAR_HEIGHT,
        )
    )


def histogram(items: Sequence[Item]) -> list[Bar]:
    """Ten equal ranges of support."""
    return [
        Bar(
            place / BINS,
            (place + 1) / BINS,
            sum(item.covered and bin_of(item.support) == place for item in items),
            sum(not item.covered and bin_of(item.support) == place for item in items),
        )
        for place in range(BINS)
    ]


def heat_map(result: ProbeResult) -> list[Row]:
    """One row for each scenario, those with the smallest coverage first."""
    return [
        Row(
            scenario,
            tuple(
                sum(item.scenario == scenario.name and bin_of(item.support) == place for item in result.items)
                for place in range(BINS)
            ),
        )
        for scenario in result.scenarios
    ]


def bin_of(support: float) -> int:
    """The range that a support in [0, 1] falls into."""
    return min(BINS - 1, max(0, int(support * BINS)))


def shade(count: int, most: int) -> int:
    """How dark a cell is, from 0 for no question to 5 for as many as the fullest cell of its row has."""
    return 0 if not count or not most else max(1, round(_SHADES * count / most))


def _by_scenario(result: ProbeResult) -> list[tuple[Scenario, list[Item]]]:
    gaps = result.gaps
    return [
        (scenario, found)
        for scenario in result.scenarios
        if (found := [item for item in gaps if item.scenario == scenario.name])
    ]


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def _source(name: str) -> str:
    return files("discovery.measuring").joinpath("templates", name).read_text(encoding="utf-8")
