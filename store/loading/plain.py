"""Plain text and logs."""

from __future__ import annotations

import re

from store.loading.builder import BlockBuilder
from store.loading.encoding import decode
from store.loading.fence import fenced
from store.loading.source import Source, refuse_long, title_from_name, without_terminal_codes
from store.records import Document
from store.text import clean

_ITEM = re.compile(r"[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]")


def read(source: Source) -> Document:
    """Read a text file: paragraphs are set apart by empty lines; a log keeps its lines.

    Raises:
        LoadError: the bytes are not text.
    """
    decoded = decode(source.data)
    # A form feed ends a page; cleaning would take it away without a trace.
    refuse_long(len(decoded.text))
    text = clean(without_terminal_codes(decoded.text).replace("\f", "\n\n"))
    builder = BlockBuilder()
    if source.suffix == ".log":
        add_log(text, builder)
    else:
        add_paragraphs(text, builder)
    return Document(
        title=title_from_name(source.name), blocks=builder.build(), encoding=decoded.encoding, notes=decoded.notes
    )


def add_paragraphs(text: str, builder: BlockBuilder) -> None:
    """Add each paragraph of cleaned text; one that begins like a list item is a list."""
    for paragraph in re.split(r"\n[ \t\n]*\n", text):
        builder.add("list" if _ITEM.match(paragraph) else "paragraph", paragraph)


def add_log(text: str, builder: BlockBuilder) -> None:
    """Add cleaned text line by line, as code: a log has no sentences, only lines."""
    lines = [line.rstrip() for line in text.split("\n")]
    body = "\n".join(lines).strip("\n")
    if body:
        builder.add("code", fenced(body, "log"))
