"""The folder of the embedded index: it survives a restart, and damage is noticed (the rest is in the contracts)."""

import pytest

from store.lexical import LexicalEntry
from store.lexical_tantivy import TantivyIndex
from store.text import stems


def entry(chunk_id, text, collection="a", scope=()):
    return LexicalEntry(chunk_id, collection, scope, stems(text))


def ids(index, question, limit=10, collections=("a",), scope=None):
    return [hit.chunk_id for hit in index.search(dict.fromkeys(stems(question), 1.0), limit, collections, scope)]


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
