"""The extractive answer: the sentences that answer, quoted as they stand, at most a screen, with their sources. Pure.

No model is asked. Units of the retrieved passages are scored by the question's words, the best few are taken,
what they cannot stand without is added, and each is quoted with the number of its source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.answering.citations import section_at
from bot.answering.neighbours import announces_in_vain, following, needed, pieces, unfinished, whole_block
from bot.answering.quoting import balanced, fitting, marked, shortened
from bot.answering.screen import MARKER_ROOM, ExtractiveOptions, Screen
from bot.answering.unit_scoring import RANK_SHARE, SCORE_SHARE, Asked, asked, score, section_bonus
from bot.answering.units import Unit, units_of
from store.records import Citation, Passage
from store.search import QuestionTerm
from store.text import stems

__all__ = ["Answer", "ExtractiveOptions", "answer"]

QUOTE_CHARACTERS = 400
SAME_PASSAGE_SHARE = 0.6
"""Part of the best unit's score that a further unit of the same passage needs."""
OTHER_PASSAGE_SHARE = 0.8
"""The same for other passages of that document."""
OTHER_DOCUMENT_SHARE = 0.87
"""The same for other documents: a second source must be nearly as good."""
LOOK_AHEAD = 6
"""Units behind the best one among which the code or steps of a "how to" are looked for."""
SAME_WORDS = 0.75
"""Shared part of two units' words from which on they say the same."""
SMALLEST_CUT, FEWEST_LINES = 200, 4
"""Room below which the beginning of a larger code block or list is not worth showing."""
DEED_SHARE = 0.5
"""Part of the best passage's similarity that a passage with the code or steps needs."""
_DEEDS = frozenset({"code", "steps"})
_FEW_WORDS = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """Quoted text in Markdown with markers, and what the markers stand for; both empty without a passage."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class _Pick:
    """A unit with its place and its merit."""

    passage: int
    unit: int
    score: float


def answer(
    question: str,
    terms: Sequence[QuestionTerm],
    passages: Sequence[Passage],
    options: ExtractiveOptions | None = None,
) -> Answer:
    """Quote what answers a question.

    Args:
        question: as it was asked; its form tells whether steps, a definition, a reason or a number is wanted.
        terms: its informative words with their weights.
        passages: what was retrieved, best first.
        options: how much is quoted.

    Returns:
        The pieces of the best-supported passage first, those of one passage in its own order. Without any word in
        common, the beginning of the passage nearest in meaning. Every citation's quote stands literally in a passage.
    """
    options = options or ExtractiveOptions()
    view = asked(question, terms)
    usable = [passage for passage in passages if units_of(passage.text)]
    picks = _ranked(view, usable) or _leads(usable)
    if not picks:
        return Answer("", ())
    screen = Screen(options)
    wanted = _wanted(picks, usable, options)
    deeds = _deed(picks, usable, view)
    for pick in [*wanted[:1], *deeds, *wanted[1:]]:
        fits = _place(pick, usable, view, screen)
        if not fits and (pick in deeds or not screen.chosen):
            _place_beginning(pick, usable, screen)
    return _rendered(screen, usable, picks[0])


def _ranked(view: Asked, passages: Sequence[Passage]) -> list[_Pick]:
    """All units that share a word with the question, best first."""
    picks: list[_Pick] = []
    for place, passage in enumerate(passages):
        context = _context(passage.title, passage.section)
        merit = SCORE_SHARE * max(passage.score, 0.0) + RANK_SHARE / max(passage.rank, 1)
        merit += section_bonus(view, passage.section)
        for number, unit in enumerate(units_of(passage.text)):
            own = score(passage.text[unit.start : unit.end], unit, view, context)
            if own:
                picks.append(_Pick(place, number, own + merit))
    return sorted(picks, key=lambda pick: (-pick.score, pick.passage, pick.unit))


@lru_cache(maxsize=4096)
def _context(title: str, section: str) -> frozenset[str]:
    return frozenset(stems(f"{title}\n{section}"))


def _leads(passages: Sequence[Passage]) -> list[_Pick]:
    """The first unit that is no heading of the passage nearest in meaning."""
    if not passages:
        return []
    best = max(range(len(passages)), key=lambda place: (passages[place].score, -place))
    units = units_of(passages[best].text)
    first = next((number for number, unit in enumerate(units) if unit.kind != "heading"), 0)
    return [_Pick(best, first, 1.0)]


def _wanted(picks: Sequence[_Pick], passages: Sequence[Passage], options: ExtractiveOptions) -> list[_Pick]:
    """The best unit, and others that are nearly as good and say something else."""
    best = picks[0]
    wanted: list[_Pick] = []
    sources: set[int] = set()
    for pick in picks:
        if pick.score < _share(pick, best, passages) * best.score or len(wanted) >= options.units:
            continue
        if pick.passage not in sources and len(sources) >= options.sources:
            continue
        own = _unit(pick, passages)
        if not any(_same(own, _unit(other, passages)) for other in wanted):
            wanted.append(pick)
            sources.add(pick.passage)
    return wanted


def _deed(picks: Sequence[_Pick], passages: Sequence[Passage], view: Asked) -> list[_Pick]:
    """The code or steps of a "how to" whose best unit is prose: behind it, else the best of the same document.

    What follows often shares no word with the question, and may stand in the next chunk.
    """
    best = picks[0]
    units = units_of(passages[best.passage].text)
    if not view.how_to or units[best.unit].kind in _DEEDS:
        return []
    ahead = range(best.unit + 1, min(len(units), best.unit + 1 + LOOK_AHEAD))
    found = [_Pick(best.passage, number, best.score) for number in ahead if units[number].kind in _DEEDS]
    document = passages[best.passage].document
    found += [pick for pick in picks if _unit(pick, passages).kind in _DEEDS]
    found += [
        _Pick(place, number, best.score)
        for place, passage in enumerate(passages)
        if passage.document == document and place != best.passage
        for number, unit in enumerate(units_of(passage.text))
        if unit.kind in _DEEDS
    ]
    section = passages[best.passage].section
    return [
        pick
        for pick in sorted(found, key=lambda pick: passages[pick.passage].section != section)
        if passages[pick.passage].document == document
        and passages[pick.passage].score >= DEED_SHARE * passages[best.passage].score
    ][:1]


def _share(pick: _Pick, best: _Pick, passages: Sequence[Passage]) -> float:
    if pick.passage == best.passage:
        return SAME_PASSAGE_SHARE
    same = passages[pick.passage].document == passages[best.passage].document
    return OTHER_PASSAGE_SHARE if same else OTHER_DOCUMENT_SHARE


def _unit(pick: _Pick, passages: Sequence[Passage]) -> Unit:
    return units_of(passages[pick.passage].text)[pick.unit]


def _same(one: Unit, other: Unit) -> bool:
    """Whether two units say the same in nearly the same words."""
    if one.words == other.words:
        return True
    left, right = one.counts.keys(), other.counts.keys()
    shared = len(left & right)
    smaller = min(len(left), len(right))
    return shared >= SAME_WORDS * len(left | right) or (smaller > _FEW_WORDS and shared == smaller)


def _place(pick: _Pick, passages: Sequence[Passage], view: Asked, screen: Screen) -> bool:
    """Put a unit on the screen with what belongs to it, or with what it needs, or alone, whichever still fits."""
    text = passages[pick.passage].text
    units = units_of(text)
    taken = screen.chosen.get(pick.passage, set())
    if pick.unit in taken:
        return True
    own = needed(text, units, pick.unit, view)
    block = own | whole_block(units, pick.unit)
    announced = block | set(following(text, units, max(block), view))
    for group in (announced, block, own, {pick.unit}):
        if screen.chosen and announces_in_vain(text, units, group):
            continue
        new = {
            number
            for number in group - taken
            if not _known(units[number], number, pick, passages, screen) and not unfinished(text, units[number])
        }
        shown = [piece for _, _, piece in pieces(text, units, new)]
        if new and screen.has_room(shown):
            screen.take(pick.passage, new, shown)
            return True
    return False


def _place_beginning(pick: _Pick, passages: Sequence[Passage], screen: Screen) -> None:
    """The first lines of a unit that is larger than the room left; nothing when that would be a scrap."""
    text = passages[pick.passage].text
    unit = _unit(pick, passages)
    characters = screen.options.characters - screen.characters - 2 * MARKER_ROOM
    lines = screen.options.lines - screen.lines - 3
    if screen.chosen and (characters < SMALLEST_CUT or lines < FEWEST_LINES):
        return
    shown, kept = fitting(text[unit.start : unit.end], max(1, characters), max(1, lines))
    screen.cut[pick.passage, pick.unit] = shown, kept
    screen.take(pick.passage, {pick.unit}, [shown])


def _known(unit: Unit, number: int, pick: _Pick, passages: Sequence[Passage], screen: Screen) -> bool:
    """Whether another passage on the screen already says what this unit says (overlaps, copies)."""
    if number == pick.unit and not screen.chosen:
        return False
    return any(
        _same(unit, units_of(passages[place].text)[other])
        for place, chosen in screen.chosen.items()
        if place != pick.passage
        for other in chosen
    )


def _rendered(screen: Screen, passages: Sequence[Passage], best: _Pick) -> Answer:
    """The pieces of each passage in its order with the number of its source, and the sources."""
    numbers: dict[tuple[str, str], int] = {}
    citations: list[Citation] = []
    shown: list[str] = []
    for place in screen.chosen:
        passage = passages[place]
        slices = _slices(place, passage, screen)
        key = (passage.document_id or passage.document, passage.section)
        if key not in numbers:
            numbers[key] = len(numbers) + 1
            quote = _quote(passage, slices, best.unit if place == best.passage else None)
            citations.append(_citation(numbers[key], passage, quote))
        shown += [marked(balanced(piece), numbers[key]) for _, _, piece in slices]
    return Answer("\n\n".join(shown), tuple(citations))


def _quote(passage: Passage, slices: Sequence[tuple[int, int, str]], best: int | None) -> str:
    """The literal text of the piece with the best unit, from that unit on where it is a sentence; else the first."""
    start, end, _ = slices[0]
    if best is not None:
        unit = units_of(passage.text)[best]
        around = next((one for one in slices if one[0] <= unit.start < one[1]), None)
        start, end = around[:2] if around else (start, end)
        start = unit.start if around and unit.kind == "sentence" else start
    return shortened(passage.text[start:end], QUOTE_CHARACTERS)


def _slices(place: int, passage: Passage, screen: Screen) -> list[tuple[int, int, str]]:
    """What is shown of one passage in its order: start, end and text, units that were cut short each on their own."""
    units = units_of(passage.text)
    cut = {unit: made for (at, unit), made in screen.cut.items() if at == place}
    short = [(units[unit].start, units[unit].start + kept, text) for unit, (text, kept) in cut.items()]
    return sorted([*pieces(passage.text, units, screen.chosen[place] - cut.keys()), *short])


def _citation(number: int, passage: Passage, quote: str) -> Citation:
    return Citation(
        number, passage.document, passage.title, section_at(passage, quote), passage.url, passage.score, quote
    )
