"""``gaplight stats``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

import typer

from bot.app import opened
from bot.cli.output import console, print_json, print_table
from bot.cli.state import State
from bot.clock import now


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: gaplight stats --days 7 --json")(stats)


def stats(
    context: typer.Context,
    days: Annotated[int, typer.Option(min=1, help="Questions of the last so many days.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on standard output.")] = False,
) -> None:
    """Show how much is indexed, how questions ended, and how long each step took."""
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        counts = app.documents.counts()
        values: dict[str, Any] = {
            "documents": counts.documents,
            "chunks": counts.chunks,
            "collections": sorted(app.documents.collections()),
            "days": days,
            **asdict(app.questions.stats(now() - timedelta(days=days))),
            "gaps": {state.value: count for state, count in app.gaps.counts().items() if count},
        }
    if as_json:
        print_json(values)
    else:
        _show(values)


def _show(values: dict[str, Any]) -> None:
    target = console()
    target.print(
        f"{values['documents']} documents, {values['chunks']} chunks in {len(values['collections'])} collections"
    )
    refused = values["abstention_rate"]
    share = "" if refused is None else f", {refused:.0%} refused"
    target.print(f"{values['questions']} questions in {values['days']} days{share}")
    for title, key in (
        ("Ended", "statuses"),
        ("Refused because", "reasons"),
        ("Rules fired", "rules"),
        ("Gaps", "gaps"),
    ):
        if values[key]:
            print_table("", (title, "Count"), ((name, str(count)) for name, count in values[key].items()))
    if values["latencies"]:
        rows = ((name, f"{step['p50']:.1f}", f"{step['p95']:.1f}") for name, step in values["latencies"].items())
        print_table("", ("Step", "p50 ms", "p95 ms"), rows)
