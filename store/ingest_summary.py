"""What a run of ingestion tells: how far it is, and what it did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Protocol

from store.sources import Issue


class IngestProgress(Protocol):
    """Told how far a run is, for a person who waits."""

    def found(self, files: int) -> None:
        """So many files are to be read in full."""

    def done(self, path: str) -> None:
        """One of them is finished."""


class Silent:
    """Nobody waits."""

    def found(self, files: int) -> None:
        """See :class:`IngestProgress`."""

    def done(self, path: str) -> None:
        """See :class:`IngestProgress`."""


@dataclass(slots=True)
class IngestSummary:
    """What a run did. ``documents`` counts the index afterwards, ``chunks`` what this run wrote.

    ``elsewhere`` are those of the unchanged that another run brought in while this one was at work.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: list[Issue] = field(default_factory=list)
    partial: list[Issue] = field(default_factory=list)
    skipped: list[Issue] = field(default_factory=list)
    documents: int = 0
    chunks: int = 0
    seconds: float = 0.0
    elsewhere: int = 0

    def as_json(self) -> dict[str, object]:
        """The form of ``gaplight ingest --json``, whose fields are fixed."""
        return {name: value for name, value in asdict(self).items() if name != "elsewhere"}
