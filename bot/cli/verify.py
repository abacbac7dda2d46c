"""``gaplight verify``: ask gaps again."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.app import App, opened
from bot.candidate_json import reasked_as_json, reasked_lines
from bot.cli.output import console, messages, print_json, report
from bot.cli.state import State
from discovery.closure import UNSETTLED
from discovery.ports import Reasked
from discovery.regression import RegressionResult

_EXAMPLES = """Examples:

  gaplight verify             (everything that is open, and everything that was closed with proof)

  gaplight verify 3fa9 81c0
"""
_NOT_ALL = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(verify)


def verify(
    context: typer.Context,
    gaps: Annotated[list[str] | None, typer.Argument(help="Ids of gaps; default: all but ignored ones.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Ask gaps again: close those that the documents answer now, reopen closed ones that they no longer answer.

    Exit code 3: a gap that was named is not closed, or a closed one was reopened or could not be asked.
    """
    with opened(context.ensure_object(State).settings, report) as app:
        if gaps:
            reasked, checked = app.discovery.closure.verify(gaps), RegressionResult(0, (), ())
        else:
            reasked, checked = _everything(app)
    if as_json:
        print_json(
            {
                "gaps": reasked_as_json(reasked),
                "closed": sum(one.closed for one in reasked),
                "kept": checked.kept,
                "reopened": reasked_as_json(checked.reopened),
                "unknown": list(checked.unknown),
            }
        )
    else:
        _show(reasked, checked)
    if checked.reopened or checked.unknown or (gaps and not all(one.closed for one in reasked)):
        raise typer.Exit(_NOT_ALL)


def _everything(app: App) -> tuple[list[Reasked], RegressionResult]:
    """First what was closed, so that what is reopened is not asked twice."""
    checked = app.discovery.regression.check()
    again = {one.gap_id for one in checked.reopened}
    open_gaps = [gap.id for gap in app.gaps.list(UNSETTLED) if gap.id not in again]
    return app.discovery.closure.verify(open_gaps), checked


def _show(reasked: list[Reasked], checked: RegressionResult) -> None:
    target = console()
    for line in (*reasked_lines(reasked), *(f"reopened: {line}" for line in reasked_lines(checked.reopened))):
        target.print(line, markup=False)
    closed = sum(one.closed for one in reasked)
    told = f"{closed} of {len(reasked)} open gaps are closed now."
    if checked.kept or checked.reopened:
        told += f" Of the closed ones, {checked.kept} are still answered, {len(checked.reopened)} were reopened."
    target.print(told, markup=False)
    if checked.unknown:
        messages().print(f"{len(checked.unknown)} closed gaps could not be asked; they stay closed.", markup=False)
