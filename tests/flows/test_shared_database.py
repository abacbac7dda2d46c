"""Several processes on one PostgreSQL and one Chroma server: what one brings in, all find, and none harms another."""

from __future__ import annotations

import multiprocessing
import time
import uuid

import pytest

from bot.app import App, opened
from bot.settings import Settings
from store.records import Question, Status
from store.sources import IngestRequest
from tests.fakes.chroma_server import ChromaProcess
from tests.fakes.embedder import HashEmbedder

pytestmark = pytest.mark.postgres
_FILES = 6


class _SlowEmbedder(HashEmbedder):
    """Takes a while for each batch, so that two runs overlap and a kill lands between two writes."""

    def embed_documents(self, texts, *, progress=None):
        time.sleep(0.1)
        return super().embed_documents(texts)


@pytest.fixture(scope="module")
def chroma(tmp_path_factory):
    server = ChromaProcess(tmp_path_factory.mktemp("chroma")).start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chromadb", "bot.app", "store.ingest", "tests.fakes.installation"])
    return context


@pytest.fixture
def settings(tmp_path, postgres, chroma):
    """Of one installation; each collection belongs to one test."""
    return Settings(
        data=tmp_path / "data",
        database={"url": postgres.empty_schema()},
        vectors={"url": chroma.url},
        documents={"collection": uuid.uuid4().hex},
    )


@pytest.fixture
def start(settings):
    """Starts what is a process of its own as far as the installation can tell."""
    apps = []

    def started(embedder=None):
        app = App(settings)
        app.index.embedder = embedder or HashEmbedder()
        apps.append(app)
        return app

    yield started
    for app in apps:
        app.close()


def write(folder, *names):
    folder.mkdir(exist_ok=True)
    for name in names:
        parts = "\n".join(f"## Part {part}\n\n{name} fact {part}. {'filler ' * 120}\n" for part in range(3))
        (folder / f"{name}.md").write_text(f"# Page {name}\n\n{parts}", encoding="utf-8")
    return folder


def ingest(app, *paths, **options):
    return app.ingestor.run(IngestRequest(paths=paths, collection=app.settings.documents.collection, **options))


def _ingest_in_process(settings, folder):
    import store.ingest

    store.ingest._BATCH_CHUNKS = 3
    app = App(settings)
    app.index.embedder = _SlowEmbedder()
    ingest(app, folder)
    app.close()


def assert_sound(app, documents):
    """Database, vectors and words have the same chunks, and nothing is left over."""
    collection = app.settings.documents.collection
    counts = app.documents.counts()
    assert counts.documents == documents
    assert app.index.vectors.count(collection) == app.index.lexical.size == counts.chunks
    assert app.documents.stale_collections() == []


def found(app, text):
    collections = (app.settings.documents.collection,)
    return {passage.document for passage in app.engine_parts.searcher.search(text, collections).passages}


def test_two_processes_that_ingest_at_once_take_turns(settings, start, processes, tmp_path):
    folders = [write(tmp_path / name, *(f"{name}{n}" for n in range(_FILES))) for name in ("north", "south")]
    app = start()
    app.database  # noqa: B018 - the schema is made once
    running = [processes.Process(target=_ingest_in_process, args=(settings, folder)) for folder in folders]
    for process in running:
        process.start()
    for process in running:
        process.join(120)
    assert [process.exitcode for process in running] == [0, 0]
    assert_sound(app, 2 * _FILES)
    assert [ingest(app, folder).unchanged for folder in folders] == [_FILES, _FILES]
    assert {"north3.md", "south3.md"} <= found(app, "north3 south3 fact")


def test_a_killed_process_gives_its_turn_back_and_leaves_nothing_behind(settings, start, processes, tmp_path):
    folder = write(tmp_path / "north", *(f"north{n}" for n in range(_FILES)))
    app = start()
    app.database  # noqa: B018
    process = processes.Process(target=_ingest_in_process, args=(settings, folder))
    process.start()
    ends = time.monotonic() + 60
    while not app.documents.counts().documents and time.monotonic() < ends:
        time.sleep(0.02)
    process.kill()
    process.join()
    assert 0 < app.documents.counts().documents < _FILES
    ingest(app, folder)
    assert_sound(app, _FILES)


def test_what_one_process_ingests_and_removes_the_other_answers_by_at_once(start, tmp_path):
    here, there = start(), start()
    folder = write(tmp_path / "docs", "north")
    ingest(here, folder)
    assert found(there, "zanzibar fact") == {"north.md"}
    write(folder, "zanzibar")
    ingest(here, folder)
    collections = (there.settings.documents.collection,)
    assert len(there.index.lexical.search({"zanzibar": 1.0}, 9, collections)) == 3
    assert "zanzibar.md" in found(there, "zanzibar fact")
    (folder / "zanzibar.md").unlink()
    ingest(there, folder)
    assert found(here, "zanzibar fact") == {"north.md"}
    assert_sound(here, 1)


def test_a_process_with_another_model_than_the_index_says_so_instead_of_answering(start, tmp_path):
    """B039, in a running process: another one has built the index anew since."""
    here = start()
    ingest(here, write(tmp_path / "docs", "north"))
    assert here.engine.ask(Question("north fact")).status is not Status.ERROR
    other = start(HashEmbedder(name="other", dimension=32))
    other.index.rebuild()
    time.sleep(0.3)  # the corpus is looked at four times a second
    reply = here.engine.ask(Question("north fact"))
    assert reply.status is Status.ERROR
    assert "'other'" in " ".join(reply.notes)
    assert other.engine.ask(Question("north fact")).status is not Status.ERROR


def test_several_processes_may_open_one_data_folder_when_nothing_is_kept_in_it(settings):
    with opened(settings) as first, opened(settings) as second:
        assert first.documents.counts() == second.documents.counts()
