"""Jupyter notebooks as documents; the files are made by nbformat."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from store.errors import LoadError
from store.loading import load


def read(book):
    data = book if isinstance(book, bytes) else nbformat.writes(book).encode()
    return load(Path("train_model.ipynb"), data=data)


def stream(text):
    return new_output("stream", name="stdout", text=text)


def test_cells_become_blocks_under_the_headings_of_earlier_cells():
    book = new_notebook(
        cells=[
            new_markdown_cell("# Training\n\nIntro."),
            new_code_cell("x = 1\nprint(x)", outputs=[stream("\x1b[31m1\x1b[0m\n")]),
            new_markdown_cell("## Results\n\n- good"),
        ],
        metadata={"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}},
    )
    document = read(book)
    assert document.title == "Training"
    assert [(block.kind, block.headings, block.text) for block in document.blocks] == [
        ("paragraph", ("Training",), "Intro."),
        ("code", ("Training",), "```r\nx = 1\nprint(x)\n```"),
        ("code", ("Training",), "```text\n1\n```"),
        ("list", ("Training", "Results"), "- good"),
    ]


def test_pictures_and_object_names_are_no_output():
    outputs = [
        new_output(
            "display_data", data={"image/png": "iVBOR" * 1000, "text/plain": "<Figure size 640x480 with 1 Axes>"}
        ),
        new_output("execute_result", data={"text/plain": "42"}),
    ]
    document = read(new_notebook(cells=[new_code_cell("plot()", outputs=outputs)]))
    assert [block.text for block in document.blocks] == ["```\nplot()\n```", "```text\n42\n```"]


def test_long_outputs_are_shortened_with_a_note_and_errors_are_one_line():
    outputs = [
        stream("\n".join(f"epoch {n}" for n in range(500))),
        new_output("error", ename="KeyError", evalue="'a'", traceback=["long"] * 90),
    ]
    document = read(new_notebook(cells=[new_code_cell("run()", outputs=outputs)]))
    assert "epoch 19\n…" in document.blocks[1].text
    assert "epoch 20" not in document.blocks[1].text
    assert document.blocks[2].text == "```text\nKeyError: 'a'\n```"
    assert document.notes == ("1 long outputs were shortened.",)


def test_notebooks_of_format_3_are_read():
    book = {
        "nbformat": 3,
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": ["Old"]},
                    {"cell_type": "code", "input": ["a = 1"], "outputs": []},
                ]
            }
        ],
    }
    document = read(json.dumps(book).encode())
    assert [(block.headings, block.text) for block in document.blocks] == [(("Old",), "```\na = 1\n```")]


@pytest.mark.parametrize(
    "data",
    [
        b"{not json",
        b"[]",
        b'{"a": 1}',
        b'{"cells": 5}',
        b"[" * 100_000,
        b'{"cells": [1, null, {"source": 7}]}',
        b"null",
    ],
)
def test_what_is_no_notebook_is_refused_with_a_reason(data):
    with pytest.raises(LoadError) as caught:
        read(data)
    assert caught.value.problem
