"""``gaplight ask``: one question, or a file of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.app import App, opened
from bot.cli.output import print_json, progress_bar, report
from bot.cli.render import show_reply
from bot.cli.state import State, parse_scope
from bot.reply_json import reply_as_json
from store.errors import UsageError
from store.records import Question, Status, Turn

_EXAMPLES = """Examples:

  gaplight ask "How do I rotate the API key?"

  gaplight ask "How long are logs kept?" --scope version=2 --json

  gaplight ask --batch questions.jsonl --no-log > replies.jsonl

A batch line: {"id": "q1", "question": "...", "scope": {"version": "2"}, "history": [{"role": "user", "text": "..."}]}
"""
_ROLES = {"user", "assistant"}


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
    lines = list(_batch_lines(batch)) if batch else []
    with opened(context.ensure_object(State).settings, report) as app:
        if question is not None:
            reply = app.engine.ask(Question(question, scope=asked_scope, collections=collections), log=not no_log)
            print_json(reply_as_json(reply)) if as_json else show_reply(reply)
            failed = reply.status is Status.ERROR
        else:
            failed = _answer_batch(app, lines, log=not no_log)
    if failed:
        raise typer.Exit(1 if question is not None else 3)


def _answer_batch(app: App, lines: list[tuple[str, Question]], *, log: bool) -> bool:
    """Answer in order, a line for each; True when a part of the search failed for any of them."""
    failed = False
    with progress_bar() as bar:
        for request_id, question in bar.track(lines, description="Answering"):
            reply = app.engine.ask(question, log=log)
            failed = failed or reply.status is Status.ERROR
            print_json(reply_as_json(reply, request_id))
    return failed


def _batch_lines(batch: Path) -> Iterator[tuple[str, Question]]:
    """Every line of the file, checked before the first question is asked.

    Raises:
        UsageError: names the first line that is not a question.
    """
    try:
        text = sys.stdin.read() if str(batch) == "-" else batch.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{batch} cannot be read: {error}.", "Give a UTF-8 file with one JSON object a line."
        ) from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield _question(json.loads(line), number)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise UsageError(
                    f"Line {number} of {batch} is not a question: {error}.",
                    'Write {"id": "...", "question": "..."}, with optional "scope" and "history".',
                ) from error


def _question(values: dict[str, Any], number: int) -> tuple[str, Question]:
    text = values["question"]
    if not isinstance(text, str):
        raise TypeError(f"its question is {text!r}")
    scope = {
        str(key): tuple(map(str, value)) if isinstance(value, list) else (str(value),)
        for key, value in (values.get("scope") or {}).items()
    }
    history = tuple(_turn(turn) for turn in values.get("history") or ())
    collections = tuple(map(str, values.get("collections") or ()))
    return str(values.get("id", number)), Question(text, scope=scope, history=history, collections=collections)


def _turn(values: dict[str, Any]) -> Turn:
    if values["role"] not in _ROLES:
        raise ValueError(f"a role is {values['role']!r}, not user or assistant")
    return Turn(values["role"], str(values["text"]))
