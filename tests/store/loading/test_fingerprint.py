"""What is hashed to tell whether a file has changed."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from store.loading import normalised_bytes

TEXT = "# Title\n\nGrüße\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.rstrip("\n").encode(),
        (TEXT + "\n\n").encode(),
        ("\ufeff" + TEXT).encode("utf-16-le"),
        TEXT.encode("cp1252"),
        TEXT.replace("ü", "u\u0308").encode(),
    ],
    ids=["crlf", "mark", "no final newline", "more final newlines", "utf-16", "cp1252", "composed accents"],
)
@pytest.mark.parametrize("suffix", [".md", ".TXT", ".html", ".csv", ".ipynb", ".rst", ".log"])
def test_text_that_reads_the_same_has_the_same_fingerprint(data, suffix):
    """B071: line ends, marks, final newlines and encodings of another system change nothing."""
    assert normalised_bytes(suffix, data) == normalised_bytes(suffix, TEXT.encode())


def test_other_words_have_another_fingerprint():
    assert normalised_bytes(".md", b"one") != normalised_bytes(".md", b"two")
    assert normalised_bytes(".md", b"a\n\nb") != normalised_bytes(".md", b"a\nb")


@pytest.mark.parametrize("suffix", [".pdf", ".PDF", ".docx", ".xlsx"])
def test_binary_formats_are_hashed_raw(suffix):
    """B071: the bytes 0D 0A inside a PDF are data."""
    assert normalised_bytes(suffix, b"%PDF\r\nx\n") == b"%PDF\r\nx\n"


def test_text_that_cannot_be_decoded_is_hashed_raw():
    assert normalised_bytes(".txt", b"\x89PNG\r\n\0") == b"\x89PNG\r\n\0"


def test_a_fingerprint_imports_no_parser_and_takes_no_time():
    """A second run looks at each file for well under a millisecond (here: 200 files of 10 kB in a second)."""
    code = (
        "import sys; from store.loading import normalised_bytes; normalised_bytes('.md', 'größer'.encode());"
        "normalised_bytes('.pdf', b'x');"
        "print([m for m in ('markdown_it','selectolax','pypdf','docx','openpyxl','docutils','yaml','charset_normalizer')"
        " if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
    data = ("A sentence with ümlauts.\n" * 400).encode()
    start = time.process_time()
    for _ in range(200):
        normalised_bytes(".md", data)
    assert time.process_time() - start < 1
