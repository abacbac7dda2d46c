"""What documents say they are valid for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Text, cast, select

from store.database import Database
from store.records import ScopeFilter
from store.tables import documents


def carries(facts: Mapping[str, Sequence[str]], wanted: ScopeFilter) -> bool:
    """Whether facts have one of the wanted values for every key. Pure."""
    return all(set(values) & set(facts.get(key, ())) for key, values in wanted.items())


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
