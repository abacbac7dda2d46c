"""Several processes on one PostgreSQL and one Chroma server: what one brings in or builds anew, all go by."""

from __future__ import annotations

import time

import pytest

from bot.app import opened
from store.records import Question, Status
from tests.fakes.embedder import HashEmbedder
from tests.fakes.shared import assert_sound, found, ingest, write

pytestmark = pytest.mark.postgres


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


def test_several_processes_may_open_one_data_folder_when_nothing_is_kept_in_it(shared):
    with opened(shared) as first, opened(shared) as second:
        assert first.documents.counts() == second.documents.counts()
