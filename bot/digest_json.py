"""Topics and digests as JSON values. Pure. Nothing private is in them but numbers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bot.candidate_json import candidate_as_json
from discovery.digest import Chart, Digest, DigestTopic
from store.records import Topic


def topic_as_json(topic: Topic) -> dict[str, Any]:
    """One topic as plain values; times in ISO 8601 with zone."""
    return {
        "id": topic.id,
        "label": topic.label,
        "question": topic.question,
        "terms": list(topic.terms),
        "platforms": list(topic.platforms),
        "gaps": list(topic.gap_ids),
        "private_gaps": topic.private_gaps,
        "askers": topic.askers,
        "count": topic.count,
        "severity": topic.severity,
        "trend": topic.trend.value,
        "first_seen": _iso(topic.first_seen),
        "last_seen": _iso(topic.last_seen),
    }


def digest_as_json(digest: Digest) -> dict[str, Any]:
    """A digest as plain values."""
    return {
        "round": digest.number,
        "since": _iso(digest.since),
        "until": _iso(digest.until),
        "quiet": digest.quiet,
        "new_questions": digest.new_questions,
        "new_gaps": digest.new_gaps,
        "private_gaps": digest.private_gaps,
        "open_topics": digest.open_topics,
        "trends": {trend.value: count for trend, count in digest.trends.items()},
        "topics": [_shown(shown) for shown in digest.topics],
        "more_topics": digest.more_topics,
        "waiting": digest.waiting,
        "new_candidates": digest.new_candidates,
        "closed": {"questions": list(digest.closed), "private": digest.closed_private},
        "reopened": {"questions": list(digest.reopened), "private": digest.reopened_private},
        "chart": _chart(digest.chart),
        "notes": list(digest.notes),
    }


def _shown(shown: DigestTopic) -> dict[str, Any]:
    nearest = shown.nearest
    return topic_as_json(shown.topic) | {
        "number": shown.number,
        "examples": list(shown.examples),
        "new_questions": shown.new_questions,
        "reasons": dict(shown.reasons),
        "nearest": nearest
        and {
            "document": nearest.document,
            "section": nearest.section,
            "quote": nearest.quote,
            "score": round(nearest.score, 4),
        },
        "weeks": list(shown.weeks),
        "candidates": [candidate_as_json(candidate) for candidate in shown.candidates],
    }


def _chart(chart: Chart) -> dict[str, Any]:
    return {
        "weeks": [week.isoformat() for week in chart.weeks],
        "series": [{"name": name, "questions": list(counts)} for name, counts in chart.series],
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
