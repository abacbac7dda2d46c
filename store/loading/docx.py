"""Word documents: paragraphs, lists, tables and text boxes in the order of the page; page headers stay out."""

from __future__ import annotations

import io
from typing import Any

from store.loading.archive import open_archive
from store.loading.builder import BlockBuilder
from store.loading.docx_parts import (
    Styles,
    boxes_in,
    is_deleted,
    local_name,
    numbering_formats,
    numbering_of,
    table_rows,
    visible_text,
)
from store.loading.metadata import json_values
from store.loading.source import Source, language_code, title_from_name
from store.loading.tables import caption_like, markdown_table
from store.records import Document

_CONTAINERS = frozenset({"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo"})


def read(source: Source) -> Document:
    """Read a Word document.

    Raises:
        LoadError: protected by a password, damaged, or unpacking to more than is safe.
    """
    import docx

    open_archive(source.data, "word/document.xml").close()
    document = docx.Document(io.BytesIO(source.data))
    walker = _Walker(document)
    walker.walk(document.element.body)
    walker.end_list()
    facts = document.core_properties
    title = (facts.title or "").strip() or walker.title or walker.builder.first_heading
    return Document(
        title=title or title_from_name(source.name),
        blocks=walker.builder.build(),
        metadata=json_values({"author": facts.author or None, "modified": facts.modified}),
        language=language_code(facts.language),
    )


class _Walker:
    """Walks through the body and keeps the open list with its counters."""

    def __init__(self, document: Any) -> None:
        self.builder = BlockBuilder()
        self.title = ""
        self._styles = Styles(document)
        self._formats = numbering_formats(document)
        self._counters: dict[str, list[int]] = {}
        self._list: list[str] = []

    def walk(self, body: Any) -> None:
        """Add everything in a body, content control or text box."""
        waiting = list(body)[::-1]
        while waiting:
            element = waiting.pop()
            name = local_name(element)
            if name in _CONTAINERS:
                waiting.extend(list(element)[::-1])
            elif name == "p":
                self._add_paragraph(element)
                # A text box is anchored in a paragraph; its content reads after it.
                waiting.extend([child for box in boxes_in(element) for child in box][::-1])
            elif name == "tbl":
                self._add_table(element)

    def end_list(self) -> None:
        """Hand over the list that was collected."""
        if self._list:
            self.builder.add("list", "\n".join(self._list))
        self._list = []

    def _add_paragraph(self, paragraph: Any) -> None:
        text = "" if is_deleted(paragraph) else visible_text(paragraph).strip()
        if not text:
            return
        style = self._styles.of(paragraph)
        if style.is_title and not self.title:
            self.end_list()
            self.title = text
        elif style.level:
            self.end_list()
            self.builder.heading(style.level, text)
        elif (numbering := numbering_of(paragraph) or style.numbering) and numbering[0] != "0":
            self._list.append(self._item(*numbering, text))
        else:
            self.end_list()
            self.builder.add("code" if style.is_code else "paragraph", f"```\n{text}\n```" if style.is_code else text)

    def _item(self, number_id: str, level: int, text: str) -> str:
        lines = text.split("\n")
        indent = "   " * level
        marker = "-"
        if self._formats.get((number_id, level), "bullet") not in {"bullet", "none"}:
            counters = self._counters.setdefault(number_id, [0] * 10)
            counters[level] += 1
            counters[level + 1 :] = [0] * (9 - level)
            marker = f"{counters[level]}."
        return "\n".join([f"{indent}{marker} {lines[0]}", *(f"{indent}   {line}" for line in lines[1:])])

    def _add_table(self, table: Any) -> None:
        self.end_list()
        rows, header_rows = table_rows(table)
        if all(len(row) <= 1 for row in rows):  # a frame around text, not a table
            for row in rows:
                self.builder.add("paragraph", "\n".join(row))
            return
        above = self.builder.take_last_paragraph()
        if above and not caption_like(above):
            self.builder.add("paragraph", above)
            above = ""
        self.builder.add_table(markdown_table(rows, header_rows), above)
