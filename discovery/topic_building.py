"""Open gaps as topics: brought together, recognised, named and ordered. Pure.

Label, question, terms and platforms come from questions that everybody may see. What was asked in private counts, and
nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from discovery.clustering import SAME_TOPIC
from discovery.gap_groups import group_gaps
from discovery.platform_names import PlatformNames
from discovery.severity import severity
from discovery.topic_identity import Known, new_id, recognised, trend
from discovery.topic_labels import TopicWords, name_topics
from store.gap_activity import Activity
from store.records import Gap, Topic, Visibility

PRIVATE_LABEL = "asked in private"
"""The label of a topic of which nothing may be shown."""
_MOST_PLATFORMS = 5


@dataclass(frozen=True, slots=True)
class TopicInputs:
    """What topics are made of.

    Attributes:
        gaps: open ones, private ones and private wordings included.
        activity: by gap id; a gap without one counts with its record alone.
        known: topics of earlier rounds, those of the latest round first.
        now: the moment of the round.
    """

    gaps: Sequence[Gap]
    activity: Mapping[str, Activity]
    known: Sequence[Known]
    platforms: PlatformNames
    now: datetime


def build_topics(inputs: TopicInputs, same_topic: float = SAME_TOPIC) -> list[Topic]:
    """The topics of a round, most severe first.

    Args:
        inputs: open gaps and what is known of them.
        same_topic: see :func:`discovery.clustering.cluster`.
    """
    groups = group_gaps(inputs.gaps, same_topic)
    public = [public_questions(group) for group in groups]
    before = recognised([[gap.id for gap in group] for group in groups], inputs.known)
    taken = {known.id for known in inputs.known}
    topics = []
    for group, questions, words, known in zip(groups, public, name_topics(public), before, strict=True):
        identity = known.id if known else new_id([gap.id for gap in group], taken)
        taken.add(identity)
        topics.append(_topic(inputs, identity, group, questions, words, known))
    return sorted(topics, key=lambda topic: (-topic.severity, -topic.askers, -topic.count, topic.id))


def public_questions(gaps: Sequence[Gap]) -> list[str]:
    """The wordings that everybody may see, each once: the gaps' own first, in the order of the gaps."""
    return list(dict.fromkeys([*_leading(gaps), *_further(gaps)]))


def _leading(gaps: Sequence[Gap]) -> Iterator[str]:
    return (gap.question for gap in gaps if gap.visibility is Visibility.PUBLIC)


def _further(gaps: Sequence[Gap]) -> Iterator[str]:
    return (
        wording.text
        for gap in gaps
        for wording in gap.additional_questions
        if gap.visibility is Visibility.PUBLIC and wording.visibility is Visibility.PUBLIC
    )


def _topic(
    inputs: TopicInputs,
    identity: str,
    group: Sequence[Gap],
    questions: Sequence[str],
    words: TopicWords,
    known: Known | None,
) -> Topic:
    active = [inputs.activity[gap.id] for gap in group if gap.id in inputs.activity]
    askers = len(frozenset().union(*(one.askers for one in active))) or max(gap.askers for gap in group)
    count = sum(gap.count for gap in group)
    return Topic(
        id=identity,
        label=words.label or PRIVATE_LABEL,
        question=questions[0] if questions else "",
        gap_ids=tuple(gap.id for gap in group),
        terms=words.terms,
        platforms=_platforms(questions, inputs.platforms),
        askers=askers,
        count=count,
        severity=severity(group, askers, sum(one.unhelpful for one in active), inputs.now),
        trend=trend(known, count),
        first_seen=min(gap.first_seen for gap in group),
        last_seen=max(gap.last_seen for gap in group),
        private_gaps=sum(gap.visibility is not Visibility.PUBLIC for gap in group),
    )


def _platforms(questions: Sequence[str], names: PlatformNames) -> tuple[str, ...]:
    """Platforms that the questions name, those of most questions first."""
    counts: dict[str, int] = {}
    for question in questions:
        for name in names.mentioned(question):
            counts[name] = counts.get(name, 0) + 1
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_PLATFORMS])
