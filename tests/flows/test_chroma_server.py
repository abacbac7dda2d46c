"""Questions while the Chroma server is down, and after it: words answer, no gap is opened, nobody restarts the bot."""

from __future__ import annotations

import time

import pytest

from bot.app import App
from bot.checks import Verdict, examine
from bot.remote_checks import vector_server
from bot.settings import Settings
from store.breaker import BreakerPolicy, CircuitBreaker
from store.errors import IndexMismatchError
from store.records import Question, Status
from store.sources import IngestRequest

DOCS = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button and sign in again.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night at two.\n",
}
ANSWERABLE = "How do I reset the VPN client?"
UNANSWERABLE = "Where do I park my bicycle?"


@pytest.fixture
def make(tmp_path, chroma, minilm, clock, request):
    apps = []

    def made(**vectors):
        chosen = {"url": chroma.url, "question_seconds": 0.5} | vectors
        collection = request.node.name
        app = App(Settings(data=tmp_path, vectors=chosen, documents={"collection": collection}))
        app.index.embedder = minilm
        app.index.vectors._others._breaker = CircuitBreaker(BreakerPolicy(failures=2, rest=10.0), clock)
        apps.append(app)
        return app

    yield made
    for app in apps:
        app.close()


@pytest.fixture
def filled(make, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in DOCS.items():
        (docs / name).write_text(text, encoding="utf-8")
    app = make()
    app.ingestor.run(IngestRequest(paths=(docs,), collection=app.settings.documents.collection))
    return app


def ask(app, text=ANSWERABLE):
    return app.engine.ask(Question(text, asker="cli:me"))


def assert_words_alone_answer(app):
    """Also where the documents have no answer: what the other route had found nobody knows."""
    reply = ask(app)
    assert (reply.status, reply.citations[0].document) == (Status.ANSWERED, "vpn.md")
    assert any("vector store" in note for note in reply.notes)
    assert {passage.dense_rank for passage in reply.passages} == {None}
    reply = ask(app, UNANSWERABLE)
    assert (reply.status, reply.gap) == (Status.ABSTAINED, None)
    assert app.gaps.list() == []


def assert_all_is_well(app):
    reply = ask(app)
    assert reply.status is Status.ANSWERED
    assert not any("vector store" in note for note in reply.notes)
    assert {passage.dense_rank is None for passage in reply.passages} == {False}
    assert ask(app, UNANSWERABLE).gap


def test_a_frozen_server_delays_two_questions_and_opens_no_gap(filled, chroma, clock):
    assert ask(filled).status is Status.ANSWERED
    chroma.freeze()
    try:
        started = time.monotonic()
        assert_words_alone_answer(filled)
        assert_words_alone_answer(filled)
        assert time.monotonic() - started < 20  # comes back at all: the limit is half a second
    finally:
        chroma.thaw()
    clock.now += 11
    assert_all_is_well(filled)


def test_a_killed_server_is_used_again_when_it_is_back(filled, chroma, clock):
    chroma.kill()
    assert_words_alone_answer(filled)
    chroma.start()
    clock.now += 11
    assert_all_is_well(filled)


def test_a_bot_that_starts_while_the_server_is_down_answers_by_words_and_then_by_both(filled, make, chroma, clock):
    filled.close()
    chroma.kill()
    app = make()
    assert_words_alone_answer(app)
    chroma.start()
    clock.now += 11
    assert_all_is_well(app)


def test_a_server_that_lost_its_vectors_is_noticed_while_running_and_refused_at_start(filled, make, chroma, clock):
    assert ask(filled).status is Status.ANSWERED
    chroma.kill()
    chroma.lose_everything()
    chroma.start()
    assert_words_alone_answer(filled)
    assert any("gaplight reindex" in note or "holds 0 of" in note for note in ask(filled).notes)
    with pytest.raises(IndexMismatchError, match="gaplight reindex"):
        assert make().engine
    make().index.rebuild()
    assert_all_is_well(filled)


def test_a_rebuild_by_another_process_is_followed(filled, make):
    assert ask(filled).status is Status.ANSWERED
    make().index.rebuild()
    assert_all_is_well(filled)


def test_the_doctor_names_the_server_and_says_when_it_is_down(filled, make, chroma):
    (found,) = [finding for finding in examine(filled) if finding.check == "vectors"]
    assert found.verdict is Verdict.OK
    assert chroma.url in found.text
    chroma.kill()
    (found,) = [finding for finding in examine(filled) if finding.check == "vectors"]
    assert found.verdict is Verdict.FAILED
    chroma.start()


@pytest.mark.parametrize(
    ("url", "key", "verdicts", "word"),
    [
        ("http://chroma.internal:8000", "", [Verdict.OK, Verdict.WARNING], "do nothing"),
        ("http://chroma.internal:8000", "k", [Verdict.OK, Verdict.WARNING], "in the clear"),
        ("https://chroma.internal", "", [Verdict.OK, Verdict.WARNING], "without a key"),
        ("https://chroma.internal", "k", [Verdict.OK], ""),
        ("http://127.0.0.1:8000", "", [Verdict.OK], ""),
    ],
)
def test_a_server_that_others_can_read_is_warned_of(monkeypatch, url, key, verdicts, word):
    monkeypatch.setattr("store.vector_server.server_version", lambda _server: "1.5.9")
    monkeypatch.setenv("VECTORS_API_KEY", key)
    found = list(vector_server(Settings(vectors={"url": url})))
    assert [finding.verdict for finding in found] == verdicts
    assert word in found[-1].text
