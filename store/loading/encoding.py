"""From bytes to text: byte order mark first, then strict UTF-8, then a recorded guess. Never a silent replacement."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from store.errors import LoadError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SIGNATURES = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or Office file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
)
_ONE_BYTE = ("cp1252", "cp1251", "koi8_r", "cp1250", "cp1253")
_MANY_BYTES = ("gb18030", "big5", "cp932", "euc_jp", "cp949")
_PREFERENCE = ("cp1252", *_MANY_BYTES, *_ONE_BYTE[1:])
"""Encodings worth guessing, likelier ones first; decides between guesses that fit equally well."""

_BINARY_SHARE = 0.05
"""Share of control bytes from which data is not text; real text has practically none."""

_DAMAGE_SHARE = 0.05
"""Broken sequences per whole multi-byte sequence up to which data still counts as (damaged) UTF-8."""

_SAMPLE = 64 * 1024
_CONTROLS = bytes(value for value in range(32) if value not in b"\t\n\r\f\b\x1b") + b"\x7f"
_HIGH_RUN = re.compile(rb"[\x80-\xff]{2}")
_PRINTABLE = re.compile(r"[\w\s!-/:-@\[-`{-~\u2010-\u2027\u3000-\u303f\uff00-\uff65]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with how it was read.

    Attributes:
        text: decoded but not yet cleaned.
        encoding: name of the encoding, such as ``utf-8`` or ``cp1252``.
        notes: a sentence for each guess or damage; empty when the bytes left no doubt.
    """

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def decode(data: bytes, *, declared: str = "") -> Decoded:
    """Decode the bytes of a text file.

    Args:
        data: the whole content.
        declared: encoding that the file itself names (HTML does); tried before guessing.

    Raises:
        LoadError: the bytes are no text, or in no encoding that can be told.
    """
    marked = _by_mark(data)
    if marked:
        return marked
    _refuse_known_binary(data)
    controls = _control_share(data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is not None and controls < _BINARY_SHARE:
        return Decoded(text, "utf-8")
    wide = _utf16_without_mark(data) if b"\0" in data else None
    if wide:
        return wide
    if controls >= _BINARY_SHARE:
        raise LoadError("The file is binary, not text.", "Give it the ending of its real format.")
    return _as_declared(data, declared) or _damaged_utf8(data) or _guessed(data)


def _as_declared(data: bytes, encoding: str) -> Decoded | None:
    try:
        name = codecs.lookup(encoding).name if encoding else ""
        # A declaration that reads as ASCII cannot stand in UTF-16, and browsers take Latin-1 as Windows-1252.
        if not name or name.startswith(("utf-16", "utf-32")):
            return None
        name = "cp1252" if name in {"iso8859-1", "ascii"} else name
        return Decoded(data.decode(name), name)
    except (LookupError, UnicodeError, ValueError):
        return None


def _by_mark(data: bytes) -> Decoded | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return Decoded(data[len(mark) :].decode(encoding), encoding)
            except UnicodeDecodeError as error:
                if encoding == "utf-8":
                    return _damaged_utf8(data[len(mark) :]) or _guessed(data[len(mark) :])
                raise LoadError(
                    f"The file begins like {encoding.upper()} but breaks at byte {error.start}.", "Save it as UTF-8."
                ) from error
    return None


def _refuse_known_binary(data: bytes) -> None:
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            raise LoadError(f"The file is {name}, not text.", "Give it the ending of its real format.")


def _control_share(data: bytes) -> float:
    head = data[: 16 * _SAMPLE]
    return (len(head) - len(head.translate(None, _CONTROLS))) / max(1, len(head))


def _utf16_without_mark(data: bytes) -> Decoded | None:
    """UTF-16 shows itself by NUL bytes that stand (nearly) only on one side of each pair."""
    odd, even = data[1::2].count(0), data[0::2].count(0)
    encoding = "utf-16-le" if odd >= even else "utf-16-be"
    if len(data) % 2 or min(odd, even) > 0.1 * max(odd, even):
        return None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    sample = text[:_SAMPLE]
    if len(_PRINTABLE.findall(sample)) < 0.9 * len(sample):
        return None
    return Decoded(text, encoding, (f"No encoding was declared; read as {encoding.upper()}.",))


def _damaged_utf8(data: bytes) -> Decoded | None:
    """UTF-8 with a few broken bytes, such as a log cut in the middle of a character."""
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    whole = sum(character > "\x7f" for character in text) - broken
    if broken > _DAMAGE_SHARE * whole:
        return None
    return Decoded(text, "utf-8", (f"{broken} broken bytes were replaced by a mark.",))


def _guessed(data: bytes) -> Decoded:
    for encoding in [*_candidates(_telling_lines(data)), "cp1252"]:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return Decoded(text, encoding, (f"No encoding was declared; {encoding} was guessed.",))
    raise LoadError("The encoding of the file cannot be told.", "Save it as UTF-8.")


def _candidates(sample: bytes) -> list[str]:
    import charset_normalizer

    # Single accented letters between ASCII never come from an encoding with two bytes a character.
    possible = _PREFERENCE if _HIGH_RUN.search(sample) else _ONE_BYTE
    matches = charset_normalizer.from_bytes(
        sample, cp_isolation=list(possible), preemptive_behaviour=False, enable_fallback=False
    )
    ranked = [
        (match.chaos, -match.coherence, _PREFERENCE.index(name), name)
        for match in matches
        for name in {match.encoding, *match.could_be_from_charset}
        if name in possible
    ]
    return [name for *_, name in sorted(ranked)]


def _telling_lines(data: bytes) -> bytes:
    """The lines that are not plain ASCII: only they tell encodings apart."""
    lines, size = [], 0
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size >= _SAMPLE:
                break
    return b"".join(lines)[: 2 * _SAMPLE]
