"""``gaplight evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.app import App, opened
from bot.cli.measuring_output import asked_with_progress, strict_asker
from bot.cli.output import console, messages, print_json, print_table, report
from bot.cli.state import State
from bot.settings import load_settings
from discovery.measuring.evaluate import Evaluation, Figure, differences, evaluate, evaluation_json, figure_json
from discovery.measuring.questions import Probe, read_probes
from store.errors import UsageError
from store.records import Status

_EXAMPLES = """Examples:

  gaplight evaluate labelled.csv                        (question, answerable, gold_documents, scenario ...)

  gaplight evaluate labelled.csv --against strict.toml  (the same questions under other settings)
"""
_TITLES = {"retrieval": "Retrieval", "gate": "Gate", "answer": "Answer", "end_to_end": "End to end"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="evaluate", epilog=_EXAMPLES)(evaluate_command)


def evaluate_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="Questions: csv, xlsx or jsonl, or a folder of them.")],
    against: Annotated[
        Path | None, typer.Option(help="Another settings file: its answer, gate and rules on the same documents.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on standard output.")] = False,
) -> None:
    """Measure retrieval, gate and answers apart, and end to end, in slices and with confidence intervals."""
    read = read_probes(file)
    state = context.ensure_object(State)
    with opened(state.settings, report) as app:
        first = _measured(app, read.probes)
        second = _measured(_other(app, against, state.data), read.probes) if against else None
    for note in (*read.notes, *first.notes):
        messages().print(note, markup=False)
    values = evaluation_json(first)
    if second:
        values["against"] = evaluation_json(second)
        values["difference"] = {name: figure_json(one) for name, one in differences(first, second).items()}
    if as_json:
        print_json(values)
    else:
        _show(first, second)
    if any(one.asked.reply.status is Status.ERROR for one in first.judged) or len(first.judged) < len(read.probes):
        raise typer.Exit(3)


def _measured(app: App, probes: tuple[Probe, ...]) -> Evaluation:
    return evaluate(asked_with_progress(app, probes, strict_asker(app)), app.threshold)


def _other(app: App, config: Path, data: Path | None) -> App:
    """The same documents under other settings.

    Raises:
        UsageError: the other settings name another embedding model.
    """
    settings = load_settings(config, data)
    if settings.embedding != app.settings.embedding:
        raise UsageError(f"{config} names another embedding model or engine.", "Compare models on two data folders.")
    other = App(settings.model_copy(update={"data": app.settings.data}))
    other.__dict__.update(index=app.index, database=app.database)
    return other


def _show(first: Evaluation, second: Evaluation | None) -> None:
    target = console()
    target.print(f"{len(first.judged)} questions, threshold {first.threshold:.2f}, policy {first.policy}", markup=False)
    columns = ("", "Value", "95 %", "Questions", *(("Against",) if second else ()))
    for stage, figures in first.stages.items():
        others = second.stages[stage] if second else {}
        rows = ([name, *_cells(one), *([_cells(others[name])[0]] if second else [])] for name, one in figures.items())
        print_table(_TITLES[stage], columns, rows)
    print_table("First failure", ("Kind", "Questions"), ((name, str(count)) for name, count in first.failures.items()))
    for by, slices in first.slices.items():
        table = ([name, *(_cells(one)[0] for one in row.values())] for name, row in slices.items())
        print_table(f"By {by}", (by, "Correct", "Recall@3", "False accepts", "False abstentions"), table)
    if second:
        changed = ([name, *_cells(one)] for name, one in differences(first, second).items())
        print_table("Against less this", ("", "Difference", "95 %", "Questions"), changed)


def _cells(figure: Figure) -> tuple[str, str, str]:
    if figure.value is None:
        return "-", "", "0"
    digits = 0 if abs(figure.value) >= 10 else 3  # noqa: PLR2004  tokens and milliseconds are whole numbers
    interval = figure.interval
    span = f"{interval.low:.{digits}f} to {interval.high:.{digits}f}" if interval else ""
    return f"{figure.value:.{digits}f}", span, str(figure.n)
