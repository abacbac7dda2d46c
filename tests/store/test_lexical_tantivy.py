"""The lexical index ranks by BM25 over our own terms, filters strictly, and can always be rebuilt."""

import pytest

from store.lexical import LexicalEntry, idf
from store.lexical_tantivy import TantivyIndex
from store.text import stems


def entry(chunk_id, text, collection="a", scope=()):
    return LexicalEntry(chunk_id, collection, scope, stems(text))


@pytest.fixture
def index(tmp_path):
    index = TantivyIndex(tmp_path / "lexical")
    yield index
    index.close()


def ids(index, question, limit=10, collections=("a",), scope=None):
    return [hit.chunk_id for hit in index.search(dict.fromkeys(stems(question), 1.0), limit, collections, scope)]


def test_the_chunk_with_the_rarer_words_comes_first(index):
    index.write([entry("1", "restart the server"), entry("2", "restart the zookeeper"), entry("3", "the server")])
    assert ids(index, "restarting zookeepers")[0] == "2"


def test_chinese_text_is_found_by_words_inside_a_sentence(index):
    index.write([entry("1", "如何重置虚拟专用网络的密码"), entry("2", "公司的年度财务报告")])
    assert ids(index, "密码重置") == ["1"]


def test_identifiers_are_found_whole_and_by_their_parts(index):
    index.write([entry("1", "alert NodeFilesystemFilesFillingUp fires"), entry("2", "nothing")])
    assert ids(index, "NodeFilesystemFilesFillingUp") == ids(index, "filesystem filling") == ["1"]


def test_only_the_named_collections_are_searched(index):
    index.write([entry("1", "vpn reset", "a"), entry("2", "vpn reset", "b")])
    assert ids(index, "vpn", collections=("b",)) == ["2"]
    assert sorted(ids(index, "vpn", collections=("a", "b"))) == ["1", "2"]
    assert ids(index, "vpn", collections=()) == []


def test_a_scope_needs_every_key_and_any_of_its_values(index):
    index.write(
        [
            entry("1", "vpn", scope=("version=1", "region=eu")),
            entry("2", "vpn", scope=("version=2", "region=eu")),
            entry("3", "vpn"),
        ]
    )
    assert ids(index, "vpn", scope={"version": ("2",)}) == ["2"]
    assert sorted(ids(index, "vpn", scope={"version": ("1", "2"), "region": ("eu",)})) == ["1", "2"]
    assert ids(index, "vpn", scope={"version": ("3",)}) == []


def test_a_filter_does_not_change_the_scores(index):
    index.write([entry("1", "vpn reset", scope=("v=1",)), entry("2", "vpn password", scope=("v=1",))])
    words = dict.fromkeys(stems("vpn password"), 1.0)
    plain, scoped = index.search(words, 5, ("a",)), index.search(words, 5, ("a",), {"v": ("1",)})
    assert [(hit.chunk_id, pytest.approx(hit.score)) for hit in plain] == [(h.chunk_id, h.score) for h in scoped]


def test_writing_an_id_again_replaces_it(index):
    index.write([entry("1", "old words")])
    index.write([entry("1", "new text")])
    assert (ids(index, "old"), ids(index, "new"), index.size) == ([], ["1"], 1)


def test_a_deleted_chunk_is_not_found_and_neighbours_stay(index):
    index.write([entry("1", "vpn"), entry("2", "vpn")])
    index.write(deleted=["1", "unknown"])
    assert ids(index, "vpn") == ["2"]


def test_the_index_survives_being_closed_and_opened(tmp_path):
    first = TantivyIndex(tmp_path)
    first.write([entry("1", "vpn")])
    first.mark_complete()
    first.close()
    again = TantivyIndex(tmp_path)
    assert (again.rebuild_needed, ids(again, "vpn")) == (False, ["1"])


@pytest.mark.parametrize("damage", ["truncate", "other format", "no marker"])
def test_a_damaged_index_starts_empty_and_asks_for_a_rebuild(tmp_path, damage):
    first = TantivyIndex(tmp_path)
    first.write([entry("1", "vpn")])
    first.mark_complete()
    first.close()
    if damage == "truncate":
        (tmp_path / "index" / "meta.json").write_text("{")
    elif damage == "other format":
        (tmp_path / "gaplight.json").write_text('{"format": "0"}')
    else:
        (tmp_path / "gaplight.json").unlink()
    again = TantivyIndex(tmp_path)
    assert again.rebuild_needed
    again.write([entry("2", "vpn")])
    assert ids(again, "vpn") == ["2"]


def test_document_frequencies_count_chunks(index):
    index.write([entry("1", "vpn vpn vpn"), entry("2", "vpn server")])
    assert index.document_frequencies(["vpn", "server", "none"]) == {"vpn": 2, "server": 1, "none": 0}


def test_idf_falls_with_frequency_and_is_never_negative():
    values = [idf(frequency, 100) for frequency in (0, 1, 10, 50, 100, 120)]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0
