"""One process at a time on a data folder: embedded Chroma loses vectors without a word when two have it open."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from filelock import FileLock, Timeout

from store.errors import BusyError, UnavailableError
from store.private_folder import make_private

_WITH_A_VALUE = frozenset({"--config", "--data"})
"""Options that may stand before a command."""


@contextmanager
def hold(folder: Path, timeout: float = 0.0) -> Iterator[None]:
    """Hold the data folder until the block ends; the operating system frees it when the process dies.

    Args:
        folder: the data folder; made when missing.
        timeout: seconds to wait for another process to finish.

    Raises:
        BusyError: another process holds the folder; the message names it and the ways out.
        UnavailableError: the folder cannot be made or written.
    """
    try:
        make_private(folder)
        lock = FileLock(folder / "lock", timeout=timeout)
        lock.acquire()
    except Timeout as error:
        raise BusyError(
            f"The data folder {folder} is in use by {_holder(folder)}.",
            "Wait until it has finished or stop it; or give this command a folder of its own with --data; "
            "or let several processes share one Chroma server by setting vectors.url.",
        ) from error
    except OSError as error:
        raise UnavailableError(
            f"The data folder {folder} cannot be used: {error.strerror or error}.",
            "Give another folder with --data, or make this one writable.",
        ) from error
    try:
        _sign(folder)
        yield
    finally:
        lock.release()


def command_of(arguments: Sequence[str]) -> str:
    """What a process was started as, without paths and values: ``gaplight ingest``; arguments as in ``sys.argv``."""
    program = Path(arguments[0]).name
    words = [word for before, word in pairwise(arguments) if before not in _WITH_A_VALUE and not word.startswith("-")]
    return " ".join(["gaplight" if program == "__main__.py" else program, *words[:1]])


def _sign(folder: Path) -> None:
    signature = {
        "pid": os.getpid(),
        "command": command_of(sys.argv),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    # Where the disk is full, whoever has to write says so in better words; the signature is not worth an end.
    with suppress(OSError):
        (folder / "lock.json").write_text(json.dumps(signature), encoding="utf-8")


def _holder(folder: Path) -> str:
    """Who signed last; the lock itself is the truth, the signature only helps the reader."""
    try:
        signature = json.loads((folder / "lock.json").read_text(encoding="utf-8"))
        return f"process {signature['pid']} ({signature['command']!r}, since {signature['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
