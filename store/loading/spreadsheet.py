"""Excel workbooks: each visible sheet a section, each block of filled rows a table."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from store.loading.archive import open_archive
from store.loading.builder import BlockBuilder
from store.loading.metadata import json_values
from store.loading.rows import Merged, Sheet, add_sheet, cell_text
from store.loading.source import Source, title_from_name
from store.records import Document

ROW_LIMIT = 50_000
"""Rows read of each sheet; what comes after is reported, not indexed."""
COLUMN_LIMIT = 200
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})\"")


def read(source: Source) -> Document:
    """Read a workbook; formulas give the values that Excel saved last.

    Raises:
        LoadError: protected by a password, damaged, or unpacking to more than is safe.
    """
    import openpyxl

    # It warns of styles and validations that it skips: nothing that changes the text.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"openpyxl\b")
    archive = open_archive(source.data, "xl/workbook.xml")
    # Streaming keeps memory flat; it knows no merged areas, so these are read from the sheet's own part.
    book = openpyxl.load_workbook(io.BytesIO(source.data), read_only=True, data_only=True)
    try:
        builder, notes, partial = _add_sheets(book, archive)
        facts = {"author": book.properties.creator, "modified": book.properties.modified}
        title = str(book.properties.title or "").strip()
    finally:
        book.close()
    return Document(
        title=title or title_from_name(source.name),
        blocks=builder.build(),
        metadata=json_values(facts),
        notes=tuple(notes),
        partial=partial,
    )


def _add_sheets(book: Any, archive: zipfile.ZipFile) -> tuple[BlockBuilder, list[str], bool]:
    builder = BlockBuilder()
    notes: list[str] = []
    partial = False
    for worksheet in book.worksheets:
        if worksheet.sheet_state != "visible":
            notes.append(f"The hidden sheet {worksheet.title!r} was left out.")
            continue
        sheet = _sheet(worksheet, archive)
        if any(map(any, sheet.rows)):
            builder.heading(1, worksheet.title)
            add_sheet(sheet, builder)
        if sheet.cut:
            partial = True
            notes.append(
                f"Sheet {worksheet.title!r}: only the first {ROW_LIMIT:,} rows and {COLUMN_LIMIT} columns were read."
            )
    return builder, notes, partial


def _sheet(worksheet: Any, archive: zipfile.ZipFile) -> Sheet:
    worksheet.reset_dimensions()  # files state sizes that are far too small or too large
    rows: list[list[str]] = []
    wide = False
    for row in worksheet.iter_rows(max_row=ROW_LIMIT + 1):
        wide = wide or len(row) > COLUMN_LIMIT
        rows.append([cell_text(cell.value, getattr(cell, "number_format", "")) for cell in row[:COLUMN_LIMIT]])
    merged = tuple(_merged_areas(archive, worksheet._worksheet_path))  # noqa: SLF001  the only way from sheet to part
    return Sheet(rows[:ROW_LIMIT], merged, cut=wide or len(rows) > ROW_LIMIT)


def _merged_areas(archive: zipfile.ZipFile, part: str) -> Iterator[Merged]:
    for left, top, right, bottom in _MERGED.findall(_tail(archive, part)):
        first, last = _column(left), _column(right)
        if first < COLUMN_LIMIT and int(top) <= ROW_LIMIT:
            yield Merged(int(top) - 1, first, min(int(bottom), ROW_LIMIT) - 1, min(last, COLUMN_LIMIT - 1))


def _tail(archive: zipfile.ZipFile, part: str) -> bytes:
    """What follows the rows in a sheet's XML: merged areas are stated there."""
    content = archive.read(part.lstrip("/"))
    return content[max(0, content.rfind(b"</row>")) :]


def _column(letters: Iterable[int]) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number - 1
