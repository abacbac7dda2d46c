"""Office files are ZIP archives of XML: what is checked before a parser may touch one."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator

from store.errors import LoadError

EXPANDED_LIMIT = 200 * 1024 * 1024
"""Bytes that all parts together may have once unpacked."""
_RATIO_LIMIT = 200
"""Unpacked size per packed byte; XML of real documents stays below 60, and repetition made to explode reaches 1,000."""
_RATIO_FROM = 10 * 1024 * 1024
"""Unpacked bytes from which the ratio counts: small files of empty rows pack well and harm nobody."""
_PARTS_LIMIT = 20_000
_PROLOGUE = 64 * 1024
_SMALL_PART = 1024 * 1024
_TAG_LIMIT = 2_000_000
"""Tags of a part that is parsed as a whole; each costs about 110 bytes. Three million words of prose have so many."""
_ROW = re.compile(rb"<(/?)(?:\w+:)?row(?=[\s/>])[^<>]*?(/?)>")
_SHEETS = "xl/worksheets/"
_TAGS_IN_ROW = 200_000
"""Tags between two rows of a worksheet; 16,384 columns, the most that there are, have half as many."""
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"


def open_archive(data: bytes, needed: str) -> zipfile.ZipFile:
    """Open an Office file after checking that unpacking it is harmless.

    Args:
        data: the whole file.
        needed: name of a part without which it is not of the expected kind.

    Raises:
        LoadError: encrypted, old format, damaged, of another kind, unpacking to too much, or with entity tricks.
    """
    if data.startswith(_OLD_OFFICE):
        raise LoadError(
            "The file is protected by a password or in the format of Office 97-2003.",
            "Save it without a password in the present format.",
        )
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise LoadError(f"The file is damaged or cut short ({error}).", "Open and save it again.") from error
    _check_sizes(archive, len(data))
    if needed not in archive.namelist():
        raise LoadError(f"The file has no part {needed!r}, so it is of another kind.", "Check its ending.")
    _refuse_document_types(archive)
    _refuse_costly_markup(archive)
    return archive


def _check_sizes(archive: zipfile.ZipFile, packed: int) -> None:
    parts = archive.infolist()
    expanded = sum(part.file_size for part in parts)
    if any(part.flag_bits & 1 for part in parts):
        raise LoadError("The file is protected by a password.", "Save it without a password.")
    if len(parts) > _PARTS_LIMIT:
        raise LoadError(f"The file has {len(parts)} parts; the limit is {_PARTS_LIMIT}.", "Split it.")
    if expanded > EXPANDED_LIMIT or (expanded > _RATIO_FROM and expanded > _RATIO_LIMIT * packed):
        raise LoadError(
            f"The file unpacks from {packed / 1e6:.1f} MB to {expanded / 1e6:.1f} MB, more than is safe.",
            "Split it, or remove empty rows and pictures.",
        )


def _refuse_costly_markup(archive: zipfile.ZipFile) -> None:
    """A parser keeps a whole part, or in a worksheet a whole row, as objects that are many times its size."""
    for part in archive.infolist():
        if part.file_size < _SMALL_PART:
            continue
        sheet = part.filename.startswith(_SHEETS)
        costly = _costly_sheet if sheet else _costly_part
        if costly(_pieces(archive, part)):
            raise LoadError(f"The part {part.filename!r} has too many elements to be read.", "Split the file.")


def _costly_part(pieces: Iterable[bytes]) -> bool:
    """Whether a part that is parsed as a whole has too many tags."""
    tags = 0
    return any((tags := tags + piece.count(b"<")) > _TAG_LIMIT for piece in pieces)


def _costly_sheet(pieces: Iterable[bytes]) -> bool:
    """Whether a worksheet, which is parsed row by row, has too many tags between two rows, or is none.

    Rows in rows, and comments that look like rows, would keep everything in memory until the end.
    """
    since_row = depth = strings = 0
    rest = b""
    for piece in pieces:
        data = rest + piece
        cut = data.rfind(b"<")
        data, rest = (data[:cut], data[cut:]) if cut >= 0 else (data, b"")
        place = 0
        strings += data.count(b"<si") + data.count(b":si")
        for match in _ROW.finditer(data):
            since_row += data.count(b"<", place, match.start())
            place = match.end()
            if since_row > _TAGS_IN_ROW:
                return True
            depth += -1 if match[1] else not match[2]
            since_row = 0
        since_row += data.count(b"<", place)
        hidden = b"<!--" in data or b"<![" in data
        if hidden or depth not in {0, 1} or since_row > _TAGS_IN_ROW or strings > _TAG_LIMIT:
            return True
    return False


def _pieces(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with archive.open(part) as stream:
            while piece := stream.read(_PROLOGUE):
                yield piece
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise LoadError(f"The part {part.filename!r} is damaged.", "Open and save the file again.") from error


def _refuse_document_types(archive: zipfile.ZipFile) -> None:
    """Office writes no document type; one is there to declare entities that expand without bound."""
    for part in archive.infolist():
        if not part.filename.lower().endswith((".xml", ".rels")):
            continue
        head = next(_pieces(archive, part), b"").replace(b"\0", b"")
        if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
            raise LoadError(f"The part {part.filename!r} declares XML entities, which Office never does.")
