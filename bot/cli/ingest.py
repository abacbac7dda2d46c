"""``gaplight ingest``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.app import App, opened
from bot.cli.output import FileProgress, console, messages, print_json, progress_bar, report
from bot.cli.state import State, parse_scope
from bot.clock import now
from store.errors import GaplightError
from store.ingest_summary import IngestSummary
from store.records import Visibility
from store.sources import IngestRequest, Issue

_EXAMPLES = """Examples:

  gaplight ingest docs/

  gaplight ingest wiki/ runbooks/ --collection ops --scope version=2

  gaplight ingest docs/vpn/install.md      (one file; nothing is pruned)
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(ingest)


def ingest(
    context: typer.Context,
    paths: Annotated[list[Path] | None, typer.Argument(help="Folders or files. Default: documents.paths.")] = None,
    collection: Annotated[str | None, typer.Option(help="Collection to put them in.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="A fact they are valid for, as key=value.")] = None,
    visibility: Annotated[Visibility | None, typer.Option(help="Who may see the collection.")] = None,
    prune: Annotated[
        bool | None, typer.Option("--prune/--no-prune", help="Forget documents whose files are gone.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Bring folders and files into the index. A second run only reads what has changed."""
    settings = context.ensure_object(State).settings
    request = IngestRequest(
        paths=paths or settings.documents.paths,
        collection=collection or settings.documents.collection,
        scope=parse_scope(scope or []),
        visibility=visibility,
        prune=prune,
        skip=(settings.data,),
    )
    try:
        with opened(settings, report) as app, progress_bar() as bar:
            summary = app.ingestor.run(request, FileProgress(bar))
            calibrated(app)
    except KeyboardInterrupt:
        messages().print("Stopped. What was finished is kept; the same command goes on from there.", markup=False)
        raise typer.Exit(130) from None
    if as_json:
        print_json(summary.as_json())
    else:
        _show(summary)
    if summary.failed or summary.partial:
        raise typer.Exit(3)


def calibrated(app: App) -> None:
    """Let the documents calibrate the gate where that is due; what was ingested stays ingested if that fails."""
    from bot.calibration import keep_calibrated

    try:
        found = keep_calibrated(app, now())
    except GaplightError as error:
        messages().print(f"The gate was not calibrated: {error}", markup=False)
        return
    if found:
        report(f"Calibrated from the documents: questions are answered from support {found.threshold:.2f} on.")


def _show(summary: IngestSummary) -> None:
    stream = messages()
    for heading, issues in (
        ("Not read", summary.failed),
        ("Read in part", summary.partial),
        ("Left out", summary.skipped),
    ):
        for issue in issues:
            stream.print(_line(heading, issue), markup=False)
    meanwhile = f" ({summary.elsewhere} brought in by another run meanwhile)" if summary.elsewhere else ""
    console().print(
        f"{summary.added} added, {summary.updated} updated, {summary.unchanged} unchanged{meanwhile}, "
        f"{summary.removed} removed, "
        f"{len(summary.failed)} failed. {summary.documents} documents in the index; {summary.chunks} chunks written "
        f"in {summary.seconds:.1f} s.",
        markup=False,
    )


def _line(heading: str, issue: Issue) -> str:
    return f"{heading}: {issue.path}: {issue.reason}"
