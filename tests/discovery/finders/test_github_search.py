"""Searches on GitHub: what can be had of them, and what is said about the rest."""

from __future__ import annotations

import pytest

from discovery.finders.github_api import GithubApi
from discovery.finders.github_search import Search
from tests.fakes.github import TOKEN


@pytest.fixture
def search(github):
    for number in range(4):
        github.add(f"acme/r{number}", {"README.md": "# Proxy\n\nproxy tunnel\n"})
    return Search(GithubApi(github.url, TOKEN, lambda: github.now))


def test_pages_are_followed_up_to_what_is_wanted(github, search):
    github.inflated = 250
    page = search.search("repositories", "proxy", 230)
    assert (len(page.items), page.requests, page.notes) == (230, 3, ())


def test_of_more_than_a_thousand_results_the_first_thousand_are_had_and_the_rest_is_told(github, search):
    github.inflated = 3041
    page = search.search("repositories", "proxy", 5000)
    assert len(page.items) == 1000
    assert page.notes == ("The first 1,000 of 3,041 results for 'proxy' were looked at.",)
    assert page.requests == 10


def test_an_unfinished_search_is_asked_for_once_more(github, search):
    github.incomplete = 1
    page = search.search("repositories", "proxy", 4)
    assert (len(page.items), page.requests, page.notes) == (4, 2, ())


def test_a_search_that_stays_unfinished_says_so(github, search):
    github.incomplete = 2
    page = search.search("repositories", "proxy", 4)
    assert page.requests == 2
    assert page.notes == ("GitHub did not finish the search for 'proxy'; there may be more.",)


def test_a_query_that_github_refuses_is_a_note(github, search):
    page = search.search("code", "x" * 300, 4)
    assert page.items == []
    assert "does not accept the query" in page.notes[0]
