"""A round as a report for maintainers, for no platform in particular. Pure: values in, value out.

Nothing of a private question is in it but its number: no words, no place, no passage that was found for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo

from discovery.topic_building import public_questions
from store.gap_activity import Activity
from store.records import Candidate, Gap, Nearest, Topic, Trend, Visibility
from store.rounds import Round

_NONE = Activity()


@dataclass(frozen=True, slots=True)
class DigestOptions:
    """How much a digest shows.

    Attributes:
        topics: shown whole; the others are counted.
        examples: questions of each, beside the most central one.
        candidates: suggestions of each.
        weeks: in the chart.
        zone: whose weeks, and whose dates.
    """

    topics: int = 7
    examples: int = 3
    candidates: int = 2
    weeks: int = 8
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class DigestInputs:
    """What a digest is made of.

    Attributes:
        round: the round that it reports.
        gaps: the open gaps of its topics by id, as they are now; those that are not open any more may be missing.
        activity: by gap id, back to the first week of the chart.
        candidates: suggestions that wait for a decision.
        closed: gaps that were closed since the round before.
        reopened: gaps that were reopened since then.
    """

    round: Round
    gaps: Mapping[str, Gap]
    activity: Mapping[str, Activity]
    candidates: Sequence[Candidate] = ()
    closed: Sequence[Gap] = ()
    reopened: Sequence[Gap] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Questions by week and topic: for each name one number a week. ``weeks`` holds Mondays, oldest first."""

    weeks: tuple[date, ...]
    series: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class DigestTopic:
    """A topic as it is shown.

    Attributes:
        number: its place in the digest, from 1.
        topic: with the ids of its public gaps only.
        examples: further public questions, the most central first.
        new_questions: asked since the round before; private ones count.
        reasons: rule tags with the number of public questions on which each fired, most frequent first.
        nearest: the passage that came closest to a public question.
        weeks: public questions a week, as in the chart.
        candidates: waiting suggestions that everybody may see, best first.
    """

    number: int
    topic: Topic
    examples: tuple[str, ...]
    new_questions: int
    reasons: tuple[tuple[str, int], ...]
    nearest: Nearest | None
    weeks: tuple[int, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """The report.

    Attributes:
        number: of the round.
        since: where its window begins; None for the first.
        until: where it ends, in the zone of the reader.
        topics: those that matter most.
        more_topics: that are not shown.
        open_topics: with something that may be shown.
        trends: how many topics moved how, whether shown or not.
        new_gaps: first seen in the window, private ones included.
        new_questions: asked in the window, private ones included.
        private_gaps: open ones that are only counted.
        new_candidates: suggestions that this round brought up for the first time.
        closed: questions that are answered now.
        closed_private: closed gaps that are only counted.
        reopened: as closed.
        waiting: suggestions that wait for a decision, shown or not.
        quiet: nothing has happened in the window.
    """

    number: int
    since: datetime | None
    until: datetime
    topics: tuple[DigestTopic, ...]
    more_topics: int
    open_topics: int
    trends: Mapping[Trend, int]
    new_gaps: int
    new_questions: int
    private_gaps: int
    new_candidates: int
    closed: tuple[str, ...]
    closed_private: int
    reopened: tuple[str, ...]
    reopened_private: int
    waiting: int
    notes: tuple[str, ...]
    chart: Chart
    quiet: bool


def make_digest(inputs: DigestInputs, options: DigestOptions | None = None) -> Digest:
    """A round as a digest."""
    chosen = options or DigestOptions()
    made = inputs.round
    shown = [topic for topic in made.topics if topic.question]
    weeks = _weeks(made.started_at, chosen)
    topics = tuple(
        _topic(inputs, topic, number, weeks, chosen) for number, topic in enumerate(shown[: chosen.topics], 1)
    )
    trends = Counter(topic.trend for topic in shown)
    gaps = list(inputs.gaps.values())
    new_gaps = sum(_within(inputs.round, gap.first_seen) for gap in gaps)
    new_questions = sum(_new_questions(inputs, gap) for gap in gaps)
    new_candidates = sum(_public(one) and _within(made, one.created_at, ended=True) for one in inputs.candidates)
    moved = trends[Trend.NEW] + trends[Trend.GROWING] + trends[Trend.RETURNING]
    happened = (moved, new_gaps, new_questions, new_candidates, len(inputs.closed), len(inputs.reopened))
    return Digest(
        number=made.number,
        since=made.since.astimezone(chosen.zone) if made.since else None,
        until=made.started_at.astimezone(chosen.zone),
        topics=topics,
        more_topics=max(len(shown) - chosen.topics, 0),
        open_topics=len(shown),
        trends={trend: trends[trend] for trend in Trend if trends[trend]},
        new_gaps=new_gaps,
        new_questions=new_questions,
        private_gaps=sum(topic.private_gaps for topic in made.topics),
        new_candidates=new_candidates,
        closed=_questions(inputs.closed),
        closed_private=_private(inputs.closed),
        reopened=_questions(inputs.reopened),
        reopened_private=_private(inputs.reopened),
        waiting=sum(map(_public, inputs.candidates)),
        notes=made.notes,
        chart=_chart(inputs, topics, weeks, chosen),
        quiet=not any(happened),
    )


def _topic(
    inputs: DigestInputs, topic: Topic, number: int, weeks: Sequence[date], options: DigestOptions
) -> DigestTopic:
    gaps = [inputs.gaps[gap_id] for gap_id in topic.gap_ids if gap_id in inputs.gaps]
    public = [gap for gap in gaps if gap.visibility is Visibility.PUBLIC]
    examples = [text for text in public_questions(public) if text != topic.question]
    reasons: Counter[str] = Counter()
    for gap in public:
        reasons.update(gap.reasons)
    nearest = max((gap.nearest for gap in public if gap.nearest), key=lambda one: one.score, default=None)
    # Ids are made from the wording: those of private gaps would let a guess be checked.
    shown = tuple(gap.id for gap in public)
    candidates = [_with_gaps(one, shown) for one in inputs.candidates if one.topic_id == topic.id and _public(one)]
    asked = [moment for gap in public for moment in inputs.activity.get(gap.id, _NONE).publicly]
    return DigestTopic(
        number=number,
        topic=replace(topic, gap_ids=shown),
        examples=tuple(examples[: options.examples]),
        new_questions=sum(_new_questions(inputs, gap) for gap in gaps),
        reasons=tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        nearest=nearest,
        weeks=_by_week(asked, weeks, options.zone),
        candidates=tuple(candidates[: options.candidates]),
    )


def _within(made: Round, moment: datetime, *, ended: bool = False) -> bool:
    """Whether a moment lies in the window of the round; with ``ended``, what the round itself did counts."""
    last = made.ended_at if ended else made.started_at
    return (made.since is None or moment > made.since) and moment <= last


def _new_questions(inputs: DigestInputs, gap: Gap) -> int:
    """Questions of the window, by the log; where it was switched off or deleted, by the gap's first sighting."""
    logged = sum(_within(inputs.round, moment) for moment in inputs.activity.get(gap.id, _NONE).asked)
    return logged or (gap.count if _within(inputs.round, gap.first_seen) else 0)


def _with_gaps(candidate: Candidate, shown: Sequence[str]) -> Candidate:
    return replace(candidate, gap_ids=tuple(gap_id for gap_id in candidate.gap_ids if gap_id in shown))


def _public(candidate: Candidate) -> bool:
    return candidate.visibility is Visibility.PUBLIC


def _questions(gaps: Sequence[Gap]) -> tuple[str, ...]:
    return tuple(gap.question for gap in gaps if gap.visibility is Visibility.PUBLIC)


def _private(gaps: Sequence[Gap]) -> int:
    return sum(gap.visibility is not Visibility.PUBLIC for gap in gaps)


def _weeks(until: datetime, options: DigestOptions) -> tuple[date, ...]:
    """The Mondays of the weeks up to a moment, oldest first."""
    this = _monday(until, options.zone)
    return tuple(this - timedelta(weeks=back) for back in reversed(range(options.weeks)))


def first_moment(until: datetime, options: DigestOptions) -> datetime:
    """Where the first week of the chart begins."""
    return datetime.combine(_weeks(until, options)[0], datetime.min.time(), tzinfo=options.zone).astimezone(UTC)


def _monday(moment: datetime, zone: tzinfo) -> date:
    day = moment.astimezone(zone).date()
    return day - timedelta(days=day.weekday())


def _by_week(moments: Sequence[datetime], weeks: Sequence[date], zone: tzinfo) -> tuple[int, ...]:
    counts = Counter(_monday(moment, zone) for moment in moments)
    return tuple(counts[week] for week in weeks)


def _chart(inputs: DigestInputs, topics: Sequence[DigestTopic], weeks: Sequence[date], options: DigestOptions) -> Chart:
    everything = [moment for one in inputs.activity.values() for moment in one.asked]
    total = _by_week(everything, weeks, options.zone)
    series = [(f"{one.number}. {one.topic.label}", one.weeks) for one in topics]
    rest = tuple(max(count - sum(one.weeks[place] for one in topics), 0) for place, count in enumerate(total))
    if any(rest):
        series.append(("everything else", rest))
    return Chart(tuple(weeks), tuple(series))
