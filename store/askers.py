"""Takes people's names off gaps without changing how many people asked."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, func, select, update

from store.tables import gap_askers

GAPS_LOCK = "gaps"
"""Writers of gaps take turns on PostgreSQL under this name."""
_GONE = "gone:"


def anonymise(connection: Connection, asker: str) -> int:
    """Replace a person on all gaps by a random name that nobody can trace back; the number of sightings changed.

    The random name keeps the person one distinct asker of each gap.
    """
    return _rename(connection, gap_askers.c.asker == asker) if asker else 0


def anonymise_before(connection: Connection, when: datetime) -> int:
    """Anonymise on each gap the people who were last counted there before ``when``; the sightings changed."""
    named = ~gap_askers.c.asker.startswith(_GONE) & (gap_askers.c.asker != "")
    query = (
        select(gap_askers.c.gap_id, gap_askers.c.asker)
        .where(named)
        .group_by(gap_askers.c.gap_id, gap_askers.c.asker)
        .having(func.max(gap_askers.c.counted_at) < when)
    )
    return sum(
        _rename(connection, and_(gap_askers.c.gap_id == gap_id, gap_askers.c.asker == asker))
        for gap_id, asker in connection.execute(query).all()
    )


def _rename(connection: Connection, condition: ColumnElement[bool]) -> int:
    return connection.execute(update(gap_askers).where(condition).values(asker=_GONE + uuid.uuid4().hex)).rowcount
