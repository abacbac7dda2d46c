"""``gaplight run``: the bot itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Annotated

import typer

from bot.app import App, opened
from bot.chat_settings import PLATFORMS
from bot.cli.output import report
from bot.cli.state import State
from bot.credentials import secret_values
from bot.logs import LogOptions, configure
from bot.memory import keep_memory_together
from bot.settings import ServerSettings
from bot.settings_file import SettingsFile
from store.errors import GaplightError, UsageError

logger = logging.getLogger(__name__)

PARTS = (*PLATFORMS, "scheduler")
_EXAMPLES = """Examples:

  gaplight run

  gaplight run --only slack

  gaplight run --only discord,scheduler
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(run)


def run(
    context: typer.Context,
    only: Annotated[str, typer.Option(help=f"Only these parts, separated by commas: {', '.join(PARTS)}.")] = "",
) -> None:
    """Run the bot: every platform that has a token, the scheduler, and the health pages. Ends with Ctrl-C."""
    keep_memory_together()
    wanted = _parts(only)
    state = context.ensure_object(State)
    server = state.settings.server
    configure(LogOptions(server.log_format, server.log_level, secret_values()))
    watched = SettingsFile(state.config, state.data)
    tell = _teller(server)
    try:
        with opened(state.settings, tell, changed=watched.changed) as app:
            asyncio.run(_run(app, wanted, tell))
    except GaplightError as error:
        if server.log_format == "text":
            raise
        logger.critical("%s", error)
        raise typer.Exit(error.exit_code) from error


def _teller(server: ServerSettings) -> Callable[[str], None]:
    """Tells a person at a terminal, or the log where a machine reads it: each of its lines has to be JSON."""
    if server.log_format == "json":
        return lambda sentence: logger.info("%s", sentence)
    return report


async def _run(app: App, wanted: frozenset[str] | None, tell: Callable[[str], None]) -> None:
    from bot.chat.running import run as run_parts
    from bot.chat.running import stop_on_signals
    from bot.running import run_options, run_parts_of

    parts = run_parts_of(app, wanted)
    names = [platform.name for platform in parts.platforms] + ["scheduler"] * bool(parts.background)
    stop = asyncio.Event()
    stop_on_signals(stop)

    def started(port: int) -> None:
        address = f"http://{app.settings.server.host}:{port}/healthz"
        tell(f"Running: {', '.join(names)}. Health: {address}. Ctrl-C ends.")

    await run_parts(parts, run_options(app.settings), stop, started)
    tell("Stopped.")


def _parts(only: str) -> frozenset[str] | None:
    if not only:
        return None
    wanted = frozenset(name.strip() for name in only.split(",") if name.strip())
    if unknown := wanted - set(PARTS):
        raise UsageError(f"There is no part {min(unknown)!r} to run.", f"Choose from: {', '.join(PARTS)}.")
    return wanted
