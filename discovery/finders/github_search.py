"""One search on GitHub: page by page up to what is wanted, never beyond what can be had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discovery.finders.github_api import GithubApi
from store.errors import UsageError

REACHABLE = 1000
"""Results that GitHub gives of a search, however many there are."""
_PAGE = 100


@dataclass(frozen=True, slots=True)
class SearchPage:
    """What a search gave.

    Attributes:
        items: GitHub's JSON, best first.
        notes: what is missing, in words.
        requests: how many requests it took.
    """

    items: list[dict[str, Any]]
    notes: tuple[str, ...]
    requests: int


class Search:
    """Searches code and repositories."""

    def __init__(self, api: GithubApi) -> None:
        self._api = api

    def search(self, kind: str, query: str, limit: int) -> SearchPage:
        """The best results of a query.

        An answer that GitHub calls incomplete, because the search took too long, is asked for once more.

        Args:
            kind: ``code`` or ``repositories``.
            query: within GitHub's limits, see :mod:`discovery.finders.github_queries`.
            limit: how many are wanted; at most 1,000 can be had.

        Raises:
            LimitReachedError: the search limit is used up.
            UnavailableError: GitHub does not answer.
        """
        wanted = min(limit, REACHABLE)
        size = min(wanted, _PAGE)
        items: list[dict[str, Any]] = []
        notes: list[str] = []
        total = requests = 0
        try:
            for page in range(1, -(-wanted // size) + 1):
                data, asked = self._page(kind, query, size, page)
                requests += asked
                total = int(data.get("total_count") or 0)
                items += data.get("items") or []
                if data.get("incomplete_results"):
                    notes.append(f"GitHub did not finish the search for {query!r}; there may be more.")
                if len(items) >= min(total, wanted) or not data.get("items"):
                    break
        except UsageError as error:
            return SearchPage(items[:wanted], (*notes, f"{error.problem} ({query})"), requests + 1)
        if total > REACHABLE and wanted == REACHABLE:
            notes.append(f"The first {REACHABLE:,} of {total:,} results for {query!r} were looked at.")
        return SearchPage(items[:wanted], tuple(notes), requests)

    def _page(self, kind: str, query: str, size: int, page: int) -> tuple[dict[str, Any], int]:
        data = self._api.get(f"/search/{kind}", q=query, per_page=size, page=page)
        if not data.get("incomplete_results"):
            return data, 1
        again = self._api.get(f"/search/{kind}", q=query, per_page=size, page=page)
        better = again if len(again.get("items") or []) >= len(data.get("items") or []) else data
        return better, 2
