"""Everything that documents say they are valid for."""

from __future__ import annotations

import json

from sqlalchemy import Text, cast, select

from store.database import Database
from store.tables import documents


def scope_values(database: Database) -> dict[str, frozenset[str]]:
    """All values of each key over all documents; keys in order."""
    # As text, because PostgreSQL cannot tell equal JSON values.
    query = select(cast(documents.c.scope, Text)).distinct()
    found: dict[str, set[str]] = {}
    with database.connect() as connection:
        for text in connection.scalars(query):
            for key, values in (json.loads(text or "{}") or {}).items():
                found.setdefault(key, set()).update(values)
    return {key: frozenset(found[key]) for key in sorted(found)}
