"""Several processes that ingest at once, over one PostgreSQL and one Chroma server, share the work and lose none."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import pytest
from sqlalchemy import select

from bot.app import App
from store.document_claims import DocumentClaims
from store.tables import document_claims
from tests.fakes.embedder import HashEmbedder
from tests.fakes.shared import assert_sound, found, ingest, write

pytestmark = pytest.mark.postgres
_FILES = 24
_CHUNKS = 3 * _FILES
_LEASE = timedelta(seconds=3)


class SlowEmbedder(HashEmbedder):
    """Takes a while for each batch, so that a kill lands between two writes.

    The first batch waits until each process has one, so that runs overlap however unevenly the machine lets them run.
    """

    def __init__(self, together):
        super().__init__()
        self._together = together

    def embed_documents(self, texts, *, progress=None):
        if not self.embedded:
            self._together.wait(60)
        time.sleep(0.1)
        return super().embed_documents(texts)


def run(settings, folders, report, together):
    """What a process does: ingest each folder once all are ready, and write down what came of it."""
    import store.ingest_files
    import store.ingest_pipeline

    store.ingest_pipeline.BATCH_CHUNKS, store.ingest_files._GROUP_FILES = 3, 1
    app = App(settings)
    app.index.embedder = SlowEmbedder(together)
    app.index.claims = DocumentClaims(app.database, _LEASE)
    together.wait(60)
    told = [ingest(app, folder).as_json() for folder in folders]
    report.write_text(json.dumps({"embedded": app.index.embedder.embedded, "told": told}))
    app.close()


@pytest.fixture
def launch(forked, shared, start, tmp_path):
    """Starts processes that begin at the same moment; gives them with the files that they report in."""
    start().database  # noqa: B018 - the schema is made once
    running, barriers = [], []

    def launched(*folders_of_each):
        together = forked.Barrier(len(folders_of_each))
        barriers.append(together)  # it lives for as long as this process knows it
        for number, folders in enumerate(folders_of_each):
            report = tmp_path / f"report-{number}.json"
            process = forked.Process(target=run, args=(shared, folders, report, together))
            process.start()
            running.append((process, report))
        return running

    yield launched
    for process, _ in running:
        process.kill()
        process.join()


def reported(running):
    """What the processes wrote down, once all have ended well."""
    for process, _ in running:
        process.join(120)
    assert [process.exitcode for process, _ in running] == [0] * len(running)
    return [json.loads(report.read_text()) for _, report in running]


def until(app, documents):
    ends = time.monotonic() + 60
    while app.documents.counts().documents < documents:
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.parametrize("processes", [2, 3])
def test_processes_share_the_files_of_one_folder(start, launch, tmp_path, processes):
    folder = write(tmp_path / "north", *(f"north{n}" for n in range(_FILES)))
    reports = reported(launch(*[[folder]] * processes))
    assert sum(each["embedded"] for each in reports) == _CHUNKS
    assert all(each["embedded"] for each in reports)
    told = [each["told"][0] for each in reports]
    assert (sum(one["added"] for one in told), sum(one["chunks"] for one in told)) == (_FILES, _CHUNKS)
    assert {(one["added"] + one["unchanged"], one["documents"], len(one["failed"])) for one in told} == {
        (_FILES, _FILES, 0)
    }
    app = start()
    assert_sound(app, _FILES)
    assert ingest(app, folder).unchanged == _FILES
    assert "north3.md" in found(app, "north3 fact")


def test_processes_with_folders_of_their_own_do_not_wait_for_each_other_to_end(start, launch, tmp_path):
    folders = [write(tmp_path / name, *(f"{name}{n}" for n in range(_FILES // 2))) for name in ("north", "south")]
    reports = reported(launch([folders[0]], [folders[1]]))
    assert [each["told"][0]["added"] for each in reports] == [_FILES // 2] * 2
    app = start()
    assert_sound(app, _FILES)
    assert [ingest(app, folder).unchanged for folder in folders] == [_FILES // 2] * 2
    assert {"north3.md", "south3.md"} <= found(app, "north3 south3 fact")


@pytest.mark.parametrize("files", [3, 9, 15])
def test_what_a_killed_process_had_begun_is_finished_by_the_other(start, launch, tmp_path, files):
    folder = write(tmp_path / "north", *(f"north{n}" for n in range(_FILES)))
    app = start()
    (killed, _), *others = launch([folder], [folder])
    until(app, files)
    killed.kill()
    killed.join()
    (report,) = reported(others)
    assert report["told"][0]["added"] + report["told"][0]["unchanged"] == _FILES
    assert_sound(app, _FILES)
    assert ingest(app, folder).unchanged == _FILES


def test_a_run_after_a_killed_one_finishes_what_that_had_begun(start, launch, tmp_path):
    folder = write(tmp_path / "north", *(f"north{n}" for n in range(_FILES)))
    app = start()
    ((killed, _),) = launch([folder])
    until(app, 3)
    killed.kill()
    killed.join()
    assert 0 < app.documents.counts().documents < _FILES
    told = []
    app.index.report = told.append
    summary = ingest(app, folder)
    assert (summary.unchanged + summary.added, summary.elsewhere) == (_FILES, 0)
    assert all(sentence.startswith("Waiting for other runs") for sentence in told)
    with app.database.connect() as connection:
        assert connection.scalars(select(document_claims.c.owner)).all() == []
    assert_sound(app, _FILES)


def test_files_that_change_while_processes_ingest_are_in_as_they_are_after_the_next_run(start, launch, tmp_path):
    folder = write(tmp_path / "north", *(f"north{n}" for n in range(_FILES)))
    app = start()
    running = launch([folder, folder], [folder, folder])
    until(app, 5)
    for number in range(_FILES):
        (folder / f"north{number}.md").write_text(f"# Page {number}\n\nzanzibar {number}\n")
    reported(running)
    assert_sound(app, _FILES)
    assert app.documents.counts().chunks == _FILES
    assert ingest(app, folder).unchanged == _FILES
