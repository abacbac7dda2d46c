"""A question is embedded once, and what is remembered is bounded."""

import numpy as np
import pytest

from store.errors import UsageError
from store.query_cache import CachedQueries
from tests.fakes.embedder import HashEmbedder


class Counting(HashEmbedder):
    def __init__(self):
        super().__init__()
        self.asked = []

    def embed_queries(self, texts):
        if "" in texts:
            raise UsageError("nothing that can be read")
        self.asked.append(list(texts))
        return super().embed_queries(texts)


def test_a_question_that_was_embedded_is_not_embedded_again():
    engine = Counting()
    cached = CachedQueries(engine)
    first = cached.embed_queries(["router", "fan", "router"])
    second = cached.embed_queries(["fan", "cable", "router"])
    assert engine.asked == [["router", "fan"], ["cable"]]
    np.testing.assert_array_equal(first, HashEmbedder().embed_queries(["router", "fan", "router"]))
    np.testing.assert_array_equal(second, HashEmbedder().embed_queries(["fan", "cable", "router"]))


def test_what_was_not_asked_for_longest_is_forgotten_first():
    engine = Counting()
    cached = CachedQueries(engine, remembered=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed_queries([text])
    assert engine.asked == [["a"], ["b"], ["c"], ["b"]]


def test_whoever_changes_a_vector_changes_only_his_own():
    cached = CachedQueries(HashEmbedder())
    cached.embed_queries(["router"])[0, :] = 0
    assert cached.embed_queries(["router"]).any()


def test_long_texts_are_not_remembered():
    engine = Counting()
    cached = CachedQueries(engine)
    for _ in range(2):
        cached.embed_queries(["log " * 1000])
    assert len(engine.asked) == 2


def test_everything_else_is_the_engines_own():
    engine = Counting()
    cached = CachedQueries(engine)
    assert cached.identity == engine.identity
    assert cached.count_tokens("one two") == 2
    assert cached.count_tokens_many(["one", "two three"]) == [1, 2]
    np.testing.assert_array_equal(cached.embed_documents(["fan"]), engine.embed_documents(["fan"]))
    with pytest.raises(UsageError):
        cached.embed_queries([""])
