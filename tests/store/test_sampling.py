"""The background of a corpus is what its own vectors say, kept until the corpus has changed."""

from __future__ import annotations

import numpy as np
import pytest

from store.background import NEIGHBOURS, SMALLEST_CORPUS
from store.errors import UnavailableError
from store.sampling import measure_background
from store.text import stems
from tests.fakes.embedder import HashEmbedder
from tests.fakes.installation import Installation

WORDS = "router fan disk light cable power screw panel port label shelf rack".split()  # noqa: SIM905


def pages(numbers):
    return {
        f"{n}.md": f"# Page {n}\n\nThe {WORDS[n % 12]} and the {WORDS[n * 5 % 12]} of unit{n} by {WORDS[n * 7 % 12]}.\n"
        for n in numbers
    }


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path)
    yield installation
    installation.close()


class Down:
    def query(self, *_arguments):
        raise UnavailableError("down")


def test_a_small_corpus_has_no_background(here):
    assert measure_background(here.index) is None
    here.write(pages(range(SMALLEST_CORPUS - 1)))
    assert measure_background(here.index) is None


def test_a_single_document_has_no_background(here):
    sections = "\n\n".join(f"## Part {n}\n\n{f'word{n} ' * 120}" for n in range(30))
    here.write({"one.md": f"# One\n\n{sections}\n"})
    assert here.documents.counts().chunks >= SMALLEST_CORPUS
    assert measure_background(here.index) is None


def test_the_figures_are_those_of_the_vectors(here):
    """Recomputed by numpy over all pairs; every page is one chunk here."""
    here.write(pages(range(30)))
    measured = measure_background(here.index)
    texts = [chunk.embedded_text for batch in here.documents.iterate_chunks() for chunk in batch]
    matrix = here.embedder.embed_documents(texts)
    similarities = matrix @ matrix.T
    others = similarities[~np.eye(30, dtype=bool)].reshape(30, 29)
    assert measured.chunks == 30
    assert measured.chance_similarity == pytest.approx(others.mean(), abs=1e-4)
    assert measured.neighbour_similarity == pytest.approx(np.sort(others, axis=1)[:, -NEIGHBOURS:].mean(), abs=1e-3)
    assert measured.mean_terms == pytest.approx(np.mean([len(stems(text)) for text in texts]), abs=3)


def test_figures_are_kept_until_a_tenth_has_changed(here):
    here.write(pages(range(40)))
    first = measure_background(here.index)
    here.write(pages(range(43)))
    assert measure_background(here.index) == first
    here.write(pages(range(50)))
    assert measure_background(here.index).chunks == 50


def test_another_model_measures_anew(here):
    here.write(pages(range(30)))
    first = measure_background(here.index)
    here.embedder = here.index.embedder = HashEmbedder(revision="2")
    del here.index.vectors
    here.index.rebuild()
    assert measure_background(here.index) != first


def test_while_the_vector_store_is_down_nothing_is_measured_and_nothing_kept(here):
    here.write(pages(range(30)))
    vectors = here.index.vectors
    here.index.vectors = Down()
    assert measure_background(here.index) is None
    here.index.vectors = vectors
    assert measure_background(here.index).chunks == 30
