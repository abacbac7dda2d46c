"""``gaplight jobs``: what is done on schedule."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from bot.app import opened
from bot.cli.output import print_json, print_table
from bot.cli.state import State
from discovery.job_runner import JobState

_EXAMPLES = """Examples:

  gaplight jobs

  gaplight jobs --json
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(jobs)


def jobs(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Show what `gaplight run` does on schedule: when each job ran last, and when it runs next."""
    from bot.jobs import runner

    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        states = runner(app).states()
    if as_json:
        print_json({"jobs": [_values(state) for state in states]})
    else:
        print_table("", ("Job", "Does", "Last", "Next"), (_row(state) for state in states))


def _values(state: JobState) -> dict[str, object]:
    last = state.last
    return {
        "name": state.job.name,
        "title": state.job.title,
        "last": last and {"slot": last.key, "started": _iso(last.claimed_at), "finished": _iso(last.finished_at)},
        "next": {"slot": state.next.key, "due": _iso(state.next.due)},
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _row(state: JobState) -> tuple[str, str, str, str]:
    zone = state.job.zone
    last = "never"
    if state.last is not None:
        ended = "" if state.last.finished_at else " (not finished)"
        last = f"{state.last.claimed_at.astimezone(zone):%Y-%m-%d %H:%M}{ended}"
    return state.job.name, state.job.title, last, _shown(state.next.due.astimezone(zone))


def _shown(moment: datetime) -> str:
    return f"{moment:%a %Y-%m-%d %H:%M %Z}"
