"""A topic for every gap: what is searched for where gaps have not been brought together into topics. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from discovery.platforms import PlatformNames
from store.records import Gap, Topic, Visibility
from store.text import informative, terms

_LABEL_WORDS = 6


def topic_of(gap: Gap, platforms: PlatformNames) -> Topic:
    """A gap as a topic of its own. Of a gap that only few may see, nothing but its number is told."""
    public = gap.visibility is Visibility.PUBLIC
    words = [term.surface for term in informative(terms(gap.question))] if public else []
    names = platforms.split(gap.question)[0] if public else ()
    return Topic(
        id=gap.id[:12],
        label=" ".join(words[:_LABEL_WORDS]) or (gap.question if public else "a question asked in private"),
        question=gap.question if public else "",
        gap_ids=(gap.id,),
        terms=tuple(words),
        platforms=tuple(names),
        askers=gap.askers,
        count=gap.count,
        first_seen=gap.first_seen,
        last_seen=gap.last_seen,
        private_gaps=0 if public else 1,
    )


def topics_of(gaps: Sequence[Gap], platforms: PlatformNames) -> list[Topic]:
    """Gaps as topics, in the same order."""
    return [topic_of(gap, platforms) for gap in gaps]
