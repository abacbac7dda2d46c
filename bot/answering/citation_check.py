"""Does each sentence of a generated answer stand in the sources that it cites? Pure but for the embedding.

A sentence is supported when it is like its sources in meaning and in words, and when its numbers and names stand
there. A marker that points to the wrong source is set right; a sentence that no source supports is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from bot.answering import citations
from bot.answering.agreement import LIST_MARK, Reading, disagreements, read
from bot.answering.answer_parts import Part, joined, leads, markers_before_stops, parts_of
from bot.answering.units import units_of
from discovery.weak_language import weak_phrase
from store.records import Passage
from store.text import informative, is_blank, stems, terms
from store.vectors import Vector

Embed = Callable[[list[str]], "np.typing.NDArray[np.float32]"]
"""Texts to unit-length vectors, one row each."""

SUPPORTED = 0.5
"""Mean of likeness in meaning and share of common words from which a source supports a sentence. Of the sentences in
which people answered support questions it keeps 78 % beside the right page and 8 % beside pages that only seem right;
docs/llm.md has the table."""
CLOSE_WORDS = 0.8
"""Share of a sentence's words in one sentence of the source that suffices: short ones are like few in meaning."""
CODE_WORDS = 0.8
"""Share of the words of a code block that must stand in its source: there, being alike means nothing."""
_EMBEDDED_CHARACTERS = 700


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence without support, and what speaks against it."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """What is left of an answer.

    Attributes:
        text: the supported sentences with markers that point to their sources; may be empty.
        quotes: for each source cited, in order of appearance, the literal piece of its text that supports most.
        dropped: sentences without support.
        pointless: numbers in markers for which there was no source.
        moved: markers that were set right, or added to a sentence without any.
        cited: whether the answer cited anything before it was checked.
        kept: share of the answer's sentences that is left, by characters, in [0, 1].
        admits: whether the answer says in its own words that the sources don't tell.
    """

    text: str
    quotes: dict[int, str]
    dropped: tuple[Dropped, ...]
    pointless: tuple[int, ...]
    moved: int
    cited: bool
    kept: float
    admits: bool


def check_answer(
    text: str,
    sources: Sequence[Passage],
    question: str,
    embed: Embed | None,
    *,
    translated: bool = False,
    supported: float = SUPPORTED,
) -> CheckedAnswer:
    """Hold an answer against its sources.

    Args:
        text: Markdown as the model wrote it.
        sources: what it was shown, in the order of their numbers from 1 on.
        question: as it was asked.
        embed: makes vectors; None where the model does not read the language, then words alone decide.
        translated: whether the answer is in another language than its sources, so that meaning alone decides.
        supported: see :data:`SUPPORTED`.

    Raises:
        ModelError: the embedding model failed.
    """
    marked = citations.check(markers_before_stops(text), len(sources))
    return _Check(sources, question, embed, supported, translated=translated).run(marked)


@dataclass(slots=True)
class _Tally:
    """What adds up while an answer is read."""

    dropped: list[Dropped] = field(default_factory=list)
    quotes: dict[int, tuple[float, str]] = field(default_factory=dict)
    moved: int = 0
    kept: int = 0
    total: int = 0
    admits: bool = False


class _Check:
    """One answer, its sources taken apart."""

    def __init__(
        self, sources: Sequence[Passage], question: str, embed: Embed | None, supported: float, *, translated: bool
    ) -> None:
        self._texts = [f"{passage.title}\n{passage.section}\n{passage.text}" for passage in sources]
        self._readings = [read(text) for text in self._texts]
        self._all = read("\n".join(self._texts))
        self._pieces = [_pieces(passage.text) for passage in sources]
        self._question = question
        self._meaning = _Meaning(embed)
        self._supported = supported
        self._translated = translated
        self._tally = _Tally()

    def run(self, marked: citations.CheckedText) -> CheckedAnswer:
        parts = [self._part(part) for part in parts_of(marked.text)]
        text, tally = joined(parts), self._tally
        numbers = dict.fromkeys(citations.marker_numbers(text))
        return CheckedAnswer(
            text=text,
            quotes={number: tally.quotes[number][1] for number in numbers},
            dropped=tuple(tally.dropped),
            pointless=marked.removed,
            moved=tally.moved,
            cited=bool(marked.numbers or marked.removed),
            kept=tally.kept / tally.total if tally.total else 0.0,
            admits=tally.admits,
        )

    def _part(self, part: Part) -> Part | None:
        """The part with its markers set right; None when one of its pieces is not supported."""
        if leads(part) and not disagreements(part.text, self._all, self._question):
            return Part(part.kind, part.before, tuple(map(citations.without_markers, part.pieces)))
        pieces: list[str] = []
        size = 0
        for piece in part.pieces:
            bare = LIST_MARK.sub("", citations.without_markers(piece)).strip()
            if self._claims_nothing(bare):
                pieces.append(citations.without_markers(piece))
                continue
            size += len(bare)
            if supported := self._piece(piece, bare, part.kind):
                pieces.append(supported)
        self._tally.total += size
        if len(pieces) < len(part.pieces):
            return None
        self._tally.kept += size
        return Part(part.kind, part.before, tuple(pieces))

    def _piece(self, piece: str, bare: str, kind: str) -> str:
        """The piece with the markers of the sources that support it; empty when none does."""
        own = tuple(dict.fromkeys(citations.marker_numbers(piece)))
        found = self._support(bare, kind, own)
        for number in found:
            self._quote(bare, number)
        if not found or set(found) == set(own):
            return piece if found else ""
        self._tally.moved += 1
        return _with_markers(piece, found)

    def _claims_nothing(self, bare: str) -> bool:
        """Whether a piece needs no source: "Here is how:", or that the sources don't tell."""
        if is_blank(bare):
            return True
        foreign = disagreements(bare, self._all, self._question)
        if weak_phrase(bare) and not foreign:
            self._tally.admits = True
            return True
        return not informative(terms(bare)) and not foreign

    def _support(self, bare: str, kind: str, own: Sequence[int]) -> tuple[int, ...]:
        """The sources that support a piece, its own first; none when it is to be dropped."""
        why = ""
        if own:
            why = self._against(bare, kind, own)
            if not why:
                telling = tuple(number for number in own if self._likeness(bare, kind, number) >= self._bar(kind))
                return telling or tuple(own)
        others = sorted(
            (number for number in range(1, len(self._texts) + 1) if number not in own),
            key=lambda number: -_share(bare, self._readings[number - 1].stems),
        )
        for number in others:
            against = self._against(bare, kind, [number])
            if not against:
                return (number,)
            why = why or against
        self._tally.dropped.append(Dropped(bare, why or "there was no source"))
        return ()

    def _against(self, bare: str, kind: str, numbers: Sequence[int]) -> str:
        """What speaks against these sources together; empty when they support the piece."""
        likeness = max(self._likeness(bare, kind, number) for number in numbers)
        if len(numbers) > 1:
            words = frozenset().union(*(self._readings[number - 1].stems for number in numbers))
            likeness = max(likeness, self._mixed(bare, kind, _share(bare, words), numbers))
        if likeness < self._bar(kind):
            return f"support {likeness:.2f} is below {self._bar(kind):.2f}"
        foreign = disagreements(bare, self._joined(numbers), self._question, self._all)
        return f"not in its source: {', '.join(foreign)}" if foreign else ""

    def _joined(self, numbers: Sequence[int]) -> Reading:
        if len(numbers) == 1:
            return self._readings[numbers[0] - 1]
        return read("\n".join(self._texts[number - 1] for number in numbers))

    def _bar(self, kind: str) -> float:
        return CODE_WORDS if kind == "code" else self._supported

    def _likeness(self, bare: str, kind: str, number: int) -> float:
        return self._mixed(bare, kind, _share(bare, self._readings[number - 1].stems), [number])

    def _mixed(self, bare: str, kind: str, words: float, numbers: Sequence[int]) -> float:
        if kind == "code":
            return words
        closest = max(_share(bare, _stems_of(piece)) for number in numbers for piece in self._pieces[number - 1])
        if closest >= CLOSE_WORDS:
            return closest
        meaning = max(self._meaning.best(bare, self._pieces[number - 1])[0] for number in numbers)
        if self._translated:
            return meaning
        return words if self._meaning.blind else (words + meaning) / 2

    def _quote(self, bare: str, number: int) -> None:
        """Remember the piece of a source that is most like a sentence: in words where they tell, else in meaning."""
        pieces = self._pieces[number - 1]
        shares = [_share(bare, _stems_of(piece)) for piece in pieces]
        place = int(np.argmax(shares))
        likeness = shares[place]
        if likeness < CLOSE_WORDS and not self._meaning.blind:
            likeness, place = self._meaning.best(bare, pieces)
        if likeness > self._tally.quotes.get(number, (-2.0, ""))[0]:
            self._tally.quotes[number] = (likeness, pieces[place])


class _Meaning:
    """Cosines between pieces of text, each embedded once."""

    def __init__(self, embed: Embed | None) -> None:
        self._embed = embed
        self._vectors: dict[str, Vector] = {}

    @property
    def blind(self) -> bool:
        return self._embed is None

    def best(self, text: str, pieces: Sequence[str]) -> tuple[float, int]:
        """The highest cosine of a text with one of these pieces, and which one that is."""
        if self._embed is None or not pieces:
            return 0.0, 0
        wanted = dict.fromkeys(one for one in (text, *pieces) if one not in self._vectors)
        if wanted:
            rows = self._embed([one[:_EMBEDDED_CHARACTERS] for one in wanted])
            self._vectors.update(zip(wanted, rows, strict=True))
        cosines = np.stack([self._vectors[piece] for piece in pieces]) @ self._vectors[text]
        place = int(np.argmax(cosines))
        return float(cosines[place]), place


def _pieces(text: str) -> tuple[str, ...]:
    """The quotable pieces of a source with at least one letter or digit in what is embedded of them."""
    pieces = [text[unit.start : unit.end] for unit in units_of(text)]
    return tuple(piece for piece in pieces if not is_blank(piece[:_EMBEDDED_CHARACTERS])) or (text,)


@lru_cache(maxsize=4096)
def _stems_of(text: str) -> frozenset[str]:
    """The words of a piece."""
    return frozenset(stems(text))


def _share(sentence: str, words: frozenset[str]) -> float:
    """Share of a sentence's informative words that a source has; 1 when it has none."""
    own = {term.stem for term in informative(terms(sentence))}
    return len(own & words) / len(own) if own else 1.0


def _with_markers(piece: str, numbers: Sequence[int]) -> str:
    """The piece with these markers instead of its own, in front of its last full stop."""
    bare = citations.without_markers(piece)
    text, tail = bare.rstrip(), bare[len(bare.rstrip()) :]
    run = "".join(f"[{number}]" for number in numbers)
    if text.endswith(("```", "~~~", "|")):
        return f"{text}\n\n{run}{tail}"
    stop = text[-1:] if text[-1:] in ".!?。！？" else ""
    return f"{text[: len(text) - len(stop)]} {run}{stop}{tail}"
