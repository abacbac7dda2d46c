"""Conversations, messages that were posted, suggested sources, and who decided what."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("questions", sa.Column("conversation", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_questions_conversation", "questions", ["conversation", "asked_at"])
    op.add_column("claims", sa.Column("payload", sa.JSON(none_as_null=True)))
    _create_posts()
    _create_candidates()
    _create_audit()


def _create_posts() -> None:
    op.create_table(
        "posts",
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("asker", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("posted_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "channel", "message", name="pk_posts"),
    )
    op.create_index("ix_posts_conversation", "posts", ["conversation"])
    op.create_index("ix_posts_posted_at", "posts", ["posted_at"])
    op.create_index("ix_posts_kind_subject", "posts", ["kind", "subject"])


def _create_candidates() -> None:
    op.create_table(
        "candidates",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("topic_id", sa.String(), nullable=False),
        sa.Column("topic_label", sa.Text(), nullable=False),
        sa.Column("source_key", sa.String(), nullable=False),
        sa.Column("source", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("preview", sa.JSON(none_as_null=True)),
        sa.Column("gap_ids", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column("decided_at", UtcDateTime()),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("snoozed_until", UtcDateTime()),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_candidates"),
        sa.UniqueConstraint("topic_id", "source_key", name="uq_candidates_topic_id_source_key"),
    )
    for column in ("topic_id", "source_key", "state"):
        op.create_index(f"ix_candidates_{column}", "candidates", [column])


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("detail", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_at", "audit", ["at"])
    op.create_index("ix_audit_subject", "audit", ["subject"])
