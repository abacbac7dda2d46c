"""``gaplight run``: the bot itself."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot.app import App, opened
from bot.chat_settings import PLATFORMS
from bot.cli.output import messages, report
from bot.cli.state import State
from bot.settings_file import SettingsFile
from store.errors import UsageError

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
    wanted = _parts(only)
    state = context.ensure_object(State)
    watched = SettingsFile(state.config, state.data)
    with opened(state.settings, report, changed=watched.changed) as app:
        asyncio.run(_run(app, wanted))


async def _run(app: App, wanted: frozenset[str] | None) -> None:
    from bot.chat.running import run as run_parts
    from bot.chat.running import stop_on_signals
    from bot.running import run_options, run_parts_of

    parts = run_parts_of(app, wanted)
    names = [platform.name for platform in parts.platforms] + ["scheduler"] * bool(parts.background)
    stop = asyncio.Event()
    stop_on_signals(stop)

    def started(port: int) -> None:
        messages().print(
            f"Running: {', '.join(names)}. Health: http://{app.settings.server.host}:{port}/healthz. Ctrl-C ends.",
            markup=False,
            highlight=False,
        )

    await run_parts(parts, run_options(app.settings), stop, started)
    messages().print("Stopped.", markup=False)


def _parts(only: str) -> frozenset[str] | None:
    if not only:
        return None
    wanted = frozenset(name.strip() for name in only.split(",") if name.strip())
    if unknown := wanted - set(PARTS):
        raise UsageError(f"There is no part {min(unknown)!r} to run.", f"Choose from: {', '.join(PARTS)}.")
    return wanted
