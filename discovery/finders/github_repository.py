"""What has to be known of a repository, and which of its files may be about a topic. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store.loading import SUPPORTED_SUFFIXES
from store.text import stems

FILES_OF_A_REPOSITORY = 3
"""Files that are suggested of one repository that was found as a whole."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_REGULAR = frozenset({"100644", "100755"})
_UNKNOWN_LICENCES = frozenset({"", "NOASSERTION", "OTHER"})


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository by the id that it keeps through renames.

    Attributes:
        licence: SPDX identifier, empty when GitHub does not know one.
    """

    id: int
    full_name: str
    owner: str
    branch: str
    licence: str
    private: bool
    archived: bool
    fork: bool
    url: str


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """A file of a repository; ``size`` in bytes, 0 when unknown."""

    path: str
    size: int = 0


def repository_of(data: Mapping[str, Any]) -> Repository:
    """A repository from GitHub's JSON."""
    licence = str((data.get("license") or {}).get("spdx_id") or "")
    return Repository(
        id=int(data["id"]),
        full_name=str(data["full_name"]),
        owner=str(data["owner"]["login"]),
        branch=str(data.get("default_branch") or "HEAD"),
        licence="" if licence.upper() in _UNKNOWN_LICENCES else licence,
        private=bool(data.get("private")),
        archived=bool(data.get("archived")),
        fork=bool(data.get("fork")),
        url=str(data.get("html_url") or ""),
    )


def files_of(tree: Sequence[Mapping[str, Any]]) -> list[RepositoryFile]:
    """The regular files of a tree that can be read; links and submodules are none."""
    return [
        RepositoryFile(str(entry["path"]), int(entry.get("size") or 0))
        for entry in tree
        if entry.get("type") == "blob"
        and str(entry.get("mode", "100644")) in _REGULAR
        and is_readable(str(entry["path"]))
    ]


def is_readable(path: str) -> bool:
    """Whether the ending of a path is that of a format that can be read."""
    name = path.rpartition("/")[2].lower()
    return "." in name and f".{name.rpartition('.')[2]}" in SUPPORTED_SUFFIXES


def promising(files: Sequence[RepositoryFile], wanted: Collection[str], limit: int) -> list[RepositoryFile]:
    """Files whose path has the most of the wanted stems, then the README of the repository.

    Args:
        files: of one repository.
        wanted: stems of the topic.
        limit: at most so many.
    """
    shared = {file.path: len(set(stems(file.path.replace("/", " "))) & set(wanted)) for file in files}
    ranked = sorted((file for file in files if shared[file.path]), key=lambda file: (-shared[file.path], file.path))
    readmes = [file for file in files if file.path.lower().startswith("readme.")]
    return list({file.path: file for file in (*ranked[: limit - len(readmes[:1])], *readmes[:1])}.values())[:limit]


def moment(text: str) -> datetime | None:
    """A time as GitHub writes it; None when it is none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
