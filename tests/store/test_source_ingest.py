"""Documents that were fetched from elsewhere, in the index."""

import pytest

from store.errors import LoadError
from store.records import Visibility
from store.source_ingest import SourceDocument, SourceIngestor
from tests.fakes.installation import Installation

GUIDE = b"# Proxy guide\n\nSet the proxy address in the network panel, then restart the client.\n"


@pytest.fixture
def place(tmp_path):
    installation = Installation(tmp_path)
    yield installation
    installation.close()


def source(content=GUIDE, **changes):
    values = {
        "collection": "default",
        "key": "github:7:docs/proxy.md",
        "root": "github",
        "path": "acme/handbook/docs/proxy.md",
        "name": "proxy.md",
        "content": content,
        "url": "https://github.com/acme/handbook/blob/abc/docs/proxy.md",
        "metadata": {"licence": "MIT"},
    }
    return SourceDocument(**values | changes)


def test_a_fetched_document_is_found_and_cited_by_its_path(place):
    added = SourceIngestor(place.index).add(source())
    assert added.changed
    assert added.chunks == 1
    passage = place.search("proxy address in the network panel").passages[0]
    assert (passage.document, passage.title) == ("acme/handbook/docs/proxy.md", "Proxy guide")
    assert passage.url == "https://github.com/acme/handbook/blob/abc/docs/proxy.md"


def test_provenance_is_kept_with_the_document(place):
    added = SourceIngestor(place.index).add(source())
    assert place.documents.document(added.document_id).metadata["licence"] == "MIT"


def test_the_same_content_again_changes_nothing(place):
    ingestor = SourceIngestor(place.index)
    first = ingestor.add(source())
    embedded = place.embedder.embedded
    second = ingestor.add(source())
    assert (second.document_id, second.changed) == (first.document_id, False)
    assert place.embedder.embedded == embedded


def test_a_new_revision_replaces_the_old_one(place):
    ingestor = SourceIngestor(place.index)
    ingestor.add(source())
    ingestor.add(source(b"# Proxy guide\n\nAsk the service desk for the tunnel.\n"))
    assert [document.title for document in place.documents.documents()] == ["Proxy guide"]
    assert "tunnel" in place.search("tunnel from the service desk").passages[0].text
    assert all("network panel" not in texts for texts in place.state().values())


def test_pruning_folders_leaves_fetched_documents_alone(place):
    place.write({"a.md": "# A\n\nAlpha text.\n", "b.md": "# B\n\nBeta text.\n"})
    SourceIngestor(place.index).add(source())
    (place.folder / "docs" / "default" / "a.md").unlink()
    summary = place.ingest(place.folder / "docs" / "default", prune=True)
    assert summary.removed == 1
    assert {document.path for document in place.documents.documents()} == {"b.md", "acme/handbook/docs/proxy.md"}


def test_a_document_does_not_change_who_may_see_its_collection(place):
    place.write({"a.md": "# A\n\nAlpha text.\n"}, visibility=Visibility.PRIVATE)
    SourceIngestor(place.index).add(source(visibility=Visibility.PUBLIC))
    assert place.documents.collections() == {"default": Visibility.PRIVATE}


def test_a_new_collection_gets_the_visibility_of_its_first_document(place):
    SourceIngestor(place.index).add(source(collection="secret", visibility=Visibility.PRIVATE))
    assert place.documents.collections() == {"secret": Visibility.PRIVATE}


@pytest.mark.parametrize(("name", "content"), [("empty.md", b""), ("tool.exe", b"MZ"), ("blank.md", b"\n \n")])
def test_what_cannot_be_read_is_refused_with_a_reason(place, name, content):
    with pytest.raises(LoadError):
        SourceIngestor(place.index).add(source(content, name=name))
    assert place.documents.counts().documents == 0
