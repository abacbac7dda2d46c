"""Folders for what people asked and what documents say: nobody but their owner may look into them."""

from __future__ import annotations

from pathlib import Path

_OWNER_ONLY = 0o700
_OTHERS = 0o005


def make_private(folder: Path) -> None:
    """Make a folder, and what is missing above it, for its owner alone; what is there already stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    for missing in (one for one in reversed(folder.parents) if not one.exists()):
        missing.mkdir(mode=_OWNER_ONLY, exist_ok=True)
    folder.mkdir(mode=_OWNER_ONLY, exist_ok=True)


def is_open_to_others(folder: Path) -> bool:
    """Whether any account of this machine may look into a folder. Its group may: somebody has chosen that."""
    return bool(folder.stat().st_mode & _OTHERS)
