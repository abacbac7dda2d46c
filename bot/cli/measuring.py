"""``gaplight calibrate``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.app import App, opened
from bot.cli.measuring_output import asked_with_progress, figure, with_interval
from bot.cli.output import console, messages, print_json, report
from bot.cli.state import State
from bot.clock import now
from discovery.measuring.asked import given, left_out
from discovery.measuring.calibrate import Calibration, Scored, calibrate
from discovery.measuring.questions import read_probes
from store.errors import UsageError

_EXAMPLES = """Examples:

  gaplight calibrate                          (from the documents themselves)

  gaplight calibrate labelled.csv --apply     (columns: question, answerable)
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="calibrate", epilog=_EXAMPLES)(calibrate_command)


def calibrate_command(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="Labelled questions: csv, xlsx or jsonl with question and answerable (1/0).")
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Let the gate use the threshold from now on.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on standard output.")] = False,
) -> None:
    """Find the threshold that tells answerable questions from gaps, and how often it errs."""
    with opened(context.ensure_object(State).settings, report) as app:
        own_scores, found = labelled(app, file) if file else (False, from_corpus(app))
        refused = apply and (own_scores or not found.tells_apart)
        keep(app, found, now(), applied=apply and not refused, stored=not own_scores)
        fixed = app.settings.gate.support
    if as_json:
        print_json(calibration_json(found))
    else:
        _show(found)
    if refused:
        why = "its scores were measured elsewhere" if own_scores else "the score tells the groups apart no better"
        messages().print(f"Not applied: {why}{'' if own_scores else ' than a coin'}.", markup=False)
        raise typer.Exit(3)
    if apply and fixed is not None:
        messages().print(f"gate.support = {fixed} in the settings wins over it; remove it there.", markup=False)
    elif apply:
        messages().print(f"Applied: questions are answered from support {found.threshold:.3f} on.", markup=False)


def labelled(app: App, file: Path) -> tuple[bool, Calibration]:
    """Calibrate on labelled questions.

    Returns:
        Whether the file brought its own scores, and the calibration.

    Raises:
        UsageError: labels are missing, or all the same.
    """
    read = read_probes(file)
    unlabelled = sum(probe.answerable is None for probe in read.probes)
    if unlabelled:
        raise UsageError(
            f"{unlabelled} of {len(read.probes)} questions in {file} have no label.",
            "Add a column named answerable with 1 or 0 for each, or calibrate without a file.",
        )
    own_scores = all(probe.score is not None for probe in read.probes)
    asked = [given(probe) for probe in read.probes] if own_scores else asked_with_progress(app, read.probes)
    for note in (*read.notes, *left_out(asked)):
        messages().print(note, markup=False)
    return own_scores, calibrate(
        [Scored(one.score, bool(one.probe.answerable)) for one in asked if one.measured], "labelled"
    )


def from_corpus(app: App) -> Calibration:
    """Calibrate on the documents themselves.

    Raises:
        UsageError: they are too few for that.
    """
    from bot.calibration import SAMPLE, asking_of, unlabelled

    found = unlabelled(asking_of(app), sample=5 * SAMPLE, seconds=120)
    if found is None:
        raise UsageError(
            f"No sentence in the {app.documents.counts().chunks} chunks of the documents can stand for a question.",
            "Give a file with labelled questions, or ingest more documents.",
        )
    return found


def keep(app: App, found: Calibration, now: datetime, *, applied: bool, stored: bool) -> None:
    """Store a calibration with the engine's own scores."""
    from bot.calibration import record_of

    if stored:
        app.calibrations.add(record_of(app, found, now, applied=applied))


def calibration_json(found: Calibration) -> dict[str, Any]:
    """The fields of the contract, then the intervals and notes."""
    groups = {
        name: {"n": group.n, "min": group.min, "max": group.max}
        for name, group in (("covered", found.covered), ("gaps", found.gaps))
    }
    return {
        "threshold": found.threshold,
        "separable": found.separable,
        "false_accept_rate": found.false_accept.value,
        "false_abstain_rate": found.false_abstain.value,
        "auroc": found.auroc,
        **groups,
        "confidence": found.confidence,
        "method": found.method,
        "intervals": {
            "false_accept_rate": [found.false_accept.interval.low, found.false_accept.interval.high],
            "false_abstain_rate": [found.false_abstain.interval.low, found.false_abstain.interval.high],
            "auroc": [found.auroc_interval.low, found.auroc_interval.high],
        },
        "notes": list(found.notes),
    }


def _show(found: Calibration) -> None:
    target = console()
    lines = [
        f"Threshold {found.threshold:.3f} ({found.method}, confidence {found.confidence})",
        f"  {'separable' if found.separable else 'not separable'}; AUROC {figure(found.auroc, found.auroc_interval)}",
        f"  gaps that would be answered:       {with_interval(found.false_accept)}",
        f"  covered questions refused:         {with_interval(found.false_abstain)}",
        f"  covered: {found.covered.n} questions, scores {found.covered.min:.2f} to {found.covered.max:.2f}",
        f"  gaps:    {found.gaps.n} questions, scores {found.gaps.min:.2f} to {found.gaps.max:.2f}",
        *found.notes,
    ]
    for line in lines:
        target.print(line, markup=False)
