"""Local checkouts, shares and wiki dumps as places where documents for gaps are found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from discovery.finders.folder_index import FileHit, FolderIndex, revision_of
from discovery.finders.queries import weighted_stems
from discovery.licences import INTERNAL, recognise
from discovery.ports import Fetched, Found
from store.errors import NotFoundError, UnavailableError
from store.records import Source, Topic
from store.text import terms
from store.walk import readable

_KEY = "folder:"
_LICENCE_NAMES = ("license", "licence", "copying", "unlicense")
_SHOWN_WORDS = 5
_SHOWN_NOTES = 5


class FolderFinder:
    """Finds files in folders by the words of a topic; may be used by many threads.

    Args:
        index: the words of all files.
        folders: the same folders as the index', in which files may be read.
        licence: of files without a licence text above them: they lie under one's own roof. Empty means unknown.
        size_limit: bytes above which a file is not fetched.
    """

    name = "folder"

    def __init__(
        self, index: FolderIndex, folders: Sequence[Path], licence: str = INTERNAL, size_limit: int = 5_000_000
    ) -> None:
        self._index = index
        self._folders = [folder.expanduser().resolve() for folder in folders]
        self._licence = licence
        self._size_limit = size_limit

    def find(self, topic: Topic, limit: int) -> Found:
        """Files that have the topic's words, best first.

        Raises:
            UnavailableError: the cache of words cannot be written.
        """
        words = weighted_stems(topic)
        if not words:
            return Found((), ("The topic has no words that may be searched for.",))
        hits = self._index.search(words, limit)
        sources = [source for hit in hits if (source := self._source(hit, topic))]
        return Found(tuple(sources), _shortened(self._index.notes))

    def fetch(self, source: Source) -> Fetched:
        """A file's content, if it still is what was suggested.

        Raises:
            NotFoundError: it is gone, has changed, is too large, or lies outside of the configured folders.
            UnavailableError: it cannot be read now.
        """
        path = self._allowed(source)
        try:
            if path.stat().st_size > self._size_limit:
                raise NotFoundError(f"{source.location} is larger than {self._size_limit / 1e6:.1f} MB.", "Split it.")
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise NotFoundError(f"{source.location} is not there any more.", "Look for other sources.") from error
        except OSError as error:
            raise UnavailableError(
                f"{source.location} cannot be read: {error.strerror}.", "Check that the share is mounted and readable."
            ) from error
        if source.revision and revision_of(path.name, data) != source.revision:
            raise NotFoundError(
                f"{source.location} has changed since it was suggested.",
                "Run `gaplight discover` again to see what it says now.",
            )
        return Fetched(path.name, data)

    def current(self, source: Source) -> Source | None:
        """The source as it is now, which may be at another revision; None when it is gone."""
        file = self._index.file(source.key.removeprefix(_KEY))
        return None if file is None or file.problem else self._source(FileHit(file, 0.0), None)

    def _source(self, hit: FileHit, topic: Topic | None) -> Source | None:
        path = Path(hit.file.path)
        root = self._root(path)
        if root is None or readable(hit.file.path) != hit.file.path:
            return None  # a name that cannot be shown cannot be approved either
        relative = f"{root.name}/{path.relative_to(root).as_posix()}"
        reasons = [f"Found in the folder {root.name}."]
        if topic and (words := _shared(topic, f"{hit.file.title} {relative}")):
            reasons.append(f"Its title or path names {', '.join(words)}.")
        return Source(
            key=_KEY + hit.file.path,
            finder=self.name,
            title=hit.file.title,
            location=relative,
            revision=hit.file.revision,
            licence=self._licence_of(path, root),
            owner=root.name,
            size=hit.file.size,
            updated_at=datetime.fromtimestamp(hit.file.modified_ns / 1e9, UTC).replace(microsecond=0),
            reasons=tuple(reasons),
        )

    def _allowed(self, source: Source) -> Path:
        path = Path(source.key.removeprefix(_KEY))
        try:
            real = path.resolve()
        except OSError as error:
            raise UnavailableError(f"{source.location} cannot be read: {error.strerror}.") from error
        if self._root(real) is None or real != path:
            raise NotFoundError(
                f"{source.location} lies outside of the folders that may be searched.", "See discovery.folders."
            )
        return real

    def _root(self, path: Path) -> Path | None:
        above = [folder for folder in self._folders if path.is_relative_to(folder)]
        return max(above, key=lambda folder: len(folder.parts), default=None)

    def _licence_of(self, path: Path, root: Path) -> str:
        """That of the nearest licence text at or above the file; a text that is not recognised is unknown."""
        for folder in path.parents:
            texts = _licence_texts(folder)
            if texts:
                return next((found for text in texts if (found := recognise(text))), "")
            if folder == root or (folder / ".git").exists():
                break
        return self._licence


def _licence_texts(folder: Path) -> list[str]:
    try:
        files = sorted(path for path in folder.iterdir() if path.name.casefold().startswith(_LICENCE_NAMES))
        return [path.read_bytes()[:100_000].decode("utf-8", "replace") for path in files if path.is_file()]
    except OSError:
        return []


def _shared(topic: Topic, text: str) -> list[str]:
    has = {term.stem for term in terms(text)}
    wanted = weighted_stems(topic)
    surfaces = {term.stem: term.surface for part in (*topic.terms, topic.question) for term in terms(part)}
    return [surfaces[stem] for stem in wanted if stem in has and stem in surfaces][:_SHOWN_WORDS]


def _shortened(notes: Sequence[str]) -> tuple[str, ...]:
    if len(notes) <= _SHOWN_NOTES:
        return tuple(notes)
    return (*notes[:_SHOWN_NOTES], f"{len(notes) - _SHOWN_NOTES} more files were left out.")
