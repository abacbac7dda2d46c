"""``gaplight chat``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from bot.app import opened
from bot.cli.operator import account
from bot.cli.output import console, messages, report
from bot.cli.render import show_reply
from bot.cli.state import State

if TYPE_CHECKING:
    from bot.chat.messages import Outgoing

_EXAMPLES = """Examples:

  gaplight chat

  printf 'How do I reset my password?\\nand on Windows?\\n' | gaplight chat
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(chat)


def chat(context: typer.Context) -> None:
    """Talk with the documents; the same handlers as on Slack and Discord."""
    from bot.chat.handlers import Handlers
    from bot.chat.terminal import HELP, converse, typed_lines

    settings = context.ensure_object(State).settings
    with opened(settings, report) as app:
        handlers = Handlers(app.engine)
        if sys.stdin.isatty():
            messages().print(HELP, style="dim", markup=False)
        converse(handlers, typed_lines(settings.data / "history"), _show, f"terminal:{account('me')}")


def _show(message: Outgoing) -> None:
    if message.reply:
        show_reply(message.reply)
    else:
        console().print(message.text, markup=False)
    console().print()
