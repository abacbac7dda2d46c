"""Phrases kept as data, compiled to patterns: one TOML file per language in ``discovery/phrases``.

A phrase is written in words; three marks make it stretch:

- ``{0-3}``: that many other words in between (characters in languages without spaces);
- ``(do|does)``: alternatives; ``(do|does)?``: may be missing; alternatives may hold ``<groups>``;
- ``<sources>``: any entry of that name in the file's ``[groups]`` table.

A phrase never crosses the end of a sentence. Pure, apart from reading the package's own files once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from store.errors import ConfigurationError
from store.text import fold

UNSPACED_LANGUAGES = frozenset({"zh"})
"""Languages that put no space between words: phrases are joined and gaps count characters."""

_ELEMENT = re.compile(
    r"\{(?P<least>\d+)-(?P<most>\d+)\}|<(?P<group>\w+)>|\((?P<choice>[^()]*)\)|(?P<word>[^\s{}<>()?]+)|(?P<bad>\S)"
)
_NEVER = re.compile(r"(?!)")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'"})
_CONTRACTIONS = (
    (re.compile(r"\b(?:can't|cannot|cant)\b"), "can not"),
    (re.compile(r"\b(?:won't|wont)\b"), "will not"),
    (re.compile(r"\b(do|does|did|is|was|are|were|has|have|had|could|would|should)n'?t\b"), r"\1 not"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"\b(i|you|we|they)'ve\b"), r"\1 have"),
    (re.compile(r"\b(you|we|they)'re\b"), r"\1 are"),
    (re.compile(r"\b(it|that|there|here|what|where|who|how|this)'s\b"), r"\1 is"),
)
_SPACES = re.compile(r"[^\S\n]+")


@dataclass(frozen=True, slots=True)
class LanguagePhrases:
    """The phrases of one language, compiled.

    Attributes:
        code: ISO 639-1 code, the name of the file.
        weak: says that an answer isn't grounded, unless a condition governs the clause.
        weak_plain: the same, but only in a sentence without any condition.
        conditions: words that turn what follows them in the clause into a case, not a statement.
        conditions_after: the same for what stands before them.
        existence: a question that asks whether anything about its subject exists.
        existence_words: folded words of such a frame (guide, runbook, ...) that are no topic of their own.
        greetings: opens a message.
        courtesies: closes or acknowledges (thanks, ok, great).
        smalltalk: greetings, courtesies and the other idioms of small talk.
        filler: words that may stand between small talk.
        stop: folded words without a topic of their own, beyond those of :func:`store.text.stop_words`.
        negation: says *not*.
        neutral: looks like a negation and is none ("whether or not", "有没有").
        opposites: pairs of stems that reverse a question.
    """

    code: str
    weak: re.Pattern[str]
    weak_plain: re.Pattern[str]
    conditions: re.Pattern[str]
    conditions_after: re.Pattern[str]
    existence: re.Pattern[str]
    existence_words: frozenset[str]
    greetings: re.Pattern[str]
    courtesies: re.Pattern[str]
    smalltalk: re.Pattern[str]
    filler: re.Pattern[str]
    stop: frozenset[str]
    negation: re.Pattern[str]
    neutral: re.Pattern[str]
    opposites: tuple[tuple[str, str], ...]


def normalise_wording(text: str) -> str:
    """Text as phrases expect it: folded, contractions written out, traditional Chinese characters simplified.

    Line breaks are kept, other white space becomes single spaces.
    """
    folded = fold(text).translate(_APOSTROPHES).translate(_simplified())
    for pattern, written_out in _CONTRACTIONS:
        folded = pattern.sub(written_out, folded)
    return _SPACES.sub(" ", folded)


@cache
def all_languages() -> tuple[LanguagePhrases, ...]:
    """Every language that has a phrase file, in the order of their codes."""
    folder = files("discovery").joinpath("phrases")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(
        compile_language(name.removesuffix(".toml"), tomllib.loads(folder.joinpath(name).read_text(encoding="utf-8")))
        for name in names
    )


def compile_language(code: str, data: Mapping[str, Any]) -> LanguagePhrases:
    """The patterns of one phrase file.

    Args:
        code: ISO 639-1 code; decides whether words are separated by spaces.
        data: the parsed TOML file; tables and lists that are absent match nothing.

    Raises:
        ConfigurationError: a phrase names an unknown group or uses a mark that does not exist.
    """
    groups: Mapping[str, Sequence[str]] = data.get("groups", {})
    spaced = code not in UNSPACED_LANGUAGES

    def pattern(table: str, *keys: str) -> re.Pattern[str]:
        phrases = [phrase for key in keys for phrase in data.get(table, {}).get(key, ())]
        return compile_phrases(phrases, groups, spaced=spaced)

    return LanguagePhrases(
        code=code,
        weak=pattern("weak", "own"),
        weak_plain=pattern("weak", "plain"),
        conditions=pattern("weak", "conditions"),
        conditions_after=pattern("weak", "conditions_after"),
        existence=_existence(data.get("existence", {}), groups, spaced=spaced),
        existence_words=frozenset(data.get("existence", {}).get("words", ())),
        greetings=pattern("smalltalk", "greetings"),
        courtesies=pattern("smalltalk", "courtesies"),
        smalltalk=pattern("smalltalk", "greetings", "courtesies", "idioms"),
        filler=pattern("smalltalk", "filler"),
        stop=frozenset(word for line in data.get("stop", {}).get("words", ()) for word in line.split()),
        negation=pattern("negation", "words"),
        neutral=pattern("negation", "neutral"),
        opposites=tuple((one, other) for one, other in data.get("negation", {}).get("opposites", ())),
    )


def _existence(
    table: Mapping[str, Sequence[str]], groups: Mapping[str, Sequence[str]], *, spaced: bool
) -> re.Pattern[str]:
    def of(key: str) -> str:
        return compile_phrases(table.get(key, ()), groups, spaced=spaced).pattern

    joints = compile_phrases(groups.get("joint", ()), groups, spaced=spaced).pattern
    ending = rf"(?=\s*(?:[?.!,;:)\n]|$|{joints}))"
    start = r"^\W*(?:and\W+|so\W+)?"
    return re.compile(
        f"{of('frames')}|(?:{of('noun_frames')}){ending}"
        f"|{start}(?:{of('start_frames')})|{start}(?:{of('start_noun_frames')}){ending}"
    )


def compile_phrases(phrases: Iterable[str], groups: Mapping[str, Sequence[str]], *, spaced: bool) -> re.Pattern[str]:
    """One pattern that finds any of the phrases in text from :func:`normalise_wording`; longest phrase first.

    Raises:
        ConfigurationError: a phrase names an unknown group or uses a mark that does not exist.
    """
    ordered = sorted(phrases, key=len, reverse=True)
    if not ordered:
        return _NEVER
    alternatives = "|".join(_phrase(phrase, groups, spaced=spaced) for phrase in ordered)
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)" if spaced else f"(?:{alternatives})")


def _phrase(phrase: str, groups: Mapping[str, Sequence[str]], *, spaced: bool) -> str:
    joint = r",?\s+" if spaced else r"\s?"
    pieces: list[str] = []
    after_gap = True
    matches = list(_ELEMENT.finditer(phrase))
    for position, match in enumerate(matches):
        if match["bad"]:
            if match["bad"] == "?" and position and matches[position - 1]["choice"] is not None:
                continue
            raise ConfigurationError(
                f"The phrase {phrase!r} holds {match['bad']!r}, which is no mark.",
                "Use {0-3}, (a|b), (a|b)? or <group>.",
            )
        optional = match["choice"] is not None and phrase[match.end() : match.end() + 1] == "?"
        if match["least"]:
            pieces.append(_gap(int(match["least"]), int(match["most"]), joint, spaced=spaced))
            after_gap = True
            continue
        body = _element(match, phrase, groups, spaced=spaced)
        last = position == len(matches) - 1 - optional
        pieces.append(_joined(body, "" if last else joint, optional=optional))
        after_gap = False
    if after_gap:
        raise ConfigurationError(f"The phrase {phrase!r} is empty or ends in a gap.", "End it with a word.")
    return "".join(pieces)


def _joined(body: str, joint: str, *, optional: bool) -> str:
    return f"(?:{body}{joint})?" if optional else f"{body}{joint}"


def _gap(least: int, most: int, joint: str, *, spaced: bool) -> str:
    if not spaced:
        return f"[^，。！？；,!?;\\n]{{{least},{most}}}?"
    return rf"(?:[^\s,!?;]+{joint}){{{least},{most}}}?"


def _element(match: re.Match[str], phrase: str, groups: Mapping[str, Sequence[str]], *, spaced: bool) -> str:
    if match["word"]:
        return re.escape(match["word"])
    if match["group"]:
        if match["group"] not in groups:
            raise ConfigurationError(
                f"The phrase {phrase!r} names the unknown group <{match['group']}>.", "Define it in [groups]."
            )
        choices: Sequence[str] = groups[match["group"]]
    else:
        choices = match["choice"].split("|")
    ordered = sorted(choices, key=len, reverse=True)
    return "(?:" + "|".join(_phrase(choice, groups, spaced=spaced) for choice in ordered) + ")"


@cache
def _simplified() -> dict[int, str]:
    data = tomllib.loads(files("discovery").joinpath("phrases", "zh.toml").read_text(encoding="utf-8"))
    pairs = "".join(data["traditional"]["pairs"]).split()
    return {ord(pair[0]): pair[1] for pair in pairs}
