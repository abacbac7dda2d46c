"""The first schema: documents, index bookkeeping, questions, claims and gaps."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_documents()
    _create_indexing()
    _create_questions()
    _create_gaps()


def _create_documents() -> None:
    op.create_table(
        "counters",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_counters"),
    )
    op.create_table(
        "collections",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_collections"),
    )
    op.create_table(
        "documents",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_key", sa.String(), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("scope", sa.JSON(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("partial", sa.Boolean(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
        sa.ForeignKeyConstraint(["collection"], ["collections.name"], name="fk_documents_collection"),
        sa.UniqueConstraint("collection", "source_key", name="uq_documents_collection_source_key"),
    )
    op.create_table(
        "chunks",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("headings", sa.JSON(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("embedded_text", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_chunks"),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="fk_chunks_document_id", ondelete="CASCADE"),
    )
    op.create_index("ix_chunks_document_id", "chunks", ["document_id"])
    op.create_table(
        "chunk_vectors",
        sa.Column("chunk_id", sa.String(), nullable=False),
        sa.Column("model_fingerprint", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("chunk_id", name="pk_chunk_vectors"),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunks.id"], name="fk_chunk_vectors_chunk_id", ondelete="CASCADE"),
    )


def _create_indexing() -> None:
    op.create_table(
        "stale_chunks",
        sa.Column("chunk_id", sa.String(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("chunk_id", name="pk_stale_chunks"),
    )
    op.create_index("ix_stale_chunks_collection", "stale_chunks", ["collection"])
    op.create_table(
        "index_state",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_index_state"),
    )
    op.create_table(
        "failures",
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("source_key", sa.String(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("collection", "source_key", name="pk_failures"),
    )


def _create_questions() -> None:
    op.create_table(
        "questions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("asker", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("max_score", sa.Float(), nullable=False),
        sa.Column("support", sa.Float(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("timings", sa.JSON(), nullable=False),
        sa.Column("gap_id", sa.String(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("collections", sa.JSON(), nullable=False),
        sa.Column("scope", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_questions"),
    )
    op.create_index("ix_questions_asked_at", "questions", ["asked_at"])
    op.create_index("ix_questions_asker", "questions", ["asker"])
    op.create_index("ix_questions_gap_id", "questions", ["gap_id"])
    op.create_table(
        "votes",
        sa.Column("question_id", sa.String(), nullable=False),
        sa.Column("asker", sa.Text(), nullable=False),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("voted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("question_id", "asker", name="pk_votes"),
        sa.ForeignKeyConstraint(["question_id"], ["questions.id"], name="fk_votes_question_id", ondelete="CASCADE"),
    )
    op.create_index("ix_votes_asker", "votes", ["asker"])
    op.create_table(
        "claims",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("kind", "key", name="pk_claims"),
    )
    op.create_index("ix_claims_claimed_at", "claims", ["claimed_at"])


def _create_gaps() -> None:
    op.create_table(
        "gaps",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("merged_into", sa.String(), nullable=False),
        sa.Column("split_from", sa.String(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("askers", sa.Integer(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("best_score", sa.Float(), nullable=False),
        sa.Column("nearest", sa.JSON(), nullable=True),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_gaps"),
    )
    op.create_index("ix_gaps_merged_into", "gaps", ["merged_into"])
    op.create_index("ix_gaps_split_from", "gaps", ["split_from"])
    op.create_index("ix_gaps_state", "gaps", ["state"])
    op.create_table(
        "gap_wordings",
        sa.Column("gap_id", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("best_score", sa.Float(), nullable=False),
        sa.Column("nearest", sa.JSON(), nullable=True),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("merged_because", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("gap_id", "digest", name="pk_gap_wordings"),
        sa.ForeignKeyConstraint(["gap_id"], ["gaps.id"], name="fk_gap_wordings_gap_id", ondelete="CASCADE"),
    )
    op.create_index("ix_gap_wordings_digest", "gap_wordings", ["digest"])
    op.create_table(
        "gap_askers",
        sa.Column("gap_id", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("asker", sa.Text(), nullable=False),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("gap_id", "digest", "asker", name="pk_gap_askers"),
        sa.ForeignKeyConstraint(["gap_id"], ["gaps.id"], name="fk_gap_askers_gap_id", ondelete="CASCADE"),
    )
    op.create_index("ix_gap_askers_asker", "gap_askers", ["asker"])
