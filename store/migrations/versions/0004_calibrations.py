"""Calibrated thresholds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "calibrations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("threshold", sa.Float(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("space", sa.String(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("result", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("applied", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_calibrations"),
    )
    op.create_index("ix_calibrations_created_at", "calibrations", ["created_at"])
    op.create_index("ix_calibrations_space", "calibrations", ["space"])
