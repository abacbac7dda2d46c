"""What a gap is, summed up from its wordings. Pure.

Each wording carries its own counts, reasons and nearest passage, so that gaps can be merged and split again without
losing any. What was only asked in private never decides what a public gap shows.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from store.columns import digest
from store.records import GapSighting, GapState, GapType, Nearest, Visibility
from store.text import clean, fold

_SETTLED = frozenset({GapState.CLOSED, GapState.IGNORED})


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a gap with everything that is known about it; the fields are those of its table row."""

    digest: str
    text: str
    type: GapType
    reasons: Mapping[str, int]
    count: int
    first_seen: datetime
    last_seen: datetime
    best_score: float
    nearest: Nearest | None
    visibility: Visibility
    language: str
    vector: bytes
    merged_because: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What the wordings of a gap say together."""

    question: str
    type: GapType
    reasons: Mapping[str, int]
    count: int
    first_seen: datetime
    last_seen: datetime
    best_score: float
    nearest: Nearest | None
    visibility: Visibility
    language: str
    vector: bytes


def gap_id_of(key: str) -> str:
    """The id of the gap with this topic key: its MD5, 32 hexadecimal digits."""
    return hashlib.md5(clean(key).encode(), usedforsecurity=False).hexdigest()


def wording_digest(text: str) -> str:
    """Equal for wordings that differ only in case, width of characters and white space."""
    return digest(" ".join(fold(text).split()))


def first_sighting(sighting: GapSighting, merged_because: str) -> Wording:
    """A wording that was seen once."""
    return Wording(
        digest=wording_digest(sighting.question),
        text=sighting.question,
        type=sighting.type,
        reasons=dict.fromkeys((rule.value for rule in sighting.reasons), 1),
        count=1,
        first_seen=sighting.seen_at,
        last_seen=sighting.seen_at,
        best_score=sighting.best_score,
        nearest=sighting.nearest,
        visibility=sighting.visibility,
        language=sighting.language,
        vector=sighting.vector,
        merged_because=clean(merged_because),
    )


def seen_again(known: Wording, new: Wording, *, counted: bool) -> Wording:
    """A wording together with a later sighting of it; one that is not counted adds no count and no reasons."""
    together = combined(known, new)
    return together if counted else replace(together, count=known.count, reasons=known.reasons)


def combined(first: Wording, second: Wording) -> Wording:
    """Two histories of the same wording as one."""
    latest = second if second.last_seen >= first.last_seen else first
    shown = lead([first, second])
    return Wording(
        digest=first.digest,
        text=shown.text,
        type=latest.type,
        reasons=Counter(first.reasons) + Counter(second.reasons),
        count=first.count + second.count,
        first_seen=min(first.first_seen, second.first_seen),
        last_seen=latest.last_seen,
        best_score=max(first.best_score, second.best_score),
        nearest=_nearest([first, second]),
        visibility=shown.visibility,
        language=shown.language,
        vector=shown.vector or first.vector or second.vector,
        merged_because=first.merged_because if second.merged_because else "",
    )


def lead(wordings: Iterable[Wording]) -> Wording:
    """The wording that stands for the gap: public before private, its own before merged ones, then the earliest."""
    return min(wordings, key=lambda one: (*_rank(one), one.first_seen, one.digest))


def summary(wordings: Sequence[Wording]) -> Summary:
    """What at least one wording says about the gap; the type is that of the latest sighting."""
    shown = lead(wordings)
    return Summary(
        question=shown.text,
        type=max(wordings, key=lambda one: (one.last_seen, one.digest)).type,
        reasons=sum((Counter(one.reasons) for one in wordings), Counter()),
        count=sum(one.count for one in wordings),
        first_seen=min(one.first_seen for one in wordings),
        last_seen=max(one.last_seen for one in wordings),
        best_score=max(one.best_score for one in wordings),
        nearest=_nearest(wordings),
        visibility=shown.visibility,
        language=shown.language,
        vector=shown.vector,
    )


def state_when_asked(state: GapState) -> GapState:
    """The state of a gap after another question exposed it: what was closed is open again, the rest stays."""
    return GapState.REOPENED if state is GapState.CLOSED else state


def state_when_merged(target: GapState, sources: Iterable[GapState]) -> GapState:
    """The state of a gap after others were merged into it: an unanswered question does not end up as closed."""
    unanswered = any(state not in _SETTLED for state in sources)
    return GapState.REOPENED if target is GapState.CLOSED and unanswered else target


def _rank(wording: Wording) -> tuple[bool, bool]:
    return wording.visibility is not Visibility.PUBLIC, bool(wording.merged_because)


def _nearest(wordings: Sequence[Wording]) -> Nearest | None:
    """The best passage among those that may be shown: a public gap never quotes what was found in private."""
    public = [one for one in wordings if one.visibility is Visibility.PUBLIC]
    found = [one.nearest for one in public or wordings if one.nearest is not None]
    return max(found, key=lambda one: one.score, default=None)
