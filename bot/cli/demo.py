"""``gaplight demo``: the whole way once, on documents that every installation has."""

from __future__ import annotations

import json
import time
from importlib.resources import files
from pathlib import Path

import typer

from bot.app import App, opened
from bot.cli.closing import close_one_gap
from bot.cli.gaps import show_gaps
from bot.cli.output import FileProgress, console, progress_bar, report
from bot.cli.render import show_reply
from bot.cli.state import State
from bot.settings import Settings
from store.records import GapState, Question, Status
from store.sources import IngestRequest

_FOLDER = Path(".gaplight-demo")
_ASKERS = 3
"""People the demo asks as, so that the gap table has something to rank by."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: gaplight --data /tmp/demo demo")(demo)


def demo(context: typer.Context) -> None:
    """Ingest what is installed here, ask a dozen questions, show the gaps they exposed, and close one of them."""
    state = context.ensure_object(State)
    if state.data is None:
        state.data = _FOLDER
    settings = _with_second_source(state.settings)
    started = time.monotonic()
    target = console()
    with opened(settings, report) as app:
        _ingest(app, settings)
        answered, refused = _ask(app)
        _show_gaps(app, "Gaps: what was asked in vain")
        if settings.discovery.folders and close_one_gap(app, target):
            _show_gaps(app, "The gaps now", (*GapState,))
    target.print(_next_steps(settings.data, answered, refused, time.monotonic() - started), markup=False)


def _with_second_source(settings: Settings) -> Settings:
    """The settings with a folder in which documents for the gaps are looked for, unless one is configured."""
    from bot.demo_corpus import second_source

    discovery = settings.discovery
    if discovery.folders:
        return settings
    return settings.model_copy(update={"discovery": discovery.model_copy(update={"folders": second_source()})})


def _show_gaps(app: App, title: str, states: tuple[GapState, ...] | None = None) -> None:
    gaps = app.gaps.list(states, limit=20)
    console().print(f"\n{title} ({len(gaps)})\n", style="bold", markup=False)
    show_gaps(gaps)


def _ingest(app: App, settings: Settings) -> None:
    from bot.demo_corpus import project_docs, write_package_descriptions

    packages = settings.data / "packages"
    written = write_package_descriptions(packages)
    report(f"Reading the descriptions of {written} installed packages, and Gaplight's own guides.")
    paths = [packages, *project_docs()]
    with progress_bar() as bar:
        summary = app.ingestor.run(IngestRequest(paths=paths), FileProgress(bar))
    console().print(
        f"{summary.documents} documents in the index: {summary.added} added, {summary.updated} updated, "
        f"{summary.unchanged} unchanged; {summary.chunks} chunks written in {summary.seconds:.1f} s.",
        markup=False,
    )


def _ask(app: App) -> tuple[int, int]:
    lines = files("bot").joinpath("data", "demo_questions.jsonl").read_text(encoding="utf-8").splitlines()
    counts = {Status.ANSWERED: 0, Status.ABSTAINED: 0}
    target = console()
    for number, line in enumerate(lines):
        text = json.loads(line)["question"]
        target.print(f"\n? {text}\n", style="bold cyan", markup=False)
        reply = app.engine.ask(Question(text, asker=f"demo:{number % _ASKERS}", platform="demo"))
        show_reply(reply, target)
        counts[reply.status] = counts.get(reply.status, 0) + 1
    return counts[Status.ANSWERED], counts[Status.ABSTAINED]


def _next_steps(data: Path, answered: int, refused: int, seconds: float) -> str:
    return f"""
{answered} questions answered, {refused} refused and logged, in {seconds:.0f} s.

What to do next:
  gaplight --data {data} chat              talk with these documents
  gaplight --data {data} gaps show ID      see why one of the gaps above was logged
  gaplight init                            write a settings file for your own documents
  gaplight ingest YOUR_FOLDER              index them
  gaplight ask "How do I ...?"             ask
"""
