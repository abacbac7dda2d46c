"""What kind of message somebody sent: nothing, small talk, something too vague to search, or a question. Pure.

Only a question is searched; nothing else is ever a gap in the documents.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum
from functools import cache

from discovery.phrase_patterns import UNSPACED_LANGUAGES, all_languages, normalise_wording
from discovery.platforms import load_platforms
from store.language import detect_language
from store.text import clean, fold, is_blank, stop_words, terms


class QuestionKind(StrEnum):
    """The kinds of message."""

    EMPTY = "empty"
    SMALLTALK = "smalltalk"
    VAGUE = "vague"
    QUESTION = "question"


SHORT_MESSAGE = 400
"""Longer messages are never small talk or too vague: somebody took the trouble to explain."""
GREETED_MESSAGE = 4_000
"""Greetings are looked for in messages up to this length (characters)."""

_TOKENS = re.compile(
    r"<a?:\w{1,64}:\d{1,24}>|<[@#!][^<>\s]{0,80}(?:\|[^<>]{0,120})?>|!\[[^\[\]]{0,300}\]\([^()]{0,2000}\)|<img\b[^<>]{0,2000}>"
    r"|(?<![\w:]):[a-z0-9_+-]{1,40}:(?:(?<=:):skin-tone-\d:)?(?!\w)|(?<!\w)@(?:user|here|channel|everyone)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<!\w)@[\w.-]+")
_EMOTICONS = re.compile(r"(?<!\S)(?:[:;=8xX][-'^]?[)(DPpOo/\\|*3]+|<3+|\^_?\^|[xX]D+)(?!\S)")
_FRIENDLY_EMOJI = re.compile(
    "[\U0001f600-\U0001f60f\U0001f917\U0001f923\U0001f929\U0001f970\U0001f973\U0001f642\U0001f643\U0001f64c\U0001f64f\U0001f44b-\U0001f44f"
    "\U0001f44c\U0001f389\U0001f38a\U0001f4af\U0001f4aa\U0001f525\U0001f91d\U0001f918\U0001f91f\U0001fae1\U0001fae0\U0001faf6\U0001f680\U0001f499-\U0001f49c\u2764\u2705\u263a\u270c\u2714]"
)
_FRIENDLY_CODES = re.compile(
    r":(?:\+1|-1|thumbs_?up|thumbsdown|tada|pray|clap|wave|smile|smiley|joy|rofl|heart|ok_hand|raised_hands|fire|100|white_check_mark|heavy_check_mark|slightly_smiling_face|grin|grinning|laughing|muscle|rocket|party\w*|thank\w*):"
)
_LAUGHTER = re.compile(
    r"(?<!\w)(?:a?(?:ha|he|hi|ho|hu|ja|je|ji|xi){2,}h?|lo+l+|k{2,}|x+d+|m+h+m*|h+m+|a+h+|o+h+)(?!\w)"
)
_STRETCHED = re.compile(r"(\w)\1{2,}")
_SEGMENT_END = re.compile(r"[,.!?;:\n，。！？；：、…~]+")
_NOT_WORDS = re.compile(r"[^\w'+]+")
_ACRONYM = re.compile(r"(?<![\w'])[A-Z]{2,}(?![\w'])")
_AFTER_GREETING = r"(?!\s+world\b)(?:[\s,!.:;…，。！、~-]*[\s,!.:;…，。！、~])"


def classify(text: str) -> QuestionKind:
    """What kind of message a text is.

    ``EMPTY`` has no letter or digit beside mentions, images and symbols; ``SMALLTALK`` consists of greetings,
    thanks, acknowledgements and laughter; ``VAGUE`` has only words without a topic; the rest is a ``QUESTION``.
    """
    bare = _TOKENS.sub(" ", clean(text))
    wordless = _EMOTICONS.sub(" ", bare)
    if is_blank(wordless):
        friendly = wordless != bare or _FRIENDLY_EMOJI.search(text) or _FRIENDLY_CODES.search(text)
        return QuestionKind.SMALLTALK if friendly else QuestionKind.EMPTY
    if len(wordless) > SHORT_MESSAGE:
        return QuestionKind.QUESTION
    if is_blank(_NAMED.sub(" ", wordless)):
        return QuestionKind.EMPTY
    if _is_smalltalk(_NAMED.sub(" ", wordless)):
        return QuestionKind.SMALLTALK
    return QuestionKind.VAGUE if _is_vague(wordless) else QuestionKind.QUESTION


def strip_greeting(text: str) -> str:
    """A message without the greeting in front and the thanks behind; unchanged when nothing else would be left.

    Applying it twice changes nothing more.
    """
    rest = text.strip()
    if len(rest) > GREETED_MESSAGE:
        return rest
    while (shorter := _without_tail(_without_head(rest))) != rest:
        rest = shorter
    return rest


def asks_existence(text: str) -> bool:
    """Whether a question asks if anything about its subject exists ("do we have a runbook for ...")."""
    wording = normalise_wording(strip_greeting(text)[:GREETED_MESSAGE])
    sentences = [sentence for line in wording.splitlines() for sentence in re.split(r"(?<=[.!?。！？])\s*", line)]
    return any(language.existence.search(sentence) for language in all_languages() for sentence in sentences)


def uncovered_language(text: str, covered: Collection[str]) -> str | None:
    """The language of a question when the embedding model does not cover it, else None.

    Such a question is kept apart from gaps: finding nothing says nothing about the documents.

    Args:
        text: the question.
        covered: ISO 639-1 codes that the model covers; an empty collection means every language.
    """
    language = detect_language(text)
    return language if covered and language not in covered else None


def _is_smalltalk(text: str) -> bool:
    wording = normalise_wording(_FRIENDLY_EMOJI.sub(" ", text))
    if len(wording) > SHORT_MESSAGE or is_blank(wording):
        return False
    spellings = {wording, _STRETCHED.sub(r"\1", wording), _STRETCHED.sub(r"\1\1", wording)}
    return any(_only_smalltalk(_NOT_WORDS.sub(" ", spelling)) for spelling in spellings)


def _only_smalltalk(wording: str) -> bool:
    rest, count = _LAUGHTER.subn(" ", wording)
    for language in all_languages():
        rest, found = language.smalltalk.subn(" ", rest)
        count += found
    if not count:
        return False
    for language in all_languages():
        rest = language.filler.sub(" ", rest)
    return is_blank(rest)


def _is_vague(text: str) -> bool:
    found = terms(fold(text).replace("’", "'"))
    if not found or (_ACRONYM.search(text) and not text.isupper()):
        return False
    if not any(all(term.surface in stop or term.stem in stop for term in found) for stop in _stop_lists()):
        return False
    return not load_platforms().mentioned(text)


@cache
def _stop_lists() -> tuple[frozenset[str], ...]:
    base = stop_words()
    shared = base.union(*(language.stop for language in all_languages() if language.code in {"en", "zh"}))
    return tuple(shared | language.stop for language in all_languages())


@cache
def _greeting() -> re.Pattern[str]:
    patterns = [language.greetings.pattern for language in all_languages() if language.code not in UNSPACED_LANGUAGES]
    return re.compile(rf"\W*(?:{'|'.join(patterns)}){_AFTER_GREETING}", re.IGNORECASE)


def _without_head(text: str) -> str:
    greeting = _greeting().match(text)
    if greeting and not is_blank(text[greeting.end() :]):
        return text[greeting.end() :].lstrip()
    segment = _SEGMENT_END.search(text)
    if segment and _is_smalltalk(text[: segment.start()]) and not is_blank(text[segment.end() :]):
        return text[segment.end() :].lstrip()
    return text


def _without_tail(text: str) -> str:
    ends = [end for end in _SEGMENT_END.finditer(text) if not is_blank(text[end.end() :])]
    if not ends or is_blank(text[: ends[-1].start()]) or not _is_smalltalk(text[ends[-1].end() :]):
        return text
    return (text[: ends[-1].start()] + ends[-1].group().rstrip(",，、:： \n;；")).rstrip()
