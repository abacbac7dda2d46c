"""A reply for people at a terminal or in a pipe."""

from __future__ import annotations

from rich.console import Console

from bot.cli.output import console
from store.records import Reply, Status


def show_reply(reply: Reply, target: Console | None = None) -> None:
    """The answer, its sources, and why it is none if it is none."""
    target = target or console()
    if target.is_terminal:
        from rich.markdown import Markdown

        target.print(Markdown(reply.answer))
    else:
        target.print(reply.answer, markup=False)
    for line in source_lines(reply):
        target.print(line, markup=False, style="dim")
    for line in verdict_lines(reply):
        target.print(line, markup=False, style="yellow")


def source_lines(reply: Reply) -> list[str]:
    """The numbered sources, with an empty line above; nothing for a reply without citations."""
    if not reply.citations:
        return []
    lines = []
    for citation in reply.citations:
        place = f"{citation.document} › {citation.section}" if citation.section else citation.document
        address = f"  {citation.url}" if citation.url and citation.url != citation.document else ""
        lines.append(f"[{citation.number}] {place}  ({citation.score:.2f}){address}")
    return ["", *lines]


def verdict_lines(reply: Reply) -> list[str]:
    """What the rules said, and the gap that was logged; nothing for a plain answer."""
    lines = []
    if reply.rules:
        lines.append(f"Rules: {', '.join(rule.value for rule in reply.rules)}")
    if reply.reason and reply.status is not Status.ANSWERED:
        notes = f" ({'; '.join(reply.notes)})" if reply.notes else ""
        lines.append(f"Reason: {reply.reason.value}{notes}")
    if reply.gap:
        lines.append(f"Logged as gap {reply.gap.id[:8]} ({reply.gap.type.value}).")
    return ["", *lines] if lines else []
