"""Column types that make SQLite and PostgreSQL keep and return exactly the same values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

from store.errors import UsageError
from store.text import clean, clean_values

LONGEST_INDEXED_TEXT = 200
"""Characters of a free text that may stand in an index; PostgreSQL refuses index entries above 2,704 bytes."""


class UtcDateTime(TypeDecorator[datetime]):
    """An instant: UTC on write, timezone-aware UTC on read, whatever the database keeps.

    SQLite drops the zone and PostgreSQL answers in the session's zone; a naive value has no right reading, so it
    is refused with UsageError.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The instant in UTC; SQLite stores it without its zone, in a text that sorts by time."""
        if value is None:
            return None
        if value.tzinfo is None or value.utcoffset() is None:
            raise UsageError(f"The time {value.isoformat()} has no time zone.", "Pass a timezone-aware datetime.")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """The stored instant, aware and in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class CleanText(TypeDecorator[str]):
    """Text without NUL, lone surrogates and other characters that one of the databases refuses."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The cleaned text; comparisons are cleaned the same way."""
        return None if value is None else clean(value)


class CleanJson(TypeDecorator[Any]):
    """JSON whose texts are cleaned at every depth, keys included."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> object:  # noqa: ARG002
        """The cleaned value; mappings of any kind become JSON objects."""
        return clean_values(dict(value) if isinstance(value, Mapping) else value)


def index_key(text: str) -> str:
    """A text as it may stand in an index: itself when short, otherwise the SHA-256 of its cleaned form."""
    cleaned = clean(text)
    return cleaned if len(cleaned) <= LONGEST_INDEXED_TEXT else digest(cleaned)


def digest(text: str) -> str:
    """SHA-256 of the cleaned text, 64 hexadecimal digits."""
    return hashlib.sha256(clean(text).encode()).hexdigest()
