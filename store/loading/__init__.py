"""Reading one file of any supported format into a Document.

This file only dispatches; each format lives in a file of its own and is imported when it is first needed.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from importlib import import_module
from typing import cast

from store.errors import LoadError
from store.loading.fingerprint import normalised_bytes
from store.loading.source import Source, has_text
from store.records import Document

__all__ = ["SIZE_LIMIT", "SUPPORTED_SUFFIXES", "load", "normalised_bytes"]

SIZE_LIMIT = 50 * 1024 * 1024
"""Bytes a single file may have unless the caller says otherwise."""

_READERS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".xlsx": "spreadsheet",
    ".csv": "delimited",
    ".tsv": "delimited",
    ".ipynb": "notebook",
    ".rst": "restructured",
    ".txt": "plain",
    ".text": "plain",
    ".log": "plain",
}

SUPPORTED_SUFFIXES: frozenset[str] = frozenset(_READERS)
"""File name endings that can be read, in lower case with their dot."""


def load(path: pathlib.Path, *, data: bytes | None = None, size_limit: int = SIZE_LIMIT) -> Document:
    """Read one file and take it apart.

    Args:
        path: where the file lies; its ending decides how it is read, its name may become the title.
        data: the bytes, when the caller has them already; the disk is not touched then.
        size_limit: largest accepted size in bytes.

    Returns:
        A document with at least one block of readable text.

    Raises:
        LoadError: the format is not supported, or the file is too large, empty, encrypted, damaged,
            not what its ending says, or has no readable text. The message gives the reason.
    """
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        known = ", ".join(sorted(SUPPORTED_SUFFIXES))
        raise LoadError(f"Files ending in {path.suffix or 'nothing'!r} cannot be read.", f"Supported: {known}.")
    content = _bytes_of(path, size_limit) if data is None else data
    _check_size(len(content), size_limit)
    if not content:
        raise LoadError("The file is empty.", "Add text to it, or leave it out.")
    document = _read(Source(name=path.name, suffix=suffix, data=content))
    if not has_text(document.blocks):
        raise LoadError("The file has no readable text.", "Add text to it, or leave it out.")
    return document


def _bytes_of(path: pathlib.Path, size_limit: int) -> bytes:
    try:
        _check_size(path.stat().st_size, size_limit)
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LoadError(f"The file cannot be opened: {reason}.", "Check that it exists and may be read.") from error


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise LoadError(
            f"The file has {size / 1e6:.1f} MB; the limit is {limit / 1e6:.1f} MB.", "Split it, or raise the limit."
        )


def _read(source: Source) -> Document:
    module = import_module(f"store.loading.{_READERS[source.suffix]}")
    read = cast(Callable[[Source], Document], module.read)
    try:
        return read(source)
    except LoadError:
        raise
    except Exception as error:
        # Foreign parsers raise anything at all on damaged input, and one file must never end a whole run.
        detail = str(error).strip().splitlines()[:1]
        reason = f"{type(error).__name__}: {detail[0][:200]}" if detail else type(error).__name__
        raise LoadError(
            f"The file is damaged or not a valid {source.suffix} file ({reason}).", "Open and save it again."
        ) from error
