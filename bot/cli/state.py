"""What every command starts from: the global options, turned into settings when a command needs them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bot.settings import Settings, load_settings
from store.errors import UsageError
from store.records import ScopeFilter


@dataclass
class State:
    """The global options of one call."""

    config: Path | None
    data: Path | None

    @cached_property
    def settings(self) -> Settings:
        """The settings of this call."""
        return load_settings(self.config, self.data)


def parse_scope(facts: list[str]) -> ScopeFilter:
    """``key=value`` options as a scope; a repeated key collects its values.

    Raises:
        UsageError: an option without key, ``=`` or value.
    """
    scope: dict[str, tuple[str, ...]] = {}
    for fact in facts:
        key, equals, value = (part.strip() for part in fact.partition("="))
        if not (key and equals and value):
            raise UsageError(f"--scope {fact!r} is not of the form key=value.", "For example: --scope version=2")
        scope[key] = (*scope.get(key, ()), value)
    return scope
