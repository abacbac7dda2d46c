"""Runs at the same time share the files of a folder; whoever ends first, each ends with everything in."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from store.document_claims import LEASE, DocumentClaims
from store.documents import DocumentStore
from store.errors import IndexMismatchError
from store.index import Index
from store.ingest_summary import IngestSummary
from store.source_ingest import SourceDocument, SourceIngestor
from store.tables import document_claims
from tests.fakes.embedder import HashEmbedder
from tests.fakes.installation import Installation

_FILES = 6


class HeldEmbedder(HashEmbedder):
    """Stops at one text until it is let go on, the first time that it is embedded."""

    def __init__(self, word, **options):
        super().__init__(**options)
        self.fails = False
        self.stop_at(word)

    def stop_at(self, word):
        self._word = word
        self.reached, self.go_on = threading.Event(), threading.Event()

    def embed_documents(self, texts, *, progress=None):
        if not self.reached.is_set() and any(self._word in text for text in texts):
            self.reached.set()
            assert self.go_on.wait(60)
            if self.fails:
                raise RuntimeError("on purpose")
        return super().embed_documents(texts)


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch):
    monkeypatch.setattr("store.ingest_pipeline.BATCH_CHUNKS", 1)
    monkeypatch.setattr("store.ingest_files._GROUP_FILES", 1)


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(_FILES):
        write(folder, number, "old")
    return folder


@pytest.fixture
def here(tmp_path, database):
    installation = Installation(tmp_path / "data", HeldEmbedder("fact0"), database)
    installation.index.claims = DocumentClaims(database, clock=lambda _connection: installation.clock())
    yield installation
    installation.embedder.go_on.set()
    installation.index.close()


@pytest.fixture
def first(here, docs):
    """A run that has begun, and stands still before it embeds the first file; it has read one more."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(here.ingest, docs)
        assert here.embedder.reached.wait(20)
        until(lambda: claimed(here) == 2)
        yield running
        here.embedder.go_on.set()


def write(folder, number, version):
    (folder / f"{number}.md").write_text(f"# Page {number}\n\nThe {version} fact{number} is here.\n")


def until(holds):
    ends = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)


def claimed(here):
    with here.database.connect() as connection:
        return connection.scalar(select(func.count()).select_from(document_claims))


def outcome(summary: IngestSummary):
    return summary.added, summary.updated, summary.unchanged, summary.elsewhere, len(summary.failed)


def assert_sound(here):
    live = here.live_ids()
    assert here.index.vectors.count("default") == here.index.lexical.size == len(live)
    assert here.documents.stale_collections() == []


def test_a_run_brings_in_what_others_leave_and_waits_for_what_they_have(here, docs, first):
    told = []
    here.index.report = told.append
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(here.ingest, docs)
        until(lambda: told or second.done())
        assert not second.done()
        done = here.documents.counts().documents
        here.embedder.go_on.set()
        summaries = [first.result(20), second.result(20)]
    assert told == [f"Waiting for other runs, which are bringing in {_FILES - done} of the documents."]
    assert 0 < done < _FILES
    assert [outcome(summary)[0] for summary in summaries] == [_FILES - done, done]
    assert all(one.added + one.elsewhere == one.added + one.unchanged == _FILES for one in summaries)
    assert here.embedder.embedded == sum(one.chunks for one in summaries) == _FILES
    assert_sound(here)


def test_what_a_run_that_fails_had_claimed_is_brought_in_by_the_one_that_waits(here, docs, first):
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(here.ingest, docs)
        here.embedder.fails = True
        here.embedder.go_on.set()
        with pytest.raises(RuntimeError, match="on purpose"):
            first.result(20)
        assert second.result(20).added == _FILES
    assert_sound(here)


def test_a_run_that_slept_for_longer_than_its_lease_overwrites_nothing_newer(here, docs, first):
    here.clock.forward(seconds=LEASE.total_seconds() + 1)
    write(docs, 0, "new")
    assert here.ingest(docs).added == _FILES
    here.embedder.go_on.set()
    assert outcome(first.result(20)) == (0, 0, _FILES, _FILES, 0)
    assert "new" in here.search("fact0").passages[0].text
    assert here.embedder.embedded == _FILES + 2  # the file that it stood still at, and the one read ahead
    assert_sound(here)


def test_a_file_that_changes_while_another_run_reads_it_is_brought_in_as_it_is_now(here, docs, first):
    write(docs, 0, "new")
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(here.ingest, docs)
        time.sleep(0.3)
        here.embedder.go_on.set()
        assert first.result(20).added >= 1
        assert second.result(20).updated == 1
    assert "new" in here.search("fact0").passages[0].text
    assert_sound(here)


@pytest.mark.parametrize("ruin", [lambda file: file.write_text(""), lambda file: file.unlink()], ids=["empty", "gone"])
def test_a_file_that_can_no_longer_be_read_when_another_run_is_done_with_it_is_reported(here, docs, first, ruin):
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(here.ingest, docs)
        until(lambda: here.documents.counts().documents == _FILES - 2)
        ruin(docs / "0.md")
        here.embedder.go_on.set()
        assert (first.result(20).failed, [issue.path for issue in second.result(20).failed]) == ([], ["0.md"])
    assert claimed(here) == 0


def test_a_run_removes_nothing_that_another_has_brought_in_since_it_looked(here, docs):
    here.embedder.stop_at("slow")
    here.ingest(docs)
    (docs / "0.md").unlink()
    write(docs, 1, "slow")
    with ThreadPoolExecutor(2) as pool:
        looked = pool.submit(here.ingest, docs)
        assert here.embedder.reached.wait(20)
        write(docs, 0, "new")
        other = pool.submit(here.ingest, docs)
        until(lambda: any("new" in text for text in here.state()["0.md"]))
        here.embedder.go_on.set()
        assert (looked.result(20).removed, other.result(20).updated) == (0, 1)
    assert "new" in here.search("fact0").passages[0].text
    assert_sound(here)


def test_a_document_from_elsewhere_need_not_wait_for_the_end_of_a_run(here, first):
    source = SourceDocument("default", "github:page", "github", "page.md", "page.md", b"# Page\n\nfrom elsewhere\n")
    assert SourceIngestor(here.index).add(source).changed
    assert here.found("elsewhere") == ["page.md"]
    here.embedder.go_on.set()
    assert first.result(20).added == _FILES
    assert_sound(here)


def other_process(here, embedder):
    """The same database and indexes, as another process has them."""
    documents = DocumentStore(here.database)
    return Index(documents, lambda: embedder, here.index._open_vectors, lambda: here.index.lexical)


def test_an_index_that_is_built_anew_during_a_run_is_complete_after_it(here, first):
    other_process(here, HashEmbedder()).rebuild()
    here.embedder.go_on.set()
    assert first.result(20).added == _FILES
    assert_sound(here)
    here.index.check()


def test_a_run_whose_model_is_exchanged_on_the_way_ends_and_mixes_nothing(here, docs, first):
    write(docs, _FILES, "old")
    other = other_process(here, HashEmbedder(revision="2"))
    source = SourceDocument("default", "github:page", "github", "page.md", "page.md", b"# Page\n\nfrom elsewhere\n")
    SourceIngestor(here.index).add(source)
    other.rebuild()
    here.embedder.go_on.set()
    with pytest.raises(IndexMismatchError, match="gaplight reindex"):
        first.result(20)
    other.check()
    assert other.documents.counts().documents == 1


def test_runs_over_pages_of_one_site_remember_what_either_found_repeated(here, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    for number in range(8):
        words = f"<p>Content {number} of its own</p>" * 12
        (site / f"{number}.html").write_text(f"<h1>Page {number}</h1><p>Sign in here</p>{words}<p>Imprint</p>")
    with ThreadPoolExecutor(3) as pool:
        summaries = list(pool.map(lambda _number: here.ingest(site), range(3)))
    assert sum(one.added for one in summaries) == 8
    assert here.embedder.embedded == here.documents.counts().chunks
    assert not any("Sign in here" in text or "Imprint" in text for texts in here.state().values() for text in texts)


def test_a_run_without_anything_to_do_claims_nothing(here, docs):
    here.embedder.go_on.set()
    here.ingest(docs)
    threads = threading.active_count()
    here.index.claims.run = None  # it would fail if it were asked
    assert outcome(here.ingest(docs)) == (0, 0, _FILES, 0, 0)
    assert threading.active_count() == threads


def test_the_lease_is_renewed_while_a_file_takes_longer_than_that(here, docs, tmp_path):
    here.index.claims = DocumentClaims(here.database, timedelta(seconds=0.6))
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(here.ingest, docs)]
        assert here.embedder.reached.wait(20)
        runs.append(pool.submit(here.ingest, docs))
        time.sleep(1.5)
        here.embedder.go_on.set()
        summaries = [run.result(20) for run in runs]
    assert sum(one.added for one in summaries) == here.embedder.embedded == _FILES
