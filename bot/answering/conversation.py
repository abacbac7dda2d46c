"""A follow-up question made to stand on its own, without a language model. Pure.

Only shapes that leave little doubt are rewritten; everything else stays as it was asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from store.records import Turn
from store.text import informative, terms

HISTORY_TURNS = 10
"""Older turns are not looked at: people have moved on by then."""
LONGEST = 600
"""Characters of a joined question; above it, the question stays as it was asked."""
_LONGEST_FOLLOW_UP = 120
_FEW_WORDS = 3
"""Informative words up to which a question with "it" or "that" is taken for a follow-up."""

_PREPOSITION = r"(?:on|in|for|with|under|using|from|via)"
_SHAPE = re.compile(
    rf"(?:(?:ok(?:ay)?|so|and|but|also|then)[,\s]+)*"
    rf"(?:(?P<opening>what about|how about|what of|and|but|same for)\s+)?(?:also\s+)?"
    rf"(?:(?P<preposition>{_PREPOSITION})\s+)?(?P<scope>[^?？!.,;:]{{1,40}}?(?:\.\d+[^?？!,;:\s]{{0,10}})*)\s*[?？.!]*",
    re.IGNORECASE,
)
_LEADING = re.compile(r"(?:and|but|also|so|ok(?:ay)?|then|what about|how about|same for)\b", re.IGNORECASE)
_SHAPE_ZH = re.compile(
    r"(?P<lead>那么?|还有|如果是?|换成)?\s*(?P<preposition>在)?\s*(?P<scope>[^？?，。呢吗]{1,24}?)"
    r"\s*(?P<after>[上里中])?\s*呢\s*[？?]*"
)
_ASKS_ZH = re.compile(r"什么|怎么|怎样|如何|为何|哪|多少|多久|几|是否|能不能|可不可以|谁|应该|需要")
_BARE = re.compile(
    r"(?:(?:and|but|so|ok(?:ay)?|hm+)[,\s]+)*(?:why(?: not| so| is that)?|how(?: so| come| exactly)?|when|where|who|"
    r"since when|which (?:one|ones)|what else|what then|what next|anything else|for example|"
    r"(?:any |an )?examples?|really|"
    r"are you sure|tell me more|more details?|can you (?:explain|elaborate)|please explain|how much|how many|how long|"
    r"how often)\s*(?:please)?\s*[?.!]*"
    r"|(?:那|那么)?(?:为什么|为何|怎么办|怎么做|如何做|怎么|什么时候|在哪里?|多久|多少|还有吗|然后呢|真的吗|例如|举个例子)(?:呢)?\s*[？?。！!]*",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:it|its|them|they|those|these|this|the same|that one|this one|the other one)\b"
    r"|\bthat(?=\s*[?.!,;]|\s*$|\s+(?:work|help|mean|apply|happen|change|command|step|option|setting|error|one)s?\b)"
    r"|^(?:and |but |so )?(?:is|was|does|did|will|can|could|should|would) that\b"
    r"|(?:这个|那个|这样|那样|它们?|上述|该(?:命令|步骤|方法|设置|错误))",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|isn't|would|does|will|did)\s+it\s+(?:still |also |really )?(?:be )?"
    r"(?:possible|ok|okay|safe|better|best|worth|necessary|required|allowed|recommended|take|cost|mean|true|normal)\b"
    r"|\bit\s+(?:is|takes|costs)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?:how|what|why|when|where|which|who|is|are|do|does|can|could|should|will|would|did|has|have|if|i)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?:h+m+|u+h+m*|o+h+|ok(?:ay)?|yes|no|yep|nope|thanks?|thank you|thx|cool|great|hi|hello|hey|please|[,\s])+[?.!]*"
    r"|(?:好的?|谢谢|嗯|是的?|不是|你好)[。！!？?]*",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?:version\s+)?v?\d+(?:\.\d+)*(?:\.x)?", re.IGNORECASE)
_VERSION_IN = re.compile(r"(?<![\w.])(?:version\s+)?v?\d+(?:\.\d+)*(?:\.x)?(?![\w]|\.\d)", re.IGNORECASE)
_PHRASE_END = r"(?=\s*(?:[?？.!,;]|$|\b(?:on|in|for|with|under|using|from|via|to|and|or|when|if|without)\b))"
_QUESTION_END = re.compile(r"\s*[?？.!。]*\s*\Z")

PLATFORMS = frozenset(
    (  # noqa: SIM905
        "windows linux macos mac ubuntu debian fedora centos rhel alpine android ios kubernetes k8s docker podman "
        "openshift aws azure gcp eks aks gke slack discord teams github gitlab bitbucket postgres postgresql mysql "
        "sqlite mariadb chrome firefox safari python java node powershell bash zsh helm terraform ansible"
    ).split()
)
"""Names that replace each other in a question ("on Linux" → "on Windows"); a caller may know more."""


def standalone(question: str, history: Sequence[Turn], platforms: frozenset[str] = PLATFORMS) -> str:
    """The question with what it takes from the conversation.

    Args:
        question: as it was asked.
        history: earlier turns, oldest first; the last ten are read.
        platforms: lower-case names that stand for each other.

    Returns:
        A follow-up ("and on Windows?") joined with the last question of the user that stands on its own, at most 600
        characters; a complete question, or one that leaves doubt, unchanged.
    """
    asked = question.strip()
    if not _follows_up(asked):
        return question
    earlier = [turn.text.strip() for turn in history[-HISTORY_TURNS:] if turn.role == "user" and turn.text.strip()]
    place = next((at for at in range(len(earlier) - 1, -1, -1) if _complete(earlier[at])), None)
    if place is None:
        return question
    base = earlier[place]
    for between in earlier[place + 1 :]:
        base = _replaced(base, between, platforms) or base
    joined = _replaced(base, asked, platforms) or f"{base} {asked}"
    return joined if len(joined) <= LONGEST else question


def _complete(text: str) -> bool:
    """Whether a turn can carry a follow-up: a topic of its own, and none that it takes from elsewhere."""
    return bool(informative(terms(text))) and not _FILLER.fullmatch(text) and not _follows_up(text)


def _follows_up(text: str) -> bool:
    if not text or len(text) > _LONGEST_FOLLOW_UP or "\n" in text or _FILLER.fullmatch(text):
        return False
    return bool(_BARE.fullmatch(text)) or _scope(text) is not None or _refers_back(text)


def _scope(text: str) -> re.Match[str] | None:
    """The follow-up's "and on X?" taken apart; None for any other shape."""
    found = _SHAPE_ZH.fullmatch(text)
    if found and not _ASKS_ZH.search(found["scope"]):
        return found
    found = _SHAPE.fullmatch(text)
    if found is None or len(found["scope"].split()) > _FEW_WORDS + 1 or _is_question(found["scope"]):
        return None
    return found if _LEADING.match(text) or (found["preposition"] and text.endswith("?")) else None


def _is_question(scope: str) -> bool:
    """Whether the supposed scope is a clause of its own ("and how do I stop")."""
    return bool(_CLAUSE.match(scope))


def _refers_back(text: str) -> bool:
    """Whether a short question points to something outside itself."""
    found = _REFERS.search(text)
    if found is None or _EXPLETIVE.search(text):
        return False
    before = informative(terms(text[: found.start()]))
    return len(informative(terms(text))) <= _FEW_WORDS and len(before) < 2  # noqa: PLR2004  a verb, but no object yet


def _replaced(base: str, follow_up: str, platforms: frozenset[str]) -> str:
    """The earlier question about the follow-up's platform, version or place; empty when that is not its shape."""
    shape = _scope(follow_up)
    if shape is None or _BARE.fullmatch(follow_up):
        return ""
    scope = shape["scope"].strip()
    if _VERSION.fullmatch(scope):
        pattern: re.Pattern[str] | None = _VERSION_IN
    else:
        pattern = _names(platforms) if scope.casefold() in platforms else None
    found = list(pattern.finditer(base)) if pattern else []
    if len(found) == 1:
        return f"{base[: found[0].start()]}{scope}{base[found[0].end() :]}"
    if found or "在" in follow_up or not shape["preposition"]:
        return ""
    return _moved(base, shape["preposition"], scope)


def _names(platforms: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(platforms, key=lambda name: (-len(name), name))
    return re.compile(
        rf"(?<![A-Za-z0-9_-])(?:{'|'.join(map(re.escape, longest_first))})(?![A-Za-z0-9_-])", re.IGNORECASE
    )


def _moved(base: str, preposition: str, scope: str) -> str:
    """The last phrase with the same preposition replaced, or the follow-up's phrase added at the end."""
    phrase = re.compile(rf"\b{preposition}\s+(?:the |a |an |my |our )?\S+?(?: \S+?)?{_PHRASE_END}", re.IGNORECASE)
    found = list(phrase.finditer(base))
    new = f"{preposition.lower()} {scope}"
    if found and _QUESTION_END.fullmatch(base[found[-1].end() :]):
        return f"{base[: found[-1].start()]}{new}{base[found[-1].end() :]}"
    end = _QUESTION_END.search(base)
    place = end.start() if end else len(base)
    return f"{base[:place]} {new}{base[place:]}"
