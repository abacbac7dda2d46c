"""Ingesting twice does nothing, a changed file costs one file, and a failure leaves the old version answering."""

import os

import pytest

from store.errors import IndexMismatchError, UsageError
from store.ingest_files import chunk_ids
from tests.fakes.embedder import HashEmbedder
from tests.fakes.installation import Installation


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    (folder / "vpn").mkdir(parents=True)
    (folder / "vpn" / "reset.md").write_text("# Reset\n\nThe VPN is reset with the blue button.\n")
    (folder / "mail.md").write_text("# Mail\n\nThe mail quota is 5 GB.\n")
    (folder / "logs.txt").write_text("Logs are kept for 30 days.\n")
    return folder


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path / "data")
    yield installation
    installation.close()


def counts(summary):
    return summary.added, summary.updated, summary.unchanged, summary.removed, len(summary.failed)


def consistent(here):
    """Both derived indexes hold exactly the live chunks, and nothing waits to be deleted."""
    live = here.live_ids()
    held = sum(here.index.vectors.count(name) for name in here.documents.collections())
    return held == here.index.lexical.size == len(live) and here.documents.stale_collections() == []


def test_a_second_run_reads_nothing_again(here, docs):
    assert counts(here.ingest(docs)) == (3, 0, 0, 0, 0)
    embedded = here.embedder.embedded
    summary = here.ingest(docs)
    assert counts(summary) == (0, 0, 3, 0, 0)
    assert (summary.chunks, summary.documents, here.embedder.embedded) == (0, 3, embedded)


def test_a_second_run_needs_neither_model_nor_vector_store(docs, tmp_path):
    Installation(tmp_path / "data").ingest(docs)
    again = Installation(tmp_path / "data")
    again.ingest(docs)
    assert not {"embedder", "vectors", "lexical"} & set(vars(again.index))


def test_one_changed_file_costs_one_file(here, docs):
    here.ingest(docs)
    before = here.embedder.embedded
    (docs / "mail.md").write_text("# Mail\n\nThe mail quota is 7 GB.\n")
    assert counts(here.ingest(docs)) == (0, 1, 2, 0, 0)
    assert here.embedder.embedded == before + 1
    assert "7 GB" in here.search("mail quota").passages[0].text


def test_renamed_deleted_and_shortened_files_leave_no_chunk_behind(here, docs):
    """B069: the old path, the deleted file and the cut-off sections are gone from every index."""
    sections = "\n".join(f"## Part {n}\n\n{'word ' * 150}{n}\n" for n in range(9))
    (docs / "long.md").write_text(f"# Long\n\n{sections}")
    here.ingest(docs)
    (docs / "vpn" / "reset.md").rename(docs / "vpn" / "again.md")
    (docs / "mail.md").unlink()
    (docs / "long.md").write_text("# Long\n\n## Part 0\n\nshort now\n")
    summary = here.ingest(docs)
    assert counts(summary) == (1, 1, 1, 2, 0)
    assert here.found("VPN blue button")[0] == "vpn/again.md"
    assert set(here.state()) == {"vpn/again.md", "long.md", "logs.txt"}
    assert len(here.state()["long.md"]) == 1
    assert consistent(here)


def test_line_ends_and_byte_order_marks_are_no_change(here, docs):
    """B071: a Windows checkout re-embeds nothing, and neither does a touched time stamp."""
    here.ingest(docs)
    content = (docs / "mail.md").read_bytes()
    (docs / "mail.md").write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n") + b"\r\n")
    os.utime(docs / "logs.txt", (1, 1))
    assert counts(here.ingest(docs)) == (0, 0, 3, 0, 0)


@pytest.mark.parametrize("failing_call", [1, 2])
def test_a_failing_embedder_leaves_the_old_version_answering(here, docs, failing_call, monkeypatch):
    """B072: no mix of versions, the fingerprint does not advance, the next healthy run finishes."""
    monkeypatch.setattr("store.ingest_pipeline.BATCH_CHUNKS", 2)
    here.ingest(docs)
    old = here.state()
    for path in ("mail.md", "logs.txt", "vpn/reset.md"):
        (docs / path).write_text((docs / path).read_text() + "\nA new fact: teal.\n")
    here.embedder._fail_on_call = here.embedder.calls + failing_call
    with pytest.raises(RuntimeError):
        here.ingest(docs)
    now = here.state()
    changed = [path for path in old if now[path] != old[path]]
    assert set(now) == set(old)
    assert len(changed) == (0 if failing_call == 1 else 2)
    assert here.found("mail quota")[0] == "mail.md"
    assert here.ingest(docs).updated == 3 - len(changed)
    assert all("teal" in " ".join(texts) for texts in here.state().values())
    assert consistent(here)


@pytest.mark.parametrize("broken", ["vectors.upsert", "lexical.write", "documents.commit_documents"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failing_write_leaves_the_old_version_answering(here, docs, monkeypatch, broken, error):
    """B072: disk full or Ctrl-C between the writes changes nothing that answers."""
    here.ingest(docs)
    old = here.state()
    (docs / "mail.md").write_text("# Mail\n\nThe mail quota is 9 GB.\n")
    part, method = broken.split(".")
    with monkeypatch.context() as patch:

        def fail(*_args, **_options):
            raise error

        patch.setattr(getattr(here.index, part), method, fail)
        with pytest.raises(type(error)):
            here.ingest(docs)
    assert here.state() == old
    assert "5 GB" in here.search("mail quota").passages[0].text
    assert not any("9 GB" in passage.text for passage in here.search("mail quota").passages)
    here.ingest(docs)
    assert "9 GB" in here.search("mail quota").passages[0].text
    assert consistent(here)


def test_a_missing_folder_changes_nothing(here, docs):
    here.ingest(docs)
    docs.rename(docs.with_name("elsewhere"))
    with pytest.raises(UsageError, match="does not exist"):
        here.ingest(docs)
    assert len(here.state()) == 3


def test_an_emptied_folder_is_not_pruned_unless_asked(here, docs):
    """An unmounted share is an empty folder; its documents are kept until someone says otherwise."""
    here.ingest(docs)
    for file in docs.rglob("*.*"):
        if file.is_file():
            file.unlink()
    summary = here.ingest(docs)
    assert (summary.removed, len(here.state())) == (0, 3)
    assert "--prune" in summary.skipped[0].reason
    assert here.ingest(docs, prune=True).removed == 3
    assert consistent(here)


def test_a_part_of_a_folder_is_refreshed_without_pruning_the_rest(here, docs):
    here.ingest(docs)
    (docs / "mail.md").unlink()
    (docs / "vpn" / "reset.md").write_text("# Reset\n\nThe VPN is reset with the red button.\n")
    summary = here.ingest(docs / "vpn")
    assert counts(summary) == (0, 1, 0, 0, 0)
    assert set(here.state()) == {"vpn/reset.md", "mail.md", "logs.txt"}
    with pytest.raises(UsageError, match="part of a folder"):
        here.ingest(docs / "vpn", prune=True)


def test_pruning_can_be_switched_off(here, docs):
    here.ingest(docs)
    (docs / "mail.md").unlink()
    assert here.ingest(docs, prune=False).removed == 0
    assert here.ingest(docs).removed == 1


def test_a_folder_that_cannot_be_listed_is_not_taken_for_an_empty_one(here, docs, monkeypatch):
    here.ingest(docs)
    listing = os.scandir

    def refusing(path):
        if str(path).endswith("vpn"):
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", refusing)
    summary = here.ingest(docs)
    assert (summary.removed, "cannot be listed" in summary.skipped[0].reason) == (0, True)
    assert "vpn/reset.md" in here.state()


def test_a_larger_folder_takes_over_the_documents_of_a_smaller_one(here, docs):
    here.ingest(docs / "vpn")
    embedded = here.embedder.embedded
    assert set(here.state()) == {"reset.md"}
    assert counts(here.ingest(docs)) == (2, 0, 1, 0, 0)
    assert set(here.state()) == {"vpn/reset.md", "mail.md", "logs.txt"}
    assert here.embedder.embedded == embedded + 2


def test_links_are_followed_inside_the_folder_only_and_each_file_is_read_once(here, docs, tmp_path):
    """B073: circles end, what lies outside stays outside, pipes are not read."""
    outside = tmp_path / "private"
    outside.mkdir()
    (outside / "salary.md").write_text("# Salary\n\nsecret numbers\n")
    (docs / "loop").symlink_to(docs)
    (docs / "out").symlink_to(outside)
    (docs / "salary.md").symlink_to(outside / "salary.md")
    (docs / "alias.md").symlink_to(docs / "mail.md")
    (docs / "broken.md").symlink_to(docs / "nowhere.md")
    os.mkfifo(docs / "pipe.md")
    summary = here.ingest(docs)
    assert set(here.state()) == {"vpn/reset.md", "mail.md", "logs.txt"}
    refused = {issue.path: issue.reason for issue in summary.skipped}
    assert set(refused) == {"out", "salary.md", "broken.md", "pipe.md"}
    assert "leads out" in refused["out"]


def test_unreadable_files_are_reported_and_the_rest_is_indexed(here, docs):
    """B062, B068: one bad file never ends a run."""
    (docs / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    (docs / "empty.md").write_text("")
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7\ntruncated")
    summary = here.ingest(docs)
    assert summary.added == 3
    assert {issue.path for issue in summary.failed} == {"picture.txt", "empty.md", "broken.pdf"}
    assert all(issue.reason for issue in summary.failed)


def test_a_file_that_became_unreadable_keeps_its_old_version(here, docs):
    here.ingest(docs)
    (docs / "mail.md").write_bytes(b"\x00\x01\x02\x03" * 100)
    summary = here.ingest(docs)
    assert ([issue.path for issue in summary.failed], summary.removed) == (["mail.md"], 0)
    assert "5 GB" in here.search("mail quota").passages[0].text


def test_equal_text_in_two_files_and_twice_in_one_is_kept_for_each(here, docs):
    """B042: ids come from the document, so that equal text does not overwrite."""
    (docs / "one.md").write_text("# Licence\n\nSame text.\n")
    (docs / "two.md").write_text("# Licence\n\nSame text.\n")
    here.ingest(docs)
    assert {"one.md", "two.md"} <= set(here.found("licence same text"))
    assert len(set(chunk_ids("d", ["same", "same", "other"], ()))) == 3
    assert chunk_ids("d", ["same", "new", "same"], ())[::2] == chunk_ids("d", ["same", "same"], ())


def test_hidden_and_dependency_folders_and_the_data_folder_are_left_out(tmp_path, docs):
    here = Installation(docs / "data")
    for folder in (".git", "node_modules", "data"):
        (docs / folder).mkdir(exist_ok=True)
        (docs / folder / "x.md").write_text("# X\n\nnot ours\n")
    summary = here.ingest(docs, skip=(docs / "data",))
    assert summary.added == 3


def test_an_index_of_another_model_is_refused_with_the_command_that_mends_it(docs, tmp_path):
    """B039: same size, other model; nothing is mixed."""
    Installation(tmp_path / "data").ingest(docs)
    other = Installation(tmp_path / "data", HashEmbedder(revision="2"))
    (docs / "new.md").write_text("# New\n\nmore\n")
    with pytest.raises(IndexMismatchError, match="gaplight reindex"):
        other.ingest(docs)
    with pytest.raises(IndexMismatchError, match="gaplight reindex"):
        other.index.check()


@pytest.mark.parametrize(("revision", "dimension"), [("1", 64), ("2", 64), ("2", 32)])
def test_reindex_rebuilds_both_indexes_from_the_database(docs, tmp_path, revision, dimension):
    """The folders of both derived indexes can be deleted, and the model can change to another size."""
    Installation(tmp_path / "data").ingest(docs)
    again = Installation(tmp_path / "data", HashEmbedder(revision=revision, dimension=dimension))
    assert again.index.rebuild() == 3
    again.index.check()
    assert again.found("mail quota")[0] == "mail.md"
    assert consistent(again)
    assert {len(models) for models in again.index.vectors.fingerprints().values()} == {1}
    assert again.embedder.embedded == (0 if (revision, dimension) == ("1", 64) else 3)


def test_reindex_refuses_a_model_that_reads_less_than_the_chunks_hold(docs, tmp_path):
    """B048: nothing is cut silently."""
    (docs / "long.md").write_text("# Long\n\n" + "many words in here " * 30)
    Installation(tmp_path / "data").ingest(docs)
    small = Installation(tmp_path / "data", HashEmbedder(revision="2", max_tokens=40))
    with pytest.raises(IndexMismatchError, match="40"):
        small.index.rebuild()


def test_a_missing_lexical_index_is_built_anew_without_being_asked(docs, tmp_path):
    first = Installation(tmp_path / "data")
    first.ingest(docs)
    first.close()
    for file in (tmp_path / "data" / "lexical").rglob("*"):
        if file.is_file():
            file.unlink()
    again = Installation(tmp_path / "data")
    assert again.index.lexical.size == 3


def test_front_matter_and_options_give_a_document_its_scope(here, docs):
    (docs / "v2.md").write_text("---\nscope:\n  version: 2\n---\n# Quota\n\nThe mail quota is 50 GB.\n")
    here.ingest(docs, scope={"region": ("eu",)})
    assert here.found("mail quota", scope={"version": ("2",)}) == ["v2.md"]
    assert "mail.md" in here.found("mail quota", scope={"region": ("eu",)})
    assert here.found("mail quota", scope={"region": ("us",)}) == []


def test_collections_are_kept_apart(here, docs):
    here.ingest(docs / "vpn", collection="net")
    here.ingest(docs / "mail.md", collection="mail")
    assert here.found("mail vpn", collections=("net",)) == ["reset.md"]
    assert here.found("mail vpn", collections=("mail",)) == ["mail.md"]


def test_files_whose_names_differ_in_unreadable_bytes_only_are_both_kept(here, docs):
    """Nothing is overwritten in silence: such bytes are written as escapes."""
    for name, text in ((b"\xff.md", "alpha"), (b"\xfe.md", "beta"), (b"x\x1be.md", "gamma"), (b"xe.md", "delta")):
        (docs / os.fsdecode(name)).write_text(f"# Page\n\nThe word is {text}.\n")
    assert here.ingest(docs).added == 7
    assert {"\\udcff.md", "\\udcfe.md", "x\\x1be.md", "xe.md"} <= set(here.state())
    assert here.ingest(docs).unchanged == 7


def test_names_that_become_equal_are_reported(here, docs):
    """The same accented name, composed and decomposed: the database keeps one form, so the second is refused aloud."""
    (docs / "caf\u00e9.md").write_text("# One\n\nalpha\n")
    (docs / "cafe\u0301.md").write_text("# Two\n\nbeta\n")
    summary = here.ingest(docs)
    assert (summary.added, len(summary.failed)) == (4, 1)
    assert "same name" in summary.failed[0].reason
