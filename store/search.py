"""Hybrid retrieval: by meaning and by words, fused, checked against the database.

Hits are looked up in the database, which alone knows what is current; an id that it does not know any more is
dropped and the next one moves up. Filters are applied in both routes and once more on what is returned.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from store.errors import GaplightError, UnavailableError
from store.fusion import RouteWeights, by_document_coverage, fuse, ranks, spread
from store.language import detect_language
from store.lexical import LexicalHit, idf
from store.model_probe import covers
from store.records import Passage, ScopeFilter, StoredChunk
from store.scopes import carries
from store.searchable import Dense, Searchable
from store.text import Term, informative, stems, terms
from store.vectors import Vector, VectorHit

OVERSAMPLE = 50
"""Hits taken from each route: enough that the cap on chunks of one document and stale ids leave a full page."""

_FOREIGN_WEIGHTS = RouteWeights(dense=0.0, lexical=1.0)
"""In a language that the model does not cover, its similarity is noise and words carry the search."""

_FOREIGN_COVERAGE_BONUS = 2.0
"""There, what a document covers of the question counts twice as much as its best chunk: on 231 Chinese questions the
right document is among the first three for 98 % instead of 93 %."""


_LARGE = 5_000
_EVERYWHERE = 0.5
"""In an index of more than 5,000 chunks, stop words that more than half of them have are not searched for: they hardly
change the order and cost more than all other words together."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How much comes back. ``per_document``: at most so many chunks of one document while others are left."""

    limit: int = 10
    per_document: int = 3
    weights: RouteWeights = field(default_factory=RouteWeights)
    query_terms: int = 64
    """Most informative terms of a question that are searched for: a pasted log must not become 2,000 clauses."""


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """An informative word of the question: its weight is the inverse document frequency in the corpus."""

    stem: str
    surface: str
    document_frequency: int
    weight: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found and what is needed to judge it.

    Attributes:
        passages: best first.
        terms: the question's informative words with their weights in this corpus.
        vector: the question's unit-length vector.
        language: ISO 639-1 code of the question.
        language_covered: whether the embedding model reads that language.
        chunks: how many chunks the lexical index holds.
        dense_scores: cosine of the dense route's hits, best first.
        lexical_scores: BM25 of the lexical route's hits, best first.
        dense_documents: ids of the documents of the dense route's hits, in the same order.
        notes: parts that did not work, in words.
        timings_ms: ``embed``, ``dense``, ``lexical`` and ``search`` (everything but embedding).
    """

    passages: tuple[Passage, ...]
    terms: tuple[QuestionTerm, ...]
    vector: Vector
    language: str
    language_covered: bool
    chunks: int
    dense_scores: tuple[float, ...] = ()
    lexical_scores: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    dense_documents: tuple[str, ...] = ()


class Searcher:
    """Finds passages for questions; may be used by many threads.

    Args:
        index: the derived indexes with their database.
        options: how much comes back.
    """

    def __init__(self, index: Searchable, options: SearchOptions | None = None) -> None:
        self._index = index
        self._options = options or SearchOptions()

    def search(
        self,
        question: str,
        collections: Sequence[str] = (),
        scope: ScopeFilter | None = None,
        weights: RouteWeights | None = None,
    ) -> SearchResult:
        """Find the passages that fit a question best.

        Args:
            question: text with at least one letter or digit.
            collections: search these and no others; none gives nothing.
            scope: facts that every passage must carry.
            weights: of the two routes; None takes those of the options.

        Raises:
            UsageError: a scope without a value.
            UnavailableError: both routes failed, or the embedding model did.
            ModelError: the embedding model cannot be loaded.
        """
        scope = dict(scope or {})
        watch = _Watch()
        vector = self._embedded(question)
        watch.lap("embed")
        dense, dense_note = self._dense(vector, collections, scope)
        watch.lap("dense")
        read = terms(question)
        weighted = self._terms(read)
        lexical, lexical_note = self._lexical(read, weighted, collections, scope)
        watch.lap("lexical")
        if dense is None and lexical is None:
            raise UnavailableError(f"{dense_note} {lexical_note}", "Run `gaplight doctor` to see what is wrong.")
        language = detect_language(question)
        covered = covers(self._index.embedder.identity.languages, language)
        if not covered and lexical:
            weights = _FOREIGN_WEIGHTS
        fused = fuse(dense or (), lexical or (), weights or self._options.weights, OVERSAMPLE)
        order = list(fused) if covered else self._by_coverage(fused, weighted)
        order = spread(order, document_of, self._options.per_document)
        chosen = self._current(order, collections, scope)
        passages = _passages(chosen, vector, dense or (), lexical or ())
        return SearchResult(
            passages,
            tuple(weighted),
            vector,
            language,
            covered,
            self._index.lexical.size,
            tuple(hit.score for hit in dense or ()),
            tuple(hit.score for hit in lexical or ()),
            tuple(note for note in (dense_note, lexical_note) if note),
            watch.timings(),
            tuple(document_of(hit.chunk_id) for hit in dense or ()),
        )

    def _embedded(self, question: str) -> Vector:
        try:
            vector: Vector = self._index.embedder.embed_queries([question])[0]
        except GaplightError:
            raise
        except Exception as error:  # what a model's runtime raises has no common base
            raise UnavailableError(
                f"The embedding model failed: {type(error).__name__}: {str(error)[:300]}.",
                "Run `gaplight doctor` to see what is wrong.",
            ) from error
        return vector

    def _dense(
        self, vector: Vector, collections: Sequence[str], scope: ScopeFilter
    ) -> tuple[list[VectorHit] | None, str]:
        try:
            return all_nearest(self._index.vectors, collections, vector, OVERSAMPLE, scope), ""
        except UnavailableError as error:
            return None, error.problem

    def _terms(self, read: Sequence[Term]) -> list[QuestionTerm]:
        """The informative words with their weights; all words when none is informative."""
        found = informative(read) or _distinct(read)
        frequencies = self._index.lexical.document_frequencies(term.stem for term in found)
        size = self._index.lexical.size
        weighted = [QuestionTerm(t.stem, t.surface, frequencies[t.stem], idf(frequencies[t.stem], size)) for t in found]
        if len(weighted) <= self._options.query_terms:
            return weighted
        return sorted(weighted, key=lambda term: -term.weight)[: self._options.query_terms]

    def _lexical(
        self,
        read: Sequence[Term],
        weighted: Sequence[QuestionTerm],
        collections: Sequence[str],
        scope: ScopeFilter,
    ) -> tuple[list[LexicalHit] | None, str]:
        """Hits by words. Stop words count too, by their own small weight: in one-line documents they tell apart."""
        wanted = {term.stem: 1.0 for term in weighted if term.document_frequency}
        others = {term.stem for term in read[: max(0, self._options.query_terms - len(wanted))]} - wanted.keys()
        everywhere = _EVERYWHERE * self._index.lexical.size
        for stem, frequency in self._index.lexical.document_frequencies(others).items():
            if 0 < frequency <= everywhere or (frequency and self._index.lexical.size < _LARGE):
                wanted[stem] = 1.0
        try:
            return self._index.lexical.search(wanted, OVERSAMPLE, collections, scope), ""
        except UnavailableError as error:
            return None, error.problem

    def _by_coverage(self, fused: Mapping[str, float], weighted: Sequence[QuestionTerm]) -> list[str]:
        known = self._index.documents.chunks_by_id(list(fused))
        found = {chunk_id: set(stems(f"{chunk.section}\n{chunk.text}")) for chunk_id, chunk in known.items()}
        return by_document_coverage(
            fused, found, {term.stem: term.weight for term in weighted}, document_of, _FOREIGN_COVERAGE_BONUS
        )

    def _current(self, order: Sequence[str], collections: Sequence[str], scope: ScopeFilter) -> list[StoredChunk]:
        """The first chunks of the order that the database knows and that pass the filters."""
        limit, kept = self._options.limit, []
        for start in range(0, len(order), limit):
            ids = order[start : start + limit]
            known = self._index.documents.chunks_by_id(ids)
            kept += [
                known[chunk_id]
                for chunk_id in ids
                if chunk_id in known and _passes(known[chunk_id], collections, scope)
            ]
            if len(kept) >= limit:
                break
        return kept[:limit]


def all_nearest(
    vectors: Dense, collections: Sequence[str], vector: Vector, limit: int, scope: ScopeFilter
) -> list[VectorHit]:
    """The nearest chunks of all these collections, best first.

    Raises:
        UnavailableError: one of them cannot be searched; what the others have is then no answer either.
    """
    found = [hit for collection in collections for hit in vectors.query(collection, vector, limit, scope)]
    return sorted(found, key=lambda hit: (-hit.score, hit.chunk_id))[:limit]


def document_of(chunk_id: str) -> str:
    """The document's part of a chunk id (see :func:`store.ingest_files.chunk_ids`)."""
    return chunk_id.partition(":")[0]


def _passes(chunk: StoredChunk, collections: Sequence[str], scope: ScopeFilter) -> bool:
    return chunk.collection in collections and carries(chunk.scope, scope)


def _passages(
    chunks: Sequence[StoredChunk], vector: Vector, dense: Sequence[VectorHit], lexical: Sequence[LexicalHit]
) -> tuple[Passage, ...]:
    if not chunks:
        return ()
    matrix = np.frombuffer(b"".join(chunk.vector for chunk in chunks), dtype="<f4").reshape(len(chunks), -1)
    scores = np.clip(np.nan_to_num(matrix @ vector), -1.0, 1.0)
    dense_ranks, lexical_ranks = ranks([hit.chunk_id for hit in dense]), ranks([hit.chunk_id for hit in lexical])
    bm25 = {hit.chunk_id: hit.score for hit in lexical}
    return tuple(
        Passage(
            chunk.id,
            chunk.document_id,
            chunk.url if not chunk.path else chunk.path,
            chunk.title,
            chunk.section,
            chunk.url,
            chunk.text,
            float(score),
            place,
            dense_ranks.get(chunk.id),
            lexical_ranks.get(chunk.id),
            bm25.get(chunk.id, 0.0),
            chunk.collection,
            chunk.scope,
            chunk.visibility,
        )
        for place, (chunk, score) in enumerate(zip(chunks, scores, strict=True), 1)
    )


def _distinct(found: Sequence[Term]) -> list[Term]:
    return list({term.stem: term for term in found}.values())


class _Watch:
    """Milliseconds between laps."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self._laps[name] = (now - self._last) * 1000
        self._last = now

    def timings(self) -> dict[str, float]:
        total = (time.perf_counter() - self._start) * 1000
        return {**self._laps, "search": total - self._laps["embed"]}
