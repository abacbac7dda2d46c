"""Which run is bringing which document in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "document_claims",
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("source_key", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("collection", "source_key", name="pk_document_claims"),
    )
