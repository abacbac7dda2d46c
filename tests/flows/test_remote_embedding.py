"""Vectors from an endpoint, from the settings to the answer: the real model behind a real connection."""

from __future__ import annotations

import numpy as np
import pytest

from bot.app import App
from bot.checks import Verdict, examine
from bot.settings import Settings
from store.errors import EndpointError, IndexMismatchError, UnavailableError
from store.models import load
from store.records import AbstainReason, Question, Status
from store.sources import IngestRequest
from tests.fakes.embedder import HashEmbedder
from tests.fakes.embedding_server import EmbeddingServer, fails

DOCS = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button and sign in again.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night at two.\n",
}
QUESTION = "How do I reset the VPN client?"
QUICK = {"connect_seconds": 1, "question_seconds": 2, "batch_seconds": 5, "retries": 1}


@pytest.fixture
def exact(model_cache):
    """The default model in fp32, as servers run it."""
    return load(cache=model_cache, precision="fp32")


@pytest.fixture
def serve():
    servers = []

    def started(engine, kind="tei", **options):
        servers.append(EmbeddingServer(engine, kind, **options))
        return servers[-1]

    yield started
    for server in servers:
        server.close()


@pytest.fixture
def make(tmp_path, model_cache, monkeypatch):
    monkeypatch.delenv("EMBEDDING_API_KEY", raising=False)
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in DOCS.items():
        (docs / name).write_text(text, encoding="utf-8")
    apps = []

    def made(**embedding):
        apps.append(App(Settings(data=tmp_path / "data", embedding={"cache": model_cache} | embedding)))
        return apps[-1]

    yield made
    for app in apps:
        app.close()


def ingest(app, tmp_path):
    return app.ingestor.run(IngestRequest(paths=(tmp_path / "docs",)))


def ask(app, text=QUESTION):
    return app.engine.ask(Question(text, asker="cli:me"))


def at(server, **options):
    return QUICK | {"base_url": server.url} | options


@pytest.mark.parametrize("kind", ["tei", "openai"])
def test_documents_and_questions_are_embedded_by_the_endpoint(make, serve, exact, tmp_path, kind, monkeypatch):
    server = serve(exact, kind, api_key="secret")
    monkeypatch.setenv("EMBEDDING_API_KEY", "secret")
    app = make(**at(server))
    ingest(app, tmp_path)
    reply = ask(app)
    assert (reply.status, reply.citations[0].document) == (Status.ANSWERED, "vpn.md")
    assert "press the blue button" in reply.answer
    (found,) = [finding for finding in examine(app) if finding.check == "model"]
    assert found.verdict is Verdict.OK
    assert server.url in found.text


def test_a_question_while_the_endpoint_fails_is_unavailable_and_no_gap(make, serve, exact, tmp_path):
    server = serve(exact)
    app = make(**at(server))
    ingest(app, tmp_path)
    assert ask(app).status is Status.ANSWERED
    server.script(fails(500), fails(500))
    reply = ask(app, "Where do I park my bicycle?")
    assert (reply.status, reply.reason, reply.gap) == (Status.ERROR, AbstainReason.UNAVAILABLE, None)
    assert app.gaps.list() == []
    assert ask(app).status is Status.ANSWERED


def test_an_ingest_stops_with_the_endpoint_and_goes_on_where_it_was(make, serve, tmp_path, monkeypatch):
    monkeypatch.setattr("store.ingest_pipeline.BATCH_CHUNKS", 2)
    server = serve(HashEmbedder())
    app = make(**at(server, model="hash", threads=1))
    for number in range(6):
        (tmp_path / "docs" / f"z{number}.md").write_text(f"# Z{number}\n\nA router z{number}.\n", encoding="utf-8")
    assert app.index.embedder
    server.requests.clear()
    good = server.change

    def breaks(rows):
        if len(server.requests) > 2:
            server.script(*[fails(503)] * 50)
        return good(rows)

    server.change = breaks
    with pytest.raises(EndpointError, match="overloaded"):
        ingest(app, tmp_path)
    done = app.documents.counts().documents
    server.change = good
    server.turns.clear()
    summary = ingest(app, tmp_path)
    assert (summary.unchanged, summary.added) == (done, 9 - done)
    assert app.documents.counts().documents == 9
    app.index.check()


def test_an_endpoint_that_was_exchanged_is_refused_until_the_index_is_rebuilt(make, serve, tmp_path):
    server = serve(HashEmbedder())
    app = make(**at(server, model="hash"))
    ingest(app, tmp_path)
    app.close()
    server.engine, server._known = HashEmbedder(revision="2"), {}
    with pytest.raises(IndexMismatchError, match="gaplight reindex"):
        assert make(**at(server, model="hash")).engine
    rebuilt = make(**at(server, model="hash"))
    rebuilt.index.rebuild()
    rebuilt.close()
    again = make(**at(server, model="hash"))
    again.index.check()
    assert again.engine
    held = next(again.documents.iterate_chunks())[0]
    expected = HashEmbedder(revision="2").embed_documents([held.embedded_text])[0]
    np.testing.assert_allclose(np.frombuffer(held.vector, dtype="<f4"), expected, atol=1e-6)


def test_an_endpoint_with_the_model_of_this_machine_needs_no_rebuild_in_fp32_and_one_in_int8(
    make, serve, exact, tmp_path
):
    server = serve(exact, "openai")
    app = make(precision="fp32")
    ingest(app, tmp_path)
    made_by = app.index.embedder.identity.fingerprint
    app.close()
    remote = make(**at(server))
    assert remote.index.embedder.identity.fingerprint == made_by
    assert ask(remote).status is Status.ANSWERED
    remote.close()
    server.change = lambda rows: rows + 0.01
    with pytest.raises(IndexMismatchError, match="gaplight reindex"):
        assert make(**at(server)).engine


def test_a_bot_whose_endpoint_is_not_there_says_so_at_start(make, serve, exact, tmp_path):
    server = serve(exact)
    url = server.url
    server.close()
    with pytest.raises(UnavailableError, match="cannot be reached"):
        assert make(**QUICK, base_url=url).engine


def test_texts_that_leave_the_house_unencrypted_are_warned_of():
    from bot.remote_checks import embedding_endpoint

    settings = Settings(embedding={"base_url": "http://embeddings.example:8080"})
    assert [finding.verdict for finding in embedding_endpoint(settings, "m")] == [Verdict.OK, Verdict.WARNING]
    settings = Settings(embedding={"base_url": "https://embeddings.example"})
    assert [finding.verdict for finding in embedding_endpoint(settings, "m")] == [Verdict.OK]


@pytest.mark.parametrize(
    "embedding", [{"engine": "remote"}, {"base_url": "h:80"}, {"base_url": "http://k:s@h"}, {"max_tokens": 3}]
)
def test_settings_that_cannot_be_meant_are_refused(embedding):
    with pytest.raises(ValueError, match="embedding"):
        Settings(embedding=embedding)


def test_an_engine_of_this_machine_wins_over_an_address():
    assert Settings(embedding={"base_url": "http://h"}).embedding.is_remote
    assert not Settings(embedding={"base_url": "http://h", "engine": "onnx"}).embedding.is_remote
