"""Few chunks are compared exactly and from the database; everything else is left to the vector store."""

from datetime import UTC, datetime

import numpy as np
import pytest

from store import exact_vectors
from store.documents import DocumentStore, DocumentWrite
from store.errors import UnavailableError, UsageError
from store.exact_vectors import ExactVectors
from store.records import Chunk

MODEL = "model"


class Others:
    """A vector store of which only is noted what it was asked."""

    def __init__(self):
        self.asked = []

    def query(self, collection, vector, limit, scope):
        self.asked.append((collection, dict(scope)))
        return []


@pytest.fixture
def others():
    return Others()


@pytest.fixture
def documents(database):
    return DocumentStore(database)


@pytest.fixture
def exact(others, database, clock):
    return ExactVectors(others, database, MODEL, clock=clock)


def unit(*values):
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


X = unit(1, 0, 0)


def put(documents, name, rows, scope=None, collection="c", model=MODEL):
    documents.ensure_collection(collection)
    chunks = [
        (f"{name}:{n}", Chunk(f"text {name} {n}", (), 1, f"{name} {n}"), row.tobytes()) for n, row in enumerate(rows)
    ]
    documents.commit_documents(
        [
            DocumentWrite(
                id=name,
                collection=collection,
                source=name,
                root="/r",
                path=name,
                title="",
                fingerprint=name,
                ingested_at=datetime.now(UTC),
                model_fingerprint=model,
                scope=scope or {},
                chunks=chunks,
            )
        ]
    )


def found(index, scope, limit=10, collection="c"):
    return [hit.chunk_id for hit in index.query(collection, X, limit, scope)]


def test_under_a_scope_the_nearest_come_first_with_their_cosine(documents, exact, others):
    put(documents, "a", [unit(1, 1, 0), X], {"v": ("1",)})
    put(documents, "b", [-X], {"v": ("1", "2")})
    put(documents, "other", [X], {"v": ("3",)})
    put(documents, "none", [X])
    hits = exact.query("c", X, 10, {"v": ("1",)})
    assert [hit.chunk_id for hit in hits] == ["a:1", "a:0", "b:0"]
    assert [hit.score for hit in hits] == pytest.approx([1, 0.5**0.5, -1])
    assert found(exact, {"v": ("2", "3")}) == ["other:0", "b:0"]
    assert found(exact, {"v": ("1",)}, limit=1) == ["a:1"]
    assert found(exact, {"v": ("1",)}, limit=0) == []
    assert found(exact, {"v": ("9",)}) == []
    assert others.asked == []


def test_every_key_of_a_scope_must_hold_and_one_without_value_is_refused(documents, exact):
    put(documents, "a", [X], {"v": ("1",), "os": ("linux",)})
    assert found(exact, {"v": ("1",), "os": ("linux",)}) == ["a:0"]
    assert found(exact, {"v": ("1",), "os": ("windows",)}) == []
    with pytest.raises(UsageError, match="os"):
        found(exact, {"v": ("1",), "os": ()})


def test_a_change_of_documents_shows_a_quarter_of_a_second_later(documents, exact, clock):
    put(documents, "a", [X], {"v": ("1",)})
    assert found(exact, {"v": ("1",)}) == ["a:0"]
    put(documents, "b", [X], {"v": ("1",)})
    documents.remove_documents(["a"])
    clock.now += 0.3
    assert found(exact, {"v": ("1",)}) == ["b:0"]


def test_many_chunks_are_left_to_the_vector_store(documents, exact, others, monkeypatch):
    monkeypatch.setattr(exact_vectors, "MOST", 2)
    put(documents, "a", [X, X], {"v": ("1",)})
    put(documents, "b", [X, X, X], {"v": ("2",)})
    assert len(found(exact, {"v": ("1",)})) == 2
    found(exact, {"v": ("2",)})
    assert others.asked == [("c", {"v": ("2",)})]


def test_without_a_scope_only_small_collections_among_many_are_compared(documents, exact, others, monkeypatch, clock):
    monkeypatch.setattr(exact_vectors, "SMALL", 1)
    for number in range(3):
        put(documents, f"d{number}", [X], collection=f"c{number}")
    found(exact, {}, collection="c0")
    put(documents, "large", [X, X], collection="large")
    clock.now += 1
    assert found(exact, {}, collection="c0") == ["d0:0"]
    found(exact, {}, collection="large")
    assert found(exact, {}, collection="unknown") == []
    assert [collection for collection, _ in others.asked] == ["c0", "large"]


def test_vectors_of_another_model_are_never_compared(documents, exact, others):
    put(documents, "a", [X], {"v": ("1",)})
    put(documents, "b", [unit(1, 2)], {"v": ("1",)}, model="older")
    found(exact, {"v": ("1",)})
    found(exact, {"v": ("1",)})
    assert len(others.asked) == 2


def test_a_vector_that_is_none_never_comes_back(documents, exact):
    """B051: comparisons with NaN are false."""
    put(documents, "a", [np.full(3, np.nan, dtype=np.float32), X], {"v": ("1",)})
    assert found(exact, {"v": ("1",)}) == ["a:1"]


def test_what_is_kept_stays_within_its_budget_and_what_is_in_use_is_not_given_up(documents, others, database, clock):
    two_rows = 2 * X.nbytes
    exact = ExactVectors(others, database, MODEL, budget=two_rows, clock=clock)
    put(documents, "a", [X, X], {"v": ("1",)})
    put(documents, "b", [X, X], {"v": ("2",)})
    put(documents, "c", [X, X, X], {"v": ("3",)})
    assert len(found(exact, {"v": ("1",)})) == 2
    found(exact, {"v": ("2",)})
    found(exact, {"v": ("3",)})
    assert [scope["v"] for _, scope in others.asked] == [("2",), ("3",)]
    clock.now += 61
    assert len(found(exact, {"v": ("2",)})) == 2
    found(exact, {"v": ("1",)})
    assert [scope["v"] for _, scope in others.asked] == [("2",), ("3",), ("1",)]


def test_a_scope_is_searched_while_the_vector_store_is_down(documents, database, clock):
    class Down:
        def query(self, *_arguments):
            raise UnavailableError("down")

    exact = ExactVectors(Down(), database, MODEL, clock=clock)
    put(documents, "a", [X], {"v": ("1",)})
    assert found(exact, {"v": ("1",)}) == ["a:0"]
    with pytest.raises(UnavailableError):
        found(exact, {})
