"""Blocks that many pages of one site share."""

from __future__ import annotations

from pathlib import Path

from store.loading import load
from store.loading.boilerplate import repeated_blocks, without_blocks
from store.records import Block, Document


def pages(number, extra=""):
    return [
        load(
            Path(f"p{n}.html"),
            data=(
                f"<main><h1>Page {n}</h1><div>Copy  page</div><p>Fact {n} is here.</p>"
                + "".join(f"<p>Detail {n}.{k}</p>" for k in range(12))
                + f"{extra}<div>Was this page helpful?</div></main>"
            ).encode(),
        )
        for n in range(number)
    ]


def texts(document):
    return [block.text for block in document.blocks]


def test_blocks_shared_by_many_pages_are_dropped_with_a_note():
    """B059: 12 pages sharing a 'Copy page' block."""
    documents = pages(12)
    repeated = repeated_blocks(documents)
    cleaned = [without_blocks(document, repeated) for document in documents]
    for number, document in enumerate(cleaned):
        assert texts(document)[0] == f"Fact {number} is here."
        assert texts(document)[-1] == f"Detail {number}.11"
        assert document.notes == ("2 blocks that many pages repeat were left out.",)


def test_a_few_pages_alike_are_no_site():
    assert repeated_blocks(pages(3)) == frozenset()
    assert repeated_blocks([]) == frozenset()


def test_a_text_on_fewer_than_half_of_the_pages_stays():
    documents = [*pages(5), *(Document(f"D{n}", (Block("paragraph", f"Own {n}"),)) for n in range(20))]
    assert repeated_blocks(documents) == frozenset()


def test_a_short_answer_shared_in_the_middle_of_pages_is_content():
    """The answer "None." under a heading of many runbooks is an answer, not furniture."""
    blocks = [tuple(Block("paragraph", "None." if k == 7 else f"Text {n}.{k}") for k in range(15)) for n in range(10)]
    assert repeated_blocks([Document(str(n), found) for n, found in enumerate(blocks)]) == frozenset()


def test_code_and_tables_are_never_furniture():
    documents = [Document(str(n), (Block("code", "```\nls\n```"), Block("paragraph", f"Text {n}"))) for n in range(8)]
    assert repeated_blocks(documents) == frozenset()


def test_a_page_that_would_become_empty_stays_as_it_is():
    documents = [Document(str(n), (Block("paragraph", "The same."),)) for n in range(8)]
    repeated = repeated_blocks(documents)
    assert repeated
    assert without_blocks(documents[0], repeated) is documents[0]


def test_a_page_without_the_texts_is_returned_unchanged():
    document = Document("A", (Block("paragraph", "Own text."),))
    assert without_blocks(document, frozenset({"other"})) is document
