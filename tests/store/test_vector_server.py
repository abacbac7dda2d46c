"""A Chroma server may be dead, frozen, restarted or emptied: no question hangs, and nothing missing looks like nothing."""

import time

import numpy as np
import pytest

from store.breaker import BreakerPolicy, CircuitBreaker
from store.chroma_address import ChromaServer
from store.errors import ConfigurationError, UnavailableError, VectorsLostError
from store.vector_server import ServerVectors, server_client

X, Y = np.eye(2, 3, dtype=np.float32)


@pytest.fixture
def vectors(chroma, clock, request):
    breaker = CircuitBreaker(BreakerPolicy(failures=2, rest=10.0), clock)
    server = ChromaServer(chroma.url, question_seconds=0.5)
    made = ServerVectors(server, str(abs(hash(request.node.name)))[:8], lambda _: 2, breaker)
    made.upsert("c", ["x", "y"], np.stack([X, Y]), [(), ("v=1",)])
    yield made
    made.close()


def found(vectors):
    return [hit.chunk_id for hit in vectors.query("c", X, 5, {})]


def test_what_is_written_is_found_with_its_scope(vectors):
    assert found(vectors) == ["x", "y"]
    assert [hit.chunk_id for hit in vectors.query("c", X, 5, {"v": ("1",)})] == ["y"]
    assert vectors.count("c") == 2
    vectors.delete("c", ["y"])
    assert vectors.count("c") == 1


def test_a_frozen_server_costs_a_question_its_time_limit_and_after_two_nothing(chroma, vectors, clock):
    assert found(vectors) == ["x", "y"]
    chroma.freeze()
    try:
        for _ in range(2):
            started = time.monotonic()
            with pytest.raises(UnavailableError, match="ReadTimeout"):
                found(vectors)
            assert time.monotonic() - started < 5  # ends at all: the limit is half a second
        with pytest.raises(UnavailableError, match="asked again in 10 s"):
            found(vectors)
    finally:
        chroma.thaw()
    clock.now += 11
    assert found(vectors) == ["x", "y"]


def test_after_a_kill_and_a_restart_everything_is_there_without_a_new_client(chroma, vectors, clock):
    late = ServerVectors(ChromaServer(chroma.url), "late", lambda _: 0, CircuitBreaker(BreakerPolicy(9, 1), clock))
    assert found(vectors) == ["x", "y"]
    chroma.kill()
    for each in (vectors, late):
        with pytest.raises(UnavailableError, match="Connection refused"):
            each.query("c", X, 5, {})
    chroma.start()
    assert found(vectors) == ["x", "y"]
    assert late.query("c", X, 5, {}) == []
    late.close()


def test_a_server_that_lost_its_data_is_an_error_that_names_the_command(chroma, vectors):
    assert found(vectors) == ["x", "y"]
    chroma.kill()
    chroma.lose_everything()
    chroma.start()
    with pytest.raises(VectorsLostError, match="gaplight reindex"):
        found(vectors)
    vectors.upsert("c", ["x", "y"], np.stack([X, Y]), [(), ()])
    assert found(vectors) == ["x", "y"]


def test_a_tenant_that_the_server_does_not_know_is_reported(chroma):
    with pytest.raises(UnavailableError, match="nobody"):
        server_client(ChromaServer(chroma.url, tenant="nobody"))


@pytest.mark.parametrize("url", ["chroma:8000", "ftp://host", "http://", "", "http://host:99999"])
def test_a_server_address_that_is_none_is_refused(url):
    with pytest.raises(ConfigurationError, match=r"vectors\.url"):
        server_client(ChromaServer(url))


def test_chroma_cloud_is_told_whose_it_is():
    with pytest.raises(ConfigurationError, match=r"vectors\.tenant") as caught:
        server_client(ChromaServer("https://api.trychroma.com", api_key="k"))
    assert "VECTORS_API_KEY" in caught.value.next_step


def test_a_server_that_does_not_answer_is_reported_with_its_address():
    with pytest.raises(UnavailableError, match=r"vector store at http://127\.0\.0\.1:9 failed") as caught:
        server_client(ChromaServer("http://127.0.0.1:9"))
    assert "vectors.url" in caught.value.next_step


def test_what_a_library_adds_below_its_reason_is_left_out(chroma):
    with pytest.raises(UnavailableError) as caught:
        server_client(ChromaServer(f"{chroma.url}/no/such/place"))
    assert "404" in caught.value.problem
    assert "\n" not in caught.value.problem
    assert not caught.value.problem.endswith("..")


def test_the_key_goes_into_the_header_that_is_asked_for():
    assert ChromaServer("http://h", api_key="k").headers == {"X-Chroma-Token": "k"}
    assert ChromaServer("http://h", api_key="k", key_header="authorization").headers == {"authorization": "Bearer k"}
    assert ChromaServer("http://h").headers == {}
    assert "k9" not in repr(ChromaServer("http://h", api_key="k9"))


@pytest.mark.parametrize(
    ("url", "local"), [("http://127.0.0.1:8000", True), ("http://[::1]:8000", True), ("http://chroma:8000", False)]
)
def test_an_address_says_whether_it_is_on_this_machine(url, local):
    assert ChromaServer(url).is_local is local
