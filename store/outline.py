"""Titles, headings and tags of all documents: what a corpus says that it is about."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from store.database import Database
from store.tables import chunks, documents

_TAG_KEYS = ("tags", "keywords", "categories")


class Outline(NamedTuple):
    """One text per document, with its title and headings on lines of their own; and one entry per document and tag."""

    headings: list[str]
    tags: list[str]


def outline(database: Database) -> Outline:
    """The outline of everything that is indexed now."""
    lines: dict[str, dict[str, None]] = {}
    tags: list[str] = []
    with database.connect() as connection:
        for row in connection.execute(select(documents.c.id, documents.c.title, documents.c.metadata)):
            lines[row.id] = {row.title: None}
            tags += _tags(row.metadata)
        for document_id, headings in connection.execute(select(chunks.c.document_id, chunks.c.headings)):
            lines.setdefault(document_id, {}).update(dict.fromkeys(headings))
    return Outline(["\n".join(found) for found in lines.values()], tags)


def _tags(metadata: dict[str, object]) -> list[str]:
    found = []
    for key in _TAG_KEYS:
        value = metadata.get(key)
        values = value if isinstance(value, list) else str(value).split(",") if value else []
        found += [str(tag).strip() for tag in values]
    return [tag for tag in dict.fromkeys(found) if tag]
