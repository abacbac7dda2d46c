"""Titles, headings and tags of what is indexed now."""

from __future__ import annotations

import pytest

from store.outline import outline
from tests.fakes.installation import Installation


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path)
    yield installation
    installation.close()


def test_nothing_indexed_has_no_outline(here):
    assert outline(here.database) == ([], [])


def test_a_document_is_one_text_of_its_title_and_headings(here):
    here.write({"a.md": "# Guide\n\nx\n\n## Setup\n\ny\n\n### Linux\n\nz\n\n## Usage\n\nw\n", "b.md": "# Other\n\nx\n"})
    texts = sorted(outline(here.database).headings)
    assert sorted(texts[0].splitlines()) == ["Guide", "Linux", "Setup", "Usage"]
    assert texts[0].splitlines()[0] == "Guide"
    assert texts[1] == "Other"


@pytest.mark.parametrize(
    ("front_matter", "tags"),
    [
        ("tags: [Vault, Consul, Vault]", ["Vault", "Consul"]),
        ("keywords: Vault, Consul,,", ["Vault", "Consul"]),
        ("categories: Vault", ["Vault"]),
        ("tags: []", []),
        ("tags:", []),
        ("tags: [1, 2.5, '']", ["1", "2.5"]),
        ("author: me", []),
    ],
)
def test_tags_are_read_from_lists_and_from_text(here, front_matter, tags):
    here.write({"a.md": f"---\n{front_matter}\n---\n# A\n\nx\n"})
    assert outline(here.database).tags == tags


def test_a_removed_document_leaves_the_outline(here):
    here.write({"a.md": "---\ntags: [Vault]\n---\n# A\n\nx\n", "b.md": "# B\n\nx\n"})
    gone = next(one.id for one in here.documents.documents() if one.path == "a.md")
    here.index.remove([gone])
    assert outline(here.database) == (["B"], [])
