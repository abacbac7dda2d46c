"""A search within what a channel is restricted to, and within what the question itself names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from bot.answering.scopes import within
from store.records import ScopeFilter
from store.search import SearchResult


def narrowed(
    search: Callable[[ScopeFilter], SearchResult], named: Mapping[str, tuple[str, ...]], scope: ScopeFilter
) -> tuple[SearchResult, ScopeFilter]:
    """Search, and once more where passages came back that are valid for something else than the question names.

    Args:
        search: with a hard filter.
        named: facts that the question names.
        scope: facts that are prescribed; they win.

    Returns:
        What was found, and the scope that it is valid for. Documents that say nothing of what the question names
        remain when no document is marked as valid for it.
    """
    both = {**named, **scope}
    found = search(scope)
    kept = within(found.passages, both)
    if len(kept) == len(found.passages):
        return found, both
    again = search(both)
    return again if again.passages else replace(found, passages=kept), both
