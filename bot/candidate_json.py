"""Suggested sources as JSON values and lines of text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discovery.ports import Outcome, Reasked
from store.records import Candidate, Nearest, Preview


def candidate_as_json(candidate: Candidate) -> dict[str, Any]:
    """One candidate as plain values; times in ISO 8601 with zone."""
    source = candidate.source
    return {
        "id": candidate.id,
        "state": candidate.state.value,
        "topic": {"id": candidate.topic_id, "label": candidate.topic_label},
        "gaps": list(candidate.gap_ids),
        "score": candidate.score,
        "source": {
            "key": source.key,
            "finder": source.finder,
            "title": source.title,
            "location": source.location,
            "url": source.url,
            "revision": source.revision,
            "licence": source.licence or None,
            "owner": source.owner,
            "size": source.size,
            "updated_at": source.updated_at.isoformat() if source.updated_at else None,
            "archived": source.archived,
            "fork": source.fork,
            "reasons": list(source.reasons),
        },
        "preview": preview_as_json(candidate.preview) if candidate.preview else None,
        "collection": candidate.collection,
        "visibility": candidate.visibility.value,
        "created_at": candidate.created_at.isoformat(),
        "decided_by": candidate.decided_by or None,
        "decided_at": candidate.decided_at.isoformat() if candidate.decided_at else None,
        "snoozed_until": candidate.snoozed_until.isoformat() if candidate.snoozed_until else None,
        "note": candidate.note,
    }


def preview_as_json(preview: Preview) -> dict[str, Any]:
    """What asking with a source showed."""
    return {
        "asked": preview.asked,
        "answered": preview.answered,
        "best_score": preview.best_score,
        "changed": preview.changed,
        "evidence": [_passage(passage) for passage in preview.evidence],
    }


def reasked_as_json(reasked: Sequence[Reasked]) -> list[dict[str, Any]]:
    """Gaps that were asked again."""
    return [
        {"gap": one.gap_id, "question": one.question, "closed": one.closed, "before": one.before, "after": one.after}
        for one in reasked
    ]


def outcome_as_json(outcome: Outcome) -> dict[str, Any]:
    """What a decision led to."""
    return {"candidate": candidate_as_json(outcome.candidate), "gaps": reasked_as_json(outcome.reasked)}


def candidate_lines(candidate: Candidate) -> list[str]:
    """A candidate in full, for a terminal."""
    source = candidate.source
    flags = [name for name, so in (("archived", source.archived), ("fork", source.fork)) if so]
    changed = f"{source.updated_at:%Y-%m-%d}" if source.updated_at else "unknown"
    lines = [
        f"{candidate.id}  {candidate.state.value}  score {candidate.score:.2f}",
        source.title,
        f"For: {candidate.topic_label}",
        f"From: {source.url or source.location} ({source.finder}), revision {source.revision[:19] or 'unknown'}",
        f"Licence: {source.licence or 'unknown'}; owner: {source.owner or 'unknown'}; changed: {changed}"
        + "".join(f"; {flag}" for flag in flags),
        f"Goes to the collection {candidate.collection} ({candidate.visibility.value}).",
        *(f"- {reason}" for reason in source.reasons),
        *(preview_lines(candidate.preview) if candidate.preview else ["It was not tried out on the questions."]),
    ]
    if candidate.decided_by:
        lines.append(f"Decided by {candidate.decided_by}.")
    return [*lines, f"Note: {candidate.note}"] if candidate.note else lines


def preview_lines(preview: Preview) -> list[str]:
    """What asking with a source showed, with the passages that would answer."""
    told = f"Would answer {preview.answered} of {preview.asked} questions (best score {preview.best_score:.2f})"
    if preview.changed:
        told += f"; would change {preview.changed} answers that are fine today"
    quotes = [
        f"  {passage.section or passage.document} ({passage.score:.2f}): {' '.join(passage.quote.split())}"
        for passage in preview.evidence
    ]
    return [f"{told}.", *quotes]


def reasked_lines(reasked: Sequence[Reasked]) -> list[str]:
    """Gaps that were asked again, with support before and after."""
    return [
        f"{'closed' if one.closed else 'open  '}  {one.gap_id[:8]}  {one.before:.2f} → {one.after:.2f}  {one.question}"
        for one in reasked
    ]


def _passage(passage: Nearest) -> dict[str, Any]:
    return {
        "document": passage.document,
        "section": passage.section,
        "quote": passage.quote,
        "score": passage.score,
    }
