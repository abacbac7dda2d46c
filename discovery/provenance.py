"""From a suggested source to a document of ours: where it goes, how it is cited, and where it came from. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discovery.ports import Fetched
from store.records import Source, Visibility
from store.source_ingest import SourceDocument


@dataclass(frozen=True, slots=True)
class Target:
    """The collection that a source goes to, and who may see that collection when it is new."""

    collection: str
    visibility: Visibility = Visibility.PUBLIC


@dataclass(frozen=True, slots=True)
class Place:
    """Where sources go unless somebody says otherwise, and which collections the questions of everybody reach.

    Attributes:
        collections: all collections by name, as they are now.
    """

    target: Target
    collections: Callable[[], Mapping[str, Visibility]]

    def readable(self) -> tuple[str, ...]:
        """The public collections and the target, which may not exist yet."""
        return reachable(self.collections(), self.target.collection)

    def readable_now(self) -> tuple[str, ...]:
        """The same without a target that does not exist yet; may be empty."""
        present = self.collections()
        return tuple(name for name in reachable(present, self.target.collection) if name in present)


def reachable(collections: Mapping[str, Visibility], also: str = "") -> tuple[str, ...]:
    """Collections that everybody may read, and one more where it is given."""
    public = {name for name, visibility in collections.items() if visibility is Visibility.PUBLIC}
    return tuple(sorted(public | ({also} if also else set())))


def document_of(source: Source, fetched: Fetched, target: Target, **decision: object) -> SourceDocument:
    """The document that a source becomes.

    Args:
        source: as it was suggested.
        fetched: its content at the pinned revision.
        target: where it goes.
        decision: plain JSON values on who decided what; kept with the document.
    """
    provenance = {
        "finder": source.finder,
        "key": source.key,
        "location": source.location,
        "revision": source.revision,
        "owner": source.owner,
        **decision,
    }
    return SourceDocument(
        collection=target.collection,
        key=source.key,
        root=source.finder,
        path=cited_path(source),
        name=fetched.name,
        content=fetched.content,
        url=source.url,
        visibility=target.visibility,
        metadata={"licence": source.licence or "unknown", "provenance": provenance},
    )


def cited_path(source: Source) -> str:
    """How a source is cited: ``owner/name/guides/a.md``, ``wiki/guides/a.md`` for a file of a folder, or a title."""
    if source.finder == "person":
        return source.title
    return source.location.replace(":", "/", 1) if source.finder == "github" else source.location
