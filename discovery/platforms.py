"""The platform names that come with the package, and all that others need of them.

How names are matched is in :mod:`discovery.platform_names`, how a corpus teaches further ones in
:mod:`discovery.platform_learning`. Pure, apart from reading the package's own list once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from discovery.platform_learning import learn_platforms
from discovery.platform_names import Mention, Platform, PlatformNames
from store.errors import ConfigurationError

__all__ = ["Mention", "Platform", "PlatformNames", "learn_platforms", "load_platforms", "parse_platforms"]

_OTHER_SECTIONS = frozenset({"cues", "learning"})
_ENTRY_KEYS = dict.fromkeys(
    ("aliases", "ambiguous", "ambiguous_aliases", "own_cues_only", "cue_required", "before", "after")
).keys()


@cache
def load_platforms() -> PlatformNames:
    """The list that comes with the package."""
    return parse_platforms(tomllib.loads(files("discovery").joinpath("platforms.toml").read_text(encoding="utf-8")))


def parse_platforms(data: Mapping[str, Any]) -> PlatformNames:
    """Platform names from a parsed TOML file in the form of ``platforms.toml``.

    Raises:
        ConfigurationError: an entry is neither a list of aliases nor a table with the known keys.
    """
    entries = [
        _parse_entry(name, entry)
        for section, table in data.items()
        if section not in _OTHER_SECTIONS
        for name, entry in table.items()
    ]
    return PlatformNames(tuple(entries), frozenset(data.get("cues", {}).get("words", ())))


def _parse_entry(name: str, entry: object) -> Platform:
    if isinstance(entry, list) and all(isinstance(alias, str) for alias in entry):
        return Platform(name, tuple(entry))
    if not isinstance(entry, dict) or not entry.keys() <= _ENTRY_KEYS:
        raise ConfigurationError(
            f"The platform {name!r} is described by {entry!r}.", f"Use a list of aliases or {', '.join(_ENTRY_KEYS)}."
        )
    return Platform(
        name,
        tuple(entry.get("aliases", ())),
        bool(entry.get("ambiguous")),
        tuple(entry.get("ambiguous_aliases", ())),
        bool(entry.get("own_cues_only")),
        bool(entry.get("cue_required")),
        frozenset(entry.get("before", ())),
        frozenset(entry.get("after", ())),
    )
