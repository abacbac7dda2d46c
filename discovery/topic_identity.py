"""Which topic of earlier rounds a group of gaps is, and how it has moved since. Pure.

Gaps keep their ids, so that a topic is recognised by them: each known topic is given to the group that holds most of
its gaps, the largest overlap first, and each group is at most one topic. What is left over is new.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from store.records import Trend

GROWTH = 0.1
"""A topic that was asked about this much more (or has this much less open) than in the round before has moved."""
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Known:
    """A topic of an earlier round.

    Attributes:
        count: questions over its members when people were told of it last.
        latest: it was in the last round that people were told of.
        unheard: people were never told of it; neither this nor ``latest`` means that it had been gone.
    """

    id: str
    gap_ids: frozenset[str]
    count: int
    latest: bool
    unheard: bool = False


def recognised(groups: Sequence[Collection[str]], known: Sequence[Known]) -> list[Known | None]:
    """For each group of gap ids the topic that it continues; None for a new one.

    A group continues a topic when it holds at least half of what is left of the topic's gaps, or when at least half of
    the group comes from it.

    Args:
        groups: ids of the gaps of each group; no gap is in two of them.
        known: topics of earlier rounds, those of the latest round first. One that had been gone comes last.
    """
    home = {gap_id: number for number, group in enumerate(groups) for gap_id in group}
    overlaps = []
    for place, topic in enumerate(known):
        shared = Counter(home[gap_id] for gap_id in topic.gap_ids if gap_id in home)
        left = sum(shared.values())
        for number, count in shared.items():
            if count >= _HALF * left or count >= _HALF * len(groups[number]):
                overlaps.append((not (topic.latest or topic.unheard), -count, place, number))
    found: list[Known | None] = [None] * len(groups)
    taken: set[int] = set()
    for _, _, place, number in sorted(overlaps):
        if found[number] is None and place not in taken:
            found[number] = known[place]
            taken.add(place)
    return found


def new_id(gap_ids: Collection[str], taken: Collection[str]) -> str:
    """An id for a topic that begins with these gaps: 12 hexadecimal digits, none of those that are taken."""
    text = "\n".join(sorted(gap_ids))
    attempt = 0
    while True:
        identity = hashlib.sha256(f"{text}\n{attempt}".encode()).hexdigest()[:12]
        if identity not in taken:
            return identity
        attempt += 1


def trend(before: Known | None, count: int) -> Trend:
    """How a topic has moved since people were told of it, by the number of questions in its open gaps.

    Questions are only ever added to an open gap: fewer mean that some of its gaps are not open any more.
    """
    if before is None or before.unheard:
        return Trend.NEW
    if not before.latest:
        return Trend.RETURNING
    added = count - before.count
    if abs(added) < GROWTH * before.count or added == 0:
        return Trend.STEADY
    return Trend.GROWING if added > 0 else Trend.SHRINKING
