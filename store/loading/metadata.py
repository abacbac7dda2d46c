"""Facts about a document as plain JSON values, and the front matter that states them. Pure."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time

import yaml

from store.text import clean

_YAML_FENCE = re.compile(r"\A---[ \t]*\n(?P<body>.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML_FENCE = re.compile(r"\A\+\+\+[ \t]*\n(?P<body>.*?)(?:^|\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_SIMPLE_LINE = re.compile(r"^(?P<key>[A-Za-z_][\w-]*):[ \t]+(?P<value>[^\s\[{&*!|>%@`].*)$", re.MULTILINE)
_PROSE_LINE = re.compile(r"^(?![\s#}\]-]|[\w\"'-][^:\n]{0,60}:)", re.MULTILINE)
_MAX_VALUES = 1_000
"""Values in the metadata of one document; aliases in YAML can multiply a few lines into billions."""
_MAX_DEPTH = 10
_DEEPEST_BRACKETS = 50
"""Brackets in brackets that are parsed: the time of the YAML reader grows with the square of their number."""
_LONGEST = 64 * 1024
"""Characters of front matter that are parsed; a longer block between rules is text."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The head of a file, taken apart.

    Attributes:
        values: JSON values as in :func:`json_values`.
        body: the text after the front matter.
        notes: what could not be read.
    """

    values: Mapping[str, object]
    body: str
    notes: tuple[str, ...] = ()


def split_front_matter(text: str) -> FrontMatter:
    """Separate YAML (``---``) or TOML (``+++``) front matter from the text below it.

    Only a mapping is front matter: two rules with prose between them stay in the body.
    """
    for fence, parse in ((_YAML_FENCE, _parse_yaml), (_TOML_FENCE, _parse_toml)):
        match = fence.match(text)
        if match and len(match["body"]) <= _LONGEST and _bracket_depth(match["body"]) <= _DEEPEST_BRACKETS:
            values, notes = parse(match["body"])
            if values is None:
                return FrontMatter({}, text)
            return FrontMatter(json_values(values), text[match.end() :], notes)
    return FrontMatter({}, text)


def _bracket_depth(text: str) -> int:
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _parse_yaml(body: str) -> tuple[Mapping[object, object] | None, tuple[str, ...]]:
    try:
        values = yaml.safe_load(body)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        simple: dict[object, object] = {
            match["key"]: match["value"].strip("'\" ") for match in _SIMPLE_LINE.finditer(body)
        }
        if not simple or _PROSE_LINE.search(body):
            return None, ()
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return simple, (f"The front matter is not valid YAML ({reason}); only its simple lines were read.",)
    if values is None and not body.strip():
        return {}, ()
    return (values, ()) if isinstance(values, dict) else (None, ())


def _parse_toml(body: str) -> tuple[Mapping[object, object] | None, tuple[str, ...]]:
    try:
        values: dict[object, object] = dict(tomllib.loads(body).items())
    except (tomllib.TOMLDecodeError, RecursionError):
        return None, ()
    return values, ()


@dataclass(slots=True)
class _Budget:
    left: int = _MAX_VALUES
    seen: set[int] = field(default_factory=set)


def json_values(values: Mapping[object, object] | Mapping[str, object]) -> dict[str, object]:
    """Metadata that every database takes.

    Nulls, NaN, infinities, bytes and empty names are dropped; dates become ISO texts; texts and names are
    cleaned. Values that contain themselves, lie deeper than ten levels, or come after the first thousand are
    dropped as well.
    """
    kept = _json_value(values, _Budget(), 0)
    return kept if isinstance(kept, dict) else {}


def _json_value(value: object, budget: _Budget, depth: int) -> object:
    budget.left -= 1
    if value is None or budget.left < 0 or depth > _MAX_DEPTH or isinstance(value, bytes | bytearray):
        return None
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return _json_container(value, budget, depth)
    return clean(str(value))


def _json_container(
    value: Mapping[object, object] | list[object] | tuple[object, ...] | set[object] | frozenset[object],
    budget: _Budget,
    depth: int,
) -> object:
    if id(value) in budget.seen:
        return None
    budget.seen.add(id(value))
    try:
        if isinstance(value, Mapping):
            named = ((clean(str(name)).strip(), _json_value(item, budget, depth + 1)) for name, item in value.items())
            return {name: item for name, item in named if name and item is not None}
        ordered = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [kept for item in ordered if (kept := _json_value(item, budget, depth + 1)) is not None]
    finally:
        budget.seen.discard(id(value))


def scope_of(value: object) -> dict[str, tuple[str, ...]]:
    """The facts a document says it is valid for, from its ``scope:`` mapping.

    Single values and lists both become tuples of texts (``version: [1, 2]`` gives ``("1", "2")``); anything but
    a mapping gives no scope.
    """
    if not isinstance(value, Mapping):
        return {}
    scope = {str(name): _scope_values(item) for name, item in value.items()}
    return {name: texts for name, texts in scope.items() if texts}


def _scope_values(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    texts = (
        str(item).lower() if isinstance(item, bool) else str(item).strip()
        for item in items
        if not isinstance(item, dict)
    )
    return tuple(dict.fromkeys(text for text in texts if text))
