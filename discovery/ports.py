"""What discovery needs from outside, and what it offers to whoever shows it: protocols and the values they exchange."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from store.records import Candidate, Preview, Question, Reply, Source, Topic

Clock = Callable[[], datetime]
"""The present moment, with its zone."""


class Asker(Protocol):
    """The engine, as questions are asked again: the same steps as in chat, without a trace in the logs."""

    def ask(self, question: Question) -> Reply:
        """Answer a question or refuse; parts that failed show as status ``error``."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a finder came back with.

    Attributes:
        sources: best first.
        notes: what was skipped or cut, and why, in words for a maintainer.
        retry_at: when a spent budget allows the rest; None when nothing is missing.
    """

    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """A source's content at its pinned revision; ``name`` ends as the format's files do, for the loaders."""

    name: str
    content: bytes


class Finder(Protocol):
    """Searches one kind of place for documents."""

    name: str
    """The value of ``discovery.finders`` that switches it on, and of ``Source.finder``."""

    def find(self, topic: Topic, limit: int) -> Found:
        """Sources that may cover a topic. Never waits for a rate limit: says when to come back instead.

        Raises:
            UnavailableError: the place cannot be reached at all.
            ConfigurationError: a token or permission is missing; names it.
        """

    def fetch(self, source: Source) -> Fetched:
        """The content of a source that this finder found, at ``source.revision``.

        Raises:
            NotFoundError: it is gone, or too large.
            UnavailableError: it cannot be had now.
        """


@dataclass(frozen=True, slots=True)
class Tried:
    """A source, and what asking with it showed; ``score`` orders the suggestions, in [0, 1]."""

    source: Source
    preview: Preview
    score: float


class Previewer(Protocol):
    """Asks a topic's questions as if a source had been ingested."""

    def preview(
        self, topic: Topic, questions: Sequence[str], sources: Sequence[Source], private: Collection[str] = ()
    ) -> list[Tried]:
        """What each source would change, best first; sources that cannot be fetched or read are left out.

        Nothing is quoted for those of the questions that are ``private``.
        """


@dataclass(frozen=True, slots=True)
class Reasked:
    """One gap, asked again after a decision: support before and after, in [0, 1]."""

    gap_id: str
    question: str
    closed: bool
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a decision led to; ``reasked`` is empty unless a source was ingested."""

    candidate: Candidate
    reasked: tuple[Reasked, ...] = ()


@dataclass(frozen=True, slots=True)
class Via:
    """Where somebody decided, and as what: the id, group or role that the settings name. For the audit log."""

    place: str
    role: str


class Deciding(Protocol):
    """The decisions of admins. Whoever calls has checked that ``by`` is one."""

    def approve(self, candidate_id: str, by: str, *, unknown_licence: bool = False, via: Via | None = None) -> Outcome:
        """Ingest a source at its pinned revision, ask the gaps again, close those that are answered.

        Args:
            candidate_id: the whole id.
            by: id of the person who decides.
            unknown_licence: says yes to a source whose licence is unknown.
            via: where and as what, where that is known.

        Raises:
            ConflictError: somebody else was first, or the state does not allow it; says who and what.
            NotFoundError: there is no such candidate.
            UsageError: the licence is unknown or not allowed, and nobody said yes to that.
            UnavailableError: the source or the index cannot be reached; the candidate can be approved again.
        """

    def reject(self, candidate_id: str, by: str, reason: str, *, via: Via | None = None) -> Outcome:
        """Never suggest the source for this topic again; raises as :meth:`approve` does."""

    def snooze(self, candidate_id: str, by: str, days: int, *, via: Via | None = None) -> Outcome:
        """Ask again after some days; raises as :meth:`approve` does."""


class TopicsView(Protocol):
    """The topics of the latest round."""

    def topics(self) -> list[Topic]:
        """Open topics, most severe first. Their words come from public questions only."""
