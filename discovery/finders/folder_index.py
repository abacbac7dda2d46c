"""The words of all files below some folders, kept between runs: a topic costs one search, not a walk through files.

Kept beside the data and derived from the folders only: it can be deleted at any time. A file is read again when its
size or time stamp has changed, and its entry only changes when its content has.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from store.chunking import CHUNKER_VERSION, chunk
from store.errors import LoadError
from store.ingest_files import LOADER_VERSION
from store.lexical import LexicalEntry
from store.lexical_tantivy import TantivyIndex
from store.loading import SUPPORTED_SUFFIXES, load, normalised_bytes
from store.records import Chunk
from store.text import TOKENISER_VERSION, stems
from store.walk import FoundFile, Refused, walk

logger = logging.getLogger(__name__)

REFRESH_SECONDS = 60.0
"""How long the folders are taken as they were: all topics of a round share one look."""
_COLLECTION = "folders"
_VERSION = f"1-{TOKENISER_VERSION}-{CHUNKER_VERSION}-{LOADER_VERSION}"
_LIMIT, _TARGET = 400, 180
"""Words of a piece; nothing is embedded here, so that counting words is near enough."""
_BATCH = 500
_HITS_A_FILE = 8


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """What is kept of a file: how it is recognised as unchanged, and what a suggestion shows of it.

    ``problem`` says why it has no words: it could not be read.
    """

    path: str
    size: int
    modified_ns: int
    revision: str
    title: str
    pieces: int
    problem: str = ""


class FileHit(NamedTuple):
    """A file found by words, with the BM25 score of its best piece (more is better, no upper bound)."""

    file: IndexedFile
    score: float


@dataclass(frozen=True, slots=True)
class _Read:
    file: IndexedFile
    pieces: tuple[Chunk, ...]


class FolderIndex:
    """Words of files; may be used by many threads of one process.

    Args:
        cache: a folder of its own, made when missing.
        folders: where the files lie; one that is missing or empty keeps what is known of it, since a share may be away.
        skip: folders not to enter, such as the data folder.
        size_limit: bytes above which a file is left out.
        clock: seconds that only ever grow.
    """

    def __init__(
        self,
        cache: Path,
        folders: Sequence[Path],
        *,
        skip: Sequence[Path] = (),
        size_limit: int = 5_000_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cache = cache
        self._folders = [folder.expanduser().resolve() for folder in folders]
        self._skip = frozenset(path.resolve() for path in (*skip, cache))
        self._size_limit = size_limit
        self._clock = clock
        self._turn = threading.RLock()
        self._looked_at = -REFRESH_SECONDS
        self._lexical: TantivyIndex | None = None
        self._files: dict[str, IndexedFile] = {}
        self.notes: tuple[str, ...] = ()
        """What the last look left out, in words."""

    def search(self, words: Mapping[str, float], limit: int) -> list[FileHit]:
        """Files that have some of these stems, best first.

        Args:
            words: stems with their weights.
            limit: at most so many files.

        Raises:
            UnavailableError: the cache cannot be written.
        """
        with self._turn:
            lexical = self._current()
            known = lexical.document_frequencies(words)
            wanted = {stem: weight for stem, weight in words.items() if known[stem]}
            hits = lexical.search(wanted, limit * _HITS_A_FILE, [_COLLECTION])
            best: dict[str, float] = {}
            for hit in hits:
                best.setdefault(hit.chunk_id.partition(":")[0], hit.score)
            by_id = {_identity(path): file for path, file in self._files.items()}
            found = [FileHit(by_id[one], score) for one, score in best.items() if one in by_id]
            return found[:limit]

    def file(self, path: str) -> IndexedFile | None:
        """What is known of a file now; None when it is gone or was never read."""
        with self._turn:
            self._current()
            return self._files.get(path)

    def close(self) -> None:
        """Give the index' lock back."""
        with self._turn:
            if self._lexical:
                self._lexical.close()
            self._lexical = None
            self._looked_at = -REFRESH_SECONDS

    # Keeping up with the folders

    def _current(self) -> TantivyIndex:
        lexical = self._opened()
        if self._clock() - self._looked_at >= REFRESH_SECONDS:
            self._refresh(lexical)
            self._looked_at = self._clock()
        return lexical

    def _opened(self) -> TantivyIndex:
        if self._lexical is None:
            lexical = TantivyIndex(self._cache / "words")
            kept = _kept(self._cache / "files.json")
            if lexical.rebuild_needed or kept is None:
                lexical.clear()
                kept = {}
            self._files, self._lexical = kept, lexical
        return self._lexical

    def _refresh(self, lexical: TantivyIndex) -> None:
        seen, notes = self._on_disk()
        gone = [path for path in self._files if path not in seen and not self._away(path, seen)]
        changed = [source for path, source in seen.items() if self._differs(path, source)]
        if gone or changed:
            # Until the list is written again, an interrupted change is done once more from the beginning.
            (self._cache / "files.json").unlink(missing_ok=True)
            for batch in _batches(changed):
                read = [one for source in batch if (one := self._read(source))]
                self._replace(lexical, read)
            if gone:
                lexical.write(deleted=[one for path in gone for one in _ids(self._files.pop(path))])
            lexical.mark_complete()
            self._keep()
        unread = [f"{file.path}: {file.problem}" for file in self._files.values() if file.problem]
        self.notes = (*notes, *unread)

    def _on_disk(self) -> tuple[dict[str, Path], list[str]]:
        seen: dict[str, Path] = {}
        notes = []
        for folder in self._folders:
            if not folder.is_dir():
                notes.append(f"The folder {folder} is not there.")
                continue
            for file in walk(folder, SUPPORTED_SUFFIXES, self._skip):
                if isinstance(file, FoundFile):
                    seen[str(file.source)] = file.source
                elif isinstance(file, Refused):
                    notes.append(f"{file.path}: {file.reason}")
        return seen, notes

    def _away(self, path: str, seen: Iterable[str]) -> bool:
        """Whether the whole folder of a file shows nothing, as a share does that is not mounted."""
        above = [folder for folder in self._folders if Path(path).is_relative_to(folder)]
        return bool(above) and not any(Path(one).is_relative_to(folder) for one in seen for folder in above)

    def _differs(self, path: str, source: Path) -> bool:
        known = self._files.get(path)
        try:
            now = source.stat()
        except OSError:
            return False
        return known is None or (known.size, known.modified_ns) != (now.st_size, now.st_mtime_ns)

    def _read(self, source: Path) -> _Read | None:
        try:
            now = source.stat()
            known = self._files.get(str(source))
            entry = IndexedFile(str(source), now.st_size, now.st_mtime_ns, "", source.name, 0)
            if now.st_size > self._size_limit:
                return _Read(replace(entry, problem=f"it is larger than {self._size_limit / 1e6:.1f} MB"), ())
            data = source.read_bytes()
        except OSError:
            return None
        revision = revision_of(source.name, data)
        if known and known.revision == revision:
            self._files[str(source)] = replace(
                entry, revision=revision, title=known.title, pieces=known.pieces, problem=known.problem
            )
            return None
        try:
            document = load(source, data=data)
        except LoadError as error:
            return _Read(replace(entry, revision=revision, problem=error.problem), ())
        pieces = tuple(chunk(document, count_tokens=_words, limit=_LIMIT, target=_TARGET))
        return _Read(replace(entry, revision=revision, title=document.title, pieces=len(pieces)), pieces)

    def _replace(self, lexical: TantivyIndex, read: Sequence[_Read]) -> None:
        if not read:
            return
        former = [self._files[one.file.path] for one in read if one.file.path in self._files]
        lexical.write(_entries(read), deleted=[piece for file in former for piece in _ids(file)])
        self._files |= {one.file.path: one.file for one in read}

    def _keep(self) -> None:
        text = json.dumps({"version": _VERSION, "files": [asdict(file) for file in self._files.values()]})
        unfinished = self._cache / "files.json.new"
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(self._cache / "files.json")


def revision_of(name: str, data: bytes) -> str:
    """What pins a file's content: a hash that line ends and byte order marks do not change."""
    content = normalised_bytes(Path(name).suffix.lower(), data)
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _kept(path: Path) -> dict[str, IndexedFile] | None:
    """What the last run knew; None when there is nothing, or it is of another version or damaged."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["version"] != _VERSION:
            return None
        return {file["path"]: IndexedFile(**file) for file in kept["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _entries(read: Sequence[_Read]) -> Iterator[LexicalEntry]:
    for one in read:
        for identity, piece in zip(_ids(one.file), one.pieces, strict=True):
            yield LexicalEntry(identity, _COLLECTION, (), stems(piece.embedded_text))


def _ids(file: IndexedFile) -> list[str]:
    return [f"{_identity(file.path)}:{place}" for place in range(file.pieces)]


def _identity(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _words(text: str) -> int:
    return len(text.split())


def _batches(paths: Sequence[Path]) -> Iterator[Sequence[Path]]:
    for start in range(0, len(paths), _BATCH):
        yield paths[start : start + _BATCH]
