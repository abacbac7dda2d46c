"""The lines of ``gaplight ask --batch``. A wrong line is a line with a problem; it never stops the others."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.errors import UsageError
from store.records import Question, Turn

_ROLES = {"user", "assistant"}


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One line: its id as given (the line number without one), and its question or what is wrong with it."""

    id: object
    question: Question | None
    problem: str = ""


def read_batch(batch: Path) -> list[BatchLine]:
    """All lines of a JSON Lines file but the blank ones; ``-`` reads standard input.

    Raises:
        UsageError: the file cannot be read at all.
    """
    try:
        data = sys.stdin.buffer.read() if str(batch) == "-" else batch.read_bytes()
    except OSError as error:
        raise UsageError(f"{batch} cannot be read: {error.strerror}.", "Give a JSON Lines file.") from error
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [parse_line(line, number) for number, line in enumerate(lines, 1) if line.strip()]


def parse_line(line: bytes, number: int) -> BatchLine:
    """One line.

    Args:
        line: UTF-8 JSON of the form ``{"id", "question", "scope"?, "history"?, "collections"?}``.
        number: of the line, 1-based.
    """
    identity: object = number
    try:
        values: dict[str, Any] = json.loads(line)
        identity = values.get("id", number)
        return BatchLine(identity, _question(values))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        return BatchLine(identity, None, f"Line {number} is not a question: {what}.")


def _question(values: dict[str, Any]) -> Question:
    text = values["question"]
    if not isinstance(text, str):
        raise TypeError(f"its question is {text!r}")
    scope = {
        str(key): tuple(map(str, value)) if isinstance(value, list) else (str(value),)
        for key, value in (values.get("scope") or {}).items()
    }
    history = tuple(_turn(turn) for turn in values.get("history") or ())
    collections = tuple(map(str, values.get("collections") or ()))
    return Question(text, scope=scope, history=history, collections=collections)


def _turn(values: dict[str, Any]) -> Turn:
    if values["role"] not in _ROLES:
        raise ValueError(f"a role is {values['role']!r}, not user or assistant")
    return Turn(values["role"], str(values["text"]))
