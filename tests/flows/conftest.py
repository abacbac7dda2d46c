"""Several processes of one installation: a PostgreSQL schema and a collection of one Chroma server for each test."""

from __future__ import annotations

import multiprocessing
import uuid

import pytest

from bot.app import App
from bot.settings import Settings
from tests.fakes.chroma_server import ChromaProcess
from tests.fakes.embedder import HashEmbedder


@pytest.fixture(scope="session")
def shared_chroma(tmp_path_factory):
    server = ChromaProcess(tmp_path_factory.mktemp("chroma")).start()
    yield server
    server.close()


@pytest.fixture(scope="session")
def forked():
    """Starts processes that have the heavy modules already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chromadb", "bot.app", "store.ingest", "tests.fakes.installation"])
    return context


@pytest.fixture
def shared(tmp_path, postgres, shared_chroma):
    """Settings of one installation; each collection belongs to one test."""
    return Settings(
        data=tmp_path / "data",
        database={"url": postgres.empty_schema()},
        vectors={"url": shared_chroma.url},
        documents={"collection": uuid.uuid4().hex},
    )


@pytest.fixture
def start(shared):
    """Starts what is a process of its own as far as the installation can tell."""
    apps = []

    def started(embedder=None):
        app = App(shared)
        app.index.embedder = embedder or HashEmbedder()
        apps.append(app)
        return app

    yield started
    for app in apps:
        app.close()
