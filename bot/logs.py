"""The log of a running bot: a line of text or of JSON for each event, without what people wrote.

Our own lines never quote questions or answers. What is masked here is the last resort for the words of others, such
as the message of an exception: the texts of the question at hand, the secrets of this process, and whatever
:func:`store.privacy.redact` takes for a secret or a person's data.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TextIO

from bot.logs_context import current_question, private_texts
from store.privacy import SECRET, redact

Format = Literal["text", "json"]
Level = Literal["debug", "info", "warning", "error"]

PRIVATE = "[private]"
"""The mark that replaces what somebody wrote."""
OURS = ("bot", "discovery", "store")
"""Loggers that follow the chosen level; libraries are heard from warnings on, since below they log what they send."""

_SHORTEST_PRIVATE = 8
"""Characters; shorter texts are words that a log line can hold by chance."""
_SHORTEST_SECRET = 6

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How is logged.

    Attributes:
        format: ``text`` for people, ``json`` for machines: one object a line.
        level: the least that is logged of our own packages.
        secrets: values that are masked wherever they occur.
    """

    format: Format = "text"
    level: Level = "info"
    secrets: Collection[str] = field(default=(), repr=False)


def configure(options: LogOptions, stream: TextIO | None = None) -> None:
    """Log to a stream from now on, in place of everything that was set up before.

    Warnings of Python, and exceptions that nobody caught in any thread, go to the log as well.

    Args:
        options: how.
        stream: where to; standard error when None.
    """
    handler = logging.StreamHandler(stream)
    masking = Masking(options.secrets)
    handler.setFormatter(JsonLines(masking) if options.format == "json" else TextLines(masking))
    handler.addFilter(_worth_hearing)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(options.level.upper())
    logging.captureWarnings(capture=True)
    sys.excepthook = lambda kind, error, trace: logger.critical("The program failed", exc_info=(kind, error, trace))
    threading.excepthook = _thread_failed


def _worth_hearing(record: logging.LogRecord) -> bool:
    """A library may set the level of its own logger; here it is heard from warnings on all the same."""
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in OURS


def _thread_failed(arguments: threading.ExceptHookArgs) -> None:
    error = arguments.exc_value
    logger.critical("A thread failed", exc_info=error if error is not None else True)


class Masking:
    """Takes out of a text what may not be logged.

    Args:
        secrets: values that are masked wherever they occur; very short ones are left alone.
    """

    def __init__(self, secrets: Collection[str] = ()) -> None:
        self._secrets = sorted((one for one in secrets if len(one) >= _SHORTEST_SECRET), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text with marks in place of what was taken out."""
        for secret in self._secrets:
            text = text.replace(secret, SECRET)
        for private in sorted(_spellings(private_texts()), key=len, reverse=True):
            text = text.replace(private, PRIVATE)
        return redact(text)


def _spellings(texts: Collection[str]) -> set[str]:
    """How texts occur in messages: whole or line by line, plain or as a Python or JSON string."""
    pieces = {piece.strip() for text in texts for piece in (text, *text.splitlines())}
    spelled = {form for piece in pieces for form in (piece, repr(piece)[1:-1], json.dumps(piece)[1:-1])}
    return {form for form in spelled if len(form) >= _SHORTEST_PRIVATE}


class TextLines(logging.Formatter):
    """``2026-06-01T09:00:00.000Z WARNING bot.chat.service [3f2a…] message``, the traceback indented below it."""

    def __init__(self, masking: Masking) -> None:
        super().__init__()
        self._masking = masking

    def format(self, record: logging.LogRecord) -> str:
        """See :meth:`logging.Formatter.format`; every further line is indented, so that none passes for a record."""
        question = current_question()
        about = f" [{question}]" if question else ""
        text = f"{_time(record)} {record.levelname} {record.name}{about} {record.getMessage()}"
        trace = _traceback(self, record)
        return self._masking("\n".join(filter(None, [text, trace]))).replace("\n", "\n    ")


class JsonLines(logging.Formatter):
    """A JSON object a line: ``time`` (UTC), ``level``, ``logger``, ``message``; ``question``, ``traceback`` if any."""

    def __init__(self, masking: Masking) -> None:
        super().__init__()
        self._masking = masking

    def format(self, record: logging.LogRecord) -> str:
        """See :meth:`logging.Formatter.format`. What libraries attach to a record is left out: it may be private."""
        values = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._masking(record.getMessage()),
            "question": current_question(),
            "traceback": self._masking(_traceback(self, record)),
        }
        return json.dumps({name: value for name, value in values.items() if value})


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    parts = [formatter.formatException(record.exc_info)] if record.exc_info and record.exc_info[0] else []
    if record.stack_info:
        parts.append(formatter.formatStack(record.stack_info))
    return "\n".join(parts)
