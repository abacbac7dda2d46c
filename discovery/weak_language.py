"""Whether an answer says in its own words that it is not grounded in the documents. Pure.

What an answer quotes speaks for the document, not for the answer, so quotations and code are taken out first.
A statement under a condition ("if no documents match, the call returns an empty list") describes a system and
does not count.
"""

from __future__ import annotations

import re
from functools import lru_cache

from discovery.phrase_patterns import LanguagePhrases, all_languages, normalise_wording

ANSWER_LIMIT = 20_000
"""Characters of an answer that are read: refusals come early, and the work stays bounded."""

_PLACEHOLDER = " _ "
_FENCES = re.compile(r"^[ \t]{0,3}(```+|~~~+).*?(?:^[ \t]{0,3}\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_BLOCK_QUOTES = re.compile(r"^[ \t]{0,3}(?:>|&gt;).*$", re.MULTILINE)
_INLINE_CODE = re.compile(r"(`+)[^`\n]{1,600}\1")
_QUOTATIONS = re.compile(
    r"“[^“”]{0,1200}”|„[^„“”]{0,1200}[“”]|「[^「」]{0,1200}」|『[^『』]{0,1200}』|«[^«»]{0,1200}»|\"[^\"\n]{1,1200}\""
    r"|(?<!\w)‘[^‘’\n]{1,600}’(?!\w)|(?<!\w)'[^'\n]{1,600}'(?!\w)"
)
_CITATIONS = re.compile(r"\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]|【\d{1,3}】")
_EMPHASIS = re.compile(r"[*#]+|(?<!\w)_{1,3}|_{1,3}(?!\w)")
_LINKS = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\n]{0,600}\)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\s)]+|[。！？；;\n]+")
_CLAUSE_END = re.compile(r"[,，:：—–]")


def own_words(answer: str) -> str:
    """The answer without code, block quotes, quotations and citation marks; each leaves a placeholder.

    Only the first :data:`ANSWER_LIMIT` characters are read.
    """
    text = _FENCES.sub(_PLACEHOLDER, answer[:ANSWER_LIMIT].replace("\r\n", "\n"))
    text = _BLOCK_QUOTES.sub("", text)
    text = _INLINE_CODE.sub(_PLACEHOLDER, text)
    text = _LINKS.sub(r"\1", text)
    text = _QUOTATIONS.sub(_PLACEHOLDER, text)
    text = _CITATIONS.sub("", text)
    return _EMPHASIS.sub("", text.replace(_PLACEHOLDER, "\ue000")).replace("\ue000", _PLACEHOLDER)


@lru_cache(maxsize=1024)
def weak_phrase(answer: str) -> str | None:
    """The first words that admit missing grounding, as they stand after normalising; None when there are none."""
    for sentence in _SENTENCE_END.split(normalise_wording(own_words(answer))):
        for language in all_languages():
            found = _in_sentence(sentence, language)
            if found:
                return found
    return None


def _in_sentence(sentence: str, language: LanguagePhrases) -> str | None:
    for match in language.weak.finditer(sentence):
        if not _conditional(sentence, match, language):
            return match.group()
    plain = language.weak_plain.search(sentence)
    if plain and not language.conditions.search(sentence[: plain.start()]) and not _after(sentence, plain, language):
        return plain.group()
    return None


def _conditional(sentence: str, match: re.Match[str], language: LanguagePhrases) -> bool:
    starts = [end.end() for end in _CLAUSE_END.finditer(sentence, 0, match.start())]
    clause = sentence[starts[-1] if starts else 0 : match.start()]
    return bool(language.conditions.search(clause)) or _after(sentence, match, language)


def _after(sentence: str, match: re.Match[str], language: LanguagePhrases) -> bool:
    end = _CLAUSE_END.search(sentence, match.end())
    return bool(language.conditions_after.search(sentence, match.end(), end.end() if end else len(sentence)))
