"""What a chosen unit cannot stand without, and what belongs to it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.answering.quoting import SKIPPED
from bot.answering.unit_scoring import Asked
from bot.answering.units import Unit

SHORT_BLOCK = 420
"""Characters up to which a paragraph, list or table is quoted as a whole around its best unit."""
_WIDEST_GAP = 6
"""Characters of white space between two units of one quote; what is wider is not carried into the answer."""
_MOST_LEANS = 2
"""Sentences that are taken along in front of one that leans on them."""

_LEANS = re.compile(
    r"(?:[*_\"“(]*)(?:(?:this|that|these|those|it|its|they|them|their|he|she|then|so|also|but|however|therefore|thus|"
    r"otherwise|instead|afterwards?|and|or|finally|next|such|in this case|in that case|for example|e\.g\.|as a result|"
    r"here|there|both|the (?:former|latter|above|same))\b"
    r"|这|那|它|他们|然后|因此|所以|但是|但|不过|否则|此外|同时|另外|其)",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(r"[\s*_>#-]*(?:TODO|TBD|TBC|FIXME|n/a|待补充|待定)[\s*_.:。…]*", re.IGNORECASE)
_ASKS = re.compile(r"[?？][\"'”’)*_ ]*\Z")


def needed(text: str, units: Sequence[Unit], number: int, view: Asked) -> set[int]:
    """A unit and the neighbours without which a reader would not understand it."""
    needed = {number}
    first = number
    while first and _leans(text, units[first]) and units[first - 1].kind == "sentence" and number - first < _MOST_LEANS:
        first -= 1
        needed.add(first)
    if first and units[first].kind in {"code", "steps"} and units[first - 1].kind == "sentence":
        needed.add(first - 1)
    return needed | set(following(text, units, number, view))


def _leans(text: str, unit: Unit) -> bool:
    return unit.kind == "sentence" and bool(_LEANS.match(text, unit.start, unit.end))


def following(text: str, units: Sequence[Unit], number: int, view: Asked) -> Iterator[int]:
    """What a unit announces: the code, steps or items after a colon, the answer after a question."""
    unit = units[number]
    if unit.kind != "sentence" or number + 1 >= len(units):
        return
    after = units[number + 1]
    own = text[unit.start : unit.end]
    if own.endswith((":", "：")) or (view.how_to and after.kind in {"code", "steps"}):
        yield from (place for place in range(number + 1, len(units)) if units[place].block == after.block)
    elif _ASKS.search(own):
        yield from (
            place
            for place in range(number + 1, len(units))
            if units[place].block in {after.block, unit.block} and units[place].kind != "heading"
        )


def whole_block(units: Sequence[Unit], number: int) -> set[int]:
    """All units of a short paragraph, list or table."""
    block = [place for place, unit in enumerate(units) if unit.block == units[number].block]
    size = units[block[-1]].end - units[block[0]].start
    return set(block) if size <= SHORT_BLOCK else {number}


def pieces(text: str, units: Sequence[Unit], chosen: set[int]) -> list[tuple[int, int, str]]:
    """Neighbouring chosen units as one slice each: start, end and what is shown (with a table's or list's head)."""
    found: list[tuple[int, int, str]] = []
    for numbers in _runs(units, sorted(chosen)):
        first, last = units[numbers[0]], units[numbers[-1]]
        shown = text[first.start : last.end]
        if first.header and not any(units[place].start <= first.header[0] < units[place].end for place in chosen):
            gap = f"\n{SKIPPED}\n" if first.kind == "item" and units[numbers[0] - 1].kind == "item" else "\n"
            gap = "\n" if first.kind == "row" else gap
            shown = f"{text[slice(*first.header)]}{gap}{shown}"
        found.append((first.start, last.end, shown))
    return found


def _runs(units: Sequence[Unit], chosen: Sequence[int]) -> list[list[int]]:
    """Chosen units in groups that stand directly behind each other."""
    runs: list[list[int]] = []
    for number in chosen:
        gap = units[number].start - units[runs[-1][-1]].end if runs else 0
        header = units[number].header
        if header and runs and header[0] >= units[runs[-1][-1]].end:
            gap -= header[1] - header[0]
        if runs and number == runs[-1][-1] + 1 and gap <= _WIDEST_GAP:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def announces_in_vain(text: str, units: Sequence[Unit], group: set[int]) -> bool:
    """Whether the last of these units leads to something ("Run this:") that is not among them."""
    last = units[max(group)]
    return last.kind == "sentence" and text[last.start : last.end].endswith((":", "："))


def unfinished(text: str, unit: Unit) -> bool:
    """Whether a unit only says that something is still to be written."""
    return bool(_UNFINISHED.fullmatch(text, unit.start, unit.end))
