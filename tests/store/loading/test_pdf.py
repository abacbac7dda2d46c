"""PDF files as documents."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from store.errors import LoadError
from store.loading import load

NAMES = ("Setup", "Usage", "Repair", "Removal")


def pdf(*pages, **options):
    return finished(written(pages), **options)


def written(pages):
    """A PDF with a text layer: each page is a list of lines, None is a page without any text."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for lines in pages:
        page = writer.add_blank_page(width=595, height=842)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        stream = DecodedStreamObject()
        if lines is None:
            stream.set_data(b"0 0 100 100 re f")
        else:
            shown = "".join(f"({line.replace('(', '').replace(')', '')}) Tj T*\n" for line in lines)
            stream.set_data(f"BT /F1 12 Tf 14 TL 50 780 Td\n{shown}ET".encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    return writer


def finished(writer, user=None, owner=None, title=None, outline=()):
    for name, page in outline:
        writer.add_outline_item(name, page)
    if title is not None:
        writer.add_metadata({"/Title": title, "/Producer": "Scan\x00"})
    if user is not None:
        writer.encrypt(user_password=user, owner_password=owner, algorithm="AES-256")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def read(data):
    return load(Path("manual.pdf"), data=data)


def shape(document):
    return [(block.headings, block.text) for block in document.blocks]


def test_each_page_becomes_a_section():
    document = read(pdf(["Refunds take 30 days."], ["Fees are 5 EUR", "per order."]))
    assert shape(document) == [(("Page 1",), "Refunds take 30 days."), (("Page 2",), "Fees are 5 EUR per order.")]
    assert (document.title, document.partial, document.metadata["pages"]) == ("Manual", False, 2)


def test_a_single_page_needs_no_page_heading():
    assert shape(read(pdf(["Only page."]))) == [((), "Only page.")]


def test_a_page_without_text_makes_the_document_partial_and_is_named():
    """B061: page 2 of 3 is a picture."""
    document = read(pdf(["Alpha first."], None, ["Gamma third."]))
    assert document.partial
    assert "page 2;" in document.notes[0]
    assert [block.headings for block in document.blocks] == [("Page 1",), ("Page 3",)]


def test_runs_of_missing_pages_are_listed_briefly():
    document = read(pdf(["Alpha."], None, None, None, ["Beta."], None))
    assert "pages 2-4, 6;" in document.notes[0]


@pytest.mark.parametrize(
    "pages",
    [[None, None], [["CONFIDENTIAL"]] * 3, [["CONFIDENTIAL 1 of 3"], ["CONFIDENTIAL 2 of 3"], ["CONFIDENTIAL 3 of 3"]]],
    ids=["pictures", "watermark", "numbered watermark"],
)
def test_a_scan_without_text_layer_is_refused_with_the_number_of_pages(pages):
    """B061: pictures only, or the same short stamp on each page, is no text."""
    with pytest.raises(LoadError, match=f"None of its {len(pages)} pages") as caught:
        read(pdf(*pages))
    assert "OCR" in caught.value.next_step


def test_a_stamped_scan_between_text_pages_counts_as_missing():
    """B061: a page with nothing but the running header has no text of its own."""
    pages = [["ACME Manual", f"{name} is explained here.", f"Page {n} of 5"] for n, name in enumerate(NAMES, 1)]
    document = read(pdf(*pages, ["ACME Manual", "Page 5 of 5"]))
    assert document.partial
    assert "page 5;" in document.notes[0]
    assert [block.text for block in document.blocks] == [f"{name} is explained here." for name in NAMES]
    assert "repeated header and footer lines" in document.notes[-1]


def test_a_pdf_without_pages_is_refused():
    """B061: 0 pages."""
    with pytest.raises(LoadError, match="no pages"):
        read(pdf())


def test_a_pdf_with_permissions_only_is_read():
    """B062: AES-256 with an empty user password opens for everybody."""
    document = read(pdf(["Open to read."], user="", owner="owner"))
    assert document.blocks[0].text == "Open to read."


def test_a_pdf_with_a_password_is_refused_with_the_reason():
    """B062: a user password is set."""
    with pytest.raises(LoadError, match="password"):
        read(pdf(["Closed."], user="secret", owner="owner"))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6])
def test_a_truncated_pdf_is_refused_or_read_but_never_crashes_the_run(share):
    """B062: what is left of a file is either text or a reason."""
    data = pdf(["Alpha first."], ["Beta second."])
    try:
        assert read(data[: int(len(data) * share)]).blocks
    except LoadError as error:
        assert error.problem  # noqa: PT017


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"%PDF-1.7\n%%EOF", b"not a pdf at all", b"\x00" * 500])
def test_damaged_files_are_refused_with_a_reason(data):
    with pytest.raises(LoadError, match=r"damaged|no pages"):
        read(data)


def test_bookmarks_become_headings():
    writer = written([["Setup", "Install it first."], ["Usage", "Then run it."]])
    document = read(finished(writer, outline=[("Setup", 0), ("Usage", 1)]))
    assert shape(document) == [(("Setup",), "Install it first."), (("Usage",), "Then run it.")]


def test_a_stored_title_is_used_and_names_of_programs_are_not():
    """B100: control characters in the metadata go as well."""
    assert read(pdf(["x y"], title="The\x00 Guide")).title == "The Guide"
    for useless in ("", "untitled", "Microsoft Word - final.docx", "manual.pdf"):
        assert read(pdf(["x y"], title=useless)).title == "Manual"


def test_hyphens_at_line_ends_are_undone_and_list_items_keep_their_lines():
    document = read(pdf(["The con-", "figuration has", "- one item", "- two items that", "go on", "1. step"]))
    assert document.blocks[0].text == "The configuration has\n- one item\n- two items that go on\n1. step"


def test_the_fixture_is_a_real_pdf():
    assert PdfReader(io.BytesIO(pdf(["a"]))).pages[0].extract_text().strip() == "a"
