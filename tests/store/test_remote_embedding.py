"""An endpoint keeps the promises of an engine on this machine, or says what is wrong."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from store.embedding import ModelIdentity
from store.errors import EndpointError, ModelError, UnavailableError, UsageError
from store.remote_embedding_http import EmbeddingHttp, Endpoint
from store.remote_embedding_identity import Known, agreement, recognised
from store.remote_embedding_load import RemoteOptions, load_remote, openai_url, tei_root
from store.remote_embedding_tokens import estimated
from tests.fakes.embedder import HashEmbedder
from tests.fakes.embedding_server import EmbeddingServer, breaks_off, fails
from tests.fakes.http_server import drips, hangs, replies

QUICK = {"connect_seconds": 1.0, "question_seconds": 0.3, "batch_seconds": 5.0, "retries": 2}
TEXTS = [f"the router number {n} has a fan of {n} cm" for n in range(70)]


class Memory(dict):
    """What the database keeps."""

    def index_state(self, key):
        return self.get(key)

    def set_index_state(self, key, value):
        self[key] = value


@pytest.fixture
def serve():
    servers = []

    def started(kind="tei", engine=None, **options):
        servers.append(EmbeddingServer(engine or HashEmbedder(), kind, **options))
        return servers[-1]

    yield started
    for server in servers:
        server.close()


@pytest.fixture
def connect():
    opened = []

    def connected(server, memory=None, made_by=None, *, local=lambda _: None, limits=None, api_key="", **options):
        endpoint = Endpoint(server.url, api_key, **(QUICK | (limits or {})))
        embedder = load_remote(
            endpoint,
            RemoteOptions(**({"model": "hash"} | options)),
            Memory() if memory is None else memory,
            made_by,
            local,
        )
        opened.append(embedder)
        server.requests.clear()
        return embedder

    yield connected
    for embedder in opened:
        embedder.close()


def sent(server):
    return [request.get("inputs") or request.get("input") for request in server.requests]


@pytest.mark.parametrize("kind", ["tei", "openai"])
@pytest.mark.parametrize("base64", [False, True])
def test_vectors_are_those_of_the_engine_behind_it_in_order_and_of_unit_length(serve, connect, kind, base64):
    server = serve(kind)
    server.base64 = base64
    server.change = lambda rows: rows * 3
    embedder = connect(server)
    told = []
    rows = embedder.embed_documents(TEXTS, progress=told.append)
    np.testing.assert_allclose(rows, HashEmbedder().embed_documents(TEXTS), atol=1e-6)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert told == [32, 64, 70]
    assert embedder.embed_documents([]).shape == (0, 64)


def test_batches_are_no_larger_than_the_endpoint_takes(serve, connect):
    server = serve()
    server.most = 7
    embedder = connect(server, batch_size=50)
    embedder.embed_documents(TEXTS)
    assert max(len(batch) for batch in sent(server)) == 7


def test_a_batch_that_is_too_much_is_sent_in_halves(serve, connect):
    server = serve("openai")
    server.most = 9
    embedder = connect(server, batch_size=32)
    np.testing.assert_allclose(
        embedder.embed_documents(TEXTS[:32]), HashEmbedder().embed_documents(TEXTS[:32]), atol=1e-6
    )


@pytest.mark.parametrize("fault", [fails(429), fails(503, Retry_After="0.01"), fails(500), breaks_off])
def test_what_passes_by_is_tried_again(serve, connect, fault):
    server = serve()
    embedder = connect(server)
    server.script(fault)
    assert embedder.embed_documents(["router"]).shape == (1, 64)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("fault", "says_so"),
    [
        (replies(b"<html>"), "not JSON"),
        (replies([[1.0, 2.0]]), "2 dimensions instead of 64"),
        (replies([[1.0] * 64] * 2), "2 vectors for 1 texts"),
        (replies(b"[[NaN]]"), "NaN"),
        (fails(401), "EMBEDDING_API_KEY"),
        (fails(404), "embedding.base_url"),
        (fails(429, Retry_After="60"), "overloaded"),
        (hangs, "within"),
        (drips, "within"),
    ],
)
def test_a_question_ends_soon_in_an_error_that_says_what_to_do(serve, connect, fault, says_so):
    server = serve()
    embedder = connect(server)
    server.script(*[fault] * 3)
    started = time.monotonic()
    with pytest.raises((UnavailableError, ModelError), match=says_so) as caught:
        embedder.embed_queries(["router"])
    assert caught.value.next_step
    assert time.monotonic() - started < 5  # ends at all: the limit is 0.3 s


def test_after_failures_nobody_waits_until_one_question_finds_it_well(serve, connect):
    server = serve()
    embedder = connect(server)
    server.script(*[fails(404)] * 3)
    for _ in range(3):
        with pytest.raises(EndpointError):
            embedder.embed_queries(["router"])
    with pytest.raises(EndpointError, match="asked again in"):
        embedder.embed_queries(["router"])
    assert len(server.requests) == 3
    assert embedder.embed_documents(TEXTS[:9]).shape == (9, 64)  # an ingest is not held back


def test_the_model_is_looked_at_again_after_it_was_out_of_reach(serve, connect):
    """Endpoints are exchanged while they are down."""
    server = serve()
    embedder = connect(server)
    server.script(fails(404))
    with pytest.raises(EndpointError):
        embedder.embed_queries(["router"])
    server.change = lambda rows: rows[:, ::-1]
    for call in (embedder.embed_queries, embedder.embed_documents):
        with pytest.raises(ModelError, match="its model has changed") as caught:
            call(["router"])
        assert "gaplight reindex" in caught.value.next_step
    server.change = lambda rows: rows
    np.testing.assert_allclose(embedder.embed_queries(["router"]), HashEmbedder().embed_queries(["router"]), atol=1e-6)


def test_threads_share_one_endpoint(serve, connect):
    server = serve()
    embedder = connect(server, limits={"question_seconds": 20})
    wanted = HashEmbedder().embed_documents(TEXTS)
    wrong = []

    def ask(start):
        for place in range(start, 70, 8):
            row = embedder.embed_queries([TEXTS[place]])[0]
            if not np.allclose(row, wanted[place], atol=1e-6):
                wrong.append(place)

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("text", ["", "\u200b", "?"])
def test_text_without_a_word_is_refused_before_it_is_sent(serve, connect, text):
    embedder = connect(serve())
    with pytest.raises(UsageError, match="Text 2 of 2"):
        embedder.embed_documents(["fine", text])


def test_a_key_is_sent_and_a_wrong_one_named(serve, connect):
    server = serve(api_key="secret")
    assert connect(server, api_key="secret").embed_queries(["router"]).shape == (1, 64)
    with pytest.raises(EndpointError, match="refused the key") as caught:
        connect(server, api_key="false")
    assert "false" not in str(caught.value)
    assert "secret" not in repr(Endpoint("http://x", "secret"))


# Nothing is cut in silence


def test_a_document_that_is_too_long_is_refused_and_a_question_read_in_windows(serve, connect):
    server = serve()
    embedder = connect(server)
    limit = embedder.identity.max_tokens
    assert limit == 256
    embedder.embed_documents([" ".join(["router"] * limit)])
    with pytest.raises(UsageError, match="257 tokens is longer than the 256"):
        embedder.embed_documents([" ".join(["router"] * (limit + 1))])
    server.requests.clear()
    embedder.embed_queries([" ".join(["router"] * (limit + 1))])
    assert [len(batch) for batch in sent(server)] == [2]


@pytest.mark.parametrize("kind", ["tei", "openai"])
def test_an_endpoint_that_cuts_what_it_should_read_is_refused_at_once(serve, connect, kind):
    server = serve(kind)
    server.reads, server.cuts = 40, True
    with pytest.raises(ModelError, match="does not read texts of 300 tokens to their end") as caught:
        connect(server, max_tokens=300)
    assert "embedding.max_tokens" in caught.value.next_step


def test_an_endpoint_that_refuses_what_it_should_read_is_refused_at_once(serve, connect):
    server = serve("openai")
    server.reads = 100
    with pytest.raises(ModelError, match="refuses a text of 300 tokens"):
        connect(server, max_tokens=300)


def test_tokens_are_counted_by_the_endpoint_where_it_can(serve, connect):
    embedder = connect(serve())
    assert embedder.count_tokens_many(["one two three", "four"]) == [3, 1]
    assert embedder.token_offsets("ab  cd") == [(0, 2), (4, 6)]


def test_the_tokeniser_of_an_installed_model_is_taken_by_its_name(serve, connect, minilm):
    server = serve("openai", minilm)
    server.reads = 254
    embedder = connect(server, model="all-MiniLM-L6-v2")
    assert embedder.identity.max_tokens == minilm.identity.max_tokens == 254
    assert embedder.identity.languages == minilm.identity.languages
    text = "Kubernetes' kube-proxy restarts, 12,50 € 👍"
    assert embedder.count_tokens(text) == minilm.count_tokens(text)


def test_an_estimate_is_above_what_the_default_tokeniser_counts(minilm):
    texts = [
        "Before the certificate of a service is changed, note its present state in the log and run the check.",
        "kubectl get pods -n kube-system --field-selector=status.phase!=Running -o json | jq '.items[]'",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "def f(x):\n    return {k: v for k, v in x.items() if k.startswith('_')}\n\n\n# done\n",
        "如何重置我的密码？请联系管理员，或者在登录页面点击忘记密码。",
        "Crème brûlée, naïve façade, Ærøskøbing; Как восстановить пароль?",
        "getElementById XMLHttpRequest internationalization antidisestablishmentarianism",
        "| a | b |\n|---|---|\n| 1.2.3 | 2026-06-01T12:00:00Z |",
    ]
    for text in texts:
        spans = estimated(text)
        assert minilm.count_tokens(text) <= len(spans) <= 3 * minilm.count_tokens(text)
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert spans == sorted(spans)


# Which model it is


def test_the_same_model_is_recognised_whatever_it_is_called_and_wherever_it_runs(serve, connect):
    memory = Memory()
    first = connect(serve(), memory).identity
    second = connect(serve("openai"), memory, first, model="other-name", max_tokens=first.max_tokens).identity
    assert (second.name, second.fingerprint) == ("other-name", first.fingerprint)


def test_noise_of_half_precision_is_still_the_same_model(serve, connect):
    memory, server = Memory(), serve()
    first = connect(server, memory).identity
    server.change = lambda rows: (rows + np.random.default_rng(1).normal(size=rows.shape) * 1e-3).astype(np.float16)
    assert connect(server, memory, first).identity.fingerprint == first.fingerprint


def test_a_model_that_was_exchanged_gets_another_identity_and_keeps_it(serve, connect):
    """B039: same name, same size, other vectors."""
    memory, server = Memory(), serve()
    first = connect(server, memory).identity
    server.engine, server._known = HashEmbedder(revision="2"), {}
    second = connect(server, memory, first).identity
    assert second.fingerprint != first.fingerprint
    assert connect(server, memory, first).identity.fingerprint == second.fingerprint


def test_another_prefix_is_another_identity(serve, connect):
    memory, server = Memory(), serve()
    first = connect(server, memory).identity
    assert connect(server, memory, first, query_prefix="query: ").identity.fingerprint != first.fingerprint


def test_an_endpoint_with_the_model_of_this_machine_takes_its_index_over(serve, connect, minilm):
    """The fp32 export and the original agree; then no vector has to be made again."""
    from store.model_probe import PROBES

    made_by = minilm.identity
    probes = minilm.embed_documents(list(PROBES))
    server = serve("tei", minilm)
    server.change = lambda rows: rows + 1e-4
    memory = Memory()
    same = connect(server, memory, made_by, local=lambda _: probes, model="all-MiniLM-L6-v2").identity
    assert (same.fingerprint, same.engine) == (made_by.fingerprint, "remote")
    again = connect(server, memory, made_by, local=lambda _: pytest.fail("known by now"), model="all-MiniLM-L6-v2")
    assert again.identity.fingerprint == made_by.fingerprint
    other = connect(server, Memory(), made_by, local=lambda _: -probes, model="all-MiniLM-L6-v2").identity
    assert other.fingerprint != made_by.fingerprint


def test_an_index_that_was_cut_for_less_stays_as_it_is_unless_the_length_is_prescribed():
    probes = np.eye(3, dtype=np.float32)
    was = ModelIdentity("m", "r1", 3, 100, engine="remote")
    draft = replace(was, revision="", max_tokens=200)
    known = [Known(was, probes)]
    assert recognised(probes, draft, known, fixed_tokens=False).max_tokens == 100
    assert recognised(probes, draft, known, fixed_tokens=True).max_tokens == 200
    assert recognised(probes, replace(draft, max_tokens=50), known, fixed_tokens=False).max_tokens == 50
    assert agreement(probes, np.eye(4, dtype=np.float32)) == -1.0


def test_what_is_kept_of_an_older_form_is_no_obstacle(serve, connect):
    memory = Memory({"embedding-probe:latest": {"vectors": "AAA"}, "embedding-probe:r": 3})
    connect(serve(), memory, ModelIdentity("m", "r", 64, 100, engine="remote"))


# Addresses


@pytest.mark.parametrize(
    ("base", "openai", "tei"),
    [
        ("http://h:8080", "http://h:8080/v1/embeddings", "http://h:8080"),
        ("http://h:8080/", "http://h:8080/v1/embeddings", "http://h:8080"),
        ("https://h/v1", "https://h/v1/embeddings", "https://h"),
        ("https://h/proxy/v3/", "https://h/proxy/v3/embeddings", "https://h/proxy/v3"),
    ],
)
def test_addresses_with_and_without_a_path(base, openai, tei):
    assert (openai_url(base), tei_root(base)) == (openai, tei)


def test_an_endpoint_that_is_not_there_says_so(serve):
    server = serve()
    url = server.url
    server.close()
    http = EmbeddingHttp(Endpoint(url, **QUICK), pause=lambda _: None)
    with pytest.raises(EndpointError, match="cannot be reached"):
        http.call(f"{url}/info", None, 2)
    http.close()
