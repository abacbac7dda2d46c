"""Comma-, semicolon- or tab-separated files."""

from __future__ import annotations

import csv
import io

from store.errors import LoadError
from store.loading.builder import BlockBuilder
from store.loading.encoding import decode
from store.loading.rows import Sheet, add_sheet
from store.loading.source import Source, title_from_name
from store.loading.spreadsheet import COLUMN_LIMIT, ROW_LIMIT
from store.records import Document
from store.text import clean

_SAMPLE = 64 * 1024
_DELIMITERS = ",;\t|"


def read(source: Source) -> Document:
    """Read a delimited file as one table whose first row names the columns.

    Raises:
        LoadError: the bytes are not text, or a cell is longer than the reader takes (131,072 characters).
    """
    decoded = decode(source.data)
    text = clean(decoded.text)
    delimiter = "\t" if source.suffix == ".tsv" else _delimiter(text[:_SAMPLE])
    rows, cut = _rows(text, delimiter)
    builder = BlockBuilder()
    add_sheet(Sheet(rows), builder)
    note = (f"Only the first {ROW_LIMIT:,} rows and {COLUMN_LIMIT} columns were read.",) if cut else ()
    return Document(
        title=title_from_name(source.name),
        blocks=builder.build(),
        encoding=decoded.encoding,
        notes=(*decoded.notes, *note),
        partial=cut,
    )


def _rows(text: str, delimiter: str) -> tuple[list[list[str]], bool]:
    rows: list[list[str]] = []
    cut = False
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            if len(rows) == ROW_LIMIT:
                return rows, True
            cut = cut or len(row) > COLUMN_LIMIT
            rows.append(row[:COLUMN_LIMIT])
    except csv.Error as error:
        raise LoadError(f"Row {len(rows) + 1} cannot be read: {error}.", "Check its quotation marks.") from error
    return rows, cut


def _delimiter(sample: str) -> str:
    """The character that cuts the first lines into the most columns, the same number in each."""
    lines = sample.split("\n")[:20]
    best, best_width = ",", 1
    for candidate in _DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=candidate) if row]
        except csv.Error:
            continue
        usual = max(set(widths), key=widths.count, default=1)
        if usual > best_width and widths.count(usual) > len(widths) / 2:
            best, best_width = candidate, usual
    return best
