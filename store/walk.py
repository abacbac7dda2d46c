"""Which files lie under a folder, each real file once, nothing outside of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from store.text import clean

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages"})


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file: its real absolute path, and its path relative to the root with ``/`` between the parts."""

    source: Path
    path: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that is not read, with the reason in words; ``folder`` is set when a whole folder was not listed."""

    path: str
    reason: str
    folder: Path | None = None


def readable(name: str) -> str:
    r"""A path as text that can be stored, shown on one line and told apart from others.

    Bytes that are no UTF-8, control characters and invisible ones are written as escapes (``\xff``).
    """
    return "".join(one if clean(one) and one != "\n" else _escape(one) for one in name)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def walk(root: Path, suffixes: frozenset[str], skip: frozenset[Path] = frozenset()) -> Iterator[FoundFile | Refused]:
    """All files with one of the suffixes below a folder, in a stable order.

    Hidden files and folders, dependency folders and ``skip`` are left out. Links are followed only to a target
    inside the root, and then the target stands for itself. Ends in bounded time whatever the links do.

    Args:
        root: an existing folder.
        suffixes: lower case, with the dot.
        skip: resolved folders not to enter (such as the data folder).
    """
    root = root.resolve()
    unlisted: list[OSError] = []
    for folder, names, files in os.walk(root, followlinks=False, onerror=unlisted.append):
        here = Path(folder)
        linked = sorted(name for name in names if (here / name).is_symlink())
        names[:] = sorted(
            name
            for name in names
            if not name.startswith(".")
            and name not in _SKIPPED_FOLDERS
            and here / name not in skip
            and name not in linked
        )
        for name in linked:
            yield from _outside(root, here / name)
        for name in sorted(files):
            if not name.startswith(".") and Path(name).suffix.lower() in suffixes:
                yield from _judged(root, here / name)
    for error in unlisted:
        folder_path = Path(error.filename)
        relative = readable(folder_path.relative_to(root).as_posix())
        yield Refused(relative, f"the folder cannot be listed: {error.strerror}", folder_path)


def _judged(root: Path, file: Path) -> Iterator[FoundFile | Refused]:
    if file.is_symlink():
        yield from _outside(root, file)
        return
    relative = readable(file.relative_to(root).as_posix())
    try:
        mode = file.lstat().st_mode
    except OSError as error:
        yield Refused(relative, f"it cannot be read: {error.strerror}")
        return
    if stat.S_ISREG(mode):
        yield FoundFile(file, relative)
    else:
        yield Refused(relative, "it is a pipe, socket or device, not a regular file")


def _outside(root: Path, link: Path) -> Iterator[Refused]:
    """Only links that leave the root are worth a word: what they lead to inside is read in its own place."""
    relative = readable(link.relative_to(root).as_posix())
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        yield Refused(relative, "it is a link that leads nowhere or in a circle")
        return
    if not target.is_relative_to(root):
        yield Refused(relative, f"it is a link that leads out of {root.name}")
