"""What is known of all documents follows their changes and is measured once a change."""

from __future__ import annotations

import pytest

from bot.answering.corpus import CorpusWatch
from store.errors import UsageError
from tests.fakes.installation import Installation


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path)
    yield installation
    installation.close()


def test_the_corpus_is_kept_until_the_documents_change(here):
    watch = CorpusWatch(here.index, here.database)
    assert (watch.current().chunks, watch.current().collections) == (0, {})
    here.write({"a.md": "# OrbitDesk\n\nOrbitDesk starts with the desktop.\n"})
    first = watch.current()
    assert first.chunks == 1
    assert watch.current() is first
    here.write({"b.md": "# Mail\n\nThe quota.\n"}, collection="hr")
    second = watch.current()
    assert second.revision > first.revision
    assert (second.chunks, list(second.collections)) == (2, ["default", "hr"])


def test_without_a_wish_all_collections_are_searched(here):
    here.write({"a.md": "# A\n\nalpha\n"})
    here.write({"b.md": "# B\n\nbeta\n"}, collection="hr")
    corpus = CorpusWatch(here.index, here.database).current()
    assert corpus.resolved(()) == ("default", "hr")
    assert corpus.resolved(["hr"]) == ("hr",)


def test_an_unknown_collection_is_an_error_that_lists_the_known_ones(here):
    empty = CorpusWatch(here.index, here.database).current()
    with pytest.raises(UsageError, match=r"'hr'.*none yet"):
        empty.resolved(["hr"])
    here.write({"a.md": "# A\n\nalpha\n"})
    with pytest.raises(UsageError, match=r"'hr'.*default"):
        CorpusWatch(here.index, here.database).current().resolved(["default", "hr"])
