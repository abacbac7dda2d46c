"""What a search gives back is current, filtered, and scored by cosine whatever route found it."""

from __future__ import annotations

import numpy as np
import pytest

from store.errors import ModelError, UnavailableError, UsageError
from tests.fakes.embedder import HashEmbedder
from tests.fakes.installation import Installation


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path)
    yield installation
    installation.close()


class Failing:
    """A part that fails with a given error at whatever is asked of it."""

    def __init__(self, error):
        self._error = error

    def __getattr__(self, name):
        def fail(*_arguments, **_options):
            raise self._error

        return fail


def pages(count, topic="router"):
    return {f"{topic}{n}.md": f"# Page {n}\n\nThe {topic} number {n} has a fan of {n} cm.\n" for n in range(count)}


def cosines(here, question, passages):
    """By numpy alone, from the stored texts."""
    asked = here.embedder.embed_queries([question])[0]
    texts = {chunk.chunk_id: chunk.embedded_text for batch in here.documents.iterate_chunks() for chunk in batch}
    return [float(asked @ here.embedder.embed_documents([texts[one.chunk_id]])[0]) for one in passages]


def test_three_chunks_give_three_passages_when_ten_are_asked_for(here):
    """B045: fewer than the limit is no error."""
    here.write(pages(3))
    passages = here.search("router fan", limit=10).passages
    assert len(passages) == 3
    assert [one.rank for one in passages] == [1, 2, 3]


@pytest.mark.parametrize(("collections", "scope"), [((), None), (("hr",), None), (("default",), {"version": ("9",)})])
def test_a_filter_that_leaves_nothing_gives_nothing(here, collections, scope):
    """B045."""
    here.write(pages(3))
    assert here.search("router fan", collections, scope).passages == ()


def test_an_empty_index_gives_nothing(here):
    """B045: the first day."""
    found = here.search("router fan")
    assert (found.passages, found.chunks, found.dense_scores) == ((), 0, ())


def test_every_passage_has_its_cosine_whichever_route_found_it(here):
    """A passage found by words alone is scored like one found by meaning."""
    here.write(pages(60) | {"zebra.md": "# Zebra\n\nStripes of a zebra.\n"})
    question = "router fan stripes"
    passages = here.search(question, limit=50, per_document=5).passages
    assert {one.dense_rank is None for one in passages} == {True, False}
    assert all(one.dense_rank or one.lexical_rank for one in passages)
    np.testing.assert_allclose([one.score for one in passages], cosines(here, question, passages), atol=1e-5)


def test_a_route_that_fails_leaves_the_other_with_true_scores(here):
    here.write(pages(5))
    question = "fan of router number 3"
    here.index.vectors = Failing(UnavailableError("vectors are down"))
    found = here.search(question)
    assert found.passages[0].document == "router3.md"
    assert (found.notes, found.dense_scores) == (("vectors are down",), ())
    assert {one.dense_rank for one in found.passages} == {None}
    np.testing.assert_allclose(
        [one.score for one in found.passages], cosines(here, question, found.passages), atol=1e-5
    )


def test_a_damaged_lexical_index_leaves_the_search_by_meaning(here, monkeypatch):
    here.write(pages(5))
    lexical = here.index.lexical

    def damaged(*_arguments):
        raise ValueError("an IO error occurred")

    monkeypatch.setattr(lexical, "_query", damaged)
    found = here.search("fan of router number 3")
    assert len(found.passages) == 5
    assert "could not be read" in found.notes[0]
    assert {one.lexical_rank for one in found.passages} == {None}


def test_both_routes_failing_is_an_error_that_names_both(here, monkeypatch):
    here.write(pages(2))
    here.index.vectors = Failing(UnavailableError("vectors are down."))
    monkeypatch.setattr(here.index.lexical, "search", Failing(UnavailableError("words are down.")).search)
    with pytest.raises(UnavailableError, match=r"vectors are down\. words are down\."):
        here.search("router fan")


def test_what_an_embedding_runtime_raises_becomes_one_error(here):
    here.write(pages(2))
    here.index.embedder = Failing(RuntimeError("out of memory"))
    with pytest.raises(UnavailableError, match="RuntimeError: out of memory"):
        here.search("router fan")
    here.index.embedder = Failing(ModelError("no such model"))
    with pytest.raises(ModelError, match="no such model"):
        here.search("router fan")


def test_a_score_is_never_nan(here):
    """B051: comparisons with NaN are false, so that it would win or vanish at random."""

    class Broken(HashEmbedder):
        def embed_queries(self, texts):
            return np.full((len(texts), self.identity.dimension), np.nan, dtype=np.float32)

    here.write(pages(4))
    here.index.embedder = Broken()
    found = here.search("router fan")
    assert found.passages
    assert np.isfinite([one.score for one in found.passages]).all()
    assert np.isfinite(found.dense_scores).all()


def test_stale_hits_never_show_and_the_next_ones_move_up(here):
    """The database is the truth: what only the indexes still hold is passed over, and the page stays full."""
    here.write(pages(12))
    before = here.search("router fan", limit=5).passages
    gone = {one.document_id for one in before[:4]}
    here.documents.remove_documents(sorted(gone))
    held = here.index.vectors.count("default")
    after = here.search("router fan", limit=5).passages
    assert held == here.index.lexical.size == 12
    assert len(after) == 5
    assert not gone & {one.document_id for one in after}
    assert after[0].chunk_id == before[4].chunk_id
    assert [one.rank for one in after] == [1, 2, 3, 4, 5]


def test_collections_hold_in_both_routes(here):
    here.write(pages(4))
    here.write({"secret.md": "# Salary\n\nrouter fan router fan\n"}, collection="hr")
    public = here.search("router fan", ["default"])
    assert {one.collection for one in public.passages} == {"default"}
    assert (len(public.dense_scores), len(public.lexical_scores)) == (4, 4)
    private = here.search("router fan", ["hr"])
    assert [one.document for one in private.passages] == ["secret.md"]
    assert (len(private.dense_scores), len(private.lexical_scores)) == (1, 1)
    assert {one.collection for one in here.search("router fan", ["default", "hr"]).passages} == {"default", "hr"}


def test_scope_holds_in_both_routes_and_takes_any_of_its_values(here):
    for version in ("1", "2", "3"):
        text = {f"v{version}.md": f"# Router {version}\n\nThe fan of router {version}.\n"}
        here.write(text, collection=f"v{version}", scope={"version": (version,), "os": ("linux",)})
    everywhere = ("v1", "v2", "v3")
    only = here.search("router fan", everywhere, {"version": ("2",)})
    assert [one.document for one in only.passages] == ["v2.md"]
    assert (len(only.dense_scores), len(only.lexical_scores)) == (1, 1)
    either = here.search("router fan", everywhere, {"version": ("1", "3"), "os": ("linux",)})
    assert {one.document for one in either.passages} == {"v1.md", "v3.md"}
    assert here.search("router fan", everywhere, {"version": ("1",), "os": ("windows",)}).passages == ()


def test_a_scope_without_value_is_refused_instead_of_widened(here):
    here.write(pages(2))
    with pytest.raises(UsageError, match="version"):
        here.search("router fan", scope={"version": ()})


def test_one_document_does_not_fill_the_page_while_others_are_left(here):
    sections = "\n\n".join(f"## Router part {n}\n\n{f'router fan part{n} ' * 60}" for n in range(8))
    here.write({"long.md": f"# Router\n\n{sections}\n", "a.md": "# A\n\nA router.\n", "b.md": "# B\n\nA fan.\n"})
    documents = [one.document for one in here.search("router fan", limit=6, per_document=2).passages]
    assert len(documents) == 6
    assert sorted(documents[:4]) == ["a.md", "b.md", "long.md", "long.md"]
    assert documents[4:] == ["long.md", "long.md"]


def test_a_pasted_log_is_searched_by_its_rarest_words(here):
    here.write(pages(3))
    found = here.search(" ".join(f"word{n}" for n in range(3000)) + " router", query_terms=16)
    assert len(found.terms) == 16


def test_a_question_says_its_language_and_whether_the_model_reads_it(here):
    here.write(pages(2))
    assert (here.search("router fan").language, here.search("router fan").language_covered) == ("en", True)
    chinese = here.search("路由器的风扇")
    assert (chinese.language, chinese.language_covered) == ("zh", False)


def test_where_the_model_cannot_read_words_alone_decide_the_order(here):
    here.write({"a.md": "# 路由器\n\n路由器的风扇是五厘米。\n", **pages(5)})
    passages = here.search("路由器的风扇多大？").passages
    assert passages[0].document == "a.md"
    assert passages[0].lexical_rank == 1


def test_timings_add_up(here):
    here.write(pages(2))
    timings = here.search("router fan").timings_ms
    assert set(timings) == {"embed", "dense", "lexical", "search"}
    assert timings["search"] >= timings["dense"] + timings["lexical"] > 0
