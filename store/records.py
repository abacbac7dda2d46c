"""The frozen values that the three packages hand to each other.

Nothing here does any work: no input or output, no clock, no settings. Times are timezone-aware UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

BlockKind = Literal["paragraph", "list", "code", "table", "quote"]
"""What a piece of a document is; code and tables are kept whole where a chunk can hold them."""

ScopeFilter = Mapping[str, tuple[str, ...]]
"""Facts that must hold: each key needs one of its values. An empty mapping restricts nothing."""


class Visibility(StrEnum):
    """Who may see a document or a question: everybody in the workspace, or only those who were there."""

    PUBLIC = "public"
    PRIVATE = "private"


@dataclass(frozen=True, slots=True)
class Block:
    """One structural piece of a document in reading order.

    Attributes:
        kind: what the piece is.
        text: its Markdown (code with its fence, tables with header and separator row).
        headings: titles from the outermost heading down to the one above this piece.
        header: for tables, the header rows with the separator; repeated when the table is split.
        caption: for tables, a line that stood directly above; used in the first part only.
    """

    kind: BlockKind
    text: str
    headings: tuple[str, ...] = ()
    header: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One source file or page, read and taken apart, before it is cut into chunks.

    Attributes:
        title: front-matter title, first heading, or a name made from the file name.
        blocks: the pieces in reading order; empty when nothing readable was found.
        metadata: plain JSON values only (str, int, float, bool, or lists and mappings of them).
        scope: facts that the document itself states it is valid for (front matter ``scope:``).
        language: ISO 639-1 code when the source declares one, else an empty string.
        encoding: how the bytes were decoded (``utf-8``, ``cp1252``, ...); empty for binary formats.
        notes: what a reader should know was left out or guessed; not empty means *partial* only
            if ``partial`` is set.
        partial: some of the content could not be read (for example scanned pages).
        url: where the source says that it lives, else an empty string.
    """

    title: str
    blocks: tuple[Block, ...]
    metadata: Mapping[str, object] = field(default_factory=dict)
    scope: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    language: str = ""
    encoding: str = ""
    notes: tuple[str, ...] = ()
    partial: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document as it is indexed.

    Attributes:
        text: what is shown and quoted.
        headings: the heading path (without the document title when that repeats the first heading).
        tokens: length of :attr:`embedded_text` in tokens of the embedding model, special tokens not counted.
        embedded_text: title, heading path and text as the model and the lexical index read them.
    """

    text: str
    headings: tuple[str, ...]
    tokens: int
    embedded_text: str


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the database knows it; ``path`` is relative to the ingested root."""

    id: str
    collection: str
    source: str
    root: str
    path: str
    title: str
    url: str
    fingerprint: str
    scope: Mapping[str, tuple[str, ...]]
    visibility: Visibility
    language: str
    metadata: Mapping[str, object]
    notes: tuple[str, ...]
    partial: bool
    chunks: int
    ingested_at: datetime


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the database knows it, together with what a citation needs of its document."""

    id: str
    document_id: str
    ordinal: int
    collection: str
    path: str
    title: str
    url: str
    section: str
    text: str
    scope: Mapping[str, tuple[str, ...]]
    visibility: Visibility
    vector: bytes
    """Unit-length float32 values, little-endian."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as retrieved for one question.

    Attributes:
        document: path relative to the ingested root, or the source's URL.
        section: heading path joined by `` › ``; empty above the first heading.
        score: cosine similarity of question and chunk in [-1, 1], whatever route found the chunk.
        rank: 1 for the best of the fused order.
        dense_rank: 1-based place in the dense route, None when that route did not find it.
        lexical_rank: 1-based place in the lexical route, None when that route did not find it.
        lexical_score: BM25 score in that route (0.0 when not found).
    """

    chunk_id: str
    document_id: str
    document: str
    title: str
    section: str
    url: str
    text: str
    score: float
    rank: int
    dense_rank: int | None = None
    lexical_rank: int | None = None
    lexical_score: float = 0.0
    collection: str = ""
    scope: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    visibility: Visibility = Visibility.PUBLIC


class Status(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    CLARIFY = "clarify"
    SMALLTALK = "smalltalk"
    ERROR = "error"


class AbstainReason(StrEnum):
    """Why the gate refused; the values are a contract with consumers of ``--json``."""

    EMPTY_INDEX = "empty_index"
    NO_RELEVANT_PASSAGES = "no_relevant_passages"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    SCOPE_CONFLICT = "scope_conflict"
    OUT_OF_SCOPE = "out_of_scope"
    AMBIGUOUS_EVIDENCE = "ambiguous_evidence"
    UNSUPPORTED_CITATION = "unsupported_citation"
    UNGROUNDED_ANSWER = "ungrounded_answer"
    NOT_A_QUESTION = "not_a_question"
    UNAVAILABLE = "unavailable"


class Rule(StrEnum):
    """Tags of the seven rules, in the order in which fired reasons are reported."""

    NO_RELEVANT_CHUNKS = "no_relevant_chunks"
    FEW_DISTINCT_LESSONS = "few_distinct_lessons"
    RELATED_BUT_UNANSWERED = "related_but_unanswered"
    MISSING_PLATFORM = "missing_platform"
    WEAK_ANSWER_LANGUAGE = "weak_answer_language"
    EXPLICIT_ABSENCE_QUERY = "explicit_absence_query"
    GENERAL_KNOWLEDGE_ANSWER = "general_knowledge_answer"


class GapType(StrEnum):
    """What kind of hole a gap is; see the priority in :mod:`discovery.detector`."""

    MISSING_PLATFORM = "missing_platform"
    EXPLICIT_ABSENCE = "explicit_absence"
    NO_COVERAGE = "no_coverage"
    UNANSWERED = "unanswered"
    THIN_COVERAGE = "thin_coverage"
    UNGROUNDED = "ungrounded"
    WEAK_ANSWER = "weak_answer"


class GapState(StrEnum):
    """Where a gap stands on its way to a proven closure."""

    OPEN = "open"
    SUGGESTED = "suggested"
    APPROVED = "approved"
    VERIFYING = "verifying"
    CLOSED = "closed"
    STILL_OPEN = "still_open"
    IGNORED = "ignored"
    REOPENED = "reopened"
    MERGED = "merged"


OPEN_GAPS = (GapState.OPEN, GapState.SUGGESTED, GapState.STILL_OPEN, GapState.REOPENED)
"""States of gaps that wait for documents: nobody settled them, and nobody is about to."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of a conversation."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asked, with where and in which visibility.

    ``asker`` is an opaque id (platform prefix included, such as ``slack:U1``); empty when unknown. ``conversation``
    is what belongs together on that platform, such as a thread: follow-ups and notices go there.
    """

    text: str
    asker: str = ""
    platform: str = "cli"
    channel: str = ""
    visibility: Visibility = Visibility.PUBLIC
    collections: tuple[str, ...] = ()
    scope: ScopeFilter = field(default_factory=dict)
    history: tuple[Turn, ...] = ()
    id: str = ""
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """One numbered source of an answer; ``quote`` stands literally in the cited passage."""

    number: int
    document: str
    title: str
    section: str
    url: str
    score: float
    quote: str


@dataclass(frozen=True, slots=True)
class GapReference:
    """The gap that a question opened or joined, as a reply shows it; ``opened`` when nobody had asked it before."""

    id: str
    type: GapType
    reasons: tuple[Rule, ...]
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """Everything that one question led to. ``reason`` is set whenever the gate refused or a part failed."""

    question: str
    status: Status
    answer: str
    reason: AbstainReason | None = None
    citations: tuple[Citation, ...] = ()
    passages: tuple[Passage, ...] = ()
    max_score: float = 0.0
    support: float = 0.0
    rules: tuple[Rule, ...] = ()
    gap: GapReference | None = None
    policy: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    question_id: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nearest:
    """The passage that came closest to answering a gap.

    ``collection`` decides who may see it; empty where it was not noted.
    """

    document: str
    section: str
    quote: str
    score: float
    collection: str = ""


@dataclass(frozen=True, slots=True)
class GapSighting:
    """One question that exposed a gap, ready to be recorded. All texts are already redacted.

    ``vector`` holds unit-length float32 values (little-endian) of the question, empty when unknown.
    """

    key: str
    question: str
    type: GapType
    reasons: tuple[Rule, ...]
    seen_at: datetime
    asker: str = ""
    platform: str = ""
    channel: str = ""
    visibility: Visibility = Visibility.PUBLIC
    language: str = ""
    best_score: float = 0.0
    nearest: Nearest | None = None
    vector: bytes = b""
    question_id: str = ""


@dataclass(frozen=True, slots=True)
class GapWording:
    """One wording under which a gap was asked; ``merged_because`` says how it got here."""

    text: str
    count: int
    askers: int
    first_seen: datetime
    last_seen: datetime
    visibility: Visibility
    merged_because: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """A question, or several merged, that the documents do not answer."""

    id: str
    key: str
    question: str
    type: GapType
    state: GapState
    reasons: Mapping[str, int]
    count: int
    askers: int
    first_seen: datetime
    last_seen: datetime
    best_score: float
    nearest: Nearest | None
    visibility: Visibility
    language: str
    additional_questions: tuple[GapWording, ...] = ()
    note: str = ""
    merged_into: str = ""
    vector: bytes = b""


class Trend(StrEnum):
    """How a topic has moved since the round before."""

    NEW = "new"
    GROWING = "growing"
    STEADY = "steady"
    SHRINKING = "shrinking"
    RETURNING = "returning"


@dataclass(frozen=True, slots=True)
class Topic:
    """A cluster of gaps.

    Attributes:
        id: stays the same from round to round while the cluster keeps most of its gaps.
        label: distinctive words in the form in which people wrote them.
        question: the most central question.
        gap_ids: members, most central first.
        terms: distinctive words, best first; what finders search for.
        platforms: canonical names of platforms that the questions name.
        askers: distinct people over all members.
        count: questions over all members.
        severity: in [0, 1]; what the order of topics follows.
        private_gaps: members that only few may see; nothing of their wording is in label, question or terms.
    """

    id: str
    label: str
    question: str
    gap_ids: tuple[str, ...]
    terms: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    askers: int = 0
    count: int = 0
    severity: float = 0.0
    trend: Trend = Trend.NEW
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    private_gaps: int = 0


class CandidateState(StrEnum):
    """Where a suggested source stands; the steps are those of :mod:`discovery.decisions`."""

    PENDING = "pending"
    APPROVED = "approved"
    INGESTED = "ingested"
    FAILED = "failed"
    REJECTED = "rejected"
    SNOOZED = "snoozed"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Source:
    """A document that a finder came across, before anybody decided on it.

    Attributes:
        key: names the source for good, whatever it is renamed to (``github:123:guide.md``, ``folder:/wiki/a.md``).
        finder: who found it: ``github``, ``folder`` or ``person`` (somebody's reply in chat).
        location: where it is fetched from: ``owner/name:path``, a file's path, a message's address.
        revision: what pins its content: a commit, a content hash.
        licence: SPDX identifier; empty when unknown.
        size: bytes; 0 when unknown.
        reasons: why it was suggested, in words.
        content: the text itself where it exists nowhere else (a reply in chat); else empty.
    """

    key: str
    finder: str
    title: str
    location: str
    url: str = ""
    revision: str = ""
    licence: str = ""
    owner: str = ""
    size: int = 0
    updated_at: datetime | None = None
    archived: bool = False
    fork: bool = False
    reasons: tuple[str, ...] = ()
    content: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a candidate would change, found by asking with it.

    Attributes:
        asked: questions of the topic that were tried.
        answered: of these, how many the documents would answer with the candidate.
        best_score: the highest score of one of its passages, in [-1, 1].
        changed: answers that are fine today and would cite the candidate instead.
        evidence: the passages that would answer, best first.
    """

    asked: int
    answered: int
    best_score: float = 0.0
    changed: int = 0
    evidence: tuple[Nearest, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source suggested for a topic, with the decision on it.

    ``topic_label`` is kept because topics change; ``gap_ids`` are those of the topic when it was suggested.
    ``version`` grows with every change, so that a card can tell whether it shows the present state.
    """

    id: str
    topic_id: str
    topic_label: str
    source: Source
    created_at: datetime
    gap_ids: tuple[str, ...] = ()
    score: float = 0.0
    preview: Preview | None = None
    state: CandidateState = CandidateState.PENDING
    collection: str = "default"
    visibility: Visibility = Visibility.PUBLIC
    decided_by: str = ""
    decided_at: datetime | None = None
    note: str = ""
    snoozed_until: datetime | None = None
    version: int = 1


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what to what. ``detail`` holds plain JSON values and no private text."""

    at: datetime
    by: str
    action: str
    subject: str
    detail: Mapping[str, object] = field(default_factory=dict)
