"""Every index of words ranks by BM25 over our own terms, filters strictly, and can always be rebuilt."""

import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import pytest
from sqlalchemy import delete

from store.database import open_database
from store.lexical import LexicalEntry, idf
from store.lexical_tantivy import TantivyIndex
from store.postings import PostingsIndex
from store.tables import DERIVED
from store.text import stems


def entry(chunk_id, text, collection="a", scope=()):
    return LexicalEntry(chunk_id, collection, scope, stems(text))


def emptied(database):
    with database.begin() as connection:
        for table in DERIVED:
            connection.execute(delete(table))
    return database


@pytest.fixture(params=["tantivy", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def index(request, tmp_path):
    """An empty index of each kind."""
    if request.param == "tantivy":
        index = TantivyIndex(tmp_path / "lexical")
    else:
        index = PostingsIndex(emptied(request.getfixturevalue(f"{request.param}_database")))
    yield index
    index.close()


@pytest.fixture
def shared(database):
    """A database with an empty index of words."""
    return emptied(database)


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
    assert ids(index, "vpn", collections=("c",)) == ids(index, "vpn", collections=()) == []


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
    index.write([entry("1", "vpn reset", scope=("v=1",)), entry("2", "vpn password", scope=("v=1",)), entry("3", "x")])
    words = dict.fromkeys(stems("vpn password"), 1.0)
    plain, scoped = index.search(words, 5, ("a",)), index.search(words, 5, ("a",), {"v": ("1",)})
    assert [(hit.chunk_id, pytest.approx(hit.score)) for hit in plain] == [(h.chunk_id, h.score) for h in scoped]


def test_a_weight_multiplies_what_a_word_is_worth(index):
    index.write([entry("1", "vpn"), entry("2", "mail")])
    [plain], [double] = index.search({"vpn": 1.0}, 5, ("a",)), index.search({"vpn": 2.0}, 5, ("a",))
    assert double.score == pytest.approx(2 * plain.score)


def test_writing_an_id_again_replaces_it(index):
    index.write([entry("1", "old words")])
    index.write([entry("1", "new text")])
    assert (ids(index, "old"), ids(index, "new"), index.size) == ([], ["1"], 1)


def test_a_deleted_chunk_is_not_found_and_neighbours_stay(index):
    index.write([entry("1", "vpn"), entry("2", "vpn")])
    index.write(deleted=["1", "unknown"])
    assert (ids(index, "vpn"), index.size) == (["2"], 1)
    index.write(deleted=["2"])
    assert (ids(index, "vpn"), index.size) == ([], 0)


def test_an_empty_index_finds_nothing(index):
    index.write()
    assert (ids(index, "vpn"), index.size, index.document_frequencies(["vpn"])) == ([], 0, {"vpn": 0})
    assert index.search({}, 5, ("a",)) == []


def test_a_chunk_without_words_is_counted_and_never_found(index):
    index.write([entry("1", ""), entry("2", "vpn")])
    assert (ids(index, "vpn"), index.size) == (["2"], 2)


def test_document_frequencies_count_chunks(index):
    index.write([entry("1", "vpn vpn vpn"), entry("2", "vpn server")])
    assert index.document_frequencies(["vpn", "server", "none"]) == {"vpn": 2, "server": 1, "none": 0}


def test_a_rebuild_replaces_everything_and_is_then_complete(index):
    index.write([entry("1", "old vpn")])
    assert index.rebuild_needed
    index.rebuild(iter([entry("2", "new vpn"), entry("3", "mail")]))
    assert (index.rebuild_needed, ids(index, "vpn"), ids(index, "old"), index.size) == (False, ["2"], [], 2)


def test_an_interrupted_rebuild_can_be_run_again(index):
    def breaking():
        yield entry("2", "vpn")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.rebuild(breaking())
    assert index.rebuild_needed
    index.rebuild([entry("3", "vpn")])
    assert (ids(index, "vpn"), index.rebuild_needed) == (["3"], False)


def test_idf_falls_with_frequency_and_is_never_negative():
    values = [idf(frequency, 100) for frequency in (0, 1, 10, 50, 100, 120)]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0


# The same ranking everywhere


def english():
    """The paragraphs of our own guides, as chunks with scopes in two collections."""
    paths = [Path("README.md"), *sorted(Path("docs").glob("*.md"))]
    texts = [text for path in paths for text in re.split(r"\n{2,}", path.read_text(encoding="utf-8")) if stems(text)]
    return [
        entry(f"{number:05d}", text, "ab"[number % 2], (f"version={number % 3}",)) for number, text in enumerate(texts)
    ]


def chinese():
    """Sentences drawn from the words of a Chinese dictionary, the frequent ones more often."""
    lines = files("jieba").joinpath("dict.txt").read_text(encoding="utf-8").splitlines()[::300]
    words, weights = zip(*((line.split()[0], int(line.split()[1])) for line in lines), strict=True)
    choice = random.Random(7)
    texts = ["".join(choice.choices(words, weights, k=choice.randint(5, 80))) for _ in range(400)]
    return [entry(f"{number:05d}", text) for number, text in enumerate(texts)]


@pytest.fixture(scope="module", params=[english, chinese])
def ranking(request, tmp_path_factory):
    """Real chunks, questions about them, and how tantivy ranks them."""
    entries = request.param()
    tantivy = TantivyIndex(tmp_path_factory.mktemp("tantivy"))
    tantivy.rebuild(entries)
    questions = [one.stems[start : start + 12] for one in entries[::9] for start in (0, 5)]
    yield entries, [dict.fromkeys(words, 1.0) for words in questions if words], tantivy
    tantivy.close()


def same(found, wanted):
    """Hits with equal scores may stand in any order, and any of them may be the last."""
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], rel=1e-5)
    if found:
        last = wanted[-1].score * (1 + 1e-5)
        assert {h.chunk_id for h in found if h.score > last} == {h.chunk_id for h in wanted if h.score > last}


FILTERS = [(("a", "b"), {}), (("b",), {}), (("a", "b"), {"version": ("1",)}), (("a",), {"version": ("0", "2")})]


def test_both_indexes_rank_the_same_texts_alike(ranking, shared):
    entries, questions, tantivy = ranking
    index = PostingsIndex(shared)
    for start in range(0, len(entries), 70):
        index.write(entries[start : start + 70])
    assert index.size == tantivy.size == len(entries)
    words = sorted({word for question in questions for word in question})
    assert index.document_frequencies(words) == tantivy.document_frequencies(words)
    for number, question in enumerate(questions):
        collections, scope = FILTERS[number % len(FILTERS)]
        same(index.search(question, 20, collections, scope), tantivy.search(question, 20, collections, scope))


def test_many_small_changes_end_where_one_build_does(ranking, shared, tmp_path):
    """Deletions, replacements and merges in any order leave the chunks that are left, and nothing else."""
    entries, questions, _ = ranking
    index, choice, live = PostingsIndex(shared), random.Random(3), {}
    for _ in range(40):
        added = choice.sample(entries, choice.randint(0, 12))
        deleted = choice.sample(sorted(live), min(len(live), choice.randint(0, 8)))
        gone = [one for one in deleted if one not in {a.chunk_id for a in added}]
        index.write(added, deleted=gone)
        live = {key: one for key, one in live.items() if key not in gone} | {one.chunk_id: one for one in added}
    assert index.size == len(live)
    assert {hit.chunk_id for hit in index.search(questions[0], 1000, ("a", "b"))} <= set(live)
    index.rebuild(live.values())
    fresh = TantivyIndex(tmp_path / "fresh")
    fresh.rebuild(live.values())
    for question in questions:
        same(index.search(question, 20, ("a", "b")), fresh.search(question, 20, ("a", "b")))
    fresh.close()


# Several processes


@pytest.fixture
def two(empty_url):
    """Two connections to one database, as two processes have them."""
    first, second = open_database(empty_url), open_database(empty_url)
    yield PostingsIndex(first), PostingsIndex(second)
    first.close()
    second.close()


def test_what_one_process_writes_the_other_finds_at_once(two):
    here, there = two
    here.write([entry("1", "vpn reset"), entry("2", "mail", scope=("v=1",))])
    assert ids(there, "vpn") == ["1"]
    there.write([entry("3", "vpn", "b", ("v=2",))], deleted=["1"])
    assert (ids(here, "vpn", collections=("a", "b")), ids(here, "vpn", collections=("b",), scope={"v": ("2",)})) == (
        ["3"],
        ["3"],
    )
    here.rebuild([entry("4", "vpn")])
    assert (ids(there, "vpn", collections=("a", "b")), there.rebuild_needed) == (["4"], False)


def test_two_processes_that_write_at_once_lose_and_double_nothing(two):
    def write(index, name):
        for start in range(0, 120, 8):
            index.write([entry(f"{name}{number:03d}", f"vpn word{number % 7}") for number in range(start, start + 8)])
            index.write(deleted=[f"{name}{start:03d}"])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, two, ["x", "y"]))
    for index in two:
        assert index.size == 2 * (120 - 15) == len(ids(index, "vpn", limit=1000))


def test_questions_are_answered_by_what_was_there_until_a_rebuild_is_complete(two):
    here, there = two
    here.rebuild([entry("1", "vpn"), entry("2", "vpn")])
    halfway, go_on = threading.Event(), threading.Event()

    def slowly():
        yield entry("3", "vpn")
        halfway.set()
        go_on.wait(20)
        yield entry("4", "vpn")

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(here.rebuild, slowly())
        assert halfway.wait(20)
        assert ids(there, "vpn") == ["1", "2"]
        go_on.set()
        running.result()
    assert ids(there, "vpn") == ["3", "4"]


def test_questions_find_everything_while_segments_are_merged(two):
    """A reader never sees a moment without the chunks of segments that are being merged."""
    here, there = two
    here.write([entry(f"old{number}", "vpn") for number in range(5)])
    done = threading.Event()

    def write():
        for number in range(40):
            here.write([entry(f"new{number}", "mail")])
        done.set()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(write)
        while not done.is_set():
            assert len(ids(there, "vpn")) == 5
        running.result()


def test_a_small_cache_changes_nothing_but_time(ranking, shared):
    entries, questions, tantivy = ranking
    PostingsIndex(shared).rebuild(entries)
    index = PostingsIndex(shared, cache_bytes=5000)
    for question in questions[::5]:
        same(index.search(question, 10, ("a", "b")), tantivy.search(question, 10, ("a", "b")))
