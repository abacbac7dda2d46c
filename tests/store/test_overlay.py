"""An index with one document laid over it."""

from pathlib import Path

import pytest

from store.overlay import Overlay, mean_terms
from store.search import Searcher
from store.source_ingest import SourceDocument, SourceIngestor, prepare
from tests.fakes.installation import Installation

FILES = {
    "vpn.md": "# VPN\n\nInstall the client and sign in with your badge number.\n\n## Mobile\n\nUse the phone profile.\n",
    "mail.md": "# Mail\n\nThe mailbox holds ten gigabytes. Old letters move to the archive after a year.\n",
    "print.md": "# Printing\n\nChoose the queue on your floor and hold your badge to the printer.\n",
    "leave.md": "# Leave\n\nAsk your lead for days off two weeks ahead in the portal.\n",
}
QUESTIONS = (
    "Which proxy address does the client need?",
    "How do I sign in with my badge number?",
    "How many days ahead do I ask for leave?",
    "Where is the tunnel profile for the proxy on a phone?",
)
TRIED = b"# Proxy\n\nThe client needs the proxy address of your site.\n\n## Tunnel\n\nThe phone profile has a tunnel.\n"


@pytest.fixture
def place(tmp_path):
    installation = Installation(tmp_path)
    installation.write(FILES)
    yield installation
    installation.close()


def tried(content=TRIED, **changes):
    values = {"collection": "default", "key": "folder:/proxy.md", "root": "wiki", "path": "wiki/proxy.md"}
    return SourceDocument(**values | {"name": "proxy.md", "content": content} | changes)


def overlaid(place, source):
    prepared = prepare(source, place.embedder)
    return Searcher(Overlay(place.index, prepared, mean_terms(place.documents)))


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_search_over_it_finds_what_a_search_after_ingestion_finds(place, question):
    forecast = overlaid(place, tried()).search(question, ("default",))
    SourceIngestor(place.index).add(tried())
    real = place.search(question)
    assert [(one.document, one.section) for one in forecast.passages] == [
        (one.document, one.section) for one in real.passages
    ]
    for before, after in zip(forecast.passages, real.passages, strict=True):
        assert before.chunk_id == after.chunk_id
        assert before.score == pytest.approx(after.score, abs=1e-5)
        assert before.lexical_score == pytest.approx(after.lexical_score, rel=0.25)
    assert [term.document_frequency for term in forecast.terms] == [term.document_frequency for term in real.terms]
    assert forecast.chunks == real.chunks


def test_nothing_is_written(place):
    before = place.state(), place.documents.revision(), place.index.lexical.size
    overlaid(place, tried()).search(QUESTIONS[0], ("default",))
    assert (place.state(), place.documents.revision(), place.index.lexical.size) == before


def test_another_collection_does_not_see_it(place):
    place.write({"other.md": "# Other\n\nNothing of interest.\n"}, collection="other")
    found = overlaid(place, tried()).search("proxy address", ("other",))
    assert {passage.document for passage in found.passages} == {"other.md"}


def test_a_scope_that_it_lacks_leaves_it_out(place):
    found = overlaid(place, tried()).search("proxy address", ("default",), {"version": ("2",)})
    assert found.passages == ()
    scoped = overlaid(place, tried(scope={"version": ("2",)}))
    found = scoped.search("proxy address", ("default",), {"version": ("2",)})
    assert {passage.document for passage in found.passages} == {"wiki/proxy.md"}


def test_a_new_revision_hides_the_one_that_is_stored(place):
    SourceIngestor(place.index).add(tried())
    found = overlaid(place, tried(b"# Proxy\n\nThere is no proxy any more.\n")).search("proxy address", ("default",))
    texts = [passage.text for passage in found.passages if passage.document == "wiki/proxy.md"]
    assert texts == ["There is no proxy any more."]


def test_the_mean_length_of_no_chunks_is_one(tmp_path):
    empty = Installation(tmp_path / "empty")
    try:
        assert mean_terms(empty.documents) == 1.0
    finally:
        empty.close()


def test_a_search_in_an_empty_index_finds_it(tmp_path):
    (tmp_path / "empty").mkdir()
    empty = Installation(Path(tmp_path / "empty"))
    try:
        found = overlaid(empty, tried()).search("proxy address", ("default",))
        assert found.passages[0].document == "wiki/proxy.md"
    finally:
        empty.close()
