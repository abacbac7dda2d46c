"""Text that many pages of one site share and that belongs to none of them. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from store.loading.source import has_text, one_line
from store.records import Block, Document
from store.text import fold

MIN_DOCUMENTS = 4
"""Pages needed before anything counts as repeated: two or three alike may well be meant."""
_SHARE = 0.5
_EDGE = 5
"""Blocks from the top and from the bottom of a page among which furniture stands; a short answer that many pages share
in their middle (``Impact: none``) is content."""
_LONGEST = 600


def repeated_blocks(documents: Sequence[Document]) -> frozenset[str]:
    """Texts that stand near the top or bottom of at least half of the documents, and of at least four.

    Args:
        documents: the pages of one run and one site; with fewer than four the result is empty.

    Returns:
        Comparable forms of the texts, to be given to :func:`without_blocks`.
    """
    if len(documents) < MIN_DOCUMENTS:
        return frozenset()
    counts = Counter(text for document in documents for text in _edge_texts(document.blocks))
    needed = max(MIN_DOCUMENTS, math.ceil(_SHARE * len(documents)))
    return frozenset(text for text, count in counts.items() if count >= needed)


def without_blocks(document: Document, texts: Collection[str]) -> Document:
    """The document without the given repeated texts near its top and bottom.

    A document that would lose everything stays as it is. What went is noted.
    """
    edges = _edges(document.blocks)
    kept = tuple(
        block for place, block in enumerate(document.blocks) if place not in edges or _comparable(block) not in texts
    )
    gone = len(document.blocks) - len(kept)
    if not gone or not has_text(kept):
        return document
    note = f"{gone} blocks that many pages repeat were left out."
    return replace(document, blocks=kept, notes=(*document.notes, note))


def _edges(blocks: Sequence[Block]) -> frozenset[int]:
    return frozenset({*range(min(_EDGE, len(blocks))), *range(max(0, len(blocks) - _EDGE), len(blocks))})


def _edge_texts(blocks: Sequence[Block]) -> frozenset[str]:
    return frozenset(_comparable(blocks[place]) for place in _edges(blocks) if len(blocks[place].text) <= _LONGEST) - {
        ""
    }


def _comparable(block: Block) -> str:
    return "" if block.kind in {"code", "table"} else one_line(fold(block.text))
