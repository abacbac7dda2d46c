"""``gaplight rules`` and ``gaplight shadow``: what rules and gate did, held against what people said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.app import App, opened
from bot.cli.measuring_output import asked_with_progress, with_interval
from bot.cli.output import console, messages, print_json, print_table, report
from bot.cli.state import State
from bot.clock import now
from discovery.measuring.feedback import answered, observed
from discovery.measuring.questions import read_probes
from discovery.measuring.rule_figures import Observed, RuleFigure, combination_figures, rule_figures
from discovery.measuring.shadow import shadow
from discovery.measuring.statistics import Share
from store.records import GapState

_Days = Annotated[int, typer.Option(min=1, help="Questions of the last so many days.")]
_Json = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(name="rules", epilog="Example: gaplight rules --days 90")(rules_command)
    app.command(name="shadow", epilog="Example: gaplight shadow --days 14   (with gate.mode = shadow)")(shadow_command)


def rules_command(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="Labelled questions to ask instead of reading the question log.")
    ] = None,
    days: _Days = 90,
    as_json: _Json = False,
) -> None:
    """Show how often each rule and combination fired, and how often a gap was behind it."""
    settings = context.ensure_object(State).settings
    with opened(settings, report, exclusive=file is not None) as app:
        found = _labelled(app, file) if file else _logged(app, days)
    rules, combinations = rule_figures(found), combination_figures(found)
    if as_json:
        print_json(
            {
                "questions": len(found),
                "judged": sum(one.gap is not None for one in found),
                "rules": [_figure_json(one) for one in rules],
                "combinations": [_figure_json(one) for one in combinations],
            }
        )
        return
    judged = sum(one.gap is not None for one in found)
    console().print(f"{len(found)} questions, {judged} of them judged by labels, votes or decisions", markup=False)
    for title, figures in (("Rule", rules), ("Together, and no other", combinations)):
        rows = (
            (one.name, with_interval(one.fired), with_interval(one.precision), with_interval(one.recall))
            for one in figures
        )
        print_table("", (title, "Fired", "A gap behind it", "Share of the gaps"), rows)


def shadow_command(context: typer.Context, days: _Days = 30, as_json: _Json = False) -> None:
    """Compare what the gate would have done with what people said about the answers."""
    with opened(context.ensure_object(State).settings, report, exclusive=False) as app:
        since = now() - timedelta(days=days)
        votes = app.questions.votes_since(since)
        threshold = app.threshold
        given = [answered(record, votes.get(record.id), threshold) for record in app.questions.since(since)]
    result = shadow(one for one in given if one)
    if as_json:
        shares = ("refused", "liked_refused", "disliked_stopped")
        print_json(
            {
                "days": days,
                "threshold": threshold,
                **{name: _share_json(getattr(result, name)) for name in shares},
                "sentence": result.sentence,
            }
        )
        return
    console().print(result.sentence, markup=False)
    if not result.liked_refused.of + result.disliked_stopped.of:
        messages().print("Nobody has voted on an answer yet; the buttons under answers in chat do that.", markup=False)


def _labelled(app: App, file: Path) -> list[Observed]:
    asked = asked_with_progress(app, read_probes(file).probes)
    labels = ((one, one.probe.answerable) for one in asked if one.measured)
    return [Observed(frozenset(one.reply.rules), None if label is None else not label) for one, label in labels]


def _logged(app: App, days: int) -> list[Observed]:
    since = now() - timedelta(days=days)
    votes = app.questions.votes_since(since)
    states = {gap.id: gap.state for gap in app.gaps.list()}
    records = app.questions.since(since)
    return [observed(record, votes.get(record.id), _state(states, record.gap_id)) for record in records]


def _state(states: dict[str, GapState], gap_id: str) -> GapState | None:
    return states.get(gap_id) if gap_id else None


def _figure_json(figure: RuleFigure) -> dict[str, Any]:
    shares: Sequence[tuple[str, Share]] = (
        ("fired", figure.fired),
        ("precision", figure.precision),
        ("recall", figure.recall),
    )
    return {"rules": list(figure.rules), **{name: _share_json(share) for name, share in shares}}


def _share_json(share: Share) -> dict[str, float | int | None]:
    return {
        "value": share.value,
        "hits": share.hits,
        "of": share.of,
        "low": share.interval.low,
        "high": share.interval.high,
    }
