"""A gap leaves the house as plain values that no spreadsheet runs and no Markdown reader renders."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest

from bot.gap_export import gap_as_json, gaps_as_markdown, gaps_as_rows
from store.records import Gap, GapState, GapType, GapWording, Nearest, Visibility

THEN = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)


def gap(question="How do I park?", nearest=None, **changes):
    values = {
        "id": "0123456789abcdef0123456789abcdef", "key": "en:park", "question": question, "type": GapType.NO_COVERAGE,
        "state": GapState.OPEN, "reasons": {"no_relevant_chunks": 2, "weak_answer_language": 1}, "count": 3, "askers": 2,
        "first_seen": THEN, "last_seen": THEN, "best_score": 0.123456, "nearest": nearest,
        "visibility": Visibility.PUBLIC, "language": "en",
    }  # fmt: skip
    return Gap(**(values | changes))


def cells(one):
    header, row = gaps_as_rows([one])
    return dict(zip(header, row, strict=True))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_no_cell_is_a_formula(start):
    """In any field that people or documents fill."""
    evil = f'{start}HYPERLINK("http://x.example")'
    wording = GapWording(evil, 1, 1, THEN, THEN, Visibility.PUBLIC)
    row = cells(gap(evil, Nearest(evil, evil, evil, 0.1), note=evil, additional_questions=(wording,)))
    for column in ("question", "additional_questions", "nearest_document", "nearest_section", "note"):
        assert row[column] == f"'{evil}"


def test_an_ordinary_row_says_everything_once():
    wordings = tuple(GapWording(text, 1, 1, THEN, THEN, Visibility.PUBLIC) for text in ("where to park", "parking?"))
    row = cells(gap(nearest=Nearest("a.md", "Cars", "quote", 0.12), additional_questions=wordings))
    assert row["question"] == "How do I park?"
    assert row["additional_questions"] == "where to park\nparking?"
    assert row["reasons"] == "no_relevant_chunks: 2, weak_answer_language: 1"
    assert (row["askers"], row["count"], row["best_score"]) == ("2", "3", "0.1235")
    assert (row["nearest_document"], row["nearest_section"]) == ("a.md", "Cars")
    assert row["first_seen"] == "2026-06-01T09:00:00+00:00"


def test_a_csv_reader_gets_back_what_was_asked():
    question = 'He said "park, now"\nand left; 东京 😀'
    buffer = io.StringIO()
    csv.writer(buffer).writerows(gaps_as_rows([gap(question)]))
    assert next(csv.DictReader(io.StringIO(buffer.getvalue())))["question"] == question


def test_no_gap_is_a_header_alone():
    assert len(gaps_as_rows([])) == 1
    assert len(gaps_as_markdown([]).splitlines()) == 2


@pytest.mark.parametrize(
    "evil",
    [
        "a | b | c",
        "a\n\n# Heading\n| x |",
        "<script>alert(1)</script>",
        "[click](javascript:alert(1))",
        "![x](http://x.example/t.png)",
        "`code` **bold** _it_",
        "\\| escaped already",
        "end with backslash \\",
        "\u2028line\u2028separator\x0bnext",
    ],
)
def test_what_people_wrote_cannot_break_out_of_its_cell(evil):
    lines = gaps_as_markdown([gap(evil, Nearest(evil, "", "", 0.1))]).splitlines()
    assert len(lines) == 3
    row = lines[2]
    bare, skip = [], False
    for character in row:
        if not skip and character != "\\":
            bare.append(character)
        skip = not skip and character == "\\"
    assert bare.count("|") == 8
    assert not set("<>[]`*_") & set(bare)


def test_json_values_are_plain_and_complete():
    wording = GapWording("parking?", 2, 1, THEN, THEN, Visibility.PRIVATE, "similarity 0.95")
    values = gap_as_json(gap(nearest=Nearest("a.md", "Cars", "quote", 0.12), additional_questions=(wording,)))
    assert json.loads(json.dumps(values)) == values
    assert values["additional_questions"] == [
        {"question": "parking?", "count": 2, "askers": 1, "merged_because": "similarity 0.95"}
    ]
    assert values["nearest"] == {"document": "a.md", "section": "Cars", "quote": "quote"}
    assert (values["best_score"], values["merged_into"]) == (0.1235, None)
    assert gap_as_json(gap())["nearest"] is None
