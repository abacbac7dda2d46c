"""How the command line shows things: data on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from store.errors import GaplightError

_LINE_BREAKS = {ord(character): f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"}


def console() -> Console:
    """Standard output; without colours and control codes when it is not a terminal."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def messages() -> Console:
    """Standard error, for progress, warnings and errors."""
    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def report(sentence: str) -> None:
    """Tell a waiting person what is being done."""
    messages().print(escape(sentence), style="dim")


def show_error(error: GaplightError) -> None:
    """The problem, then the next step, each on a line of its own."""
    stream = messages()
    stream.print(f"[bold red]Error:[/] {escape(error.problem)}")
    if error.next_step:
        stream.print(escape(error.next_step))


def print_json(value: Any) -> None:
    """One JSON document on one line of standard output, also for readers that break lines at U+0085 or U+2028."""
    text = json.dumps(value, ensure_ascii=sys.stdout.encoding.lower() not in {"utf-8", "utf8"})
    sys.stdout.write(text.translate(_LINE_BREAKS) + "\n")
    sys.stdout.flush()


def print_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """A table that is as wide as the terminal, or as wide as its content when it is piped."""
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    target = console()
    if not target.is_terminal:
        target = Console(highlight=False, width=200)
    target.print(table)


class FileProgress:
    """A progress bar over the files of an ingest."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("Looking for changes", total=None)

    def found(self, files: int) -> None:
        """So many files are to be read."""
        self._bar.update(self._task, total=files, description="Reading")

    def done(self, path: str) -> None:
        """One of them is finished."""
        self._bar.update(self._task, advance=1, description=escape(path[-40:]))


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on standard error that vanishes when it is done; nothing when that is not a terminal."""
    stream = messages()
    columns = (
        TextColumn("{task.description}", style="dim"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stream, transient=True, disable=not stream.is_terminal) as bar:
        yield bar
