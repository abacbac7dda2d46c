"""What a finder may suggest: by allow and deny lists, and without what was decided on before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase

from discovery.ports import Fetched, Finder, Found
from discovery.updates import Following
from store.records import Candidate, Source, Topic
from store.records import CandidateState as State

_SPARE = 3
"""How many times more is asked for, so that enough is left."""


def permitted(source: Source, allow: Sequence[str], deny: Sequence[str]) -> bool:
    """Whether the lists let a source through; what is denied is never allowed, an empty allow list allows everything.

    Args:
        source: named by its owner (``acme``), its repository or folder (``acme/handbook``) and its place
            (``acme/handbook/guides/a.md``, ``wiki/guides/a.md``).
        allow: patterns with ``*`` and ``?``; a pattern for an owner or repository holds for everything in it.
        deny: the same.
    """
    names = _names(source)
    return not _fits(names, deny) and (not allow or _fits(names, allow))


def _names(source: Source) -> list[str]:
    place = source.location.replace(":", "/", 1) if source.finder == "github" else source.location
    parts = place.casefold().split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _fits(names: Sequence[str], patterns: Sequence[str]) -> bool:
    wanted = [pattern.casefold().rstrip("/") for pattern in patterns]
    return any(fnmatchcase(name, pattern) for name in names for pattern in wanted)


class Screened:
    """A finder that suggests nothing that may not be, and nothing that was decided on for the same gaps.

    Args:
        finder: what finds.
        allow: patterns, see :func:`permitted`.
        deny: patterns.
        suggestions: every suggestion of a source so far, by its key.
        ingested: keys of sources among these that are in the index already, however they came there.
    """

    def __init__(
        self,
        finder: Finder,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        suggestions: Callable[[str], Sequence[Candidate]] = lambda _key: (),
        ingested: Callable[[Sequence[Source]], Collection[str]] = lambda _sources: (),
    ) -> None:
        self.name = finder.name
        self._finder = finder
        self._allow = tuple(allow)
        self._deny = tuple(deny)
        self._suggestions = suggestions
        self._ingested = ingested

    def find(self, topic: Topic, limit: int) -> Found:
        """As the finder does, less what may not or need not be suggested."""
        found = self._finder.find(topic, limit * _SPARE)
        present = set(self._ingested(found.sources))
        kept = [
            source
            for source in found.sources
            if permitted(source, self._allow, self._deny)
            and source.key not in present
            and not self._settled(topic, source)
        ]
        return Found(tuple(kept[:limit]), found.notes, found.retry_at)

    def fetch(self, source: Source) -> Fetched:
        """As the finder does."""
        return self._finder.fetch(source)

    def current(self, source: Source) -> Source | None:
        """The source as it is now; itself where the finder cannot tell."""
        finder: object = self._finder
        return finder.current(source) if isinstance(finder, Following) else source

    def _settled(self, topic: Topic, source: Source) -> bool:
        """Rejected for this topic or for one of its gaps, under whatever topic; or ingested from this place."""
        gaps = set(topic.gap_ids)
        for known in self._suggestions(source.key):
            if known.state is State.INGESTED:
                return True
            if known.state is State.REJECTED and (known.topic_id == topic.id or gaps & set(known.gap_ids)):
                return True
        return False
