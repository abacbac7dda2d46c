"""``gaplight candidates``: suggested sources, and the decisions on them."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.app import opened
from bot.candidate_json import (
    candidate_as_json,
    candidate_lines,
    outcome_as_json,
    preview_as_json,
    preview_lines,
    reasked_lines,
)
from bot.cli.operator import COMMAND_LINE, OPERATOR, operator
from bot.cli.output import console, print_json, print_table, report
from bot.cli.private import IncludePrivate, candidate_with, public_ids, say_hidden
from bot.cli.state import State
from discovery.ports import Outcome, Via
from discovery.suggesting import private_ones
from store.errors import UnavailableError, UsageError
from store.records import Candidate, CandidateState, Topic, Visibility

candidates_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Sources suggested for gaps.")

_WAITING = (CandidateState.PENDING, CandidateState.FAILED)
_NOT_ALL = 3
_VIA = Via(COMMAND_LINE, OPERATOR)
_Id = Annotated[str, typer.Argument(help="Id of the candidate; its first characters are enough.")]
_Json = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(candidates_app, name="candidates")


@candidates_app.command("list", epilog="Example: gaplight candidates list --state rejected")
def list_candidates(
    context: typer.Context,
    state: Annotated[list[CandidateState] | None, typer.Option(help="Only these states. Default: what waits.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All states.")] = False,
    topic: Annotated[str, typer.Option(help="Only those for this topic.")] = "",
    private: IncludePrivate = False,
    as_json: _Json = False,
) -> None:
    """List suggested sources, the best first."""
    states = () if everything else tuple(state or _WAITING)
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        listed = app.candidates.listed(states, topic)
        shown = None if private else public_ids(app.gaps)
    found = [one for one in listed if private or one.visibility is Visibility.PUBLIC]
    say_hidden(len(listed) - len(found), "source")
    if as_json:
        print_json([candidate_as_json(candidate_with(candidate, shown)) for candidate in found])
    elif found:
        show_candidates(found)
    else:
        console().print("No candidates." if everything else "No source waits for a decision.")


def show_candidates(found: list[Candidate]) -> None:
    """The candidates as a table."""
    columns = ("Candidate", "Score", "Answers", "State", "Licence", "Source", "For")
    print_table("", columns, (_row(candidate) for candidate in found))


def _row(candidate: Candidate) -> tuple[str, ...]:
    preview = candidate.preview
    return (
        candidate.id,
        f"{candidate.score:.2f}",
        f"{preview.answered} of {preview.asked}" if preview else "not tried",
        candidate.state.value,
        candidate.source.licence or "unknown",
        candidate.source.location,
        candidate.topic_label,
    )


@candidates_app.command(epilog="Example: gaplight candidates show 3fa9")
def show(context: typer.Context, candidate: _Id, private: IncludePrivate = False, as_json: _Json = False) -> None:
    """Show one source: where it is from, why it is suggested, and what it would change."""
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        found = app.candidates.get(candidate)
        shown = None if private else public_ids(app.gaps)
    if found.visibility is Visibility.PRIVATE and not private:
        raise UsageError(f"The source {found.id} came up in private.", "Add --include-private to see it.")
    if as_json:
        print_json(candidate_as_json(candidate_with(found, shown)))
    else:
        _print(candidate_lines(found))


@candidates_app.command(epilog="Example: gaplight candidates preview 3fa9")
def preview(context: typer.Context, candidate: _Id, as_json: _Json = False) -> None:
    """Try a source out again on the questions as they are today; nothing is ingested."""
    with opened(context.ensure_object(State).settings, report) as app:
        found = app.candidates.get(candidate)
        topic = Topic(found.topic_id, found.topic_label, "", found.gap_ids)
        discovery = app.discovery
        texts = discovery.suggesting.questions(topic)
        questions = list(texts) or [found.topic_label]
        tried = discovery.previews.preview(topic, questions, [found.source], private_ones(texts))
    if not tried:
        raise UnavailableError(
            f"{found.source.location} cannot be fetched or read at the revision that was suggested.",
            "Run `gaplight discover` again to see what is there now.",
        )
    if as_json:
        print_json({"candidate": found.id, "score": tried[0].score, "preview": preview_as_json(tried[0].preview)})
    else:
        _print([found.source.title, *(f"- {reason}" for reason in tried[0].source.reasons)])
        _print(preview_lines(tried[0].preview))


@candidates_app.command(epilog="Example: gaplight candidates approve 3fa9 --collection wiki")
def approve(
    context: typer.Context,
    candidate: _Id,
    unknown_licence: Annotated[bool, typer.Option("--unknown-licence", help="Yes, though its licence is unknown.")] = (
        False
    ),
    collection: Annotated[str, typer.Option(help="Where it goes. Default: what was proposed.")] = "",
    as_json: _Json = False,
) -> None:
    """Ingest a source at its pinned revision, ask the gaps again, and close those that are answered.

    Exit code 3: it was ingested, and not all of its gaps are closed.
    """
    with opened(context.ensure_object(State).settings, report) as app:
        outcome = app.discovery.decisions.approve(
            candidate, operator(), unknown_licence=unknown_licence, collection=collection, via=_VIA
        )
    _show(outcome, as_json=as_json)
    if outcome.candidate.state is CandidateState.FAILED:
        raise typer.Exit(1)
    if not all(one.closed for one in outcome.reasked):
        raise typer.Exit(_NOT_ALL)


@candidates_app.command(epilog="Example: gaplight candidates reject 3fa9 --reason 'about the old version'")
def reject(
    context: typer.Context,
    candidate: _Id,
    reason: Annotated[str, typer.Option(help="Why, for those who look later.")] = "no reason given",
    as_json: _Json = False,
) -> None:
    """Never suggest a source for this topic again."""
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        outcome = app.discovery.decisions.reject(candidate, operator(), reason, via=_VIA)
    _show(outcome, as_json=as_json)


@candidates_app.command(epilog="Example: gaplight candidates snooze 3fa9 --days 14")
def snooze(
    context: typer.Context,
    candidate: _Id,
    days: Annotated[int, typer.Option(help="After so many days it waits again.")] = 7,
    as_json: _Json = False,
) -> None:
    """Put a decision off."""
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        outcome = app.discovery.decisions.snooze(candidate, operator(), days, via=_VIA)
    _show(outcome, as_json=as_json)


def _show(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        print_json(outcome_as_json(outcome))
        return
    candidate = outcome.candidate
    _print([f"{candidate.id} is {candidate.state.value}. {candidate.note}".rstrip(), *reasked_lines(outcome.reasked)])


def _print(lines: list[str]) -> None:
    target = console()
    for line in lines:
        target.print(line, markup=False)
