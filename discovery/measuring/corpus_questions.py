"""Questions that a corpus asks about itself: its headings and sentences. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from store.records import StoredChunk
from store.text import clean, informative, terms

FEWEST_WORDS = 4
MOST_WORDS = 25
"""Informative words of a sentence that can stand for a question."""

_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
_MARKUP = re.compile(r"^\s*(?:#{1,6}|[-*+]|\d+[.)])\s+|[*_`]{1,3}|\[\^?\d+\]")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TABLE = re.compile(r"^\s*\||^\s*[-=`~]{3,}")


@dataclass(frozen=True, slots=True)
class CorpusQuestion:
    """A text of a chunk, asked as if it were a question; ``kind`` is ``heading`` or ``sentence``."""

    text: str
    document_id: str
    kind: str


def corpus_questions(chunks: Iterable[StoredChunk]) -> list[CorpusQuestion]:
    """One sentence and, where it says enough, the heading of each chunk; each text once."""
    found: dict[str, CorpusQuestion] = {}
    for chunk in chunks:
        heading = chunk.section.rpartition(" › ")[2]
        title = f"{chunk.title}: {heading}" if heading and heading != chunk.title else chunk.title
        if heading and len(informative(terms(title))) >= FEWEST_WORDS - 1:
            found.setdefault(title, CorpusQuestion(title, chunk.document_id, "heading"))
        if sentence := _sentence(chunk.text):
            found.setdefault(sentence, CorpusQuestion(sentence, chunk.document_id, "sentence"))
    return list(found.values())


def _sentence(text: str) -> str:
    """The sentence in the middle of a text that says enough; empty when there is none."""
    plain = (
        _MARKUP.sub("", _LINK.sub(r"\1", piece)).strip()
        for piece in _SENTENCES.split(clean(text))
        if not _TABLE.match(piece)
    )
    fitting = [one for one in plain if FEWEST_WORDS <= len(informative(terms(one))) <= MOST_WORDS]
    return fitting[len(fitting) // 2] if fitting else ""
