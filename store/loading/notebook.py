"""Jupyter notebooks: text cells as Markdown, code cells as code, short text outputs; no pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from store.errors import LoadError
from store.loading.builder import BlockBuilder
from store.loading.encoding import decode
from store.loading.fence import fenced
from store.loading.markdown import add_markdown
from store.loading.source import Source, one_line, title_from_name, without_terminal_codes
from store.records import Document
from store.text import clean

_DEEPEST_HEADING = 6
_OUTPUT_LINES = 20
_OUTPUT_CHARACTERS = 1_000
_OBJECT_REPRESENTATION = re.compile(r"\s*<[^<>\n]*>\s*|\s*\[<[^\n]*>\]\s*")
"""What Python prints for a figure or an axis: it tells a reader nothing."""


def read(source: Source) -> Document:
    """Read a notebook of format 3 or 4.

    Raises:
        LoadError: not JSON, or JSON that is no notebook.
    """
    decoded = decode(source.data)
    book = _parsed(decoded.text)
    language = _language(book)
    builder = BlockBuilder()
    hidden = shortened = 0
    for cell in _cells(book):
        kind, text = cell.get("cell_type"), _joined(cell.get("source", cell.get("input")))
        if kind == "markdown":
            hidden += add_markdown(text, builder)
        elif kind == "heading":
            builder.heading(_level(cell.get("level")), text)
        elif kind == "code" and text.strip():
            builder.add("code", fenced(text.strip("\n"), language))
            shortened += _add_outputs(cell.get("outputs"), builder)
        elif kind == "raw":
            builder.add("paragraph", text)
    return Document(
        title=builder.first_heading or title_from_name(source.name),
        blocks=builder.build(),
        metadata={"programming_language": language} if language else {},
        encoding=decoded.encoding,
        notes=(*decoded.notes, *_notes(hidden, shortened)),
    )


def _parsed(text: str) -> Mapping[str, object]:
    try:
        book = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = one_line(str(error))[:200]
        raise LoadError(f"The notebook is not valid JSON ({reason}).", "Open and save it in Jupyter.") from error
    if not isinstance(book, dict) or not isinstance(book.get("cells", book.get("worksheets")), list):
        raise LoadError("The file is JSON but no notebook: it has no cells.", "Check its ending.")
    return book


def _cells(book: Mapping[str, object]) -> list[Mapping[str, object]]:
    found = book.get("cells")
    if not isinstance(found, list):
        sheets = book.get("worksheets")
        cells = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)] if isinstance(sheets, list) else []
        found = [cell for group in cells if isinstance(group, list) for cell in group]
    return [cell for cell in found if isinstance(cell, dict)]


def _language(book: Mapping[str, object]) -> str:
    facts = book.get("metadata")
    if not isinstance(facts, dict):
        return ""
    for place, key in (("kernelspec", "language"), ("language_info", "name")):
        part = facts.get(place)
        name = part.get(key) if isinstance(part, dict) else None
        if isinstance(name, str) and re.fullmatch(r"[\w+#.-]{1,30}", name):
            return name.lower()
    return ""


def _joined(value: object) -> str:
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return clean(without_terminal_codes(value)) if isinstance(value, str) else ""


def _level(value: object) -> int:
    return value if isinstance(value, int) and 1 <= value <= _DEEPEST_HEADING else 1


def _add_outputs(outputs: object, builder: BlockBuilder) -> int:
    """Add the text outputs of one cell; returns how many were shortened."""
    shortened = 0
    for output in outputs if isinstance(outputs, list) else ():
        text = _output_text(output) if isinstance(output, dict) else ""
        if not text.strip() or _OBJECT_REPRESENTATION.fullmatch(text):
            continue
        short = "\n".join(text.strip("\n").split("\n")[:_OUTPUT_LINES])[:_OUTPUT_CHARACTERS]
        cut = len(short) < len(text.strip("\n"))
        shortened += cut
        builder.add("code", fenced(f"{short}\n…" if cut else short, "text"))
    return shortened


def _output_text(output: Mapping[str, object]) -> str:
    if output.get("output_type") in {"error", "pyerr"}:
        return clean(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    data = output.get("data")
    if isinstance(data, dict):
        return _joined(data.get("text/plain"))
    return _joined(output.get("text"))


def _notes(hidden: int, shortened: int) -> tuple[str, ...]:
    notes = []
    if hidden:
        notes.append(f"{hidden} characters of comments and hidden text were left out.")
    if shortened:
        notes.append(f"{shortened} long outputs were shortened.")
    return tuple(notes)
