"""Each check says what it found and the step that mends it; one that fails does not stop the others."""

from __future__ import annotations

import pytest

from bot.answering.llm_http import Endpoint
from bot.app import App
from bot.checks import Verdict, examine
from bot.settings import Settings
from store.errors import ModelError
from store.sources import IngestRequest
from tests.fakes.embedder import HashEmbedder

ORDER = ["python", "disk", "database", "model", "index", "languages", "gate", "connections"]


@pytest.fixture
def make(tmp_path, monkeypatch):
    apps = []
    for name in ("DATABASE_URL", "SLACK_BOT_TOKEN", "DISCORD_TOKEN", "GITHUB_TOKEN", "LLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def made(embedder=None, **settings):
        app = App(Settings(data=tmp_path / "data", **settings))
        app.index.embedder = embedder or HashEmbedder()
        apps.append(app)
        return app

    yield made
    for app in apps:
        app.close()


def ingest(app, tmp_path, text="# VPN\n\nPress the blue button.\n"):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(text, encoding="utf-8")
    app.ingestor.run(IngestRequest(paths=(tmp_path / "docs",)))


def findings(app):
    return {finding.check: finding for finding in examine(app)}


def test_a_healthy_installation_has_no_advice(make, tmp_path):
    app = make()
    ingest(app, tmp_path)
    found = list(examine(app))
    assert [finding.check for finding in found] == ORDER
    assert {finding.verdict for finding in found} == {Verdict.OK}
    assert {finding.advice for finding in found} == {""}


def test_a_data_folder_that_others_may_read_is_a_warning_with_the_command(make, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    found = findings(make())
    assert (found["disk"].verdict, found["disk"].advice) == (Verdict.WARNING, f"Run: chmod o= {tmp_path / 'data'}")


def test_an_empty_index_is_a_warning_with_the_command(make):
    found = findings(make())
    assert (found["index"].verdict, found["index"].advice) == (Verdict.WARNING, "Run: gaplight ingest docs/")
    assert "languages" not in found


def test_a_model_that_fails_stops_no_other_check(make, monkeypatch):
    app = make()
    del app.index.embedder

    def missing():
        raise ModelError("There is no model 'x'.", "Prepare it.")

    monkeypatch.setattr(app.index, "_open_embedder", missing)
    found = findings(app)
    assert (found["model"].verdict, found["model"].text, found["model"].advice) == (
        Verdict.FAILED, "There is no model 'x'.", "Prepare it.",
    )  # fmt: skip
    assert found["database"].verdict is Verdict.OK
    assert "connections" in found


def test_lost_vectors_fail_with_the_command_that_mends_them(make, tmp_path):
    app = make()
    ingest(app, tmp_path)
    app.index.vectors.drop("default", app.index.embedder.identity.fingerprint)
    found = findings(app)
    assert found["index"].verdict is Verdict.FAILED
    assert "gaplight reindex" in found["index"].advice


def test_another_model_than_the_index_was_made_by_fails(make, tmp_path):
    first = make()
    ingest(first, tmp_path)
    first.close()
    found = findings(make(HashEmbedder(name="other", revision="2")))
    assert found["index"].verdict is Verdict.FAILED
    assert "'other'" in found["index"].text


def test_documents_in_a_language_that_the_model_does_not_read_are_a_warning(make, tmp_path):
    app = make()
    ingest(app, tmp_path, "# 年度报告\n\n公司在二零二零年完成了股权收购。\n")
    found = findings(app)
    assert found["languages"].verdict is Verdict.WARNING
    assert "'zh'" in found["languages"].text
    assert "multilingual" in found["languages"].advice


def test_a_gate_that_does_not_refuse_is_a_warning(make):
    gate = findings(make(gate={"mode": "shadow"}))["gate"]
    assert gate.verdict is Verdict.WARNING
    assert "shadow" in gate.text


@pytest.mark.parametrize(
    ("key", "value"),
    [("time", "25:99"), ("nightly", "noon"), ("weekday", "payday"), ("timezone", "Mars/City"), ("channel", "#general")],
)
def test_what_would_end_a_bot_at_its_start_is_found_before(make, key, value):
    found = findings(make(digest={key: value}))["digest"]
    assert found.verdict is Verdict.FAILED
    assert f"digest.{key}" in found.text
    assert value in found.text
    assert found.advice


class Offering:
    """A language model of which only is asked what it offers."""

    def __init__(self, url, key):
        self.endpoint = Endpoint(url, "m", api_key=key)

    def models(self):
        return ("m",)

    def close(self):
        pass


@pytest.mark.parametrize(
    ("url", "key", "warned"),
    [
        ("http://llm.example/v1", "", "Questions and passages go"),
        ("http://llm.example/v1", "hunter2", "LLM_API_KEY, questions and passages go"),
        ("https://llm.example/v1", "hunter2", ""),
        ("http://127.0.0.1:9/v1", "", ""),
    ],
)
def test_a_language_model_that_is_reached_without_encryption_is_warned_of(make, url, key, warned):
    app = make(answer={"mode": "generative"}, llm={"base_url": url, "model": "m"})
    app.llm = Offering(url, key)
    found = findings(app)["llm"]
    assert (found.verdict is Verdict.WARNING) is bool(warned)
    assert found.text.startswith(warned)
    assert "hunter2" not in found.text


def test_tokens_are_named_and_never_shown(make, monkeypatch):
    """B086."""
    assert findings(make())["connections"].text == "none configured, none needed"
    monkeypatch.setenv("GITHUB_TOKEN", "hunter2")
    monkeypatch.setenv("DATABASE_URL", "")
    found = list(examine(make(vectors={"url": "http://x.example"})))
    assert found[-1].text == "vectors at http://x.example, GITHUB_TOKEN is set"
    assert "hunter2" not in str(found)


@pytest.mark.postgres
def test_vectors_in_a_folder_are_not_shared_with_the_database(make, tmp_path, postgres):
    """Two processes on one database would each miss what the other has embedded."""
    app = make(database={"url": postgres.empty_schema()})
    ingest(app, tmp_path)
    warned = [finding for finding in examine(app) if finding.verdict is Verdict.WARNING]
    assert [finding.check for finding in warned] == ["database"]
    assert "set vectors.url to a Chroma server" in warned[0].advice
