"""The SQL tables. The database is the truth; vectors in Chroma and the lexical index are derived from it.

A change here needs a step in :mod:`store.migrations`; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from store.columns import CleanJson, CleanText, UtcDateTime

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

counters = Table(
    "counters",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", Integer, nullable=False),
)

collections = Table(
    "collections",
    metadata,
    Column("name", CleanText, primary_key=True),
    Column("visibility", String, nullable=False),
)

documents = Table(
    "documents",
    metadata,
    Column("id", String, primary_key=True),
    Column("collection", CleanText, ForeignKey(collections.c.name), nullable=False),
    Column("source", CleanText, nullable=False),
    # Sources are paths and URLs of any length, which an index cannot hold; their digest can.
    Column("source_key", String, nullable=False),
    Column("root", CleanText, nullable=False),
    Column("path", CleanText, nullable=False),
    Column("title", CleanText, nullable=False),
    Column("url", CleanText, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("scope", CleanJson, nullable=False),
    Column("language", String, nullable=False),
    Column("metadata", CleanJson, nullable=False),
    Column("notes", CleanJson, nullable=False),
    Column("partial", Boolean, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("ingested_at", UtcDateTime, nullable=False),
    UniqueConstraint("collection", "source_key"),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", String, primary_key=True),
    Column("document_id", String, ForeignKey(documents.c.id, ondelete="CASCADE"), nullable=False, index=True),
    Column("ordinal", Integer, nullable=False),
    Column("headings", CleanJson, nullable=False),
    Column("text", CleanText, nullable=False),
    Column("embedded_text", CleanText, nullable=False),
    Column("tokens", Integer, nullable=False),
)

chunk_vectors = Table(
    "chunk_vectors",
    metadata,
    Column("chunk_id", String, ForeignKey(chunks.c.id, ondelete="CASCADE"), primary_key=True),
    Column("model_fingerprint", String, nullable=False),
    Column("vector", LargeBinary, nullable=False),
)

stale_chunks = Table(
    "stale_chunks",
    metadata,
    Column("chunk_id", String, primary_key=True),
    Column("collection", CleanText, nullable=False, index=True),
    Column("since", UtcDateTime, nullable=False),
)

index_state = Table(
    "index_state",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", CleanJson, nullable=False),
)

failures = Table(
    "failures",
    metadata,
    Column("collection", CleanText, primary_key=True),
    Column("source_key", String, primary_key=True),
    Column("source", CleanText, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("reason", CleanText, nullable=False),
)

questions = Table(
    "questions",
    metadata,
    Column("id", String, primary_key=True),
    Column("asked_at", UtcDateTime, nullable=False, index=True),
    Column("asker", CleanText, nullable=False, index=True),
    Column("platform", CleanText, nullable=False),
    Column("channel", CleanText, nullable=False),
    Column("visibility", String, nullable=False),
    Column("text", CleanText, nullable=False),
    Column("answer", CleanText, nullable=False),
    Column("status", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("rules", CleanJson, nullable=False),
    Column("max_score", Float, nullable=False),
    Column("support", Float, nullable=False),
    Column("policy", CleanText, nullable=False),
    Column("timings", CleanJson, nullable=False),
    Column("gap_id", String, nullable=False, index=True),
    Column("language", CleanText, nullable=False),
    Column("collections", CleanJson, nullable=False),
    Column("scope", CleanJson, nullable=False),
    Column("conversation", CleanText, nullable=False, server_default=""),
    Index("ix_questions_conversation", "conversation", "asked_at"),
)

votes = Table(
    "votes",
    metadata,
    Column("question_id", String, ForeignKey(questions.c.id, ondelete="CASCADE"), primary_key=True),
    Column("asker", CleanText, primary_key=True, index=True),
    Column("helpful", Boolean, nullable=False),
    Column("reason", CleanText, nullable=False),
    Column("voted_at", UtcDateTime, nullable=False),
)

claims = Table(
    "claims",
    metadata,
    Column("kind", CleanText, primary_key=True),
    Column("key", CleanText, primary_key=True),
    Column("claimed_at", UtcDateTime, nullable=False, index=True),
    # Empty until the claimed work is done: a crashed claim can then be told from a finished one.
    Column("finished_at", UtcDateTime),
    # What is needed to do the work after a crash; deleted with the end of the work.
    Column("payload", CleanJson),
)

gaps = Table(
    "gaps",
    metadata,
    Column("id", String, primary_key=True),
    Column("key", CleanText, nullable=False),
    Column("state", String, nullable=False, index=True),
    Column("note", CleanText, nullable=False),
    Column("merged_into", String, nullable=False, index=True),
    Column("split_from", String, nullable=False, index=True),
    # Everything below is summed up from the wordings whenever one of them changes.
    Column("question", CleanText, nullable=False),
    Column("type", String, nullable=False),
    Column("reasons", CleanJson, nullable=False),
    Column("count", Integer, nullable=False),
    Column("askers", Integer, nullable=False),
    Column("first_seen", UtcDateTime, nullable=False),
    Column("last_seen", UtcDateTime, nullable=False),
    Column("best_score", Float, nullable=False),
    Column("nearest", CleanJson),
    Column("visibility", String, nullable=False),
    Column("language", CleanText, nullable=False),
    Column("vector", LargeBinary, nullable=False),
)

gap_wordings = Table(
    "gap_wordings",
    metadata,
    Column("gap_id", String, ForeignKey(gaps.c.id, ondelete="CASCADE"), primary_key=True),
    Column("digest", String, primary_key=True),
    Column("text", CleanText, nullable=False),
    Column("type", String, nullable=False),
    Column("reasons", CleanJson, nullable=False),
    Column("count", Integer, nullable=False),
    Column("first_seen", UtcDateTime, nullable=False),
    Column("last_seen", UtcDateTime, nullable=False),
    Column("best_score", Float, nullable=False),
    Column("nearest", CleanJson),
    Column("visibility", String, nullable=False),
    Column("language", CleanText, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("merged_because", CleanText, nullable=False),
    Index("ix_gap_wordings_digest", "digest"),
)

gap_askers = Table(
    "gap_askers",
    metadata,
    Column("gap_id", String, ForeignKey(gaps.c.id, ondelete="CASCADE"), primary_key=True),
    Column("digest", String, primary_key=True),
    Column("asker", CleanText, primary_key=True, index=True),
    Column("counted_at", UtcDateTime, nullable=False),
)

posts = Table(
    "posts",
    metadata,
    Column("platform", String, primary_key=True),
    Column("channel", String, primary_key=True),
    Column("message", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("conversation", CleanText, nullable=False, index=True),
    Column("asker", CleanText, nullable=False),
    Column("version", Integer, nullable=False),
    Column("posted_at", UtcDateTime, nullable=False, index=True),
    Index("ix_posts_kind_subject", "kind", "subject"),
)

candidates = Table(
    "candidates",
    metadata,
    Column("id", String, primary_key=True),
    Column("topic_id", String, nullable=False, index=True),
    Column("topic_label", CleanText, nullable=False),
    Column("source_key", String, nullable=False, index=True),
    # What the finder knew of it, and what asking with it showed: read as a whole, never searched.
    Column("source", CleanJson, nullable=False),
    Column("preview", CleanJson),
    Column("gap_ids", CleanJson, nullable=False),
    Column("score", Float, nullable=False),
    Column("state", String, nullable=False, index=True),
    Column("collection", CleanText, nullable=False),
    Column("visibility", String, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("decided_by", CleanText, nullable=False),
    Column("decided_at", UtcDateTime),
    Column("note", CleanText, nullable=False),
    Column("snoozed_until", UtcDateTime),
    Column("version", Integer, nullable=False),
    UniqueConstraint("topic_id", "source_key"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", UtcDateTime, nullable=False, index=True),
    Column("by", CleanText, nullable=False),
    Column("action", String, nullable=False),
    Column("subject", String, nullable=False, index=True),
    Column("detail", CleanJson, nullable=False),
)

rounds = Table(
    "rounds",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("since", UtcDateTime),
    Column("started_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime, nullable=False),
    Column("reported_at", UtcDateTime),
    Column("candidates", CleanJson, nullable=False),
    Column("notes", CleanJson, nullable=False),
)

round_topics = Table(
    "round_topics",
    metadata,
    Column("round", Integer, ForeignKey(rounds.c.number, ondelete="CASCADE"), primary_key=True),
    Column("topic_id", String, primary_key=True, index=True),
    Column("position", Integer, nullable=False),
    # Read as a whole, never searched.
    Column("topic", CleanJson, nullable=False),
)

calibrations = Table(
    "calibrations",
    metadata,
    Column("id", String, primary_key=True),
    Column("created_at", UtcDateTime, nullable=False, index=True),
    Column("threshold", Float, nullable=False),
    Column("method", String, nullable=False),
    Column("space", String, nullable=False, index=True),
    Column("chunks", Integer, nullable=False),
    Column("result", CleanJson, nullable=False),
    Column("applied", Boolean, nullable=False),
)

# Which run brings which document in (see store.document_claims). True of the moment only.
document_claims = Table(
    "document_claims",
    metadata,
    Column("collection", CleanText, primary_key=True),
    Column("source_key", String, primary_key=True),
    Column("owner", String, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
)

# The index of words that processes share (see store.postings). Derived like the vectors: never copied, always rebuilt.

lexical_segments = Table(
    "lexical_segments",
    metadata,
    # Drawn at random and never used again, so that what is cached under it stays true.
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("chunks", Integer, nullable=False),
    Column("terms", BigInteger, nullable=False),
    Column("deleted", Integer, nullable=False),
    Column("members", LargeBinary, nullable=False),
    Column("lengths", LargeBinary, nullable=False),
    Column("groups", LargeBinary, nullable=False),
    Column("deletions", LargeBinary, nullable=False),
)

lexical_postings = Table(
    "lexical_postings",
    metadata,
    Column("segment", BigInteger, primary_key=True, autoincrement=False),
    Column("term", Text, primary_key=True),
    Column("places", LargeBinary, nullable=False),
)

lexical_groups = Table(
    "lexical_groups",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("collection", CleanText, nullable=False),
    Column("scope", CleanJson, nullable=False),
)

lexical_builds = Table(
    "lexical_builds",
    metadata,
    Column("format", String, primary_key=True),
    Column("built_at", UtcDateTime, nullable=False),
)

DERIVED = (lexical_segments, lexical_postings, lexical_groups, lexical_builds)
"""Tables that are rebuilt from the others."""
PASSING = (document_claims,)
"""Tables that say what is going on just now, which is of no use to a copy."""
