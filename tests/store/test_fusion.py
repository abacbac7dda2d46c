"""Fusion keeps what both routes found, lets clear leads count, and gives variety before depth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.fusion import RouteWeights, by_document_coverage, fuse, ranks, spread
from store.vectors import VectorHit

FULL = 50
BOTH = RouteWeights()


def order_of(*arguments):
    return list(fuse(*arguments))


def hits(**scores):
    return [VectorHit(name, score) for name, score in sorted(scores.items(), key=lambda item: -item[1])]


def test_a_chunk_that_both_routes_found_beats_one_that_only_one_found():
    assert order_of(hits(a=0.8, both=0.79), hits(b=9.0, both=8.9), BOTH, FULL)[0] == "both"


def test_a_clear_lead_by_words_is_not_overruled_by_a_flat_dense_list():
    dense = hits(**{f"d{n}": 0.60 - n / 1000 for n in range(FULL)})
    assert order_of(dense, hits(name=12.0, d0=2.0), BOTH, FULL)[0] == "name"


def test_a_clear_lead_by_meaning_is_not_overruled_by_a_flat_lexical_list():
    assert order_of(hits(meant=0.8, w0=0.1, w1=0.1), hits(w0=3.0, w1=2.9, meant=2.8), BOTH, FULL)[0] == "meant"


@pytest.mark.parametrize("weights", [RouteWeights(1, 0), RouteWeights(0, 1)])
def test_a_route_without_weight_contributes_nothing(weights):
    order = order_of(hits(a=0.9, b=0.2), hits(c=5.0, b=1.0), weights, FULL)
    assert order == (["a", "b"] if weights.dense else ["c", "b"])


def test_empty_lists_and_scores_of_nothing_give_nothing():
    assert order_of([], [], BOTH, FULL) == []
    assert order_of(hits(a=-0.2), [], BOTH, FULL) == []
    assert order_of([], hits(a=1.0), BOTH, FULL) == ["a"]


names = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(names, names)
def test_every_found_chunk_appears_exactly_once(first, second):
    dense = [VectorHit(name, 0.9 - place / 100) for place, name in enumerate(first)]
    lexical = [VectorHit(name, 9.0 - place) for place, name in enumerate(second)]
    order = order_of(dense, lexical, BOTH, FULL)
    assert sorted(order) == sorted({*first, *second})


def test_one_document_does_not_crowd_out_the_others_but_fills_up_at_the_end():
    ids = ["a:1", "a:2", "a:3", "b:1", "a:4", "c:1"]
    order = spread(ids, lambda one: one[0], 2)
    assert order == ["a:1", "a:2", "b:1", "c:1", "a:3", "a:4"]


def test_ranks_start_at_one():
    assert ranks(["x", "y"]) == {"x": 1, "y": 2}


def test_a_document_that_covers_the_question_in_two_chunks_beats_a_better_single_chunk():
    fused = {"other:1": 1.0, "right:1": 0.8, "right:2": 0.7}
    stems = {"other:1": {"quota"}, "right:1": {"quota"}, "right:2": {"acme"}}
    weights = {"acme": 3.0, "quota": 1.0}
    order = by_document_coverage(fused, stems, weights, lambda one: one.split(":")[0], bonus=1.0)
    assert order == ["right:1", "right:2", "other:1"]
    assert by_document_coverage(fused, stems, {}, lambda one: one, bonus=1.0) == list(fused)
