"""Workbooks and delimited files as documents; workbooks are made by openpyxl."""

from __future__ import annotations

import io
from datetime import date, datetime
from pathlib import Path

import openpyxl
import pytest

from store.chunking import chunk
from store.errors import LoadError
from store.loading import load, spreadsheet

MORNING = datetime(2024, 1, 15, 8, 30)  # noqa: DTZ001  a spreadsheet knows no time zones


def saved(book):
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def workbook(*rows, title="Prices", merge=()):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    for area in merge:
        sheet.merge_cells(area)
    return book


def read(book):
    return load(Path("prices.xlsx"), data=saved(book))


def read_csv(text, name="a.csv"):
    return load(Path(name), data=text.encode())


def lines(document, place=0):
    return document.blocks[place].text.split("\n")


def test_a_merged_region_stands_in_each_of_its_rows():
    """B065: A2:A4 merged."""
    document = read(workbook(["Region", "City"], ["EU", "Rome"], [None, "Oslo"], [None, "Bern"], merge=["A2:A4"]))
    assert lines(document)[2:] == ["| EU | Rome |", "| EU | Oslo |", "| EU | Bern |"]
    assert document.blocks[0].headings == ("Prices",)


def test_two_header_rows_are_joined_and_stand_in_every_chunk():
    """B065: 'Price' over 'Net' and 'Gross', 2,000 rows."""
    rows = [[f"R{n}", n, n * 2] for n in range(2000)]
    document = read(workbook(["Region", "Price", None], [None, "Net", "Gross"], *rows, merge=["A1:A2", "B1:C1"]))
    (block,) = document.blocks
    assert block.header == "| Region | Price / Net | Price / Gross |\n| --- | --- | --- |"
    assert len(lines(document)) == 2002
    chunks = chunk(document, count_tokens=lambda text: len(text.split()), limit=254)
    assert len(chunks) > 20
    assert all(found.text.startswith(block.header) for found in chunks)


def test_a_title_row_over_the_whole_table_is_its_caption():
    document = read(workbook(["Report 2024", None], ["Name", "Count"], ["a", 1], merge=["A1:B1"]))
    assert document.blocks[0].caption == "Report 2024"
    assert document.blocks[0].header.startswith("| Name | Count |")


def test_hidden_sheets_are_left_out_with_a_note():
    """B065: hidden by policy, and said."""
    book = workbook(["a", "b"], [1, 2])
    book.create_sheet("Secret").append(["x", "y"])
    book["Secret"].sheet_state = "hidden"
    document = read(book)
    assert all("x" not in block.text for block in document.blocks)
    assert document.notes == ("The hidden sheet 'Secret' was left out.",)
    assert not document.partial


def test_rows_beyond_the_cap_are_reported(monkeypatch):
    """B065: the size cap is no silent cut."""
    monkeypatch.setattr(spreadsheet, "ROW_LIMIT", 5)
    document = read(workbook(["a", "b"], *([n, n] for n in range(20))))
    assert len(lines(document)) == 6
    assert document.partial
    assert "only the first 5 rows" in document.notes[0]


def test_values_read_as_a_person_sees_them():
    book = workbook(
        ["d", "t", "n", "f", "b", "p", "s"],
        [date(2024, 1, 15), MORNING, 3.0, 0.1, True, 0.25, "a|b\nc"],
    )
    book.active["F2"].number_format = "0%"
    assert lines(read(book))[2] == "| 2024-01-15 | 2024-01-15 08:30:00 | 3 | 0.1 | TRUE | 25% | a\\|b c |"


def test_empty_rows_set_tables_apart_and_data_continues_under_its_header():
    document = read(
        workbook(
            ["Name", "Count"],
            ["a", 1],
            [],
            ["b", 2],
            [],
            ["Note: all numbers are estimates of the sales team only"],
            [],
            ["City", "Zip"],
            ["Rome", 7],
        )
    )
    assert [(block.kind, block.text.split("\n")[0], block.text.split("\n")[-1]) for block in document.blocks] == [
        ("table", "| Name | Count |", "| a | 1 |"),
        ("table", "| Name | Count |", "| b | 2 |"),
        ("table", "| City | Zip |", "| Rome | 7 |"),
    ]
    assert document.blocks[2].caption.startswith("Note: all numbers")


def test_a_stray_cell_far_away_costs_nothing():
    book = workbook(["a", "b"], [1, 2])
    book.active["XFD1048576"] = "far"
    document = read(book)
    assert lines(document)[:3] == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]
    assert document.partial


def test_a_workbook_without_text_is_refused():
    with pytest.raises(LoadError, match="no readable text"):
        read(workbook())


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter):
    document = read_csv(delimiter.join(["name", "note"]) + "\n" + delimiter.join(["a", '"b, c; d"']) + "\n")
    assert lines(document) == ["| name | note |", "| --- | --- |", "| a | b, c; d |"]


def test_tabs_separate_in_tsv_whatever_else_occurs():
    assert lines(read_csv("a,b\tc\n1,2\t3\n", "x.tsv"))[0] == "| a,b | c |"


def test_quoted_cells_may_hold_line_ends():
    assert lines(read_csv('a,b\r\n"x\r\ny",2\r\n'))[2] == "| x y | 2 |"


def test_a_single_column_is_a_table_too():
    assert lines(read_csv("name\nAda\nBob\n")) == ["| name |", "| --- |", "| Ada |", "| Bob |"]


def test_an_endless_cell_is_refused_with_its_row():
    with pytest.raises(LoadError, match="Row 2"):
        read_csv('a,b\n"' + "x" * 200_000 + '",1\n')
