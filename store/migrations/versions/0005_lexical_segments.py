"""An index of words that several processes share."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "lexical_segments",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("terms", sa.BigInteger(), nullable=False),
        sa.Column("deleted", sa.Integer(), nullable=False),
        sa.Column("members", sa.LargeBinary(), nullable=False),
        sa.Column("lengths", sa.LargeBinary(), nullable=False),
        sa.Column("groups", sa.LargeBinary(), nullable=False),
        sa.Column("deletions", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lexical_segments"),
    )
    op.create_table(
        "lexical_postings",
        sa.Column("segment", sa.BigInteger(), nullable=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("places", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("segment", "term", name="pk_lexical_postings"),
    )
    op.create_table(
        "lexical_groups",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("scope", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lexical_groups"),
    )
    op.create_table(
        "lexical_builds",
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("built_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("format", name="pk_lexical_builds"),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Packed numbers do not get smaller, and trying costs more than the reading itself.
        for table, column in (("lexical_postings", "places"), ("lexical_segments", "groups")):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
