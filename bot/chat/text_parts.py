"""What both platforms' texts have in common: how they are measured, cleaned and cut into parts. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

ELLIPSIS = "…"
ZERO_WIDTH_SPACE = "\u200b"
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def size(text: str) -> int:
    """Length in UTF-16 units: never less than the number of characters, whichever of the two a platform counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def clean(text: str) -> str:
    """The text without control characters and halves of characters, which no platform takes."""
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n"))


def lines_within(text: str, limit: int, cut_line: Callable[[str, int], Iterable[str]]) -> list[str]:
    """Text in parts that are not longer than allowed, cut at line ends where that is possible.

    Args:
        text: as it is sent.
        limit: how long each part may be, as :func:`size` counts.
        cut_line: cuts a line that is too long by itself; what stays whole in it depends on the platform's markup.
    """
    if size(text) <= limit:
        return [text] if text.strip() else []
    parts: list[str] = []
    current = ""
    for line in text.split("\n"):
        joined = f"{current}\n{line}" if current else line
        if size(joined) <= limit:
            current = joined
            continue
        if current.strip():
            parts.append(current)
        *full, current = list(cut_line(line, limit)) or [""]
        parts += full
    return [*parts, current] if current.strip() else parts
