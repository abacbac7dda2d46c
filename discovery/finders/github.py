"""GitHub as a place where documents for gaps are found: one's own organisations first, then the wider world.

A source is named by the id of its repository and its path, so that a renamed repository stays the same source, and
pinned to the commit that last changed the file.
"""

from __future__ import annotations

import base64
import binascii
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from discovery.finders.github_api import GithubApi, LimitReachedError
from discovery.finders.github_queries import code_queries, repository_queries
from discovery.finders.github_repository import (
    FILES_OF_A_REPOSITORY,
    LFS_POINTER,
    Repository,
    RepositoryFile,
    files_of,
    is_readable,
    moment,
    promising,
    repository_of,
)
from discovery.finders.github_search import Search
from discovery.finders.queries import weighted_stems, words_of
from discovery.ports import Fetched, Found
from store.errors import ConfigurationError, NotFoundError
from store.records import Source, Topic

logger = logging.getLogger(__name__)

_KEY = re.compile(r"github:(\d+):(.+)", re.DOTALL)
_REPOSITORIES = 3
"""Repositories of a search that are looked into."""


@dataclass(frozen=True, slots=True)
class GithubOptions:
    """Where is searched, and how much.

    Attributes:
        organisations: one's own; searched first.
        wider: also everywhere else.
        searches: requests to the search that one topic may cost; a third is kept for everywhere else.
        size_limit: bytes above which a file is not fetched.
    """

    organisations: tuple[str, ...] = ()
    wider: bool = True
    searches: int = 9
    size_limit: int = 5_000_000


@dataclass(slots=True)
class _Run:
    """One topic's search: what was found so far, and what is left to spend."""

    topic: Topic
    limit: int
    searches: int
    sources: dict[str, Source] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    retry_at: datetime | None = None

    @property
    def open(self) -> bool:
        """Whether more is wanted and may be looked for."""
        return len(self.sources) < self.limit and self.searches > 0

    def note(self, text: str) -> None:
        """Keep a note once."""
        self.notes[text] = None

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Go on with the next step when a limit ends this one: the limits of code and repositories are apart."""
        try:
            yield
        except LimitReachedError as error:
            self.note(error.problem)
            self.retry_at = max(self.retry_at or error.retry_at, error.retry_at)


class GithubFinder:
    """Finds Markdown files and repositories by the words of a topic; may be used by many threads."""

    name = "github"

    def __init__(self, api: GithubApi, options: GithubOptions | None = None) -> None:
        self._api = api
        self._search = Search(api)
        self._options = options or GithubOptions()
        self._own_names = {name.casefold() for name in self._options.organisations}

    def find(self, topic: Topic, limit: int) -> Found:
        """Files that may be about a topic, those of one's own organisations first.

        When a limit is reached, what was found so far comes back, with the time from which the rest can be had.

        Raises:
            UnavailableError: GitHub does not answer.
            ConfigurationError: the token is wrong, or may not search.
        """
        run = _Run(topic, limit, self._options.searches)
        words = words_of(topic)
        if not words:
            return Found((), ("The topic has no words that may be searched for.",))
        if self._options.organisations:
            kept = run.searches // 3 if self._options.wider else 0
            run.searches -= kept
            self._own(run, words)
            run.searches += kept
        if self._options.wider:
            self._everywhere(run, words)
        if run.searches <= 0 and len(run.sources) < limit:
            run.note(f"{self._options.searches} searches were spent; not every combination of words was tried.")
        return Found(tuple(run.sources.values()), tuple(run.notes), run.retry_at)

    def fetch(self, source: Source) -> Fetched:
        """A file's content at the commit that it is pinned to.

        Raises:
            NotFoundError: it is gone, too large, or no file with text of its own.
            UnavailableError: GitHub does not answer, or a limit is used up.
            ConfigurationError: the token may not read it.
        """
        repository, path = self._place(source)
        where = f"{repository.full_name}:{path}"
        entry = self._api.get(f"/repos/{repository.full_name}/contents/{quote(path)}", ref=source.revision)
        if isinstance(entry, list) or entry.get("type") != "file":
            kind = "a folder" if isinstance(entry, list) else f"a {entry.get('type')}"
            raise NotFoundError(f"{where} is {kind}, not a file.", "Suggest a file instead.")
        size = int(entry.get("size") or 0)
        if size > self._options.size_limit:
            raise NotFoundError(
                f"{where} has {size / 1e6:.1f} MB; the limit is {self._options.size_limit / 1e6:.1f} MB.",
                "Raise discovery.limits.file_kilobytes if it is worth it.",
            )
        content = self._content(entry, repository)
        if content.startswith(LFS_POINTER):
            raise NotFoundError(f"{where} is kept in Git LFS; only a pointer to it is there.", "Suggest another file.")
        return Fetched(PurePosixPath(path).name, content)

    def current(self, source: Source) -> Source | None:
        """The source at the commit that changed it last; None when file or repository are gone.

        Raises:
            UnavailableError: GitHub does not answer, or a limit is used up.
        """
        try:
            repository, path = self._place(source)
            return self._source(repository, RepositoryFile(path, source.size), ())
        except NotFoundError:
            return None

    # Searching

    def _own(self, run: _Run, words: Sequence[str]) -> None:
        organisations = self._options.organisations
        for query in code_queries(words, organisations):
            self._code(run, query, "Found in our own organisation {owner}.")
        for query in repository_queries(words, organisations):
            self._repositories(run, query, "Its repository {name} of our own was found by these words.")

    def _everywhere(self, run: _Run, words: Sequence[str]) -> None:
        for query in repository_queries(words):
            self._repositories(run, query, "Its repository {name} was found by these words.")
        for query in code_queries(words):
            self._code(run, query, "Found in {name}.")

    def _code(self, run: _Run, query: str, reason: str) -> None:
        if not run.open:
            return
        if not self._api.has_token:
            run.note("Code is searched with a token only: set GITHUB_TOKEN.")
            return
        with run.limited():
            for item in self._found("code", query, run):
                path = str(item["path"])
                if is_readable(path):
                    self._add(run, int(item["repository"]["id"]), RepositoryFile(path), reason)

    def _repositories(self, run: _Run, query: str, reason: str) -> None:
        if not run.open:
            return
        with run.limited():
            for item in self._found("repositories", query, run)[:_REPOSITORIES]:
                for file in self._files(run, item):
                    self._add(run, int(item["id"]), file, reason)

    def _found(self, kind: str, query: str, run: _Run) -> list[dict[str, Any]]:
        page = self._search.search(kind, query, run.limit)
        run.searches -= page.requests
        for note in page.notes:
            run.note(note)
        return page.items

    def _files(self, run: _Run, item: dict[str, Any]) -> list[RepositoryFile]:
        name, branch = str(item["full_name"]), quote(str(item.get("default_branch") or "HEAD"))
        try:
            tree = self._api.get(f"/repos/{name}/git/trees/{branch}", recursive=1)
        except NotFoundError as error:
            run.note(f"{name} was left out. {error.problem}")
            return []
        entries = list(tree["tree"])
        if tree.get("truncated"):
            run.note(f"{name} is too large to be listed as a whole; its top folder and docs were looked at.")
            entries = [*entries, *self._documents(name)]
        return promising(files_of(entries), weighted_stems(run.topic), FILES_OF_A_REPOSITORY)

    def _documents(self, name: str) -> Iterator[dict[str, Any]]:
        """The files of the folder ``docs``, which a cut listing may lack."""
        try:
            listed = self._api.get(f"/repos/{name}/contents/docs")
        except NotFoundError:
            return
        for entry in listed if isinstance(listed, list) else ():
            if entry.get("type") == "file":
                yield {"type": "blob", "path": entry["path"], "size": entry.get("size", 0)}

    def _add(self, run: _Run, repository_id: int, file: RepositoryFile, reason: str) -> None:
        """Make a source of a file; one that cannot be looked up is left out with a note."""
        key = f"github:{repository_id}:{file.path}"
        if key in run.sources or len(run.sources) >= run.limit:
            return
        if file.size > self._options.size_limit:
            run.note(f"{file.path} was left out: it has {file.size / 1e6:.1f} MB.")
            return
        try:
            repository = self._repository(repository_id)
            if repository.private and repository.owner.casefold() not in self._own_names:
                # The note is shown in digests; that the token reads this repository is nobody's business there.
                logger.info("%s was left out: it is private, and not ours", repository.full_name)
                run.note("A private repository that is none of discovery.organisations was left out.")
                return
            told = reason.format(owner=repository.owner, name=repository.full_name)
            source = self._source(repository, file, (told, *_remarks(repository)))
        except (NotFoundError, ConfigurationError) as error:
            run.note(f"{file.path} was left out. {error.problem}")
            return
        run.sources[key] = source

    # Looking up

    def _repository(self, repository_id: int) -> Repository:
        return repository_of(self._api.get(f"/repositories/{repository_id}"))

    def _place(self, source: Source) -> tuple[Repository, str]:
        match = _KEY.fullmatch(source.key)
        if match is None:
            raise NotFoundError(f"{source.key!r} names no file on GitHub.")
        return self._repository(int(match[1])), match[2]

    def _source(self, repository: Repository, file: RepositoryFile, reasons: Sequence[str]) -> Source:
        commits = self._api.get(
            f"/repos/{repository.full_name}/commits", path=file.path, sha=repository.branch, per_page=1
        )
        if not commits:
            raise NotFoundError(f"{repository.full_name} has no {file.path} any more.")
        commit = str(commits[0]["sha"])
        return Source(
            key=f"github:{repository.id}:{file.path}",
            finder=self.name,
            title=f"{PurePosixPath(file.path).stem} ({repository.full_name})",
            location=f"{repository.full_name}:{file.path}",
            url=f"{repository.url}/blob/{commit}/{quote(file.path)}" if repository.url else "",
            revision=commit,
            licence=repository.licence,
            owner=repository.owner,
            size=file.size,
            updated_at=moment(str(commits[0]["commit"]["committer"]["date"])),
            archived=repository.archived,
            fork=repository.fork,
            reasons=tuple(reasons),
        )

    def _content(self, entry: dict[str, Any], repository: Repository) -> bytes:
        """The bytes; files of more than a megabyte come without their content and are fetched as blobs."""
        if entry.get("encoding") != "base64" or (entry.get("size") and not entry.get("content")):
            entry = self._api.get(f"/repos/{repository.full_name}/git/blobs/{entry['sha']}")
        try:
            return base64.b64decode(entry["content"])
        except (KeyError, ValueError, binascii.Error) as error:
            raise NotFoundError(f"GitHub sends no content for {entry.get('path') or entry.get('sha')}.") from error


def _remarks(repository: Repository) -> list[str]:
    return ["Its repository is private."] if repository.private else []
