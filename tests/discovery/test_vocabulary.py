"""The documents teach platform names, anew after each change and once for each state of theirs."""

from __future__ import annotations

import pytest

from discovery import vocabulary
from discovery.vocabulary import PlatformCache
from tests.fakes.installation import Installation

LEARNED = {
    "a.md": "# Install OrbitDesk\n\nx\n\n## Start\n\ny\n",
    "b.md": "# Repair OrbitDesk\n\nx\n",
}


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path)
    yield installation
    installation.close()


def names(cache, here, text="How do I start OrbitDesk?"):
    return cache.current(here.documents.revision()).mentioned(text)


def test_a_name_that_titles_share_is_learned_beside_the_shipped_ones(here):
    cache = PlatformCache(here.database)
    assert not names(cache, here)
    here.write(LEARNED)
    assert names(cache, here)
    assert names(cache, here, "Does it run on k8s?")


def test_a_name_is_forgotten_with_its_documents(here):
    cache = PlatformCache(here.database)
    here.write(LEARNED)
    assert names(cache, here)
    here.index.remove([document.id for document in here.documents.documents()])
    assert not names(cache, here)


def test_the_documents_are_read_once_for_each_state(here, monkeypatch):
    """Also by the next process: what was learned is kept in the database."""
    here.write(LEARNED)
    assert names(PlatformCache(here.database), here)

    def again(*_arguments):
        raise AssertionError("learned twice")

    monkeypatch.setattr(vocabulary, "learn_platforms", again)
    assert names(PlatformCache(here.database), here)


def test_a_damaged_note_is_learned_anew(here):
    here.write(LEARNED)
    here.documents.set_index_state("platforms", "not what was written")
    assert names(PlatformCache(here.database), here)
