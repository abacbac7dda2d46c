"""Chroma holds vectors by collection and model, and filters are never dropped."""

import numpy as np
import pytest

from store.errors import UnavailableError, UsageError, VectorsLostError
from store.vectors import ChromaVectors, embedded_client, scope_condition


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    return embedded_client(tmp_path_factory.mktemp("chroma"))


@pytest.fixture
def vectors(client, request):
    return ChromaVectors(client, "model-" + str(abs(hash(request.node.name)))[:8])


def unit(*values):
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


X, Y, Z = unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1)


def put(vectors, ids, rows, scopes=None, collection="c"):
    vectors.upsert(collection, ids, np.stack(rows), scopes or [()] * len(ids))


def ids(vectors, vector, limit=10, scope=None, collection="c"):
    return [hit.chunk_id for hit in vectors.query(collection, vector, limit, scope or {})]


def test_hits_carry_cosine_similarity(vectors):
    put(vectors, ["x", "xy", "minus"], [X, unit(1, 1, 0), -X])
    hits = {hit.chunk_id: hit.score for hit in vectors.query("c", X, 3, {})}
    assert hits == {"x": pytest.approx(1), "xy": pytest.approx(0.5**0.5), "minus": pytest.approx(-1)}


def test_asking_for_more_than_there_is_gives_what_there_is(vectors):
    """B045: a small index, an impossible filter and an empty collection raise nothing."""
    assert ids(vectors, X) == []
    put(vectors, ["x", "y", "z"], [X, Y, Z])
    assert len(ids(vectors, X, limit=10)) == 3
    assert ids(vectors, X, scope={"version": ("9",)}) == []
    assert ids(vectors, X, limit=0) == []


def test_batches_larger_than_the_store_allows_arrive_complete(client, vectors):
    """B037: 5,463 vectors where the store takes 5,461 at once."""
    count = client.get_max_batch_size() + 2
    rows = np.random.default_rng(7).normal(size=(count, 3)).astype(np.float32)
    vectors.upsert("c", [f"v{n}" for n in range(count)], rows, [()] * count)
    assert vectors.count("c") == count
    vectors.delete("c", [f"v{n}" for n in range(count)])
    assert vectors.count("c") == 0


def test_after_deleting_the_nearest_the_next_is_found(vectors):
    """B044: the same result as in an index that never had the deleted vector."""
    put(vectors, ["a", "b", "c"], [X, unit(1, 0.1, 0), Z])
    vectors.delete("c", ["a", "unknown"])
    put(vectors, ["b", "c"], [unit(1, 0.1, 0), Z], collection="never")
    assert ids(vectors, X, limit=1) == ids(vectors, X, limit=1, collection="never") == ["b"]


def test_two_facts_must_both_hold(vectors):
    """B046: several keys are joined with and, several values of a key with or."""
    put(vectors, ["1", "2", "3"], [X, X, X], [("v=1", "r=eu"), ("v=2", "r=eu"), ()])
    assert ids(vectors, X, scope={"v": ("1",), "r": ("eu",)}) == ["1"]
    assert sorted(ids(vectors, X, scope={"v": ("1", "2")})) == ["1", "2"]
    assert ids(vectors, X, scope={"v": ("1",), "r": ("us",)}) == []


def test_a_condition_has_the_shape_that_its_number_of_facts_needs():
    """B046: none gives None, one stays bare, several are joined."""
    one = {"scope": {"$contains": "a=1"}}
    assert scope_condition({}) is None
    assert scope_condition({"a": ("1",)}) == one
    assert scope_condition({"a": ("1",), "b": ("2", "3")}) == {
        "$and": [one, {"$or": [{"scope": {"$contains": "b=2"}}, {"scope": {"$contains": "b=3"}}]}]
    }


def test_a_key_without_value_is_refused_rather_than_dropped():
    with pytest.raises(UsageError, match="version"):
        scope_condition({"version": ()})


def test_models_and_collections_do_not_see_each_other(client):
    """B039: vectors of another model are never searched, and of another size never compared."""
    first, second = ChromaVectors(client, "first"), ChromaVectors(client, "second")
    put(first, ["x"], [X], collection="shared")
    assert ids(second, unit(1, 2, 3, 4), collection="shared") == []
    put(second, ["y"], [unit(1, 0, 0, 0)], collection="shared")
    assert first.fingerprints()["shared"] == {"first", "second"}
    first.drop("shared", "second")
    assert (first.count("shared"), ChromaVectors(client, "second").count("shared")) == (1, 0)


def test_what_the_store_raises_becomes_one_error_with_a_way_out(vectors):
    put(vectors, ["x"], [X])
    with pytest.raises(UnavailableError, match="gaplight reindex"):
        vectors.query("c", unit(1, 0), 1, {})


def test_a_collection_that_another_process_replaced_is_found_again(client):
    """Its name stays and its id changes, so that a handle leads nowhere."""
    mine, theirs = ChromaVectors(client, "stale"), ChromaVectors(client, "stale")
    put(mine, ["x"], [X])
    assert ids(mine, X) == ["x"]
    theirs.drop("c", "stale")
    assert (ids(mine, X), mine.count("c")) == ([], 0)
    put(theirs, ["y"], [Y])
    assert ids(mine, X) == ["y"]
    theirs.drop("c", "stale")
    put(mine, ["z"], [Z])
    assert ids(mine, X) == ids(theirs, X) == ["z"]
    theirs.drop("c", "stale")
    mine.delete("c", ["z"])
    mine.drop("c", "stale")


def test_vectors_that_should_be_there_and_are_not_are_an_error_and_no_empty_result(client):
    """Otherwise every question would look like one that the documents don't answer."""
    wanted = {"c": 0}
    vectors = ChromaVectors(client, "lost", lambda name: wanted.get(name, 0))
    assert ids(vectors, X) == []
    wanted["c"] = 2
    with pytest.raises(VectorsLostError, match="holds 0 of the 2 chunks of 'c'"):
        ids(vectors, X)
    put(vectors, ["x"], [X])
    with pytest.raises(VectorsLostError, match="holds 1 of the 2"):
        ids(vectors, X)
    put(vectors, ["y"], [Y])
    assert ids(vectors, X) == ["x", "y"]
    ChromaVectors(client, "lost").drop("c", "lost")
    with pytest.raises(VectorsLostError, match="gaplight reindex"):
        ids(vectors, X)


def test_more_collections_than_fit_on_a_page_are_all_listed(client, monkeypatch):
    monkeypatch.setattr("store.vectors._PAGE", 2)
    vectors = ChromaVectors(client, "many")
    for number in range(5):
        put(vectors, ["x"], [X], collection=f"m{number}")
    assert sum(name.startswith("m") for name in vectors.fingerprints()) == 5
