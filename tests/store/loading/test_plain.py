"""Text, log and reStructuredText files as documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.loading import load


def read(text, name):
    return load(Path(name), data=text.encode())


def shape(document):
    return [(block.kind, block.headings, block.text) for block in document.blocks]


def test_empty_lines_set_paragraphs_apart():
    document = read("One\nline.\n\n \n\nTwo.\n\n- a\n- b\n\f3. c\n", "release_notes.txt")
    assert document.title == "Release notes"
    assert shape(document) == [
        ("paragraph", (), "One\nline."),
        ("paragraph", (), "Two."),
        ("list", (), "- a\n- b"),
        ("list", (), "3. c"),
    ]


def test_a_log_keeps_its_lines_without_terminal_colours():
    document = read("\x1b[32mINFO\x1b[0m up\n  at x\n\nERROR down\n", "app.log")
    assert shape(document) == [("code", (), "```log\nINFO up\n  at x\n\nERROR down\n```")]


RST = """
Guide
=====

Intro with ``code``, *emphasis*, :ref:`the page <target>` and `a link <https://x.example>`_.

Setup
-----

1. one
2. two

   * inner

.. code-block:: python

   a = 1

     b = 2

.. note:: Mind this.

.. versionadded:: 2.0
   Works on Mac.

.. list-table:: Ports
   :header-rows: 1

   * - Name
     - Port
   * - vpn
     - 443

term
   meaning

.. comment that nobody sees
.. include:: /etc/passwd
.. raw:: html

   <b>raw</b>
"""


def test_restructured_text_becomes_blocks():
    document = read(RST, "guide.rst")
    path = ("Guide", "Setup")
    assert document.title == "Guide"
    assert shape(document) == [
        ("paragraph", ("Guide",), "Intro with `code`, emphasis, the page and a link."),
        ("list", path, "1. one\n2. two\n   - inner"),
        ("code", path, "```python\na = 1\n\n  b = 2\n```"),
        ("paragraph", path, "Note: Mind this."),
        ("paragraph", path, "2.0\nWorks on Mac."),
        ("table", path, "| Name | Port |\n| --- | --- |\n| vpn | 443 |"),
        ("paragraph", path, "term: meaning"),
    ]
    assert document.blocks[5].caption == "Ports"


def test_no_directive_reads_another_file(tmp_path):
    """An include directive in a document must not open a file of the machine."""
    secret = tmp_path / "secret.txt"
    secret.write_text("TOP SECRET", encoding="utf-8")
    for directive in (f".. include:: {secret}", f".. csv-table::\n   :file: {secret}", f".. literalinclude:: {secret}"):
        document = read(f"Title\n=====\n\ntext\n\n{directive}\n", "a.rst")
        assert all("TOP SECRET" not in block.text for block in document.blocks)


@pytest.mark.parametrize("text", ["*" * 5000, "Title\n===\n" * 200, ".. " * 3000, "|x| " * 3000, "- " * 900 + "x"])
def test_odd_markup_is_read_in_some_form(text):
    document = read(f"readable words\n\n{text}", "a.rst")
    assert any("readable words" in block.text for block in document.blocks)
