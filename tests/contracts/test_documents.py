"""What the document store promises, over each database."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from store.documents import Counts, DocumentStore, DocumentWrite, Failure, Known
from store.errors import ConflictError, NotFoundError, UsageError
from store.records import Chunk, Visibility

NOW = datetime(2026, 6, 19, 12, tzinfo=UTC)


def vector(number):
    return np.full(4, number, dtype="<f4").tobytes()


def chunk(text, headings=("Guide", "Setup")):
    return Chunk(text=text, headings=headings, tokens=3, embedded_text=f"Guide {text}")


def write(name, *texts, version="1", collection="docs", **changes):
    chunks = [(f"{name}-{version}-{place}", chunk(text), vector(place)) for place, text in enumerate(texts)]
    document = DocumentWrite(
        id=name,
        collection=collection,
        source=f"/files/{name}.md",
        root="/files",
        path=f"{name}.md",
        title=name.title(),
        fingerprint=f"hash {version}",
        ingested_at=NOW,
        model_fingerprint="model",
        chunks=chunks,
    )
    return replace(document, **changes)


@pytest.fixture
def store(database):
    store = DocumentStore(database)
    store.ensure_collection("docs")
    return store


def texts(store, *ids):
    return {one: found.text for one, found in store.chunks_by_id(ids).items()}


def live(store):
    return [found.chunk_id for batch in store.iterate_chunks() for found in batch]


def test_a_document_comes_back_as_it_was_written(store):
    given = write(
        "a",
        "One.",
        "Two.",
        url="https://example.com/a",
        scope={"version": ["1", "2"]},
        language="en",
        metadata={"tags": ["x", "y"], "weight": 2},
        notes=["Page 2 is a scan."],
        partial=True,
    )
    store.commit_documents([given])
    (found,) = store.documents()
    assert (found.id, found.source, found.root, found.path) == ("a", "/files/a.md", "/files", "a.md")
    assert (found.title, found.url, found.language) == ("A", "https://example.com/a", "en")
    assert found.scope == {"version": ("1", "2")}
    assert found.metadata == {"tags": ["x", "y"], "weight": 2}
    assert (found.notes, found.partial, found.chunks) == (("Page 2 is a scan.",), True, 2)
    assert (found.fingerprint, found.ingested_at, found.visibility) == ("hash 1", NOW, Visibility.PUBLIC)
    assert store.document("a") == found


def test_a_chunk_brings_what_a_citation_needs(store):
    store.commit_documents([write("a", "One.", "Two.", scope={"version": ["1"]}, url="https://example.com/a")])
    found = store.chunks_by_id(["a-1-1"])["a-1-1"]
    assert (found.document_id, found.ordinal, found.collection) == ("a", 1, "docs")
    assert (found.path, found.title, found.url) == ("a.md", "A", "https://example.com/a")
    assert (found.section, found.text, found.vector) == ("Guide › Setup", "Two.", vector(1))
    assert (found.scope, found.visibility) == ({"version": ("1",)}, Visibility.PUBLIC)


def test_chunks_come_in_the_asked_order_without_unknown_ids(store):
    store.commit_documents([write("a", "One.", "Two.", "Three.")])
    assert list(store.chunks_by_id(["a-1-2", "nobody", "a-1-0"])) == ["a-1-2", "a-1-0"]
    assert store.chunks_by_id([]) == {}


def test_thousands_of_ids_are_looked_up_at_once(store):
    store.commit_documents([write("a", *(f"Text {number}." for number in range(1200)))])
    assert len(store.chunks_by_id([f"a-1-{number}" for number in range(1200)] + ["x"] * 2000)) == 1200


def test_a_new_version_replaces_the_old_one_and_its_ids_become_stale(store):
    store.commit_documents([write("a", "One.", "Two.")])
    store.commit_documents([write("a", "New.", version="2")])
    assert texts(store, "a-1-0", "a-1-1", "a-2-0") == {"a-2-0": "New."}
    assert store.stale("docs") == ["a-1-0", "a-1-1"]
    assert store.counts() == Counts(1, 1)


def test_a_chunk_that_keeps_its_id_never_becomes_stale(store):
    store.commit_documents([write("a", "One.", "Two.")])
    store.stage("docs", ["a-1-0", "a-1-1"])
    store.commit_documents([write("a", "One.")])
    assert (texts(store, "a-1-0"), store.stale("docs")) == ({"a-1-0": "One."}, ["a-1-1"])


def test_staged_ids_count_as_stale_until_their_document_is_committed(store):
    """A crash between writing to the indexes and the commit leaves a list of what to delete there."""
    store.stage("docs", ["a-1-0", "a-1-1"])
    assert store.stale("docs") == ["a-1-0", "a-1-1"]
    assert store.stale_collections() == ["docs"]
    store.commit_documents([write("a", "One.", "Two.")])
    assert (store.stale("docs"), store.stale_collections()) == ([], [])


def test_live_chunks_cannot_be_staged_away(store):
    """B072: ingesting a document again that fails must not take its present chunks out of the indexes."""
    store.commit_documents([write("a", "One.")])
    store.stage("docs", ["a-1-0", "a-2-0"])
    assert store.stale("docs") == ["a-2-0"]


def test_ids_noted_since_can_be_left_alone(store):
    """A cleaner in another process must not delete what a running ingest has just staged."""
    store.stage("docs", ["a-1-0"])
    assert store.stale("docs", noted_before=datetime.now(UTC) - timedelta(minutes=1)) == []
    assert store.stale("docs", noted_before=datetime.now(UTC) + timedelta(minutes=1)) == ["a-1-0"]


def test_stale_ids_are_limited_by_collection_and_number_and_can_be_forgotten(store):
    store.stage("docs", ["c", "a", "b"])
    store.stage("other", ["x"])
    assert store.stale("docs", 2) == ["a", "b"]
    assert store.stale() == ["a", "b", "c", "x"]
    store.forget_stale(["a", "b", "unknown"])
    assert store.stale("docs") == ["c"]


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (write("b", "Two.", collection="missing"), Exception),
        (replace(write("b", "Two."), chunks=[("a-2-0", chunk("Two."), b"")]), UsageError),
        (replace(write("b", "Two."), chunks=[("c-1-0", chunk("Two."), b"")]), ConflictError),
        (replace(write("b", "Two."), ingested_at=datetime(2026, 1, 1)), UsageError),  # noqa: DTZ001
        (replace(write("b", "Two."), source="/files/a.md"), UsageError),
    ],
)
def test_a_failing_commit_leaves_every_old_version(store, broken, error):
    """B072: whatever is wrong with one document, the complete old versions still answer and nothing is noted."""
    store.commit_documents([write("a", "Old."), write("c", "Other.")])
    before = (store.documents(), texts(store, "a-1-0"), store.stale("docs"), store.revision())
    with pytest.raises(error):
        store.commit_documents([write("a", "New.", version="2"), broken])
    assert (store.documents(), texts(store, "a-1-0"), store.stale("docs"), store.revision()) == before


def test_a_reader_sees_the_whole_old_or_the_whole_new_version(store):
    """B072: no mix of versions while documents are replaced again and again."""
    store.commit_documents([write("a", "v0", "v0", "v0", version="0")])
    ids = [f"a-{version}-{place}" for version in range(20) for place in range(3)]
    stop, seen = threading.Event(), []

    def read():
        while not stop.is_set():
            seen.append(tuple(texts(store, *ids).values()))

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        for version in range(1, 20):
            store.commit_documents([write("a", *[f"v{version}"] * 3, version=str(version))])
        stop.set()
        reading.result()
    assert seen
    assert all(len(found) == 3 and len(set(found)) == 1 for found in seen)


def test_equal_texts_are_kept_for_each_document(store):
    """B042: two files with the same text, and the same paragraph twice in one file, lose nothing."""
    store.commit_documents([write("a", "Licence.", "Licence."), write("b", "Licence.")])
    assert texts(store, "a-1-0", "a-1-1", "b-1-0") == dict.fromkeys(["a-1-0", "a-1-1", "b-1-0"], "Licence.")


def test_a_chunk_id_of_another_document_is_refused(store):
    """B042: ids made from the content only would overwrite each other; they are named instead."""
    store.commit_documents([write("a", "Licence.")])
    with pytest.raises(ConflictError, match=r"'a-1-0' already belongs to another document"):
        store.commit_documents([replace(write("b"), chunks=[("a-1-0", chunk("Licence."), vector(0))])])


def test_documents_without_chunks_are_kept(store):
    store.commit_documents([write("a")])
    assert (store.counts(), live(store)) == (Counts(1, 0), [])
    store.commit_documents([])


def test_removing_documents_makes_their_chunks_stale(store):
    store.commit_documents([write("a", "One."), write("b", "Two.")])
    assert store.remove_documents(["a", "unknown"]) == 1
    assert (store.stale("docs"), live(store), store.counts()) == (["a-1-0"], ["b-1-0"], Counts(1, 1))
    assert store.remove_documents(["a"]) == 0


def test_a_document_that_moved_keeps_its_chunks(store):
    store.commit_documents([write("a", "One.")])
    store.relocate("a", "b.md", "/new", "/new/b.md", "B")
    assert store.fingerprints("docs") == {"/new/b.md": Known("a", "hash 1", "b.md", "/new")}
    assert store.chunks_by_id(["a-1-0"])["a-1-0"].path == "b.md"
    assert (store.document("a").title, store.stale("docs")) == ("B", [])


def test_a_document_cannot_move_onto_another(store):
    store.commit_documents([write("a", "One."), write("b", "Two.")])
    with pytest.raises(ConflictError, match=r"/files/b\.md already belongs to document b"):
        store.relocate("a", "b.md", "/files", "/files/b.md")
    with pytest.raises(NotFoundError, match="'x'"):
        store.relocate("x", "x.md", "/files", "/files/x.md")


def test_another_id_at_the_same_source_supersedes_the_old_document(store):
    store.commit_documents([write("a", "One.")])
    store.commit_documents([replace(write("b", "Two."), source="/files/a.md")])
    assert ([found.id for found in store.documents()], store.stale("docs")) == (["b"], ["a-1-0"])


def test_sources_of_any_length_are_told_apart(store):
    long = "https://example.com/" + "x" * 10_000
    store.commit_documents([replace(write("a", "One."), source=long), replace(write("b", "Two."), source=long + "y")])
    assert set(store.fingerprints("docs")) == {long, long + "y"}


def test_documents_are_listed_by_collection_and_root(store):
    store.ensure_collection("other", Visibility.PRIVATE)
    store.commit_documents([write("b"), write("a"), write("c", collection="other", root="/elsewhere")])
    assert [found.id for found in store.documents()] == ["a", "b", "c"]
    assert [found.id for found in store.documents("docs")] == ["a", "b"]
    assert [found.id for found in store.documents(root="/elsewhere")] == ["c"]
    assert store.documents("other")[0].visibility is Visibility.PRIVATE
    assert (store.counts("other"), store.counts("none")) == (Counts(1, 0), Counts(0, 0))
    with pytest.raises(NotFoundError):
        store.document("none")


def test_the_visibility_of_a_collection_is_kept_unless_it_is_given(store):
    assert store.ensure_collection("hr", Visibility.PRIVATE) is Visibility.PRIVATE
    assert store.ensure_collection("hr") is Visibility.PRIVATE
    assert store.ensure_collection("hr", Visibility.PUBLIC) is Visibility.PUBLIC
    assert store.collections() == {"docs": Visibility.PUBLIC, "hr": Visibility.PUBLIC}


@pytest.mark.parametrize("name", ["", "  ", "\x00", "x" * 101])
def test_unusable_collection_names_are_refused(store, name):
    with pytest.raises(UsageError, match="empty or longer than 100"):
        store.ensure_collection(name)


def test_chunks_are_walked_once_each_in_batches(store):
    store.ensure_collection("other")
    store.commit_documents([write("a", *"abcde"), write("b", *"fg"), write("c", "h", collection="other")])
    batches = list(store.iterate_chunks("docs", 3))
    assert [len(batch) for batch in batches] == [3, 3, 1]
    found = {one.chunk_id: one for batch in batches for one in batch}
    assert len(found) == 7
    assert found["b-1-0"].embedded_text == "Guide f"
    assert found["b-1-0"].document_id == "b"
    assert len(live(store)) == 8


def test_vectors_of_another_model_are_missing_until_they_are_replaced(store):
    store.commit_documents([write("a", "One.", "Two.", scope={"v": ["1"]})])
    store.replace_vectors("new model", [("a-1-0", vector(9)), ("removed meanwhile", vector(9))])
    (batch,) = store.iterate_chunks("docs", model_fingerprint="new model")
    assert [one.vector for one in batch] == [vector(9), None]
    assert batch[0].scope == {"v": ("1",)}
    (batch,) = store.iterate_chunks("docs")
    assert [one.vector for one in batch] == [vector(9), vector(1)]


def test_every_change_of_documents_raises_the_revision(store):
    seen = [store.revision()]
    for change in (
        lambda: store.commit_documents([write("a", "One.")]),
        lambda: store.relocate("a", "b.md", "/files", "/files/b.md"),
        lambda: store.replace_vectors("new", [("a-1-0", vector(1))]),
        lambda: store.ensure_collection("docs", Visibility.PRIVATE),
        lambda: store.remove_documents(["a"]),
    ):
        change()
        seen.append(store.revision())
    assert seen == sorted(set(seen))
    store.remove_documents(["a"])
    store.ensure_collection("docs")
    assert store.revision() == seen[-1]


def test_index_state_is_kept_by_key(store):
    assert store.index_state("model") is None
    store.set_index_state("model", {"name": "x", "dimension": 4})
    store.set_index_state("roots", ["/a"])
    store.set_index_state("roots", ["/a", "/b"])
    assert (store.index_state("model"), store.index_state("roots")) == ({"name": "x", "dimension": 4}, ["/a", "/b"])
    store.set_index_state("roots", None)
    assert store.index_state("roots") is None


def test_failures_are_remembered_until_the_source_is_read(store):
    store.record_failures("docs", [Failure("/files/a.md", "f1", "bad"), Failure("/files/b.md", "f2", "worse")])
    store.record_failures("docs", [Failure("/files/a.md", "f3", "still bad")])
    assert store.failures("docs")["/files/a.md"] == Failure("/files/a.md", "f3", "still bad")
    store.commit_documents([write("a", "One.")])
    assert list(store.failures("docs")) == ["/files/b.md"]
    store.forget_failures("docs", ["/files/b.md"])
    assert store.failures("docs") == {}


def test_unclean_text_is_stored_clean_and_alike(store):
    """B100: NUL and surrogates in text, headings, titles, paths and metadata of a document."""
    dirty = Chunk(text="abc\x00def", headings=("He\x00ad",), tokens=1, embedded_text="\ud800x")
    document = replace(
        write("a", title="T\x00", source="/files/\udcffa.md", metadata={"producer": "Scan\x00"}),
        chunks=[("a-1-0", dirty, vector(0))],
    )
    store.commit_documents([document])
    (found,) = store.documents()
    assert (found.title, found.source, found.metadata) == ("T", "/files/a.md", {"producer": "Scan"})
    assert store.chunks_by_id(["a-1-0"])["a-1-0"].section == "Head"
    assert texts(store, "a-1-0") == {"a-1-0": "abcdef"}


def test_parallel_commits_lose_nothing(store):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: store.commit_documents([write(f"d{number:02}", "One.", "Two.")]), range(40)))
    assert store.counts() == Counts(40, 80)
    assert store.revision() == 41
