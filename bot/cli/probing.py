"""``gaplight probe``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.app import App, opened
from bot.cli.measuring_output import asked_with_progress, with_interval
from bot.cli.output import console, messages, print_json, print_table, report
from bot.cli.state import State
from bot.clock import now
from discovery.measuring.probe import Comparison, ProbeResult, compare, probe, probe_json
from discovery.measuring.questions import read_probes
from discovery.measuring.report import Context, render
from discovery.measuring.report_files import read_earlier, write_report
from store.errors import UsageError
from store.records import Status, Visibility

_EXAMPLES = """Examples:

  gaplight probe questions.csv --report report/

  gaplight probe questions/ --report report/ --min-coverage 0.9     (exit code 3 below it: a check for CI)
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="probe", epilog=_EXAMPLES)(probe_command)


def probe_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="Questions: csv, xlsx or jsonl, or a folder of them.")],
    folder: Annotated[
        Path | None, typer.Option("--report", help="Write index.html, items.csv and probe.json into this folder.")
    ] = None,
    earlier: Annotated[
        Path | None, typer.Option("--compare", help="Earlier probe.json or report. Default: what --report holds.")
    ] = None,
    min_coverage: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit code 3 when a smaller share is covered.")
    ] = None,
    private: Annotated[
        bool, typer.Option("--include-private", help="Search private collections too. Mind who reads the report.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on standard output.")] = False,
) -> None:
    """Ask many questions and show which of them the documents don't cover.

    What is measured, and quoted in the report, are the collections that everybody may read.
    """
    read = read_probes(file)
    known = earlier or folder
    before = read_earlier(known) if known else None
    if earlier and before is None:
        raise UsageError(f"There is no earlier probe at {earlier}.", "Give a probe.json, or the folder of a report.")
    with opened(context.ensure_object(State).settings, report) as app:
        asked = asked_with_progress(app, read.probes, collections=() if private else _public(app))
        result = probe(asked, app.threshold, masked=app.settings.privacy.redact)
        compared = compare(result, before) if before else None
        values = probe_json(result, compared)
        if folder:
            counts = app.documents.counts()
            about = Context(now(), counts.documents, counts.chunks, compared, _since(before))
            values["made_at"] = about.made_at.isoformat(timespec="seconds")
            written = write_report(folder, render(result, about), result, values)
            messages().print(f"Report: {written[0]}", markup=False)
    for note in (*read.notes, *result.notes):
        messages().print(note, markup=False)
    if as_json:
        print_json(values)
    else:
        _show(result, compared)
    below = min_coverage is not None and (result.coverage.value or 0.0) < min_coverage
    if below:
        messages().print(f"Coverage is below {min_coverage:.0%}.", markup=False)
    if below or any(one.reply.status is Status.ERROR for one in asked):
        raise typer.Exit(3)


def _public(app: App) -> tuple[str, ...]:
    """The collections that everybody may read; empty stands for all where none is private.

    Raises:
        UsageError: there are only private ones.
    """
    known = app.documents.collections()
    public = tuple(name for name, visibility in known.items() if visibility is Visibility.PUBLIC)
    if len(public) == len(known):
        return ()
    if not public:
        raise UsageError("Every collection is private.", "Add --include-private, and mind who reads the report.")
    messages().print(
        f"{len(known) - len(public)} private collections were left out; --include-private searches them.", markup=False
    )
    return public


def _since(before: object) -> str:
    return str(before.get("made_at", "")).replace("T", " ")[:16] if isinstance(before, dict) else ""


def _show(result: ProbeResult, compared: Comparison | None) -> None:
    target = console()
    target.print(f"Covered: {with_interval(result.coverage)}; threshold {result.threshold:.2f}", markup=False)
    if compared:
        target.print(f"Since the earlier probe: {compared.sentence}", markup=False)
    print_table(
        "",
        ("Scenario", "Covered", "Gaps"),
        ((one.name, f"{one.covered.value or 0:.0%}", str(one.gaps)) for one in result.scenarios),
    )
    if result.gaps:
        rows = (
            (item.question, f"{item.support:.2f}", f"{item.nearest.document}" if item.nearest else "-")
            for item in result.gaps
        )
        print_table("", ("Gap", "Support", "Nearest document"), rows)
    target.print("These are gaps where the questions looked; nobody asked what is not on the list.", markup=False)
