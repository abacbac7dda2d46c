"""Web pages: the main content as blocks, without furniture and without what a visitor cannot see."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from store.loading.builder import BlockBuilder
from store.loading.encoding import decode
from store.loading.html_blocks import Outcome, add_tree
from store.loading.html_limits import refuse_costly_markup
from store.loading.html_tree import is_hidden, shown_text
from store.loading.metadata import json_values
from store.loading.source import Source, has_text, language_code, title_from_name, web_address
from store.records import Block, Document
from store.text import clean

_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,100}?encoding=[\"']([\w.:-]{2,40})",
    re.IGNORECASE,
)
_DECLARATION_ROOM = 4096
"""Bytes in which an encoding is looked for; the standard asks for the first 1,024, real pages are less strict."""


def read(source: Source) -> Document:
    """Read a web page.

    Raises:
        LoadError: the bytes are not text, or would keep the parser busy for minutes.
    """
    declared = _DECLARED.search(source.data[:_DECLARATION_ROOM])
    name = (declared[1] or declared[2]).decode("ascii") if declared else ""
    decoded = decode(source.data, declared=name)
    markup = clean(decoded.text)
    refuse_costly_markup(markup)
    page = LexborHTMLParser(markup)
    blocks, first_heading, notes = _content(page)
    return Document(
        title=first_heading or _head_title(page) or title_from_name(source.name),
        blocks=blocks,
        metadata=json_values(_meta(page)),
        language=language_code(page.root.attributes.get("lang")) if page.root else "",
        encoding=decoded.encoding,
        notes=(*decoded.notes, *notes),
        url=_canonical(page),
    )


def _content(page: LexborHTMLParser) -> tuple[tuple[Block, ...], str, tuple[str, ...]]:
    """Blocks, first heading and notes: from the main part, else the body, else the body with its furniture."""
    body = page.body
    if body is None:
        return (), "", ()
    mains = [node for node in page.css("main, [role=main]") if not is_hidden(node)]
    attempts = [(mains[:1], True)] if mains else []
    for roots, landmarks in [*attempts, ([body], True), ([body], False)]:
        builder = BlockBuilder()
        outcome = _add_all(roots, builder, landmarks=landmarks)
        blocks = builder.build()
        if has_text(blocks):
            break
    notes = list(_left_out(outcome))
    if not landmarks:
        notes.append("No main content was found; the whole page was read, navigation included.")
    return blocks, builder.first_heading, tuple(notes)


def _add_all(roots: list[LexborNode], builder: BlockBuilder, *, landmarks: bool) -> Outcome:
    total = Outcome()
    for root in roots:
        outcome = add_tree(root, builder, landmarks=landmarks)
        total.hidden += outcome.hidden
        total.furniture += outcome.furniture
    return total


def _left_out(outcome: Outcome) -> tuple[str, ...]:
    notes = []
    if outcome.hidden:
        notes.append(f"{outcome.hidden} characters of hidden text were left out.")
    if outcome.furniture:
        notes.append(f"{outcome.furniture} characters of navigation, page header and footer were left out.")
    return tuple(notes)


def _head_title(page: LexborHTMLParser) -> str:
    node = page.css_first("head > title")
    return shown_text(node) if node is not None else ""


def _canonical(page: LexborHTMLParser) -> str:
    node = page.css_first("link[rel=canonical]")
    return web_address(node.attributes.get("href")) if node is not None else ""


def _meta(page: LexborHTMLParser) -> dict[str, object]:
    named = {(node.attributes.get("name") or "").lower(): node.attributes.get("content") for node in page.css("meta")}
    return {name: named[name] for name in ("description", "author") if (named.get(name) or "").strip()}
