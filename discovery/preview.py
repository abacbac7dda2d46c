"""What a source would change, found by asking with it: nothing is stored, and what it says is only ever quoted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from discovery.licences import DEFAULT_ALLOWED, standing
from discovery.ports import Asker, Fetched, Finder, Tried
from discovery.provenance import Place, document_of
from discovery.ranking import AskedWith, Trial, preview_of, reasons, score
from store.errors import LoadError, NotFoundError, UnavailableError
from store.records import Nearest, Question, Reply, Source, Status, Topic
from store.source_ingest import Prepared, SourceDocument
from store.vectors import Vectors

logger = logging.getLogger(__name__)

MOST_QUESTIONS = 25
"""Questions of a topic that are tried; a large topic is judged by its most central ones."""
_KEPT = 64
"""Documents that are kept read and embedded, those tried last."""
_NEAR = 0.1
"""How far below today's best score the source's nearest chunk may be for an answer to be looked at again."""


class Trying(Protocol):
    """The engine, as previews need it; asks in collections that everybody may read, and the one the source goes to."""

    def today(self) -> Asker:
        """As it answers now, by quoting."""

    def with_document(self, document: Prepared) -> Asker:
        """As it would answer with one more document, by quoting."""

    def prepare(self, document: SourceDocument) -> Prepared:
        """Read, cut and embed a document in memory.

        Raises:
            LoadError: it cannot be read.
        """

    def embed(self, questions: Sequence[str]) -> Vectors:
        """One unit-length row for each question."""


@dataclass(frozen=True, slots=True)
class FineAnswer:
    """A question that is answered well today, with the best score of its passages then, in [-1, 1]."""

    question: Question
    max_score: float


@dataclass(frozen=True, slots=True)
class PreviewParts:
    """What previews work with.

    Attributes:
        finders: by name; they fetch what they found.
        fine: questions that are answered well today.
        place: where an approved source would go.
        allowed: licences that may be ingested.
        most: sources that are fetched and tried for one topic.
    """

    trying: Trying
    finders: Mapping[str, Finder]
    fine: Callable[[], Sequence[FineAnswer]]
    place: Place
    allowed: Collection[str] = DEFAULT_ALLOWED
    most: int = 6


class Previews:
    """Tries sources out; keeps the promise of :class:`discovery.ports.Previewer`."""

    def __init__(self, parts: PreviewParts) -> None:
        self._parts = parts
        self._vectors: dict[str, Vectors] = {}
        self._read: dict[tuple[str, str], Prepared] = {}

    def preview(
        self, topic: Topic, questions: Sequence[str], sources: Sequence[Source], private: Collection[str] = ()
    ) -> list[Tried]:
        """What each source would change, best first.

        Args:
            topic: what the sources were found for.
            questions: its questions, most central first; its own question when empty.
            sources: as found, best first. So many as are tried are looked at; those that cannot be fetched or read,
                and copies of one that was tried, are left out.
            private: those of the questions that not everybody may see; they count, and nothing is quoted for them.
        """
        asked = list(dict.fromkeys(questions or (topic.question,)))[:MOST_QUESTIONS]
        today = self._parts.trying.today()
        before = {text: self._today(text, today) for text in asked}
        tried: list[Tried] = []
        seen: set[bytes] = set()
        for place, source in enumerate(sources, 1):
            if len(tried) >= self._parts.most:
                break
            fetched = self._fetched(source)
            if fetched is None or fetched.content in seen:
                continue
            seen.add(fetched.content)
            if one := self._tried(source, place, fetched, before, today, private):
                tried.append(one)
        return sorted(tried, key=lambda one: -one.score)

    def _today(self, text: str, today: Asker) -> Reply:
        readable = self._parts.place.readable_now()
        if not readable:  # an empty choice of collections would mean all of them
            return Reply(text, Status.ABSTAINED, "")
        return today.ask(Question(text, collections=readable))

    def _fetched(self, source: Source) -> Fetched | None:
        finder = self._parts.finders.get(source.finder)
        if finder is None:
            return None
        try:
            return finder.fetch(source)
        except (NotFoundError, UnavailableError) as error:
            logger.info("%s was left out: %s", source.key, error)
            return None

    def _tried(
        self,
        source: Source,
        place: int,
        fetched: Fetched,
        before: Mapping[str, Reply],
        today: Asker,
        private: Collection[str],
    ) -> Tried | None:
        prepared = self._prepared(source, fetched)
        if prepared is None:
            return None
        asker = self._parts.trying.with_document(prepared)
        asked = [self._asked(text, reply, asker, prepared) for text, reply in before.items()]
        trial = Trial(
            source=source,
            place=place,
            asked=[replace(one, shown=one.question not in private) for one in asked],
            changed=self._changed(prepared, today, asker),
            standing=standing(source.licence, self._parts.allowed),
        )
        told = replace(source, reasons=reasons(trial), size=source.size or len(fetched.content))
        return Tried(told, preview_of(trial), score(trial))

    def _prepared(self, source: Source, fetched: Fetched) -> Prepared | None:
        """A source is often found for several topics of a round; embedding it is the dearest step."""
        pinned = (source.key, source.revision)
        known = self._read.pop(pinned, None) if source.revision else None
        try:
            prepared = known or self._parts.trying.prepare(document_of(source, fetched, self._parts.place.target))
        except LoadError as error:
            logger.info("%s was left out: %s", source.key, error)
            return None
        self._read[pinned] = prepared
        while len(self._read) > _KEPT:
            self._read.pop(next(iter(self._read)))
        return prepared

    def _asked(self, text: str, before: Reply, asker: Asker, prepared: Prepared) -> AskedWith:
        reply = asker.ask(Question(text, collections=self._parts.place.readable()))
        evidence = _evidence(reply, prepared.source.path)
        return AskedWith(
            question=text,
            answered=is_answered(reply) and evidence is not None,
            before=before.support,
            after=reply.support,
            best_score=max((one.score for one in reply.passages if one.document_id == prepared.id), default=0.0),
            evidence=evidence,
        )

    def _changed(self, prepared: Prepared, today: Asker, asker: Asker) -> int:
        """Answers that are fine today and would cite the document, or be lost; asked only where it comes near."""
        fine = list(self._parts.fine())
        if not fine:
            return 0
        nearest = (self._embedded(fine) @ prepared.vectors.T).max(axis=1)
        close = [one for one, score in zip(fine, nearest, strict=True) if score >= one.max_score - _NEAR]
        return sum(_differs(today.ask(one.question), asker.ask(one.question), prepared.source.path) for one in close)

    def _embedded(self, fine: Sequence[FineAnswer]) -> Vectors:
        new = [one.question.text for one in fine if one.question.text not in self._vectors]
        if new:
            rows = self._parts.trying.embed(new)
            self._vectors |= {text: rows[place : place + 1] for place, text in enumerate(new)}
        return np.concatenate([self._vectors[one.question.text] for one in fine])


def is_answered(reply: Reply) -> bool:
    """Whether the documents answer: not when the gate only watched and would have refused."""
    return reply.status is Status.ANSWERED and reply.reason is None and bool(reply.citations)


def _differs(before: Reply, after: Reply, path: str) -> bool:
    return is_answered(before) and (not is_answered(after) or any(one.document == path for one in after.citations))


def _evidence(reply: Reply, path: str) -> Nearest | None:
    cited = [one for one in reply.citations if one.document == path]
    best = max(cited, key=lambda one: one.score, default=None)
    return Nearest(best.document, best.section, best.quote, round(best.score, 4)) if best else None
