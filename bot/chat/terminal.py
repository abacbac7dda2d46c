"""A conversation in the terminal, or over a pipe: a question a line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bot.chat.handlers import Handlers
from bot.chat.messages import Incoming, Outgoing
from store.privacy import redact
from store.private_folder import make_private

if TYPE_CHECKING:
    from prompt_toolkit.history import History

HELP = "Ask a question; follow-ups like 'and on Windows?' work. /new starts over, /help shows this, /quit ends."
_CONVERSATION = "terminal"
_QUIT = {"/quit", "/exit", "/q"}


def converse(
    handlers: Handlers, lines: Iterator[str], show: Callable[[Outgoing], None], asker: str = "terminal:me"
) -> int:
    """Answer line after line until the end or ``/quit``; returns the number of questions.

    Args:
        handlers: the same as on Slack and Discord.
        lines: what the person writes.
        show: prints a message.
        asker: opaque id of the person.
    """
    asked = 0
    for line in lines:
        text = line.strip()
        if text in _QUIT:
            break
        if text == "/new":
            handlers.conversations.forget(_CONVERSATION)
            show(Outgoing("A new conversation."))
        elif text.startswith("/"):
            show(Outgoing(HELP if text == "/help" else f"There is no command {text.split()[0]!r}. {HELP}"))
        elif text:
            asked += 1
            show(handlers.message(Incoming(text, asker, "terminal", _CONVERSATION)))
    return asked


def typed_lines(history: Path) -> Iterator[str]:
    """Lines typed at a prompt, with history over sessions and editing; a plain pipe gives its lines."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    from prompt_toolkit import PromptSession

    session: PromptSession[str] = PromptSession(history=masked_history(history))
    while True:
        try:
            yield session.prompt("> ")
        except KeyboardInterrupt:
            continue  # as in a shell, Ctrl-C drops the line that was being typed
        except EOFError:
            return


def masked_history(file: Path) -> History:
    """What was typed, over sessions; secrets and personal data are masked before they are written."""
    from prompt_toolkit.history import FileHistory

    class Masked(FileHistory):
        def store_string(self, string: str) -> None:
            super().store_string(redact(string))

    make_private(file.parent)
    return Masked(str(file))
