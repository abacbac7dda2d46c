"""What of a file decides whether it has changed. Imports no parser: it runs over every file of every run."""

from __future__ import annotations

from store.errors import LoadError
from store.loading.encoding import decode
from store.text import clean

_BINARY = frozenset({".pdf", ".docx", ".xlsx"})


def normalised_bytes(path_suffix: str, data: bytes) -> bytes:
    """The bytes to hash for a file's fingerprint.

    A checkout on another system changes line ends, byte order marks and final newlines, never the meaning; text
    is therefore decoded and cleaned first. Binary formats, and text that cannot be decoded, stay as they are.

    Args:
        path_suffix: the file's ending with its dot, in any case.
        data: the whole content.
    """
    if path_suffix.lower() in _BINARY:
        return data
    try:
        text = decode(data).text
    except LoadError:
        return data
    return clean(text).rstrip("\n").encode("utf-8")
