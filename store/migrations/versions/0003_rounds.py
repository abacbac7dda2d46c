"""Rounds of discovery, and the topics that each of them saw."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "rounds",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("since", UtcDateTime()),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=False),
        sa.Column("reported_at", UtcDateTime()),
        sa.Column("candidates", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("notes", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_rounds"),
    )
    op.create_table(
        "round_topics",
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("topic", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(["round"], ["rounds.number"], name="fk_round_topics_round", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round", "topic_id", name="pk_round_topics"),
    )
    op.create_index("ix_round_topics_topic_id", "round_topics", ["topic_id"])
