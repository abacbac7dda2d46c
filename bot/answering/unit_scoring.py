"""How well one unit of a passage answers a question, by its words. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.answering.units import Unit
from store.search import QuestionTerm

SATURATION = 0.3
"""BM25's k1 made small: a second occurrence adds 0.13 of the first, a third 0.05 more."""
CONTEXT_SHARE = 0.45
"""What a term counts that stands in title or headings instead of in the unit itself."""
COMPOUND_SHARE = 0.1
"""Of the weight of a compound whose parts are terms as well; the parts share the rest, none counts twice."""
PAIR_BONUS = 0.15
"""For all neighbouring question terms standing together, in the question's order."""
PAIR_DISTANCE = 3
"""Words from one term of a pair to the next: "volume that is filling" keeps the pair "volume filling"."""
SCORE_SHARE = 0.35
"""Of the passage's similarity, so that a passage near in meaning wins among equal words."""
RANK_SHARE = 0.05
SHAPE_BONUS = 0.25
"""Of the coverage, for the kind of unit that the question asks for: steps for "how to", a definition for "what is"."""
CODE_BONUS = 0.1
"""The same for code, which holds many words by chance and follows the sentence about it anyway."""
HINT_BONUS = 0.1
"""For a reason after "why" and for a number after "how many"."""
SHORT_WORDS = 4
SHORT_FACTOR, LONG_FACTOR, LINKS_FACTOR, QUESTION_FACTOR, CODE_FACTOR = 0.7, 0.9, 0.4, 0.75, 0.8
LONG_WORDS = 80
LINKS_SHARE = 0.6
"""Part of a unit's characters in links and pictures from which on it only points elsewhere."""

_HOW_TO = re.compile(
    r"\bhow (?:to|do|does|can|could|should|would|might|did)\b"
    r"|\b(?:steps|instructions|command|procedure|way) (?:to|for)\b"
    r"|如何|怎么|怎样|怎麼|步骤|(?:what|which) command",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"^\s*(?:what(?:'s|’s| is| are| does)\b"
    r"(?!.*\b(?:best|way|difference|cause|reason|command)\b)|define\b|meaning of\b)"
    r"|什么是|是什么|什么意思|定义",
    re.IGNORECASE,
)
_WHY = re.compile(r"\bwhy\b|\b(?:cause|reason)s?\b|为什么|为何|原因", re.IGNORECASE)
_REMEDY = re.compile(
    r"\b(?:fix|resolve|solve|troubleshoot|mitigate|debug|repair|recover|diagnose|remedy)\w*\b"
    r"|\bwhat (?:should|can|do|must) (?:i|we|you) do\b|怎么办|解决|排查|修复|处理",
    re.IGNORECASE,
)
_REMEDY_SECTION = re.compile(
    r"mitigat|diagnos|troubleshoot|resol|solution|fix|remed|recover|workaround|what to do|解决|排查|处理|修复",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|long|often|large|big|old|far)\b"
    r"|多少|多久|多长|几(?:个|次|天)",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"^[^.!?\n]{1,80}?(?:\b(?:is|are|means|refers to|stands for|describes|allows|lets|fires when)\b|是|指|表示)",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|due to|caused? by|reason|as a result|usually)\b"
    r"|因为|由于|原因|导致",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[[^\]]*\]\([^)]*\)|https?://\S+")
_POINTS = re.compile(r"(?:[-*+]\s+)?(?:see(?: also)?|read)\s+(?:the\s+)?[\[<h]|参见|详见", re.IGNORECASE)
_ASKS = re.compile(r"[?？][\"'”’)*_ ]*\Z")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the choice of sentences sees it.

    Attributes:
        weights: share of each stem in the weight of all stems that occur in the corpus; they sum to 1 (or are empty).
        pairs: stems that stand next to each other in the question.
        how_to: whether steps or commands are wanted.
        definition: whether it asks what something is.
        remedy: whether something is broken and shall be mended.
        why: whether it asks for a reason.
        amount: whether it asks for a number.
    """

    weights: Mapping[str, float]
    pairs: frozenset[tuple[str, str]]
    how_to: bool
    definition: bool
    remedy: bool
    why: bool
    amount: bool


def asked(question: str, terms: Sequence[QuestionTerm]) -> Asked:
    """Read a question and the weights of its words; words that the corpus does not hold count nothing."""
    known = _known_weights(terms)
    total = sum(known.values())
    weights = {stem: weight / total for stem, weight in known.items()} if total else {}
    how_to = bool(_HOW_TO.search(question))
    return Asked(
        weights,
        frozenset(pairwise(weights)),
        how_to,
        bool(_DEFINITION.search(question)) and not how_to,
        bool(_REMEDY.search(question)),
        bool(_WHY.search(question)),
        bool(_AMOUNT.search(question)),
    )


def _known_weights(terms: Sequence[QuestionTerm]) -> dict[str, float]:
    """Weights of the stems that the corpus holds; a compound and its parts together weigh as much as one word."""
    weights = {term.stem: max(term.weight, 0.0) for term in terms if term.document_frequency}
    for place, term in enumerate(terms):
        parts = {part.stem: weights[part.stem] for part in _parts(place, terms) if part.stem in weights}
        total = sum(parts.values())
        if not total:
            continue
        whole = max(weights.get(term.stem, 0.0), *parts.values())
        weights.update({stem: whole * (1 - COMPOUND_SHARE) * weight / total for stem, weight in parts.items()})
        if term.stem in weights:
            weights[term.stem] = whole * COMPOUND_SHARE
    return weights


def _parts(place: int, terms: Sequence[QuestionTerm]) -> Sequence[QuestionTerm]:
    """The terms behind a compound ("PersistentVolume") that are its parts; none for any other word."""
    whole = "".join(filter(str.isalnum, terms[place].surface)).casefold()
    parts = ""
    for end in range(place + 1, len(terms)):
        parts += terms[end].surface.casefold()
        if parts == whole:
            return terms[place + 1 : end + 1]
        if not whole.startswith(parts):
            return ()
    return ()


def coverage(unit: Unit, view: Asked, context: frozenset[str]) -> float:
    """Share of the question's weight that a unit holds, in [0, about 1.3].

    Args:
        unit: the piece.
        view: the question.
        context: stems of the passage's title and section.
    """
    found = 0.0
    for stem, weight in view.weights.items():
        count = unit.counts.get(stem, 0)
        if count:
            found += weight * count * (1 + SATURATION) / (count + SATURATION)
        elif stem in unit.above or stem in context:
            found += weight * CONTEXT_SHARE
    return found


def score(text: str, unit: Unit, view: Asked, context: frozenset[str]) -> float:
    """How well a unit answers, without its passage's own merit: 0 when it shares nothing with the question.

    Args:
        text: the unit's characters.
        unit: the piece.
        view: the question.
        context: stems of the passage's title and section.
    """
    covered = coverage(unit, view, context)
    if not covered or unit.kind == "heading":
        return 0.0
    return (covered + _pairs(unit, view) + covered * _shape(text, unit, view) + _hints(text, view)) * _quality(
        text, unit
    )


def section_bonus(view: Asked, section: str) -> float:
    """What a passage gains whose heading promises a remedy, when one is asked for."""
    return HINT_BONUS if view.remedy and _REMEDY_SECTION.search(section) else 0.0


def _pairs(unit: Unit, view: Asked) -> float:
    if not view.pairs:
        return 0.0
    places = [(place, word) for place, word in enumerate(unit.words) if word in view.weights]
    near = {(one, other) for (left, one), (right, other) in pairwise(places) if right - left <= PAIR_DISTANCE}
    return PAIR_BONUS * len(view.pairs & near) / len(view.pairs)


def _shape(text: str, unit: Unit, view: Asked) -> float:
    if view.how_to and unit.kind in {"code", "steps"}:
        return CODE_BONUS if unit.kind == "code" else SHAPE_BONUS
    if view.definition and unit.kind == "sentence" and _DEFINES.match(text):
        return SHAPE_BONUS
    return 0.0


def _hints(text: str, view: Asked) -> float:
    bonus = HINT_BONUS if view.why and _REASON.search(text) else 0.0
    return bonus + (HINT_BONUS if view.amount and any(character.isdigit() for character in text) else 0.0)


def _quality(text: str, unit: Unit) -> float:
    factor = CODE_FACTOR if unit.kind == "code" else 1.0
    if len(unit.words) < SHORT_WORDS:
        factor *= SHORT_FACTOR
    elif len(unit.words) > LONG_WORDS:
        factor *= LONG_FACTOR
    if _ASKS.search(text):
        factor *= QUESTION_FACTOR
    if _POINTS.match(text):
        return factor * LINKS_FACTOR
    links = sum(len(link) for link in _LINK.findall(text)) if "](" in text or "://" in text else 0
    return factor * LINKS_FACTOR if links > LINKS_SHARE * len(text) else factor
