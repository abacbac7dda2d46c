"""A search as if a document were not there finds what it would find without it."""

from __future__ import annotations

import pytest

from store.search import Searcher, SearchOptions
from store.without import Without
from tests.fakes.installation import Installation

PAGES = {
    "vpn.md": "# VPN\n\nTo reset the VPN client press the blue button.\n",
    "mail.md": "# Mail\n\nThe mailbox quota is five gigabytes.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night.\n",
}


@pytest.fixture
def here(tmp_path):
    installation = Installation(tmp_path)
    installation.write(PAGES)
    yield installation
    installation.close()


def found(index, question, **options):
    return Searcher(index, SearchOptions(**options)).search(question, ["default"]).passages


def test_a_hidden_document_is_found_by_neither_route(here):
    hidden = {found(here.index, "How do I reset the VPN client?")[0].document_id}
    passages = found(Without(here.index, hidden, 1), "How do I reset the VPN client?")
    assert {one.document for one in passages} == {"mail.md", "backup.md"}


def test_the_others_keep_their_scores_and_order(here):
    question = "mailbox quota of the database client"
    whole = found(here.index, question)
    hidden = next(one.document_id for one in whole if one.document == "vpn.md")
    less = found(Without(here.index, {hidden}, 1), question)
    assert {one.document: one.score for one in less} == {
        one.document: one.score for one in whole if one.document != "vpn.md"
    }


def test_a_full_page_comes_back_though_the_hidden_document_fills_the_first_one(tmp_path):
    many = "\n\n".join(f"## Part {n}\n\n" + f"The VPN client of office {n} is reset. " * 40 for n in range(20))
    others = {f"o{n}.md": f"# Other {n}\n\nThe VPN in building {n}.\n" for n in range(5)}
    installation = Installation(tmp_path)
    installation.write({"big.md": f"# VPN\n\n{many}", **others})
    hidden = next(one.id for one in installation.documents.documents() if one.path == "big.md")
    chunks = installation.documents.document(hidden).chunks
    assert chunks > 5
    assert len(found(Without(installation.index, {hidden}, chunks), "reset the VPN client", limit=5)) == 5
    installation.close()
