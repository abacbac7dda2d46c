"""The numbers in square brackets: found, checked, put in order, and shown as sources. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from store.records import Citation, Passage
from store.text import fold

_SEPARATOR = " › "
_MOST_IN_RANGE = 20
"""``[1-4]`` names four sources; a longer range is a number range of the text, not a list of sources."""

_CODE = re.compile(
    r"(?ms)^(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`{1,6})(?!`)(?:[^`\n]|\n(?!\s*\n)|(?!(?P=ticks)(?!`))`++)+(?P=ticks)(?!`)"
)
_NUMBERS = r"\d{1,4}(?:\s*[,，、;–-]\s*\d{1,4})*"
_MARKER = re.compile(
    rf"(?:(?P<gap>[ \t]+)|(?<![A-Za-z0-9_\]])(?<!\(\)))"
    rf"(?P<run>[\[【]{_NUMBERS}[\]】](?:[ \t]*[\[【]{_NUMBERS}[\]】])*)"
    r"(?![(\[A-Za-z0-9_]|:[ \t]*(?:[a-z]+://|/|<))"
)
_ONE = re.compile(rf"[\[【](?P<numbers>{_NUMBERS})[\]】]")
_DANGLING = re.compile(
    r"(?:(?<=[.!?。！？\n])|\A)(?P<space>[ \t]*)(?:as (?:described |shown |stated |noted |mentioned )?in|see(?: also)?"
    r"|according to|cf\.?|如|见|参见|详见|根据)[ \t]*[.,;:。，；]?(?=\s|\Z)",
    re.IGNORECASE,
)

_HEADING = re.compile(r"(?P<marks>#{1,6}) (?P<title>.+)")


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text whose markers all point to a source.

    Attributes:
        text: the text without markers that point nowhere.
        numbers: the sources that it cites, in order of appearance, each once.
        removed: the numbers that pointed nowhere, in order, as often as they stood there.
    """

    text: str
    numbers: tuple[int, ...]
    removed: tuple[int, ...]

    @property
    def cites(self) -> bool:
        """Whether at least one source is cited; a text without any is not grounded."""
        return bool(self.numbers)


def check(text: str, count: int) -> CheckedText:
    """Keep the markers of the sources 1 to ``count``; take out and report the others.

    Brackets in code, glued to an identifier (``arr[1]``) or in front of a link target are not markers. ``[1, 2]``,
    ``[1-3]`` and ``【1】`` are read as what they mean and written as ``[1][2]``. A sentence of which only "As in"
    would remain goes as a whole.

    Args:
        text: Markdown, usually written by a language model.
        count: how many sources there were; 0 or more.
    """
    kept: dict[int, None] = {}
    removed: list[int] = []

    def checked(match: re.Match[str]) -> str:
        numbers = _numbers(match["run"])
        good = [number for number in numbers if 1 <= number <= count]
        removed.extend(number for number in numbers if number not in good)
        kept.update(dict.fromkeys(good))
        written = "".join(f"[{number}]" for number in good)
        return f"{match['gap'] or ''}{written}" if good else ""

    def swept(prose: str) -> str:
        before = len(removed)
        result = _MARKER.sub(checked, prose)
        return _DANGLING.sub("", result) if len(removed) > before else result

    return CheckedText(outside_code(text, swept), tuple(kept), tuple(removed))


def marker_numbers(text: str) -> tuple[int, ...]:
    """All source numbers that a text names outside code, in order, as often as they occur."""
    found: list[int] = []

    def collect(prose: str) -> str:
        found.extend(number for match in _MARKER.finditer(prose) for number in _numbers(match["run"]))
        return prose

    outside_code(text, collect)
    return tuple(found)


def without_markers(text: str) -> str:
    """The text without any marker; code stays as it is."""
    return outside_code(text, lambda prose: _MARKER.sub("", prose))


def renumber(text: str, citations: Sequence[Citation]) -> tuple[str, tuple[Citation, ...]]:
    """Number the cited sources 1, 2, 3 ... in order of appearance and leave out those that are not cited.

    Args:
        text: a text whose markers have been checked against these citations.
        citations: the sources under their present numbers.

    Returns:
        The text with its new numbers, and the cited sources in that order.
    """
    known = {citation.number: citation for citation in citations}
    cited = dict.fromkeys(number for number in marker_numbers(text) if number in known)
    places = {number: place for place, number in enumerate(cited, 1)}
    ordered = tuple(replace(known[number], number=place) for number, place in places.items())
    return outside_code(text, lambda prose: _MARKER.sub(lambda match: _written(match, places), prose)), ordered


def label(citation: Citation) -> str:
    """A source as people name it: ``document › section``, or the document alone when it has no section.

    The document's path or address is what tells two equal titles apart, so that it is what is shown.
    """
    parts = [" ".join(part.split()) for part in (citation.document or citation.title, citation.section)]
    return _SEPARATOR.join(part for part in parts if part)


def render_sources(citations: Sequence[Citation]) -> list[str]:
    """One line for each source, such as ``[1] guide.md › Install``, in the order of their numbers."""
    return [f"[{citation.number}] {label(citation)}" for citation in sorted(citations, key=lambda one: one.number)]


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with its parts outside code fences and code spans changed.

    Args:
        text: Markdown.
        change: given each of these parts in order; what it returns takes its place.
    """
    pieces: list[str] = []
    place = 0
    for match in _CODE.finditer(text):
        pieces += [change(text[place : match.start()]), match.group()]
        place = match.end()
    return "".join([*pieces, change(text[place:])])


def _written(match: re.Match[str], places: Mapping[int, int]) -> str:
    numbers = (places.get(number, number) for number in _numbers(match["run"]))
    return f"{match['gap'] or ''}{''.join(f'[{number}]' for number in numbers)}"


def _numbers(run: str) -> list[int]:
    found: list[int] = []
    for one in _ONE.finditer(run):
        for part in re.split(r"\s*[,，、;]\s*", one["numbers"]):
            ends = [int(number) for number in re.split(r"\s*[–-]\s*", part)]
            spread = len(ends) == 2 and 0 < ends[1] - ends[0] < _MOST_IN_RANGE  # noqa: PLR2004  a range has two ends
            found.extend(range(ends[0], ends[1] + 1) if spread else ends)
    return found


def section_at(passage: Passage, quote: str) -> str:
    """The section that a quote stands in, headings joined by `` › ``.

    Small sections of a page share one chunk, whose own section is only what they have in common; the headings between
    them stand in its text.

    Args:
        passage: the quoted chunk.
        quote: a literal part of its text; the chunk's section is given when it is none.
    """
    place = passage.text.find(quote)
    path: list[tuple[int, str]] = []
    fenced = False
    for line in passage.text[: max(place, 0)].splitlines():
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        heading = _HEADING.fullmatch(line)
        if heading and not fenced:
            level = len(heading["marks"])
            path = [entry for entry in path if entry[0] < level] + [(level, heading["title"].strip())]
    titles = [title for _, title in path]
    if titles and not passage.section and fold(titles[0]) == fold(passage.title):
        titles = titles[1:]
    return " › ".join(filter(None, [passage.section, *titles]))
