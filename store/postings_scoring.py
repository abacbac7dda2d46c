"""BM25 over the segments of an index of words. Pure.

Scores are those of tantivy for the same chunks: the same formula, the same constants, and chunk lengths rounded in the
same way (one byte a chunk, exact up to 40 terms and to about an eighth above), so that either index ranks alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from store.lexical import K1, B, LexicalHit, idf
from store.postings_segments import Counts, Ints, Places, Segment, Size

Scores = np.ndarray[tuple[int], np.dtype[np.float32]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]

_EXACT = 24
_MANTISSA_BITS = 3


@dataclass(frozen=True, slots=True)
class Part:
    """A segment with what is deleted of it now."""

    size: Size
    terms: int
    segment: Segment
    deleted: Places


@dataclass(frozen=True)
class View:
    """All segments at one moment; the statistics count deleted chunks until they are merged away, as tantivy does."""

    parts: tuple[Part, ...]
    norms: tuple[Scores, ...]
    chunks: int
    groups: frozenset[int]

    @property
    def live(self) -> int:
        """Chunks that can be found."""
        return sum(part.size.live for part in self.parts)


def view(parts: Sequence[Part]) -> View:
    """The segments with the part of BM25 that depends on a chunk's length alone: k1 (1 - b + b length / mean)."""
    chunks = sum(part.size.chunks for part in parts)
    mean = sum(part.terms for part in parts) / chunks if chunks else 1.0
    norms = tuple(
        (K1 * (1 - B + B * rounded(part.segment.lengths) / max(mean, 1e-9))).astype(np.float32) for part in parts
    )
    groups = frozenset(int(one) for part in parts for one in np.unique(part.segment.groups))
    return View(tuple(parts), norms, chunks, groups)


def ranked(
    seen: View,
    postings: Mapping[str, Sequence[tuple[Places, Counts] | None]],
    weights: Mapping[str, float],
    limit: int,
    groups: Collection[int] | None,
) -> list[LexicalHit]:
    """The best chunks.

    Args:
        seen: the segments.
        postings: for each term what each segment has of it; None where it has nothing.
        weights: of the terms.
        limit: at most so many.
        groups: only chunks of these; None for all.
    """
    factors = {term: weights[term] * _inverse(lists, seen.chunks) * (K1 + 1) for term, lists in postings.items()}
    best: list[tuple[float, bytes]] = []
    for number, part in enumerate(seen.parts):
        found = {term: one for term, lists in postings.items() if (one := lists[number]) is not None}
        if not found:
            continue
        scores = _scores(part, seen.norms[number], found, factors)
        if groups is not None:
            scores[~np.isin(part.segment.groups, list(groups))] = 0.0
        best += _top(scores, part.segment, limit)
    best.sort(key=lambda one: (-one[0], one[1]))
    return [LexicalHit(chunk_id.decode(), score) for score, chunk_id in best[:limit]]


def _inverse(lists: Sequence[tuple[Places, Counts] | None], chunks: int) -> float:
    return idf(frequency(lists), chunks)


def frequency(lists: Sequence[tuple[Places, Counts] | None]) -> int:
    """In how many chunks a term occurs."""
    return sum(len(one[0]) for one in lists if one is not None)


def _scores(
    part: Part, norms: Scores, found: Mapping[str, tuple[Places, Counts]], factors: Mapping[str, float]
) -> Scores:
    scores = np.zeros(part.size.chunks, dtype=np.float32)
    for term, (places, counts) in found.items():
        share = counts.astype(np.float32)
        share /= share + norms[places]
        share *= np.float32(factors[term])
        scores[places] += share
    scores[part.deleted] = 0.0
    return scores


def _top(scores: Scores, segment: Segment, limit: int) -> list[tuple[float, bytes]]:
    """The best of one segment; of equal scores those with the smaller ids, as everywhere."""
    hits = np.flatnonzero(scores)
    if len(hits) > limit:
        lowest = np.partition(scores[hits], -limit)[-limit]
        hits = hits[scores[hits] >= lowest]
    return [(float(scores[place]), bytes(segment.members[place])) for place in hits]


def rounded(lengths: Ints) -> Ints:
    """Lengths as one byte can tell them: the largest of 256 steps that is not above the length.

    The first 24 are exact; after that a step keeps the four leading binary digits of what is above 24.
    """
    above = np.maximum(lengths - _EXACT, 0)
    # frexp gives the number of binary digits; those below the four leading ones are dropped.
    digits = np.frexp(above.astype(np.float64))[1]
    shift = np.maximum(digits - (_MANTISSA_BITS + 1), 0)
    return np.where(lengths < _EXACT, lengths, _EXACT + ((above >> shift) << shift))
