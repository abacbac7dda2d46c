"""``gaplight discover``: look for documents that would close gaps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any

import typer

from bot.app import opened
from bot.candidate_json import candidate_as_json
from bot.cli.candidates import show_candidates
from bot.cli.output import console, messages, print_json, progress_bar, report
from bot.cli.private import candidate_with, public_ids, topic_with
from bot.cli.state import State
from discovery.suggesting import Suggested
from store.errors import ConfigurationError, NotFoundError
from store.records import Topic

_EXAMPLES = """Examples:

  gaplight discover

  gaplight discover --topic 3fa9
"""
_NOT_ALL = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(discover)


def discover(
    context: typer.Context,
    topic: Annotated[str, typer.Option(help="Only for this topic or gap; its first characters are enough.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many topics, those that matter most first.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Look for sources that would close gaps, try them out on the questions, and suggest the best.

    Exit code 3: a finder did not work, or a limit was reached and the rest has to wait.
    """
    settings = context.ensure_object(State).settings
    if not settings.discovery.folders and settings.discovery.finders == ("folder",):
        raise ConfigurationError(
            "There is nowhere to look for documents: discovery.folders is empty.",
            'Name folders there, or set discovery.finders = ["github"]; docs/admins.md has examples.',
        )
    with opened(settings, report) as app, progress_bar() as bar:
        topics = _chosen(app.reporting.rounds.look().topics, topic)[:limit]
        suggested = [app.discovery.suggesting.suggest(one) for one in bar.track(topics, description="Looking")]
        shown = public_ids(app.gaps)
    if as_json:
        print_json({"topics": [_as_json(one, shown) for one in suggested]})
    else:
        _show(suggested)
    if any(one.failed or one.retry_at for one in suggested):
        raise typer.Exit(_NOT_ALL)


def _chosen(topics: Sequence[Topic], beginning: str) -> list[Topic]:
    """The topics that were asked for; those of private questions only have no words that may be searched for.

    Raises:
        NotFoundError: there is none.
    """
    told = [one for one in topics if one.question]
    found = [one for one in told if one.id.startswith(beginning) or _holds(one, beginning)] if beginning else told
    if beginning and not found:
        raise NotFoundError(f"There is no open topic or gap {beginning!r}.", "`gaplight gaps list` shows open gaps.")
    return found


def _holds(topic: Topic, beginning: str) -> bool:
    return any(gap_id.startswith(beginning) for gap_id in topic.gap_ids)


def _as_json(suggested: Suggested, shown: Collection[str]) -> dict[str, Any]:
    return {
        "id": suggested.topic.id,
        "label": suggested.topic.label,
        "gaps": list(topic_with(suggested.topic, shown).gap_ids),
        "candidates": [candidate_as_json(candidate_with(one, shown)) for one in suggested.candidates],
        "notes": list(suggested.notes),
        "retry_at": suggested.retry_at.isoformat() if suggested.retry_at else None,
    }


def _show(suggested: list[Suggested]) -> None:
    stream = messages()
    for note in dict.fromkeys(note for one in suggested for note in one.notes):
        stream.print(f"Note: {note}", markup=False)
    found = [candidate for one in suggested for candidate in one.candidates]
    if found:
        show_candidates(found)
        console().print("Next: gaplight candidates show ID, then approve, reject or snooze.", markup=False)
    else:
        console().print("Nothing was found that comes near." if suggested else "No open gaps.", markup=False)
