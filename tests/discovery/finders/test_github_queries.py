"""Queries within GitHub's limits."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from discovery.finders.github_queries import MOST_CHARACTERS, code_queries, repository_queries, search_words

WORDS = st.lists(st.text(max_size=80), max_size=12)
NAMES = st.lists(st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,37})", fullmatch=True), max_size=30)


def test_queries_go_from_many_words_to_two():
    assert code_queries(["Kubernetes", "ingress", "TLS"], ["acme"]) == [
        "kubernetes ingress tls extension:md org:acme",
        "kubernetes ingress extension:md org:acme",
    ]


def test_the_next_two_words_have_a_turn_of_their_own():
    assert repository_queries(["lisbon", "office", "bicycle", "park"])[-1].startswith("bicycle park in:")


def test_a_single_word_is_searched_for_when_there_is_no_other():
    assert repository_queries(["Kubernetes"]) == ["kubernetes in:name,description,topics,readme"]


def test_without_words_nothing_is_searched_for():
    assert code_queries([], ["acme"]) == []
    assert code_queries(["??", "..."], ["acme"]) == []


def test_words_never_become_operators_or_qualifiers():
    assert search_words(["NOT", "org:evil", '"a phrase"', "-secret", "AND"]) == [
        "not",
        "org",
        "evil",
        "a",
        "phrase",
        "secret",
        "and",
    ]


def test_names_with_points_and_dashes_stay_whole():
    assert search_words(["node-exporter", "v1.2", "kube_proxy"]) == ["node-exporter", "v1.2", "kube_proxy"]


def test_many_organisations_are_spread_over_several_queries():
    names = [f"organisation-number-{number}" for number in range(20)]
    queries = code_queries(["proxy", "tunnel"], names)
    assert len(queries) > 1
    assert [name for query in queries for name in re.findall(r"org:(\S+)", query)] == names


@given(WORDS, NAMES)
def test_no_query_is_ever_too_long_or_has_operators(words, organisations):
    for query in (*code_queries(words, organisations), *repository_queries(words, organisations)):
        assert len(query) <= MOST_CHARACTERS
        assert not re.search(r"\b(?:AND|OR|NOT)\b", query)
        text = re.sub(r"\b(?:org|extension|in):\S+", "", query)
        assert ":" not in text
        assert text.strip()
