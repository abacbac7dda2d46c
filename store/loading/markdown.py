"""CommonMark with front matter and tables.

Blocks are slices of the source, so that what is quoted later is what the author wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from store.errors import LoadError
from store.loading.builder import BlockBuilder
from store.loading.encoding import decode
from store.loading.fence import fenced
from store.loading.inline import HiddenSpan, plain_words, visible_markdown
from store.loading.metadata import scope_of, split_front_matter
from store.loading.source import Source, language_code, refuse_long, title_from_name, web_address
from store.loading.tables import Table, caption_like
from store.records import BlockKind, Document
from store.text import clean

_KINDS: dict[str, BlockKind] = {
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "fence": "code",
    "code_block": "code",
}
_TOKENS_PER_LINE, _TOKENS_PER_CELL = 5, 3
"""Tokens that the parser makes of an item of a list, and of a cell of a table: the most for their length."""
_MOST_TOKENS = 1_500_000
"""Each takes about 400 bytes until the file is read: 300,000 lines, or a table of 50,000 rows and six columns."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_EMBEDDED_DATA = re.compile(r"data:[\w.+/-]{0,80};base64,[A-Za-z0-9+/=]{64,}")


def read(source: Source) -> Document:
    """Read a Markdown file.

    Raises:
        LoadError: the bytes are not text.
    """
    decoded = decode(source.data)
    refuse_long(len(decoded.text))
    head = split_front_matter(clean(decoded.text))
    builder = BlockBuilder()
    hidden = add_markdown(head.body, builder)
    values = dict(head.values)
    scope = scope_of(values.pop("scope", None))
    title = clean(str(values.get("title") or "")).strip() or builder.first_heading or title_from_name(source.name)
    notes = (*decoded.notes, *head.notes)
    if hidden:
        notes = (*notes, f"{hidden} characters of comments and hidden text were left out.")
    return Document(
        title=title,
        blocks=builder.build(),
        metadata=values,
        scope=scope,
        language=language_code(values.get("lang") or values.get("language")),
        encoding=decoded.encoding,
        notes=notes,
        url=web_address(values.get("url")),
    )


def add_markdown(text: str, builder: BlockBuilder) -> int:
    """Take Markdown apart into ``builder``.

    Args:
        text: cleaned Markdown without front matter.
        builder: receives headings and blocks; headings opened before stay open.

    Returns:
        How many characters of comments and hidden HTML were left out.

    Raises:
        LoadError: there are too many lines or cells.
    """
    text = _EMBEDDED_DATA.sub("data:", text)
    if _TOKENS_PER_LINE * text.count("\n") + _TOKENS_PER_CELL * text.count("|") > _MOST_TOKENS:
        raise LoadError("The Markdown has too many lines and cells to be taken apart.", "Split it.")
    lines = text.split("\n")
    tokens = _parser().parse(text)
    span = HiddenSpan()
    hidden, place = 0, 0
    while place < len(tokens):
        first, after = tokens[place], _end_of(tokens, place)
        if span:
            hidden += len(_raw(first, lines))
        else:
            hidden += _add_block(tokens[place:after], lines, builder)
        if first.type == "html_block":
            span.pass_over(first.content)
        place = after
    return hidden


@cache
def _parser() -> MarkdownIt:
    # Inline rules are not needed for slices, and most of the time and most hostile input is theirs.
    return MarkdownIt("commonmark").enable("table").disable("inline")


def _end_of(tokens: Sequence[Token], place: int) -> int:
    """Index after the token that closes the one at ``place``."""
    if tokens[place].nesting != 1:
        return place + 1
    level = tokens[place].level
    after = place + 1
    while tokens[after].level != level or tokens[after].nesting != -1:
        after += 1
    return after + 1


def _raw(token: Token, lines: Sequence[str]) -> str:
    start, end = token.map or [0, 0]
    return "\n".join(lines[start:end]).rstrip()


def _add_block(tokens: Sequence[Token], lines: Sequence[str], builder: BlockBuilder) -> int:
    first = tokens[0]
    if first.type == "heading_open":
        words, hidden = visible_markdown(tokens[1].content)
        builder.heading(int(first.tag[1:]), plain_words(words))
        return hidden
    if first.type == "html_block":
        return _add_html(first.content, builder)
    if first.type not in _KINDS and first.type != "table_open":
        return 0
    raw = _raw(first, lines)
    if _KINDS.get(first.type) == "code":
        builder.add("code", _as_fence(first, raw))
        return 0
    if first.type == "ordered_list_open":
        raw = _numbered(tokens, raw.split("\n"), first.map[0] if first.map else 0)
    shown, hidden = visible_markdown(raw)
    if first.type == "table_open":
        _add_table(shown, builder)
    else:
        builder.add(_KINDS[first.type], shown)
    return hidden


def _as_fence(token: Token, raw: str) -> str:
    if token.type == "code_block":
        return fenced(token.content.rstrip("\n"))
    marker = token.markup
    if not raw.rstrip().endswith(marker) or "\n" not in raw:
        return f"{raw}\n{marker}"  # the author never closed it
    return raw


def _numbered(tokens: Sequence[Token], lines: list[str], offset: int) -> str:
    """The list with the numbers that a reader sees: CommonMark counts on, whatever later items say."""
    number = int(tokens[0].attrs.get("start", 1))
    for token in tokens:
        if token.type == "list_item_open" and token.level == tokens[0].level + 1 and token.map:
            place = token.map[0] - offset
            if token.info != str(number):
                lines[place] = lines[place].replace(f"{token.info}{token.markup}", f"{number}{token.markup}", 1)
            number += 1
    return "\n".join(lines).rstrip()


def _add_table(text: str, builder: BlockBuilder) -> None:
    lines = text.split("\n")
    caption = builder.take_last_paragraph()
    if caption and not caption_like(caption):
        builder.add("paragraph", caption)
        caption = ""
    builder.add_table(Table(text, "\n".join(lines[:2])), caption)


def _add_html(markup: str, builder: BlockBuilder) -> int:
    from store.loading.html_blocks import add_html  # few Markdown files hold HTML

    return add_html(markup, builder).hidden
