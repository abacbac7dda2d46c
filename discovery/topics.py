"""The normalised topic of a question: equal for other wordings of the same thing, different for other things. Pure.

Inflections, word order, politeness, question words and platform aliases do not matter; platforms, numbers,
versions and negations do.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from discovery.phrase_patterns import all_languages, normalise_wording
from discovery.platforms import PlatformNames, load_platforms
from discovery.questions import asks_existence, strip_greeting
from store.language import detect_language
from store.text import fold, informative, stem, terms

NEGATED = "not"
"""Stands in a key for any negation; as a stop word it can't come from the question itself."""

_VERSION_MARK = re.compile(r"(?<!\w)v(?=\d)")
_ELISION = re.compile(r"(?<!\w)\w{1,2}'(?=\w)|'(?:s|d|t|m|re|ve|ll)?(?!\w)")
_COMPOUND = re.compile(r"(?<=\w)[_/'-](?=\w)|_|(?<=[^\W\d_])\.(?=[^\W\d_])")
_NUMBER = re.compile(r"(?<![\d.])\d+(?:\.\d+)*")
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?:[A-Za-z]+(?:[_.:-][A-Za-z0-9]+)*[_:][A-Za-z0-9_:]+|[A-Z]?[a-z0-9]+[A-Z]\w*|[A-Z]{2,}\d*|[A-Z]+-\d+|[A-Za-z]+\d\w*)(?![\w-])"
)
_ACRONYM_SHARE = 0.5
"""Above this share of capitals among its letters a question is shouted and capitals tell nothing."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Whether two questions mean the same, and why (not)."""

    same: bool
    reason: str


def topic_key(question: str, platforms: PlatformNames | None = None) -> str:
    """``<language>:<sorted stems>`` of a question.

    Args:
        question: as it was asked; a greeting in front does not matter.
        platforms: names whose aliases are made equal; the package's own list when None.

    Returns:
        A key that has a topic after the colon unless the question is blank: when only stop words are left they
        stay, and when there are no words at all the folded text stands in.
    """
    known = platforms or load_platforms()
    text = strip_greeting(question)
    language = detect_language(text)
    names, rest = known.split(text)
    stems = {_platform_stem(name) for name in names} | _topic_stems(rest, language, existence=asks_existence(text))
    if not stems:
        stems = {term.stem for term in terms(fold(text))} or set(fold(question).split())
    elif _negated(text):
        stems.add(NEGATED)
    return f"{language}:{' '.join(sorted(stems))}"


def topic_id(key: str) -> str:
    """The id of a topic: MD5 of its key in hexadecimal. An identifier, nothing secret hangs on it."""
    return hashlib.md5(key.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def near_duplicate(
    first: str, second: str, similarity: float, threshold: float, platforms: PlatformNames | None = None
) -> Likeness:
    """Whether two questions with different keys still mean the same.

    A high similarity is not enough, for embeddings hardly see what turns a question into another one: the
    platforms, numbers and versions, identifiers, negation and opposite words must agree as well.

    Args:
        first: one question.
        second: the other.
        similarity: cosine similarity of their vectors, in [-1, 1].
        threshold: the calibrated similarity from which on questions mean the same.
        platforms: known names; the package's own list when None.
    """
    if not similarity >= threshold:
        return Likeness(same=False, reason=f"similarity {similarity:.2f} is below {threshold:.2f}")
    difference = _difference(first, second, platforms or load_platforms())
    if difference:
        return Likeness(same=False, reason=difference)
    return Likeness(
        same=True,
        reason=f"similarity {similarity:.2f} is at or above {threshold:.2f}; platforms, numbers and negation agree",
    )


def _difference(first: str, second: str, platforms: PlatformNames) -> str | None:
    named = platforms.mentioned(first), platforms.mentioned(second)
    if named[0] != named[1]:
        return f"different platforms: {_listed(named[0])} and {_listed(named[1])}"
    unnamed = platforms.split(first)[1], platforms.split(second)[1]
    numbers = _numbers(unnamed[0]), _numbers(unnamed[1])
    if numbers[0] != numbers[1]:
        return f"different numbers: {_listed(numbers[0])} and {_listed(numbers[1])}"
    if _negated(first) != _negated(second):
        return "only one of them is negated"
    opposites = _opposites(first, second)
    if opposites:
        return f"opposite words: {opposites[0]} and {opposites[1]}"
    strange = _identifiers_missing(unnamed[0], second) or _identifiers_missing(unnamed[1], first)
    return f"only one of them names {strange}" if strange else None


def _topic_stems(text: str, language: str, *, existence: bool) -> set[str]:
    """Stems of what a text is about; compounds count as their parts ("node_exporter" is "node exporter")."""
    stop = _stop_words(language, existence=existence)
    wording = _COMPOUND.sub(" ", _ELISION.sub(" ", _VERSION_MARK.sub("", normalise_wording(text))))
    return {term.stem for term in informative(terms(wording)) if term.surface not in stop}


def _stop_words(language: str, *, existence: bool) -> frozenset[str]:
    chosen = [phrases for phrases in all_languages() if phrases.code in {"en", language}]
    stop = frozenset().union(*(phrases.stop for phrases in chosen))
    return stop.union(*(phrases.existence_words for phrases in chosen)) if existence else stop


def _platform_stem(name: str) -> str:
    return "-".join(stem(word) for word in fold(name).split())


def _negated(text: str) -> bool:
    wording = normalise_wording(text)
    spoken = {"en", "zh", detect_language(text)}
    return any(
        language.negation.search(language.neutral.sub(" ", wording))
        for language in all_languages()
        if language.code in spoken
    )


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(fold(text)))


def _opposites(first: str, second: str) -> tuple[str, str] | None:
    one, other = {term.stem for term in terms(fold(first))}, {term.stem for term in terms(fold(second))}
    only_one, only_other = one - other, other - one
    for language in all_languages():
        for left, right in language.opposites:
            if left in only_one and right in only_other:
                return left, right
            if right in only_one and left in only_other:
                return right, left
    return None


def _identifiers_missing(text: str, other: str) -> str | None:
    letters = [character for character in text if character.isalpha()]
    if letters and sum(character.isupper() for character in letters) > _ACRONYM_SHARE * len(letters):
        return None
    folded = fold(other)
    return next((found for found in _IDENTIFIER.findall(text) if fold(found) not in folded), None)


def _listed(values: frozenset[str]) -> str:
    return ", ".join(sorted(values)) or "none"
