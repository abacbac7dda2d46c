"""Gaps as JSON values, table rows and Markdown. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from store.records import Gap, Visibility

_COLUMNS = (
    "id",
    "state",
    "type",
    "question",
    "additional_questions",
    "askers",
    "count",
    "first_seen",
    "last_seen",
    "reasons",
    "best_score",
    "nearest_document",
    "nearest_section",
    "visibility",
    "note",
)
ASKED_IN_PRIVATE = "asked in private"
"""What stands in the place of a question that not everybody may see."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters that make a cell a formula, as OWASP lists them (CSV Injection)."""


def public_view(gap: Gap) -> Gap:
    """A gap as everybody may see it: one that was asked in private shows nothing but its numbers."""
    if gap.visibility is not Visibility.PUBLIC:
        return replace(gap, question=ASKED_IN_PRIVATE, additional_questions=(), nearest=None, note="")
    shown = tuple(wording for wording in gap.additional_questions if wording.visibility is Visibility.PUBLIC)
    return replace(gap, additional_questions=shown)


def gap_as_json(gap: Gap) -> dict[str, Any]:
    """One gap as plain values; times in ISO 8601 with zone."""
    nearest = gap.nearest
    return {
        "id": gap.id,
        "state": gap.state.value,
        "type": gap.type.value,
        "question": gap.question,
        "additional_questions": [
            {"question": w.text, "count": w.count, "askers": w.askers, "merged_because": w.merged_because}
            for w in gap.additional_questions
        ],
        "askers": gap.askers,
        "count": gap.count,
        "first_seen": gap.first_seen.isoformat(),
        "last_seen": gap.last_seen.isoformat(),
        "reasons": dict(gap.reasons),
        "best_score": round(gap.best_score, 4),
        "nearest": (
            {"document": nearest.document, "section": nearest.section, "quote": nearest.quote} if nearest else None
        ),
        "visibility": gap.visibility.value,
        "language": gap.language,
        "note": gap.note,
        "merged_into": gap.merged_into or None,
    }


def gaps_as_rows(gaps: Sequence[Gap]) -> list[list[str]]:
    """A header and a row for each gap, safe to open in a spreadsheet."""
    return [list(_COLUMNS), *([_inert(cell) for cell in _row(gap)] for gap in gaps)]


def _row(gap: Gap) -> list[str]:
    values = gap_as_json(gap)
    nearest = gap.nearest
    values["additional_questions"] = "\n".join(wording.text for wording in gap.additional_questions)
    values["reasons"] = ", ".join(f"{reason}: {count}" for reason, count in gap.reasons.items())
    values["nearest_document"] = nearest.document if nearest else ""
    values["nearest_section"] = nearest.section if nearest else ""
    return [str(values[column]) for column in _COLUMNS]


def _inert(cell: str) -> str:
    """A cell that no spreadsheet runs as a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def gaps_as_markdown(gaps: Sequence[Gap]) -> str:
    """A table in Markdown; what people wrote cannot break out of its cell."""
    lines = ["| Gap | Askers | Asked | Type | State | Question | Nearest |", "|---|---|---|---|---|---|---|"]
    for gap in gaps:
        nearest = gap.nearest.document if gap.nearest else ""
        cells = [gap.id[:8], str(gap.askers), str(gap.count), gap.type, gap.state, gap.question, nearest]
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    for mark in "\\`*_[]<>|":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())
