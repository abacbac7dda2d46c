"""The command line: global options here, one file for each family of commands."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import (
    ask,
    audit,
    candidates,
    care,
    chat,
    demo,
    digest,
    discover,
    evaluating,
    gaps,
    ingest,
    jobs,
    judging,
    measuring,
    probing,
    run,
    stats,
    topics,
    transfer,
    verify,
)
from bot.cli.state import State

app = typer.Typer(
    name="gaplight",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: gaplight ingest docs/   then: gaplight ask 'How do I ...?'",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"gaplight {version('gaplight')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option(help="Settings file. Default: gaplight.toml, if it exists.")] = None,
    data: Annotated[Path | None, typer.Option(help="Data folder. Default: .gaplight")] = None,
    version: Annotated[  # noqa: ARG001 - its callback has ended the program before
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and end.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what happens, on standard error.")] = False,
) -> None:
    """Answer a team's questions from its own documents, and find out what the documents don't cover."""
    logging.basicConfig(
        level=logging.INFO if verbose else logging.ERROR, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    if verbose:
        for noisy in ("httpx", "chromadb", "alembic", "jieba"):
            logging.getLogger(noisy).setLevel(logging.WARNING)
    context.obj = State(config, data)


for family in (
    ingest,
    ask,
    chat,
    run,
    jobs,
    gaps,
    topics,
    digest,
    discover,
    candidates,
    audit,
    verify,
    measuring,
    probing,
    evaluating,
    judging,
    stats,
    care,
    transfer,
    demo,
):
    family.register(app)
