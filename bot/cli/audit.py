"""``gaplight audit``: who decided what, where, and as what; and who was refused."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from bot.app import opened
from bot.cli.output import console, print_json, print_table
from bot.cli.private import IncludePrivate, public_ids
from bot.cli.state import State
from bot.clock import now
from store.records import AuditEntry

_EXAMPLES = """Examples:

  gaplight audit

  gaplight audit --refused --days 7

  gaplight audit --subject 3fa91c02d4e5 --json
"""
_REFUSED = "refused_"
_ABOUT_GAPS = "gap."
_PRIVATE = "private"
_SHOWN_APART = ("place", "role")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(audit)


def audit(
    context: typer.Context,
    days: Annotated[int, typer.Option(min=1, max=36500, help="Of the last so many days.")] = 30,
    subject: Annotated[str, typer.Option(help="Only what was done to this gap or candidate; the whole id.")] = "",
    refused: Annotated[bool, typer.Option("--refused", help="Only what somebody was not allowed to do.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the latest.")] = 200,
    private: IncludePrivate = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Show who decided what, where and as what, the latest first; refusals are part of it."""
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        since = now() - timedelta(days=days)
        prefix = _REFUSED if refused else ""
        entries = app.audit.entries(subject, since, limit, prefix)
        shown = None if private else public_ids(app.gaps)
    found = [_as_json(entry, shown) for entry in entries]
    if as_json:
        print_json(found)
    elif found:
        _show(found)
    else:
        console().print("Nothing was decided or refused in this time.")


def _as_json(entry: AuditEntry, shown: Collection[str] | None) -> dict[str, Any]:
    """An entry as plain values; a gap that was asked in private is not named."""
    hidden = shown is not None and entry.action.startswith(_ABOUT_GAPS) and entry.subject not in shown
    return {
        "at": entry.at.astimezone(UTC).isoformat(timespec="seconds"),
        "by": entry.by,
        "action": entry.action,
        "subject": _PRIVATE if hidden else entry.subject,
        "place": str(entry.detail.get("place", "")),
        "role": str(entry.detail.get("role", "")),
        "detail": {key: value for key, value in entry.detail.items() if key not in _SHOWN_APART},
    }


def _show(entries: list[dict[str, Any]]) -> None:
    columns = ("When", "Who", "As", "Where", "Did", "To")
    rows = (
        (_moment(one["at"]), one["by"], one["role"], one["place"], one["action"], one["subject"][:12])
        for one in entries
    )
    print_table("", columns, rows)


def _moment(text: str) -> str:
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M}"
