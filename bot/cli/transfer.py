"""Moving and keeping an installation: ``copy``, ``backup``, ``restore``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.progress import Progress

from bot.app import opened
from bot.cli.output import console, print_json, progress_bar, report
from bot.cli.state import State
from bot.settings import Settings
from store.database import is_postgresql, open_database
from store.transfer import TransferProgress, transfer
from store.transfer_archive import back_up, restore

_Json = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]
_Result = TypeVar("_Result")

_COPY = """Examples:

  gaplight copy --to postgresql://bot@db.example/gaplight

  COPY_TO_URL=postgresql://... gaplight copy      (keeps a password out of the shell's history)

Stop the bot first: what is asked while it is copied stays behind.
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog=_COPY)(copy)
    app.command(epilog="Example: gaplight backup gaplight-monday.db")(backup)
    app.command("restore", epilog="Example: gaplight --data new restore gaplight-monday.db")(restore_command)


def copy(
    context: typer.Context,
    to: Annotated[
        str, typer.Option("--to", envvar="COPY_TO_URL", help="An empty database: sqlite:/// or postgresql://")
    ],
    as_json: _Json = False,
) -> None:
    """Copy everything that the database knows into another, empty one: all of it, or nothing."""
    settings = context.ensure_object(State).settings
    with opened(settings, report) as app:
        source = app.database
        target = open_database(to)
        try:
            rows, seconds = _timed("Copying", lambda told: transfer(source, target, told))
            address = target.url_without_password
        finally:
            target.close()
    steps = after_copy(settings, to)
    if as_json:
        print_json({"to": address, "rows": sum(rows.values()), "tables": rows, "seconds": seconds, "next": steps})
        return
    _show(f"{sum(rows.values())} rows of {len(rows)} tables copied to {address} and compared, {seconds:.1f} s.", steps)


def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="File to write; must not exist yet.")],
    as_json: _Json = False,
) -> None:
    """Write everything that the database knows into one file. The bot may go on working."""
    with opened(context.ensure_object(State).settings, report, exclusive=False) as app:
        source = app.database
        manifest, seconds = _timed("Writing", lambda told: back_up(source, file, told))
    total, size = sum(manifest.tables.values()), file.stat().st_size
    if as_json:
        told = {"made_at": manifest.made_at, "revision": manifest.revision, "bytes": size, "seconds": seconds}
        print_json({"file": str(file), "rows": total, "tables": manifest.tables, **told})
        return
    text = f"{file}: {total} rows of {len(manifest.tables)} tables, {size / 1e6:.1f} MB, {seconds:.1f} s."
    _show(text, ["Keep it where only those may read it who may read the questions. Vectors and words are not in it."])


def restore_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="File that `gaplight backup` wrote.")],
    as_json: _Json = False,
) -> None:
    """Bring a backup into an empty installation: all of it, or nothing."""
    settings = context.ensure_object(State).settings
    with opened(settings, report) as app:
        target = app.database
        manifest, seconds = _timed("Restoring", lambda told: restore(file, target, told))
        address = target.url_without_password
    total = sum(manifest.tables.values())
    steps = ["Run: gaplight reindex  (builds vectors and words from what was restored)", "Run: gaplight doctor"]
    if as_json:
        told = {"made_at": manifest.made_at, "seconds": seconds, "next": steps}
        print_json({"file": str(file), "to": address, "rows": total, "tables": manifest.tables, **told})
        return
    _show(f"{total} rows of {manifest.made_at} restored to {address} and compared, {seconds:.1f} s.", steps)


def after_copy(settings: Settings, to: str) -> list[str]:
    """What is left to be done so that the bot works with the copy. Pure."""
    steps = [
        "Set DATABASE_URL in the bot's environment to the address of the copy (it wins over database.url).",
    ]
    if settings.vectors.url:
        steps.append(f"The vectors at {settings.vectors.url} fit the copy: leave vectors.url as it is.")
    else:
        steps.append(f"The vectors in {settings.data} fit the copy: one process may go on with this data folder.")
        if is_postgresql(to):
            steps.append(
                "For several processes, set vectors.url to a Chroma server, then run `gaplight reindex` once, which "
                "fills it from the copy without embedding anything anew."
            )
    if not is_postgresql(to):
        steps.append("Run: gaplight reindex  (builds vectors and words in the data folder that the bot will use)")
    return [*steps, "Run: gaplight doctor", "Keep the old database until the bot has answered from the new one."]


def _show(text: str, steps: Sequence[str]) -> None:
    target = console()
    target.print(text, markup=False)
    for step in steps:
        target.print(f"- {step}", markup=False)


def _timed(doing: str, work: Callable[[TransferProgress], _Result]) -> tuple[_Result, float]:
    started = time.monotonic()
    with _watched(doing) as told:
        result = work(told)
    return result, round(time.monotonic() - started, 3)


@contextmanager
def _watched(doing: str) -> Iterator[TransferProgress]:
    with progress_bar() as bar:
        yield _Rows(bar, doing)


class _Rows:
    """A progress bar over rows."""

    def __init__(self, bar: Progress, doing: str) -> None:
        self._bar = bar
        self._task = bar.add_task(doing, total=None)

    def started(self, rows: int) -> None:
        """So many rows are to come."""
        self._bar.update(self._task, total=rows)

    def done(self, rows: int) -> None:
        """So many more are done."""
        self._bar.update(self._task, advance=rows)
