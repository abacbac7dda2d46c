"""``gaplight gaps``: what people asked in vain."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bot.app import opened
from bot.cli.operator import COMMAND_LINE, OPERATOR, operator
from bot.cli.output import console, print_json, print_table
from bot.cli.private import IncludePrivate, say_hidden
from bot.cli.state import State
from bot.clock import now
from bot.gap_export import gap_as_json, gaps_as_markdown, gaps_as_rows, public_view
from store.errors import UnavailableError
from store.gaps import GapStore
from store.records import OPEN_GAPS, AuditEntry, Gap, GapState, Visibility

gaps_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="What people asked in vain.")

_Id = Annotated[str, typer.Argument(help="Id of the gap; its first characters are enough.")]
_Json = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]
_Note = Annotated[str, typer.Option(help="Why, for those who look later.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(gaps_app, name="gaps")


@gaps_app.command("list", epilog="Example: gaplight gaps list --state closed --limit 20")
def list_gaps(
    context: typer.Context,
    state: Annotated[list[GapState] | None, typer.Option(help="Only these states. Default: what is open.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All states.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    private: IncludePrivate = False,
    as_json: _Json = False,
) -> None:
    """List gaps: those that most different people asked about come first."""
    states = None if everything else tuple(state or OPEN_GAPS)
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        found = app.gaps.list(states, None if private else Visibility.PUBLIC, limit)
        hidden = 0 if private else len(app.gaps.list(states, Visibility.PRIVATE))
    say_hidden(hidden, "gap")
    if as_json:
        print_json([gap_as_json(gap) for gap in found])
    elif found:
        show_gaps(found)
    else:
        console().print("No gaps." if everything else "No open gaps.")


def show_gaps(found: list[Gap]) -> None:
    """The gaps as a table."""
    print_table(
        "",
        ("Gap", "Askers", "Asked", "Type", "State", "Best", "Question"),
        (
            (
                gap.id[:8],
                str(gap.askers),
                str(gap.count),
                gap.type.value,
                gap.state.value,
                f"{gap.best_score:.2f}",
                gap.question,
            )
            for gap in found
        ),
    )


@gaps_app.command(epilog="Example: gaplight gaps show 3fa9")
def show(context: typer.Context, gap: _Id, private: IncludePrivate = False, as_json: _Json = False) -> None:
    """Show one gap with all its wordings, reasons and the nearest passage."""
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        stored = app.gaps.get(gap)
    found = stored if private else public_view(stored)
    say_hidden(len(stored.additional_questions) - len(found.additional_questions), "wording")
    if as_json:
        print_json(gap_as_json(found))
        return
    target = console()
    for line in _details(found):
        target.print(line, markup=False)


def _details(gap: Gap) -> list[str]:
    reasons = ", ".join(f"{reason} ({count})" for reason, count in gap.reasons.items()) or "none"
    lines = [
        f"{gap.id}  {gap.state.value}  {gap.type.value}",
        gap.question,
        f"{_asked(gap)}, {gap.first_seen:%Y-%m-%d} to {gap.last_seen:%Y-%m-%d}.",
        f"Reasons: {reasons}",
    ]
    if gap.nearest:
        place = f"{gap.nearest.document} › {gap.nearest.section}" if gap.nearest.section else gap.nearest.document
        lines += [f"Nearest ({gap.nearest.score:.2f}): {place}", f"  {gap.nearest.quote}"]
    lines += [
        f"Also asked: {wording.text}" + (f"  [{wording.merged_because}]" if wording.merged_because else "")
        for wording in gap.additional_questions
    ]
    return [*lines, f"Note: {gap.note}"] if gap.note else lines


def _asked(gap: Gap) -> str:
    return f"{_counted(gap.count, 'question')} by {_counted(gap.askers, 'asker')}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@gaps_app.command(epilog="Example: gaplight gaps close 3fa9 --note 'documented in vpn.md'")
def close(context: typer.Context, gap: _Id, note: _Note = "") -> None:
    """Close a gap by hand; asked in vain again, it reopens by itself."""
    _change(context, "closed_by_hand", lambda gaps: gaps.close(gap, note))


@gaps_app.command(epilog="Example: gaplight gaps ignore 3fa9 --note 'off topic'")
def ignore(context: typer.Context, gap: _Id, note: _Note = "") -> None:
    """Leave a gap alone for good; it still counts who asks."""
    _change(context, "ignored", lambda gaps: gaps.ignore(gap, note))


@gaps_app.command(epilog="Example: gaplight gaps reopen 3fa9")
def reopen(context: typer.Context, gap: _Id) -> None:
    """Open a closed or ignored gap again."""
    _change(context, "reopened_by_hand", lambda gaps: gaps.reopen(gap))


@gaps_app.command(epilog="Example: gaplight gaps merge 81c0 77d2 --into 3fa9")
def merge(
    context: typer.Context,
    sources: Annotated[list[str], typer.Argument(help="Gaps that mean the same.")],
    into: Annotated[str, typer.Option(help="The gap that takes them in.")],
) -> None:
    """Make several gaps one; wordings, askers and reasons are kept."""
    _change(context, "merged", lambda gaps: gaps.merge(sources, into))


@gaps_app.command(epilog="Example: gaplight gaps split 3fa9 'How do I reset the VPN on Linux?'")
def split(
    context: typer.Context,
    gap: _Id,
    questions: Annotated[list[str], typer.Argument(help="Wordings that are a gap of their own, as shown by show.")],
) -> None:
    """Take wordings out of a gap into one of their own."""
    from discovery.topics import topic_key

    _change(context, "split", lambda gaps: gaps.split(gap, questions, topic_key(questions[0])))


def _change(context: typer.Context, action: str, change: Any) -> None:
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        changed: Gap = change(app.gaps)
        detail = {"place": COMMAND_LINE, "role": OPERATOR}
        app.audit.record(AuditEntry(now(), operator(), f"gap.{action}", changed.id, detail))
    console().print(f"{changed.id[:8]} is {changed.state.value}: {public_view(changed).question}", markup=False)


@gaps_app.command(epilog="Example: gaplight gaps export --format csv --output gaps.csv")
def export(
    context: typer.Context,
    kind: Annotated[Literal["csv", "jsonl", "md"], typer.Option("--format", help="csv, jsonl or md.")] = "csv",
    output: Annotated[Path | None, typer.Option(help="File to write; default: standard output.")] = None,
    private: Annotated[
        bool, typer.Option("--include-private", "--private", help="With the wording of private questions.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="All states, not only open ones.")] = False,
) -> None:
    """Write the gap log to a file. Questions asked in private are left out unless --include-private is given."""
    with opened(context.ensure_object(State).settings, exclusive=False) as app:
        found = _exported(app.gaps, None if everything else OPEN_GAPS, private=private)
    text = _rendered(found, kind)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnavailableError(f"{output} cannot be written: {error.strerror}.", "Choose another --output.") from error
    console().print(f"{len(found)} gaps written to {output}.", markup=False)


def _exported(gaps: GapStore, states: tuple[GapState, ...] | None, *, private: bool) -> list[Gap]:
    return gaps.list(states, visibility=None if private else Visibility.PUBLIC)


def _rendered(found: list[Gap], kind: str) -> str:
    if kind == "jsonl":
        return "".join(json.dumps(gap_as_json(gap), ensure_ascii=False) + "\n" for gap in found)
    if kind == "md":
        return gaps_as_markdown(found)
    rows = io.StringIO()
    csv.writer(rows).writerows(gaps_as_rows(found))
    return rows.getvalue()
