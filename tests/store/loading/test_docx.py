"""Word documents as documents; the files are made by python-docx."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from store.errors import LoadError
from store.loading import load

BOX = (
    '<w:r {0} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:v="urn:schemas-microsoft-com:vml"><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>'
    "<w:txbxContent><w:p><w:r><w:t>{1}</w:t></w:r></w:p></w:txbxContent></w:drawing></mc:Choice>"
    "<mc:Fallback><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>{1}</w:t></w:r></w:p></w:txbxContent></v:textbox>"
    "</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
)


def saved(document):
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def read(document):
    return load(Path("form.docx"), data=saved(document))


def shape(document):
    return [(block.kind, block.headings, block.text) for block in document.blocks]


def filled(table, *rows):
    for row, values in zip(table.rows, rows, strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    return table


def test_paragraphs_and_tables_keep_their_order_under_headings():
    """B066: paragraph, table, paragraph; cells apart; headings as sections."""
    made = docx.Document()
    made.add_heading("Access", 1)
    made.add_paragraph("Before.")
    filled(made.add_table(2, 2), ("Name", "Port"), ("VPN", "443"))
    made.add_heading("Details", 2)
    made.add_paragraph("After.")
    document = read(made)
    assert document.title == "Access"
    assert shape(document) == [
        ("paragraph", ("Access",), "Before."),
        ("table", ("Access",), "| Name | Port |\n| --- | --- |\n| VPN | 443 |"),
        ("paragraph", ("Access", "Details"), "After."),
    ]


def test_a_form_of_empty_paragraphs_and_tables_is_not_empty():
    """B066: 7 empty paragraphs and 2 tables."""
    made = docx.Document()
    for _ in range(7):
        made.add_paragraph("")
    filled(made.add_table(2, 2), ("Name", "Ada"), ("Role", "Admin"))
    filled(made.add_table(1, 2), ("Due", "Friday"))
    assert [block.text.split("\n")[0] for block in read(made).blocks] == ["| Name | Ada |", "| Due | Friday |"]


def test_a_nested_table_is_read_inside_its_cell():
    """B066: a table in a cell; its cells are set apart."""
    made = docx.Document()
    outer = filled(made.add_table(2, 2), ("Key", "Value"), ("ports", "see:"))
    filled(outer.cell(1, 1).add_table(2, 2), ("http", "80"), ("ssh", "22"))
    assert read(made).blocks[0].text.split("\n")[2] == "| ports | see:; http; 80; ssh; 22 |"


def test_a_text_box_is_read_once_although_it_is_stored_twice():
    """B066: nothing but a text box."""
    made = docx.Document()
    made.add_paragraph("")._p.append(parse_xml(BOX.format(nsdecls("w"), "In the box")))
    assert shape(read(made)) == [("paragraph", (), "In the box")]


def test_merged_cells_are_filled():
    made = docx.Document()
    table = filled(made.add_table(3, 3), ("Region", "Net", "Gross"), ("EU", "1", "2"), ("", "3", "4"))
    table.cell(1, 0).merge(table.cell(2, 0)).text = "EU"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "Price"
    lines = read(made).blocks[0].text.split("\n")
    assert lines == ["| Region | Price | Price |", "| --- | --- | --- |", "| EU | 1 | 2 |", "| EU | 3 | 4 |"]


def test_lists_are_numbered_and_nested():
    made = docx.Document()
    for style, text in (
        ("List Number", "one"),
        ("List Number", "two"),
        ("List Bullet", "dot"),
        ("List Number", "three"),
    ):
        made.add_paragraph(text, style)
    assert shape(read(made)) == [("list", (), "1. one\n2. two\n- dot\n3. three")]


def test_a_line_ending_with_a_colon_is_the_caption_of_the_table_below():
    made = docx.Document()
    made.add_paragraph("Ports in use:")
    filled(made.add_table(2, 2), ("Name", "Port"), ("VPN", "443"))
    (block,) = read(made).blocks
    assert block.caption == "Ports in use:"


def test_page_headers_and_footers_stay_out():
    made = docx.Document()
    made.sections[0].header.paragraphs[0].text = "ACME Confidential"
    made.sections[0].footer.paragraphs[0].text = "Page 1"
    made.add_paragraph("Body.")
    assert shape(read(made)) == [("paragraph", (), "Body.")]


def test_inserted_links_and_controls_are_read_and_deleted_or_hidden_text_is_not():
    made = docx.Document()
    made.add_paragraph("x")._p.getparent().insert(
        0,
        parse_xml(
            f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:ins><w:r><w:t>new </w:t></w:r></w:ins>"
            "<w:del><w:r><w:delText>old </w:delText></w:r></w:del><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink>"
            "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:tab/><w:t>end</w:t></w:r></w:p>"
            "</w:sdtContent></w:sdt>"
        ),
    )
    assert [block.text for block in read(made).blocks] == ["new link\tend", "x"]


def test_title_style_properties_and_language_are_kept():
    made = docx.Document()
    made.core_properties.title = ""
    made.core_properties.author = "Team"
    made.core_properties.language = "de-DE"
    made.add_heading("The Handbook", 0)
    made.add_paragraph("Text.")
    document = read(made)
    assert (document.title, document.language, document.metadata["author"]) == ("The Handbook", "de", "Team")


def test_an_empty_document_is_refused():
    """B066: an empty result is a reason, not a success."""
    with pytest.raises(LoadError, match="no readable text"):
        read(docx.Document())
