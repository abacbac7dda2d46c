"""Turning chosen places of a passage into Markdown that ends where it began: fences closed, code spans even. Pure."""

from __future__ import annotations

import re

SKIPPED = "…"
"""Stands where lines or words were left out."""

_FENCE = re.compile(r"(?P<indent>[ \t>]*)(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)\Z")
_TICKS = re.compile(r"(?<!\\)`+")
_TABLE_ROW = re.compile(r"[ \t]*\|.*")


def lines_of(text: str) -> int:
    """Lines with something on them."""
    return sum(bool(line.strip()) for line in text.split("\n"))


def balanced(text: str) -> str:
    """The text with open code fences closed and backticks without a partner made plain by a backslash."""
    shown: list[str] = []
    prose: list[str] = []
    fence: re.Match[str] | None = None
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence is None and found is None:
            prose.append(line)
            continue
        if fence is None:
            shown += _plain(prose)
            prose, fence = [], found
        elif found and found["mark"].startswith(fence["mark"]) and not found["info"].strip():
            fence = None
        shown.append(line)
    if fence:
        shown.append(f"{' ' * len(fence['indent']) if '>' not in fence['indent'] else fence['indent']}{fence['mark']}")
    return "\n".join([*shown, *_plain(prose)])


def _plain(prose: list[str]) -> list[str]:
    """Lines of prose with every backtick run escaped that no equal run closes in the same paragraph."""
    if not prose:
        return []
    paragraphs = re.split(r"(\n[ \t]*(?=\n))", "\n".join(prose))
    return "".join(_escaped(part) for part in paragraphs).split("\n")


def _escaped(paragraph: str) -> str:
    runs = list(_TICKS.finditer(paragraph))
    lonely: list[re.Match[str]] = []
    place = 0
    while place < len(runs):
        size = len(runs[place].group())
        partner = next((at for at in range(place + 1, len(runs)) if len(runs[at].group()) == size), None)
        if partner is None:
            lonely.append(runs[place])
        place = place + 1 if partner is None else partner + 1
    for run in reversed(lonely):
        plain = "\\`" * len(run.group())
        paragraph = f"{paragraph[: run.start()]}{plain}{paragraph[run.end() :]}"
    return paragraph


def marked(text: str, number: int) -> str:
    """A quoted text with its marker behind it, on a line of its own where the last line is code or a table."""
    last = text.rsplit("\n", 1)[-1]
    if _FENCE.match(last) or _TABLE_ROW.fullmatch(last):
        return f"{text}\n\n[{number}]"
    return f"{text} [{number}]"


def fitting(text: str, characters: int, lines: int) -> tuple[str, int]:
    """The beginning of a text that fits on the screen, and how many of its characters that keeps.

    Whole lines are left out behind it and a line with "…" says so; only a first line that alone is too long is
    cut inside, at a word.

    Args:
        text: a code block, a list of steps or a sentence.
        characters: how many the result may have; at least 1.
        lines: how many non-blank lines the result may have; at least 1.
    """
    kept: list[str] = []
    used = 0
    for line in text.split("\n"):
        if used + len(line) + 1 > characters or lines_of("\n".join([*kept, line])) > lines:
            break
        kept.append(line)
        used += len(line) + 1
    if not any(line.strip() and not _FENCE.match(line) for line in kept):
        head = text[:characters]
        border = max(head.rfind(" "), head.rfind("\n"))
        head = head[:border] if border > characters // 2 else head
        return f"{head.rstrip()} {SKIPPED}", len(head.rstrip())
    beginning = "\n".join(kept).rstrip()
    fence = _open_fence(kept)
    if fence:
        return f"{beginning}\n{fence}{SKIPPED}", len(beginning)
    return f"{beginning}\n{SKIPPED}", len(beginning)


def _open_fence(kept: list[str]) -> str:
    """The indentation of a fence that these lines leave open; empty for none (and for one at the margin)."""
    fence: re.Match[str] | None = None
    for line in kept:
        found = _FENCE.match(line)
        if fence is None:
            fence = found
        elif found and found["mark"].startswith(fence["mark"]):
            fence = None
    return fence["indent"] if fence else ""


def shortened(text: str, characters: int) -> str:
    """The literal beginning of a text, ended at a word."""
    if len(text) <= characters:
        return text
    head = text[:characters]
    border = max(head.rfind(" "), head.rfind("\n"))
    return head[:border].rstrip() if border > characters // 2 else head
