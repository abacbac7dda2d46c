"""Which files a run of ingestion looks at, and which documents are gone. Reads the disk's listings, nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from store.documents import Known
from store.errors import UsageError
from store.loading import SUPPORTED_SUFFIXES
from store.records import Visibility
from store.walk import FoundFile, Refused, readable, walk


@dataclass(frozen=True, slots=True)
class Issue:
    """A file that was not read, or not completely, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What to ingest, and as what.

    Attributes:
        paths: folders and single files.
        collection: name of the collection; made when it is new.
        scope: facts that hold for every document of this run.
        visibility: None keeps that of an existing collection; a new one is public.
        prune: forget documents whose files are gone. None: yes for whole folders, no for parts of one.
        skip: folders not to enter, such as the data folder.
    """

    paths: Sequence[Path]
    collection: str = "default"
    scope: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    visibility: Visibility | None = None
    prune: bool | None = None
    skip: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """One path of the request: the root that its documents belong to, and whether it is that root as a whole."""

    root: Path
    given: Path
    whole: bool


@dataclass(slots=True)
class Survey:
    """What was found on disk: every document's file, and folders that could not be listed."""

    seen: dict[str, FoundFile] = field(default_factory=dict)
    unlisted: list[Path] = field(default_factory=list)


def targets_of(request: IngestRequest, roots: Sequence[Path]) -> list[Target]:
    """What the paths of a request stand for.

    Args:
        request: the paths.
        roots: folders of the collection that were ingested as a whole before.

    Raises:
        UsageError: no path, a missing path, or pruning asked for with a part of a folder.
    """
    if not request.paths:
        raise UsageError("No path was given.", "Name a folder or a file, as in: gaplight ingest docs/")
    targets = [_target(path, roots) for path in request.paths]
    parts = [target.given for target in targets if not target.whole]
    if request.prune and parts:
        raise UsageError(
            f"{parts[0]} is only a part of a folder; pruning would forget the rest.",
            "Give the whole folder, or leave --prune out.",
        )
    return targets


def _target(path: Path, roots: Sequence[Path]) -> Target:
    given = path.expanduser().resolve()
    if not given.exists():
        raise UsageError(
            f"{path} does not exist.",
            "Nothing was changed: documents are not forgotten when their folder is missing. Check the path or mount.",
        )
    if not given.is_dir() and not given.is_file():
        raise UsageError(f"{path} is neither a folder nor a regular file.", "Give a folder or a file.")
    above = [root for root in roots if given.is_relative_to(root) and given != root]
    if above:
        return Target(max(above, key=lambda root: len(root.parts)), given, whole=False)
    return Target(given, given, whole=True) if given.is_dir() else Target(given.parent, given, whole=False)


def files_of(target: Target, skip: frozenset[Path]) -> Iterator[FoundFile | Refused]:
    """The files that a target stands for, with paths relative to its root.

    Raises:
        UsageError: a single file of a kind that cannot be read.
    """
    prefix = target.given.relative_to(target.root)
    if target.given.is_file():
        if target.given.suffix.lower() in SUPPORTED_SUFFIXES:
            yield FoundFile(target.given, readable(prefix.as_posix()))
        else:
            known = ", ".join(sorted(SUPPORTED_SUFFIXES))
            raise UsageError(f"{target.given.name} is of a kind that cannot be read.", f"Known kinds: {known}.")
        return
    for file in walk(target.given, SUPPORTED_SUFFIXES, skip):
        yield replace(file, path=readable(prefix.as_posix()) + "/" + file.path if prefix.parts else file.path)


def gone_documents(
    request: IngestRequest,
    targets: Sequence[Target],
    known: Mapping[str, Known],
    survey: Survey,
    notes: list[Issue],
) -> list[str]:
    """Documents of whole roots whose files are no longer there, unless there is doubt whether they are gone."""
    gone: list[str] = []
    for target in targets:
        if not target.whole or request.prune is False:
            continue
        below = {source: entry for source, entry in known.items() if Path(source).is_relative_to(target.root)}
        present = any(source in survey.seen for source in below) or any(
            Path(source).is_relative_to(target.root) for source in survey.seen
        )
        if below and not present and not request.prune:
            reason = f"no document is left in it; its {len(below)} documents were kept in case a mount is missing. "
            notes.append(Issue(str(target.given), reason + "Use --prune to forget them."))
            continue
        gone += [
            entry.document_id
            for source, entry in below.items()
            if source not in survey.seen and not any(Path(source).is_relative_to(folder) for folder in survey.unlisted)
        ]
    return gone
