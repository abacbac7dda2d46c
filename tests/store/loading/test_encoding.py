"""Bytes to text: marks first, strict UTF-8, recorded guesses, no silent replacement."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from store.errors import LoadError
from store.loading import load
from store.loading.encoding import decode


def png():
    def part(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = part(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", zlib.compress(b"\0\0\0\0")) + part(b"IEND", b"")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
def test_a_byte_order_mark_decides(encoding):
    """B068: a UTF-16 log with its mark reads as text, not as noise with NUL characters."""
    decoded = decode("\ufeffprimary host is lyra-3 — ok\n".encode(encoding))
    assert decoded.text == "primary host is lyra-3 — ok\n"
    assert (decoded.encoding, decoded.notes) == (encoding, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["primary host is lyra-3\n", "主机是 lyra-3，备份窗口为 45 分钟。\n"])
def test_utf16_without_a_mark_is_recognised_and_said(encoding, text):
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.encoding == encoding
    assert encoding.upper() in decoded.notes[0]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("café", "cp1252"),
        ("two cafés and naïve résumés", "cp1252"),
        ("It’s a “quoted” word — and €5", "cp1252"),
        ("Der Übergang über die Brücke ist für Fußgänger gesperrt. Größe", "cp1252"),
        ("备份窗口为四十五分钟，请联系管理员。", "gb18030"),
        ("重置密码", "gb18030"),
        ("備份視窗為四十五分鐘，請聯絡管理員。", "big5"),
        ("バックアップの時間は四十五分です。管理者に連絡してください。", "cp932"),
        ("백업 창은 45분입니다. 관리자에게 문의하십시오.", "cp949"),
        ("Резервное копирование занимает сорок пять минут.", "cp1251"),
        ("Резервное копирование занимает сорок пять минут.", "koi8_r"),
    ],
)
def test_old_encodings_are_guessed_and_the_guess_is_recorded(text, encoding):
    """B068: cp1252, GBK and others; a reader is told which encoding was assumed."""
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.encoding == encoding
    assert encoding in decoded.notes[0]


def test_the_guess_reaches_the_document():
    """B068: one byte of cp1252 in a short file; the document names the encoding."""
    document = load(Path("a.txt"), data=b"caf\xe9")
    assert document.blocks[0].text == "café"
    assert document.encoding == "cp1252"
    assert "cp1252" in document.notes[0]


def test_a_byte_order_mark_hides_neither_front_matter_nor_heading():
    """B068: UTF-8 with a mark in front of the front matter."""
    document = load(Path("a.md"), data="\ufeff---\ntitle: T\n---\n# H\n\ntext".encode())
    assert document.title == "T"
    assert [(block.headings, block.text) for block in document.blocks] == [(("H",), "text")]


def test_a_few_broken_bytes_in_utf8_are_marked_and_counted():
    """A log cut in the middle of a character is still UTF-8; the damage is said, and nothing else is garbled."""
    data = ("größer " * 50).encode() + "ö".encode()[:1] + b" end"
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith("größer größer")
    assert decoded.text.endswith("\ufffd end")
    assert decoded.notes == ("1 broken bytes were replaced by a mark.",)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (png(), "PNG"),
        (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
        (b"PK\x03\x04" + b"\0" * 100, "ZIP"),
        (bytes(range(256)) * 20, "binary"),
        (b"\0" * 1000, "binary"),
    ],
)
@pytest.mark.parametrize("ending", [".txt", ".md", ".csv", ".html"])
def test_binary_data_with_a_text_ending_is_refused_with_its_kind(data, name, ending):
    """B068: a PNG renamed .txt."""
    with pytest.raises(LoadError, match=name) as caught:
        load(Path(f"a{ending}"), data=data)
    assert caught.value.next_step


def test_truncated_utf16_is_refused_not_repaired():
    with pytest.raises(LoadError, match="UTF-16-LE"):
        decode(b"\xff\xfea\0b\0\x00\xd8")


def test_an_html_page_is_read_in_the_encoding_it_declares():
    data = "<meta charset='iso-8859-2'><p>Zażółć gęślą jaźń</p>".encode("iso-8859-2")
    document = load(Path("a.html"), data=data)
    assert document.blocks[0].text == "Zażółć gęślą jaźń"
    assert (document.encoding, document.notes) == ("iso8859-2", ())


@pytest.mark.parametrize("declared", ["no-such-thing", "base64", "rot13", "utf-16"])
def test_a_useless_declaration_falls_back_to_the_guess(declared):
    data = f"<meta charset={declared}><p>caf".encode() + b"\xe9</p>"
    assert load(Path("a.html"), data=data).blocks[0].text == "café"


def test_nul_and_other_controls_in_text_are_removed():
    """B100: what PostgreSQL refuses never leaves the loader, in text, title and metadata alike."""
    data = '---\ntitle: "Sc\\0an"\nproducer: "x\\0y"\n---\nabc\x00def\u200bghi\n'.encode()
    document = load(Path("a.md"), data=data)
    assert document.blocks[0].text == "abcdefghi"
    assert document.title == "Scan"
    assert document.metadata["producer"] == "xy"
