"""``gaplight topics`` and ``gaplight round``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from bot.app import opened
from bot.cli.output import console, messages, print_json, print_table, progress_bar, report
from bot.cli.private import IncludePrivate, public_ids, topic_with
from bot.cli.state import State
from bot.clock import now
from bot.digest_json import digest_as_json, topic_as_json
from discovery.digest_markdown import digest_markdown
from store.records import Topic

_TOPICS = """Examples:

  gaplight topics             (of the last round)

  gaplight topics --now       (as a round would see them now)
"""
_ROUND = """Examples:

  gaplight round

  gaplight round --json
"""
_NOT_ALL = 3
_Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog=_TOPICS)(topics)
    app.command("round", epilog=_ROUND)(make_round)


def topics(
    context: typer.Context,
    now: Annotated[bool, typer.Option("--now", help="Bring the open gaps together anew; nothing is kept.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    private: IncludePrivate = False,
    as_json: _Json = False,
) -> None:
    """List what the open gaps are about, the topics that matter most first.

    Questions that were asked in private count, but are not shown; --include-private adds the ids of their gaps.
    """
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        made = app.reporting.store.latest()
        topics = made.topics if made and not now else app.reporting.glance.look().topics
        shown = None if private else public_ids(app.gaps)
    if as_json:
        told = [topic_as_json(topic_with(topic, shown)) for topic in topics]
        print_json({"round": made.number if made and not now else None, "topics": told})
        return
    if not topics:
        console().print("No open gaps, so no topics.")
        return
    _show(topics[:limit], private=private)
    if len(topics) > limit:
        messages().print(f"And {len(topics) - limit} more; --limit shows them.", markup=False)


def _show(found: Sequence[Topic], *, private: bool) -> None:
    print_table(
        "",
        ("Topic", "Severity", "Askers", "Asked", "Gaps", "Trend", "About", "Most central question"),
        (
            (
                topic.id[:8] if topic.question or private else "",
                f"{topic.severity:.2f}",
                str(topic.askers),
                str(topic.count),
                str(len(topic.gap_ids)),
                topic.trend.value,
                topic.label,
                topic.question,
            )
            for topic in found
        ),
    )


def make_round(context: typer.Context, as_json: _Json = False) -> None:
    """Bring open gaps together, look for sources for the topics that matter most, and show the digest.

    Exit code 3: something did not work or has to wait; the notes say what.
    """
    settings = context.ensure_object(State).settings
    with opened(settings, report) as app, progress_bar() as bar:
        task = bar.add_task("Looking for sources", total=None)
        digest = app.reporting.make(lambda _label, done, total: bar.update(task, completed=done, total=total))
        if not settings.digest.channel:  # nobody else is going to be told
            app.reporting.store.report(digest.number, now())
    if as_json:
        print_json(digest_as_json(digest))
    else:
        console().print(digest_markdown(digest), markup=False, end="")
        if settings.digest.channel:
            messages().print("`gaplight digest --post` posts it.", markup=False)
    if digest.notes:
        raise typer.Exit(_NOT_ALL)
