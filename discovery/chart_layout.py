"""Where the bars, words and colours of the digest's chart are. Pure; painted by :mod:`discovery.charts`.

Questions by week, a bar for each week and a colour for each topic. The last colour is grey, for everything else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from discovery.digest import Chart

WIDTH, HEIGHT = 900, 420
"""Of the image, in pixels."""
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800")
"""Told apart by people who see colours differently too (after Okabe and Ito)."""
GREY = "#9aa0a6"
INK, LINE, PAPER = "#1f2328", "#d8dee4", "#ffffff"
TEXT_SIZE = 14

_LEFT, _TOP, _RIGHT, _BOTTOM = 48, 20, 300, 44
_BAR_SHARE = 0.62
_STEPS = 4
_LEGEND_LINE = 26
_LEGEND_LETTERS = 34


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle, in pixels from the upper left corner."""

    left: float
    top: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text; ``left`` is its beginning, middle or end, and ``middle`` the middle of its height."""

    text: str
    left: float
    middle: float
    anchor: str = "start"


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything that is painted, in order."""

    boxes: tuple[Box, ...]
    words: tuple[Words, ...]


def layout(chart: Chart) -> Layout:
    """A chart as boxes and words."""
    top = _rounded_up(max(_totals(chart), default=0))
    boxes = [*_grid(top), *_bars(chart, top), *_legend_boxes(chart)]
    words = [*_scale(top), *_week_names(chart.weeks), *_legend_words(chart)]
    return Layout(tuple(boxes), tuple(words))


def colour_of(chart: Chart, place: int) -> str:
    """The colour of a series; what is not a topic of its own is grey."""
    return GREY if place == len(chart.series) - 1 and place >= _topics(chart) else COLOURS[place % len(COLOURS)]


def _topics(chart: Chart) -> int:
    """Series that are topics: these are numbered."""
    return sum(name.split(".", 1)[0].isdigit() for name, _ in chart.series)


def _totals(chart: Chart) -> list[int]:
    return [sum(counts[place] for _, counts in chart.series) for place in range(len(chart.weeks))]


def _rounded_up(most: int) -> int:
    """The end of the scale: a multiple of its steps that the highest bar fits below."""
    return max(math.ceil(most / _STEPS), 1) * _STEPS


def _plot() -> tuple[float, float]:
    return WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM


def _grid(top: int) -> Iterator[Box]:
    width, height = _plot()
    for step in range(_STEPS + 1):
        yield Box(_LEFT, _TOP + height - height * (step * top / _STEPS) / top, width, 1, LINE)


def _scale(top: int) -> Iterator[Words]:
    _, height = _plot()
    for step in range(_STEPS + 1):
        yield Words(str(top * step // _STEPS), _LEFT - 8, _TOP + height - height * step / _STEPS, "end")


def _bars(chart: Chart, top: int) -> Iterator[Box]:
    width, height = _plot()
    share = width / max(len(chart.weeks), 1)
    for week in range(len(chart.weeks)):
        floor = _TOP + height
        for place, (_, counts) in enumerate(chart.series):
            tall = height * counts[week] / top
            if tall:
                left = _LEFT + share * (week + (1 - _BAR_SHARE) / 2)
                yield Box(left, floor - tall, share * _BAR_SHARE, tall, colour_of(chart, place))
                floor -= tall


def _week_names(weeks: Sequence[date]) -> Iterator[Words]:
    width, height = _plot()
    share = width / max(len(weeks), 1)
    for place, week in enumerate(weeks):
        yield Words(f"{week.day} {week:%b}", _LEFT + share * (place + 0.5), _TOP + height + 20, "middle")


def _legend_boxes(chart: Chart) -> Iterator[Box]:
    for place in range(len(chart.series)):
        yield Box(WIDTH - _RIGHT + 24, _TOP + _LEGEND_LINE * place, 14, 14, colour_of(chart, place))


def _legend_words(chart: Chart) -> Iterator[Words]:
    for place, (name, _) in enumerate(chart.series):
        text = name if len(name) <= _LEGEND_LETTERS else name[: _LEGEND_LETTERS - 1].rstrip() + "…"
        yield Words(text, WIDTH - _RIGHT + 46, _TOP + _LEGEND_LINE * place + 7)
