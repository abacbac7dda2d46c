"""How the bot is doing, for people in chat. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from store.document_rows import Counts
from store.question_stats import Stats
from store.records import OPEN_GAPS, Gap, GapState

STATUS_DAYS = 7


def status_text(counts: Counts, recent: Stats, gaps: Sequence[Gap]) -> str:
    """Documents, questions of the last week and gaps, as a list in Markdown.

    Args:
        counts: what is indexed.
        recent: figures of the questions of the last :data:`STATUS_DAYS` days.
        gaps: all gaps; only their number is told.
    """
    lines = [f"- {counts.documents:,} documents in {counts.chunks:,} pieces", f"- {_questions(recent)}"]
    if recent.helpful or recent.unhelpful:
        lines.append(f"- votes: {recent.helpful} helpful, {recent.unhelpful} not helpful")
    if total := recent.latencies.get("total"):
        lines.append(f"- time to answer: half under {total.p50:,.0f} ms, 19 of 20 under {total.p95:,.0f} ms")
    still_open = sum(gap.state in OPEN_GAPS for gap in gaps)
    closed = sum(gap.state is GapState.CLOSED for gap in gaps)
    lines.append(f"- gaps: {still_open} open, {closed} closed")
    return "\n".join(lines)


def _questions(recent: Stats) -> str:
    refused = "" if recent.abstention_rate is None else f", {recent.abstention_rate:.0%} of them not covered"
    return f"{recent.questions:,} questions in the last {STATUS_DAYS} days{refused}"
