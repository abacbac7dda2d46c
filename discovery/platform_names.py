"""Which platforms a text names, under whatever spelling. Pure.

Names that are ordinary words too (Go, Helm, Slack, Windows) need context; how is told in ``platforms.toml``.
Matching looks every word up in a table and runs patterns only on hits: a passage takes a few hundredths of a
millisecond.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from store.text import clean, stop_words

_LATIN = "a-z0-9à-öø-ɏ"
_PIECE = re.compile(f"[{_LATIN}]+")
_LATIN_LETTERS = frozenset(letter for code in range(0x250) if _PIECE.match(letter := chr(code)))
_ADDRESS_REST = re.compile(r"://\S*")
_ASCII_LETTERS = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128)).lower()
_JOINTS = " \t\n._/-"
_LONGEST_JOINT = 2
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SENTENCE_BORDER = re.compile(r"[.!?:;。！？：；]\s|[。！？：；\n]")
_OPENERS = " \t\r\n#*>-–—•·\"'“”‘’«»「」『』()[]_`|0123456789"
_WORD_BEFORE = re.compile(r"(?<!\w)(\w{1,24})[^\S\n]{1,3}$")
_WORD_AFTER = re.compile(r"[^\S\n./-]{0,3}[./-]?([^\W_]{1,24})(?!\w)")
_WORD_REACH = 28
_NEARBY_WORDS = 2
_REACH = 400
"""Characters around a hit in which its sentence is looked for."""
_FEWEST_TITLE_WORDS = 3


@dataclass(frozen=True, slots=True)
class Platform:
    """One platform and how it may be spelled; the fields are those of ``platforms.toml``."""

    name: str
    aliases: tuple[str, ...] = ()
    ambiguous: bool = False
    ambiguous_aliases: tuple[str, ...] = ()
    own_cues_only: bool = False
    cue_required: bool = False
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()


class Mention(NamedTuple):
    """A place in a (normalised) text that names a platform."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class _Spelling:
    text: str
    lead: str
    pieces: tuple[str, ...]
    tail: str
    platform: Platform
    ambiguous: bool


@dataclass(frozen=True)
class PlatformNames:
    """All platform names known at one time; immutable.

    Args:
        platforms: what is known; of two with the same name the first wins.
        cues: words that mark an ambiguous name beside them as a product.
    """

    platforms: tuple[Platform, ...] = ()
    cues: frozenset[str] = frozenset()
    _by_piece: Mapping[str, tuple[_Spelling, ...]] = field(init=False, repr=False, compare=False)
    _pieces: frozenset[str] = field(init=False, repr=False, compare=False)
    _unspaced: tuple[tuple[str, str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_piece: dict[str, list[_Spelling]] = {}
        unspaced: list[tuple[str, str]] = []
        for platform in self.platforms:
            for spelling, ambiguous in _spellings(platform):
                pieces = _PIECE.findall(spelling.lower())
                if not pieces:
                    unspaced.append((spelling, platform.name))
                    continue
                made = _compile(spelling, pieces, platform, ambiguous=ambiguous)
                for key in {pieces[0], "".join(pieces)}:
                    by_piece.setdefault(key, []).append(made)
        object.__setattr__(self, "_by_piece", {piece: tuple(made) for piece, made in by_piece.items()})
        object.__setattr__(self, "_pieces", frozenset(by_piece))
        object.__setattr__(self, "_unspaced", tuple(unspaced))

    @property
    def names(self) -> frozenset[str]:
        """Every canonical name."""
        return frozenset(platform.name for platform in self.platforms)

    def mentioned(self, text: str) -> frozenset[str]:
        """Canonical names of the platforms that a text names.

        Of overlapping names the longest counts: "GitHub Actions" is not GitHub. Addresses (``https://...``) and
        mail addresses name nothing.
        """
        return frozenset(mention.name for mention in _longest(self._mentions(_readable(text))))

    def touched(self, text: str) -> frozenset[str]:
        """Like :meth:`mentioned`, with the names inside longer names: a page on GitHub Actions touches GitHub."""
        return frozenset(mention.name for mention in self._mentions(_readable(text)))

    def split(self, text: str) -> tuple[tuple[str, ...], str]:
        """The names that a text mentions, in order and repeated, and the text without them (and without addresses)."""
        readable = _readable(text)
        mentions = _longest(self._mentions(readable))
        rest, position = [], 0
        for mention in mentions:
            rest.append(readable[position : mention.start])
            position = mention.end
        rest.append(readable[position:])
        return tuple(mention.name for mention in mentions), " ".join(rest)

    def with_learned(self, names: Iterable[str]) -> PlatformNames:
        """These names and others that a corpus taught; a spelling that is known already is not added again.

        A learned single word in ordinary capitals ("Apollo") is treated as ambiguous: it may be a common noun.
        """
        known = {spelling.casefold() for platform in self.platforms for spelling, _ in _spellings(platform)}
        fresh = {name.strip(): None for name in sorted(names) if name.strip() and name.strip().casefold() not in known}
        learned = tuple(Platform(name, ambiguous=name.isalpha() and name.istitle()) for name in fresh)
        return PlatformNames(self.platforms + learned, self.cues)

    def _mentions(self, text: str) -> Iterator[Mention]:
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
        pieces = lowered.translate(_ASCII_LETTERS).split() if text.isascii() else _PIECE.findall(lowered)
        for piece in self._pieces.intersection(pieces):
            places = list(_word_places(piece, lowered))
            for spelling in self._by_piece[piece]:
                yield from self._found(spelling, places, text, lowered)
        if self._unspaced and not text.isascii():
            for name, canonical in self._unspaced:
                yield from (Mention(at, at + len(name), canonical) for at in _places(name, text))

    def _found(self, spelling: _Spelling, places: list[int], text: str, lowered: str) -> Iterator[Mention]:
        for place in places:
            start = place - len(spelling.lead)
            end = _end(spelling, lowered, start)
            if end and (not spelling.ambiguous or _meant(spelling, text, start, end, self.cues)):
                yield Mention(start, end, spelling.platform.name)


def _spellings(platform: Platform) -> Iterator[tuple[str, bool]]:
    yield platform.name, platform.ambiguous
    yield from ((alias, False) for alias in platform.aliases)
    yield from ((alias, True) for alias in platform.ambiguous_aliases)


def _compile(spelling: str, pieces: list[str], platform: Platform, *, ambiguous: bool) -> _Spelling:
    lowered = spelling.lower()
    lead = lowered[: lowered.index(pieces[0])]
    tail = lowered[lowered.rindex(pieces[-1]) + len(pieces[-1]) :]
    return _Spelling(spelling, lead, tuple(pieces), tail, platform, ambiguous)


def _end(spelling: _Spelling, lowered: str, start: int) -> int:
    """Where the spelling that starts at a place ends, 0 when it does not stand there as whole words."""
    if start < 0 or not lowered.startswith(spelling.lead, start) or not _opens_word(lowered, start):
        return 0
    place = start + len(spelling.lead)
    for number, piece in enumerate(spelling.pieces):
        if number:
            stop = min(place + _LONGEST_JOINT, len(lowered))
            while place < stop and lowered[place] in _JOINTS:
                place += 1
        if not lowered.startswith(piece, place):
            return 0
        place += len(piece)
    if not lowered.startswith(spelling.tail, place):
        return 0
    place += len(spelling.tail)
    following = lowered[place : place + 2]
    another = not spelling.tail and following.startswith(("++", "#"))
    return 0 if another or following[:1] in _LATIN_LETTERS else place


def _opens_word(lowered: str, start: int) -> bool:
    """Nothing before belongs to the same word, to a host or file name, or to a mail address."""
    previous = lowered[start - 1 : start] if start else ""
    in_name = previous == "." and start > 1 and lowered[start - 2] in _LATIN_LETTERS
    return not (in_name or previous == "@" or previous in _LATIN_LETTERS)


def _readable(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", clean(text))
    return _without_addresses(text) if "://" in text else text


def _without_addresses(text: str) -> str:
    kept, position = [], 0
    for match in _ADDRESS_REST.finditer(text):
        scheme = match.start()
        while scheme > position and text[scheme - 1].isalnum():
            scheme -= 1
        kept.append(text[position:scheme])
        position = match.end()
    return " ".join([*kept, text[position:]])


def _word_places(piece: str, lowered: str) -> Iterator[int]:
    length = len(piece)
    for place in _places(piece, lowered):
        if lowered[place + length : place + length + 1] not in _LATIN_LETTERS and (
            not place or lowered[place - 1] not in _LATIN_LETTERS
        ):
            yield place


def _places(needle: str, text: str) -> Iterator[int]:
    place = text.find(needle)
    while place >= 0:
        yield place
        place = text.find(needle, place + 1)


def _longest(mentions: Iterable[Mention]) -> list[Mention]:
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda found: (found.start, -found.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


def _meant(spelling: _Spelling, text: str, start: int, end: int, cues: frozenset[str]) -> bool:
    """Whether an ordinary word stands for the product here."""
    platform = spelling.platform
    proper = text[start:end] == spelling.text
    own = _settled(platform, text, start, end) if proper or not platform.cue_required else False
    if own or not proper or platform.cue_required:
        return own
    if text[end : end + 1] == "-" or text[start - 1 : start] == "-":
        return False
    before, after = _surroundings(text, start, end)
    if _in_longer_name(platform, before, cues):
        return False
    if before.strip(_OPENERS) and not _title_case(before + text[start:end] + after):
        return True
    if not before.strip(_OPENERS) and not after.strip(_OPENERS + ".,!?:;"):
        return True
    nearby = {*_words(before)[-_NEARBY_WORDS:], *_words(after)[:_NEARBY_WORDS]}
    return not platform.own_cues_only and not cues.isdisjoint(nearby)


def _in_longer_name(platform: Platform, before: str, cues: frozenset[str]) -> bool:
    """Whether a capitalised word stands directly in front ("American Express").

    The first word of a sentence is always capitalised: it counts only where the name is a verb or adjective as well.
    """
    words = _WORD.findall(before)
    if not words or not before.endswith(words[-1] + " ") or not words[-1].istitle():
        return False
    return (
        (len(words) > 1 or platform.own_cues_only)
        and words[-1].lower() not in cues
        and words[-1].lower() not in stop_words()
    )


def _settled(platform: Platform, text: str, start: int, end: int) -> bool:
    """Whether one of the platform's own words stands directly beside the place, with nothing but blanks between."""
    before = _WORD_BEFORE.search(text, max(0, start - _WORD_REACH), start)
    if before and before.group(1).lower() in platform.before:
        return True
    after = _WORD_AFTER.match(text, end, end + _WORD_REACH)
    return after is not None and after.group(1).lower() in platform.after


def _surroundings(text: str, start: int, end: int) -> tuple[str, str]:
    """The rest of the sentence before and after a place."""
    before = text[max(0, start - _REACH) : start]
    borders = [border.end() for border in _SENTENCE_BORDER.finditer(before)]
    after = text[end : end + _REACH]
    border = _SENTENCE_BORDER.search(after)
    return before[borders[-1] :] if borders else before, after[: border.start()] if border else after


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _title_case(sentence: str) -> bool:
    """Whether all longer words are capitalised, so that a capital says nothing."""
    longer = [word for word in _WORD.findall(sentence) if len(word) > 3]  # noqa: PLR2004 (short words stay small in titles)
    return len(longer) >= _FEWEST_TITLE_WORDS and all(word[0].isupper() for word in longer)
