"""Code as Markdown shows it."""

from __future__ import annotations

import re


def fenced(code: str, language: str = "") -> str:
    """Code in a fence that is longer than any run of backticks inside it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"
