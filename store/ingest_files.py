"""What a file is to an ingest: its identity, its content, and the fingerprint that says whether to read it again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from store.documents import DocumentStore, Known
from store.errors import LoadError, NotFoundError
from store.loading import SIZE_LIMIT, normalised_bytes
from store.text import clean
from store.walk import FoundFile, readable

LOADER_VERSION = "1"
"""Raise it when the same file would be read differently: every document is then read again."""
_ID_LENGTH = 16
_GROUP_FILES = 16
_GROUP_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Work:
    """A file that has to be read in full.

    Attributes:
        source: what identifies it within the collection.
        root: the folder that its path is relative to.
        known: what is stored of it; None when it is new.
        size: in bytes.
    """

    file: FoundFile
    source: str
    root: Path
    known: Known | None
    size: int


def groups(work: Sequence[Work]) -> Iterator[list[Work]]:
    """The files in order, in groups that one run takes at once: small, so that other runs find work, too."""
    group: list[Work] = []
    for item in work:
        group.append(item)
        if len(group) == _GROUP_FILES or sum(one.size for one in group) >= _GROUP_BYTES:
            yield group
            group = []
    if group:
        yield group


def source_of(file: FoundFile) -> str:
    """What identifies a file: its real path as text, in the form in which the database keeps it."""
    return clean(readable(str(file.source)))


def read_bytes(source: Path) -> bytes:
    """The content of a file.

    Raises:
        LoadError: it is too large, or cannot be read.
    """
    try:
        if source.stat().st_size > SIZE_LIMIT:
            raise LoadError(f"It is larger than {SIZE_LIMIT // 1_000_000} MB.", "Split it, or leave it out.")
        return source.read_bytes()
    except OSError as error:
        raise LoadError(f"It cannot be read: {error.strerror}.", "Check its permissions.") from error


def size_of(source: Path) -> int:
    """Bytes of a file; 0 when it is gone, which is told when it is read."""
    try:
        return source.stat().st_size
    except OSError:
        return 0


def fingerprint(file: FoundFile, data: bytes, settings: str) -> str:
    """Hash of the normalised content and of everything else that the chunks depend on."""
    content = normalised_bytes(file.source.suffix.lower(), data)
    return hashlib.sha256(content + settings.encode()).hexdigest()


def is_stored(file: FoundFile, known: Known | None, settings: str) -> bool:
    """Whether exactly this content is in the index.

    Raises:
        LoadError: the file cannot be read.
    """
    return known is not None and known.fingerprint == fingerprint(file, read_bytes(file.source), settings)


def moved(documents: DocumentStore, item: Work) -> bool:
    """Note where an unchanged file is found now; False when another run has removed its document meanwhile."""
    if item.known and (item.known.path, item.known.root) != (clean(item.file.path), clean(str(item.root))):
        try:
            documents.relocate(item.known.document_id, item.file.path, str(item.root), item.source)
        except NotFoundError:
            return False
    return True


def chunk_ids(document_id: str, texts: Sequence[str], scope: Sequence[str]) -> list[str]:
    """Ids ``document:digest`` that differ between documents, between repeats in one document, and with the scope.

    An unchanged chunk keeps its id when others of its document change or move.
    """
    counts: dict[str, int] = {}
    ids = []
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
        ids.append(f"{document_id}:{short_digest(text, str(counts[text]), *scope)}")
    return ids


def short_digest(*parts: str) -> str:
    """Sixteen hexadecimal digits for some texts in their order."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_ID_LENGTH]
