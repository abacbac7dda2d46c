"""What makes two tables equal: the sum of the hashes of their rows, in whatever order they come. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

_SIZE = 1 << 256


@dataclass(frozen=True, slots=True)
class TableDigest:
    """How many rows there are, and what they hold together."""

    rows: int = 0
    total: int = 0

    def with_rows(self, rows: Iterable[Sequence[object]]) -> TableDigest:
        """The same with these rows added."""
        count, total = self.rows, self.total
        for row in rows:
            count += 1
            total = (total + _hash(row)) % _SIZE
        return TableDigest(count, total)

    @property
    def hex(self) -> str:
        """The sum as 64 hexadecimal digits."""
        return f"{self.total:064x}"


def _hash(row: Sequence[object]) -> int:
    text = json.dumps(list(row), sort_keys=True, default=_told, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def _told(value: object) -> object:
    """Values that JSON does not know, so that none looks like another."""
    if isinstance(value, bytes | memoryview):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, datetime):
        return {"moment": value.isoformat()}
    raise TypeError(f"{type(value).__name__} has no digest")
