"""``gaplight ask``: one question, or a file of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.app import App, opened
from bot.cli.batch import BatchLine, read_batch
from bot.cli.output import print_json, progress_bar, report
from bot.cli.render import show_reply
from bot.cli.state import State, parse_scope
from bot.reply_json import reply_as_json
from store.errors import UsageError
from store.records import AbstainReason, Question, Reply, Status

_EXAMPLES = """Examples:

  gaplight ask "How do I rotate the API key?"

  gaplight ask "How long are logs kept?" --scope version=2 --json

  gaplight ask --batch questions.jsonl --no-log > replies.jsonl

A batch line: {"id": "q1", "question": "...", "scope": {"version": "2"}, "history": [{"role": "user", "text": "..."}]}
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(ask)


def ask(
    context: typer.Context,
    question: Annotated[str | None, typer.Argument(help="The question.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="Only documents valid for this, as key=value.")] = None,
    collection: Annotated[list[str] | None, typer.Option(help="Search only this collection.")] = None,
    batch: Annotated[Path | None, typer.Option(help="JSON Lines file of questions; - reads standard input.")] = None,
    no_log: Annotated[bool, typer.Option("--no-log", help="Record neither question nor gap.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on standard output.")] = False,
) -> None:
    """Answer a question from the documents, with citations, or say why they don't cover it."""
    if (question is None) == (batch is None):
        raise UsageError("Give either a question or --batch FILE.", 'For example: gaplight ask "How do I ...?"')
    asked_scope, collections = parse_scope(scope or []), tuple(collection or ())
    lines = read_batch(batch) if batch else []
    with opened(context.ensure_object(State).settings, report) as app:
        if question is not None:
            reply = app.engine.ask(Question(question, scope=asked_scope, collections=collections), log=not no_log)
            print_json(reply_as_json(reply)) if as_json else show_reply(reply)
            failed = reply.status is Status.ERROR
        else:
            failed = _answer_batch(app, lines, log=not no_log)
    if failed:
        raise typer.Exit(1 if question is not None else 3)


def _answer_batch(app: App, lines: list[BatchLine], *, log: bool) -> bool:
    """Answer in order, a line for each; True when any of them is an error."""
    failed = False
    with progress_bar() as bar:
        for line in bar.track(lines, description="Answering"):
            reply = _answer_line(app, line, log=log)
            failed = failed or reply.status is Status.ERROR
            print_json(reply_as_json(reply, line.id))
    return failed


def _answer_line(app: App, line: BatchLine, *, log: bool) -> Reply:
    """The reply to one line; what is wrong with a line is said in its own reply and stops no other."""
    if line.question is None:
        return Reply("", Status.ERROR, line.problem, AbstainReason.NOT_A_QUESTION, notes=(line.problem,))
    try:
        return app.engine.ask(line.question, log=log)
    except UsageError as error:
        return Reply(line.question.text, Status.ERROR, str(error), AbstainReason.NOT_A_QUESTION, notes=(str(error),))
