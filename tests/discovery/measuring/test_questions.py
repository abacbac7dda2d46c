"""Questions come out of every format as they were written, and what is wrong is named with its place."""

from __future__ import annotations

import csv
import json

import pytest
from openpyxl import Workbook

from discovery.measuring.questions import Probe, read_probes
from store.errors import UsageError

ROWS = [("How do I reset?", "1", "access", "vpn.md;faq.md"), ("Übrigens, 东京?", "0", "", "")]
EXPECTED = (
    Probe("How do I reset?", "access", answerable=True, gold_documents=("vpn.md", "faq.md")),
    Probe("Übrigens, 东京?", answerable=False),
)
HEADER = ("question", "answerable", "scenario", "gold_documents")


@pytest.mark.parametrize(
    ("delimiter", "encoding"), [(",", "utf-8"), (";", "utf-8-sig"), ("\t", "utf-16"), (",", "utf-8-sig")]
)
def test_csv_in_any_usual_form(tmp_path, delimiter, encoding):
    lines = [delimiter.join(f'"{value}"' for value in row) for row in (HEADER, *ROWS)]
    (tmp_path / "q.csv").write_bytes("\r\n".join(lines).encode(encoding))
    assert read_probes(tmp_path / "q.csv").probes == EXPECTED


def test_xlsx_with_numbers_for_labels_and_empty_rows(tmp_path):
    book = Workbook()
    for row in ((), HEADER, (ROWS[0][0], 1, *ROWS[0][2:]), (), (ROWS[1][0], 0, None, None)):
        book.active.append(row)
    book.save(tmp_path / "q.xlsx")
    assert read_probes(tmp_path / "q.xlsx").probes == EXPECTED


def test_jsonl_with_lists_and_scopes(tmp_path):
    line = {"question": "Why?", "answerable": True, "gold_documents": ["a.md"], "scope": {"version": ["1", "2"]}}
    (tmp_path / "q.jsonl").write_text(json.dumps(line) + "\n\n")
    assert read_probes(tmp_path / "q.jsonl").probes == (
        Probe("Why?", answerable=True, gold_documents=("a.md",), scope={"version": ("1", "2")}),
    )


def test_the_sub_folder_is_the_scenario_unless_a_column_says_so(tmp_path):
    (tmp_path / "vpn").mkdir()
    (tmp_path / "vpn" / "a.csv").write_text("question,scenario\nOne?,\nTwo?,access\n")
    (tmp_path / "mail.csv").write_text("Question\nThree?\n")
    found = read_probes(tmp_path).probes
    assert [(one.text, one.scenario) for one in found] == [("Three?", "mail"), ("One?", "vpn"), ("Two?", "access")]


def test_rows_without_a_question_are_left_out_and_told(tmp_path):
    (tmp_path / "q.csv").write_text("question,scenario\nOne?,a\n,b\n")
    read = read_probes(tmp_path / "q.csv")
    assert [one.text for one in read.probes] == ["One?"]
    assert read.notes == ("q.csv, row 3 has no question and was left out.",)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.csv", "text,label\nWhy?,1\n", "no column named question; its columns: text, label"),
        ("q.csv", "question,answerable\nWhy?,maybe\n", "row 2: answerable is 'maybe'"),
        ("q.csv", "question\n", "no question"),
        ("q.csv", "", "no question"),
        ("q.jsonl", '{"text": 1}\n', "line 1 has no question"),
        ("q.jsonl", "{\n", "line 1 is no JSON"),
        ("q.jsonl", "[1]\n", "line 1 has no question"),
        ("q.xlsx", "no zip", "no readable Excel file"),
        ("q.pdf", "x", "is no .csv"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=said.replace(".", r"\.")):
        read_probes(tmp_path / name)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        read_probes(tmp_path / "none.csv")


def test_reading_questions_leaves_the_limits_of_the_process_alone(tmp_path):
    before = csv.field_size_limit()
    (tmp_path / "q.csv").write_text("question\nHow long is this?\n", encoding="utf-8")
    read_probes(tmp_path / "q.csv")
    assert csv.field_size_limit() == before
