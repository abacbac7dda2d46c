"""What `load` promises whatever the file: a document with text, or one reason."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import docx
import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.errors import LoadError
from store.loading import SUPPORTED_SUFFIXES, archive, load

XML = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def office(kind):
    target = io.BytesIO()
    if kind == ".docx":
        made = docx.Document()
        made.add_paragraph("text")
    else:
        made = openpyxl.Workbook()
        made.active.append(["a", "b"])
    made.save(target)
    return target.getvalue()


def repacked(data, part, content):
    """The same archive with one part replaced."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info.filename, content if info.filename == part else old.read(info))
    return target.getvalue()


MAIN_PART = {".docx": "word/document.xml", ".xlsx": "xl/worksheets/sheet1.xml"}


@pytest.mark.parametrize("suffix", sorted(SUPPORTED_SUFFIXES))
@pytest.mark.parametrize(
    "data", [b"", b"   \n\t ", b"\xef\xbb\xbf", b"\0\0\0\0"], ids=["empty", "blank", "mark", "nul"]
)
def test_a_file_without_text_is_refused_in_every_format(suffix, data):
    with pytest.raises(LoadError) as caught:
        load(Path(f"a{suffix}"), data=data)
    assert caught.value.problem.endswith(".")


def test_an_unknown_ending_is_refused_with_the_known_ones():
    with pytest.raises(LoadError, match=r"'\.exe'.*\.md"):
        load(Path("a.exe"), data=b"x")
    with pytest.raises(LoadError, match="nothing"):
        load(Path("Makefile"), data=b"x")


def test_the_ending_counts_in_any_case():
    assert load(Path("A.MD"), data=b"text").title == "A"


def test_a_file_is_read_from_disk(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"text")
    assert load(path).blocks[0].text == "text"


@pytest.mark.parametrize("name", ["missing.md", "folder.md"])
def test_what_cannot_be_opened_is_refused_with_the_reason(tmp_path, name):
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(LoadError, match="cannot be opened"):
        load(tmp_path / name)


def test_a_file_over_the_cap_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "big.log"
    with path.open("wb") as stream:
        os.truncate(stream.fileno(), 10**11)  # sparse: reading it would fail for want of memory
    with pytest.raises(LoadError, match=r"limit is 52\.4 MB"):
        load(path)
    with pytest.raises(LoadError, match=r"limit is 0\.0 MB"):
        load(Path("a.md"), data=b"x" * 100, size_limit=10)


@pytest.mark.parametrize("kind", [".docx", ".xlsx"])
def test_a_zip_bomb_is_refused_before_it_is_unpacked(kind):
    """40 MB of spaces in one part, 40 kB on disk."""
    data = repacked(office(kind), MAIN_PART[kind], b" " * 40_000_000)
    assert len(data) < 100_000
    start = time.process_time()
    with pytest.raises(LoadError, match="unpacks from"):
        load(Path(f"a{kind}"), data=data)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("kind", [".docx", ".xlsx"])
def test_more_than_the_cap_is_refused_however_well_it_packs(kind, monkeypatch):
    """The cap on the unpacked size holds without any suspicious ratio."""
    monkeypatch.setattr(archive, "EXPANDED_LIMIT", 1_000_000)
    with pytest.raises(LoadError, match="unpacks from"):
        load(Path(f"a{kind}"), data=repacked(office(kind), "docProps/app.xml", os.urandom(1_100_000)))


@pytest.mark.parametrize("kind", [".docx", ".xlsx"])
def test_xml_entities_are_refused(kind):
    """A few declarations that expand to a billion characters."""
    data = repacked(office(kind), MAIN_PART[kind], f"{XML}]><x>&i;</x>".encode())
    with pytest.raises(LoadError, match="entities"):
        load(Path(f"a{kind}"), data=data)


@pytest.mark.parametrize("kind", [".docx", ".xlsx"])
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "password"),
        (b"PK\x03\x04 cut", "damaged"),
        (b"plain text", "damaged"),
    ],
)
def test_office_files_that_cannot_be_opened_say_why(kind, data, reason):
    with pytest.raises(LoadError, match=reason):
        load(Path(f"a{kind}"), data=data)


@pytest.mark.parametrize("kind", [".docx", ".xlsx"])
def test_cut_and_foreign_office_files_are_refused(kind):
    data = office(kind)
    other = ".xlsx" if kind == ".docx" else ".docx"
    for broken in (data[: len(data) // 2], office(other), repacked(data, MAIN_PART[kind], b"<broken"), data[:-30]):
        with pytest.raises(LoadError):
            load(Path(f"a{kind}"), data=broken)


HOSTILE = {
    "divs.html": b"<div>" * 300_000 + b"text",
    "bold.html": b"<b>" * 300_000 + b"text",
    "many.html": b"<div>" * 9_000 + b"<p>x" * 200_000,
    "lists.html": b"<ul><li>" * 1_500 + b"text",
    "tables.html": b"<table><tr><td>" * 1_000 + b"text",
    "unclosed.html": b"text <!-- " * 20_000,
    "quotes.md": b">" * 20_000 + b" text",
    "lists.md": b"- " * 20_000 + b"text",
    "brackets.md": b"text " + b"[" * 500_000,
    "stars.md": b"text " + b"*a " * 200_000,
    "ticks.md": b"<x> " + b" ".join(b"`" * n for n in range(1, 700)),
    "comments.md": b"text " + b"<!-- " * 50_000,
    "tags.md": b"text " + b"<span hidden>" * 20_000,
    "heading.md": b"# " + b"*a [b " * 100_000,
    "html.md": b"<div>" * 100_000 + b"text",
    "table.md": b"|a|b|\n|-|-|\n" + b"|1|2|\n" * 5_000,
    "matter.md": b"---\n" + b"[" * 50_000 + b"\n---\ntext",
    "mapping.md": b"---\na: " + b"{a: " * 3_000 + b"\n---\ntext",
    "line.txt": b"x" * 5_000_000,
    "line.log": b"x y " * 1_000_000,
    "line.csv": b"a," * 500_000,
    "quotes.csv": b'"' * 100_000,
    "deep.rst": b"".join(b" " * n + b"- x\n\n" for n in range(0, 400, 2)),
    "deep.ipynb": b'{"cells": ' + b"[" * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_ends_soon_in_a_document_or_a_reason(name):
    """Deep nesting, endless lines and unclosed marks cost seconds at most and never the process."""
    start = time.process_time()
    try:
        assert load(Path(name), data=HOSTILE[name]).blocks
    except LoadError as error:
        assert error.problem  # noqa: PT017
    assert time.process_time() - start < 8


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    suffix=st.sampled_from(sorted(SUPPORTED_SUFFIXES)),
    data=st.binary(max_size=300) | st.text(max_size=200).map(str.encode),
)
def test_any_bytes_give_a_document_or_a_reason(suffix, data):
    try:
        document = load(Path(f"a{suffix}"), data=data)
    except LoadError:
        return
    assert any(block.text.strip() for block in document.blocks)
    assert "\0" not in document.title + "".join(block.text for block in document.blocks)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=st.text("ab #*-_`>|\n\t[](){}<>!:=~1.\\&;/\"'", max_size=300),
    suffix=st.sampled_from([".md", ".html", ".rst", ".csv", ".txt"]),
)
def test_any_markup_gives_a_document_or_a_reason(text, suffix):
    try:
        load(Path(f"a{suffix}"), data=text.encode())
    except LoadError as error:
        assert "damaged" not in error.problem  # noqa: PT017  that would be a fault of ours, not of the file


def test_importing_the_package_loads_no_parser():
    code = (
        "import sys, store.loading, store.chunking;"
        "print([m for m in ('markdown_it','selectolax','pypdf','docx','openpyxl','docutils','yaml','lxml') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
