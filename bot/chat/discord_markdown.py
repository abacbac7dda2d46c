"""Markdown for Discord: the same words within its limits, links that work and unfold nothing, nothing that pings. Pure.

Discord reads a dialect of its own, so the text is parsed and written anew: every character that is not meant as a mark
is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bot.chat.discord_links import BARE_URL, LONGEST_LINK, address, followable, link, trimmed
from bot.chat.discord_tables import WIDEST, records
from bot.chat.discord_text import cut, defused, escaped, lines_escaped, wrapped
from bot.chat.tables import Table, aligned
from bot.chat.text_parts import ZERO_WIDTH_SPACE, clean, size

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_FENCE = "```"
_MARKER = re.compile(r"\[(\d{1,4})\](?!\()")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,20}")
_MARKS = {"strong": "**", "em": "*", "s": "~~"}
_HEADINGS = {"h1": "## ", "h2": "### "}
_RULE = "─" * 12
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph, list, table or block of code.

    Attributes:
        text: Discord's Markdown; for code the lines without the fence.
        plain: the same without emphasis, for texts that must be cut: no mark then stands without its partner.
            Of no use for code.
        language: of code, may be empty; None for everything else.
    """

    text: str
    plain: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class _Style:
    """How inline text is written: without emphasis, on one line, below which marks, as the label of a link."""

    plain: bool = False
    one_line: bool = False
    within: frozenset[str] = field(default_factory=frozenset)


def to_pieces(markdown: str, sources: Mapping[int, str] | None = None) -> list[Piece]:
    """Markdown as pieces in Discord's own, in order.

    Args:
        markdown: CommonMark with pipe tables; HTML counts as text.
        sources: addresses of numbered sources; markers such as ``[2]`` become links to them.
    """
    tree = SyntaxTreeNode(_PARSER.parse(clean(markdown)))
    pieces = _Writer(sources or {}).blocks(tree.children)
    return [replace(piece, text=defused(piece.text), plain=defused(piece.plain)) for piece in pieces]


def split(pieces: Iterable[Piece], limit: int) -> list[str]:
    """Pieces joined to texts that are not longer than allowed; nothing is lost and the order is kept.

    Args:
        pieces: what :func:`to_pieces` made.
        limit: how long each text may be, as :func:`bot.chat.text_parts.size` counts; more than the longest link.
    """
    parts: list[str] = []
    for shown in (text for piece in pieces for text in _fitting(piece, limit)):
        gap = "\n" if parts and parts[-1].endswith(_FENCE) else "\n\n"
        if parts and size(parts[-1]) + size(shown) + len(gap) <= limit:
            parts[-1] = f"{parts[-1]}{gap}{shown}"
        else:
            parts.append(shown)
    return parts


def _fitting(piece: Piece, limit: int) -> list[str]:
    if piece.language is not None:
        room = limit - 2 * len(_FENCE) - len(piece.language) - 2
        return [f"{_FENCE}{piece.language}\n{part}\n{_FENCE}" for part in cut(piece.text, room) if part.strip()]
    if size(piece.text) <= limit:
        return [piece.text] if piece.text.strip() else []
    return wrapped(piece.plain, limit)


class _Writer:
    """Walks the parsed text and writes it for Discord."""

    def __init__(self, sources: Mapping[int, str]) -> None:
        self._sources = sources

    def blocks(self, nodes: Sequence[SyntaxTreeNode]) -> list[Piece]:
        return [piece for node in nodes for piece in self._block(node)]

    def _block(self, node: SyntaxTreeNode) -> list[Piece]:
        match node.type:
            case "paragraph" | "inline":
                pieces = [self._paragraph(node)]
            case "heading":
                pieces = self._heading(node)
            case "fence" | "code_block":
                pieces = [_code(node.content, node.info if node.type == "fence" else "")]
            case "bullet_list" | "ordered_list":
                pieces = self._list(node)
            case "blockquote":
                pieces = _joined(_quoted(piece) for piece in self.blocks(node.children))
            case "table":
                pieces = self._table(node)
            case "hr":
                pieces = [Piece(_RULE, _RULE)]
            case _:
                text = lines_escaped(escaped(node.content))
                pieces = [Piece(text, text)]
        return pieces

    def _heading(self, node: SyntaxTreeNode) -> list[Piece]:
        plain = self._inline(node.children, _Style(plain=True, one_line=True))
        mark = _HEADINGS.get(node.tag)
        if mark:
            text = mark + self._inline(node.children, _Style(one_line=True))
        else:
            text = f"**{self._inline(node.children, _Style(one_line=True, within=frozenset({'strong'})))}**"
        return [Piece(text, lines_escaped(plain))] if plain.strip() else []

    def _paragraph(self, node: SyntaxTreeNode) -> Piece:
        text = self._inline(node.children, _Style())
        return Piece(lines_escaped(text), lines_escaped(self._inline(node.children, _Style(plain=True))))

    def _list(self, node: SyntaxTreeNode) -> list[Piece]:
        start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        pieces: list[Piece] = []
        for place, item in enumerate(node.children):
            marker = "- " if start is None else f"{start + place}. "
            pieces += _item(marker, self.blocks(item.children))
        return _joined(pieces)

    def _table(self, node: SyntaxTreeNode) -> list[Piece]:
        rows = [row.children for part in node.children for row in part.children]
        style = _Style(plain=True, one_line=True)
        table = Table(
            words=[[_words(cell.children) for cell in row] for row in rows],
            shown=[[self._inline(cell.children, style) for cell in row] for row in rows],
            right=["right" in str(cell.attrs.get("style", "")) for cell in rows[0]],
        )
        drawn = aligned(table, WIDEST)
        if drawn is None:
            return [Piece(records(table), records(table))]
        links = dict.fromkeys(token for row in rows for cell in row for token in self._links(cell))
        return [_code(drawn, ""), *([Piece(text, text)] if (text := "\n".join(links)) else [])]

    def _links(self, node: SyntaxTreeNode) -> list[str]:
        """The links within a cell, which cannot be followed in a block of code."""
        return [
            link(str(one.attrs.get("href") or one.attrs.get("src") or ""), _words(one.children) or one.content)
            for one in node.walk()
            if one.type in {"link", "image"} and followable(str(one.attrs.get("href") or one.attrs.get("src") or ""))
        ]

    def _inline(self, nodes: Sequence[SyntaxTreeNode], style: _Style) -> str:
        return "".join(self._shown(node, style) for node in nodes)

    def _shown(self, node: SyntaxTreeNode, style: _Style) -> str:
        match node.type:
            case "softbreak" | "hardbreak":
                return " " if style.one_line else "\n"
            case "code_inline":
                return _inline_code(node.content, plain=style.plain)
            case "strong" | "em" | "s":
                return self._emphasis(node, style)
            case "link":
                return link(str(node.attrs.get("href", "")), _words(node.children))
            case "image":
                return link(str(node.attrs.get("src", "")), _words(node.children) or node.content or "image")
        return self._inline(node.children, style) if node.children else self._text(node.content)

    def _emphasis(self, node: SyntaxTreeNode, style: _Style) -> str:
        inner = self._inline(node.children, replace(style, one_line=True, within=style.within | {node.type}))
        if style.plain or node.type in style.within or not inner.strip():
            return inner
        mark = _MARKS[node.type]
        # Marks that touch would be read as another mark.
        before = ZERO_WIDTH_SPACE if inner[0] == mark[0] else ""
        after = ZERO_WIDTH_SPACE if inner[-1] == mark[0] else ""
        return f"{mark}{before}{inner}{after}{mark}"

    def _text(self, content: str) -> str:
        shown = ""
        place = 0
        for match in BARE_URL.finditer(content):
            url = trimmed(match.group())
            if not followable(url):
                continue
            shown += self._markers(content[place : match.start()]) + link(url, "")
            place = match.start() + len(url)
        return shown + self._markers(content[place:])

    def _markers(self, content: str) -> str:
        shown = ""
        place = 0
        for match in _MARKER.finditer(content):
            url = self._sources.get(int(match[1]), "")
            if not followable(url) or size(url) > LONGEST_LINK // 2:
                continue
            shown += f"{escaped(content[place : match.start()])}[{match.group()}](<{address(url)}>)"
            place = match.end()
        return shown + escaped(content[place:])


def _inline_code(content: str, *, plain: bool) -> str:
    shown = defused(content)
    if plain or not content.strip():
        return escaped(content)
    if "`" not in content:
        return f"`{shown}`"
    return f"`` {shown} ``" if "``" not in content else escaped(content)


def _code(content: str, info: str) -> Piece:
    language = next(iter(info.split()), "")
    # A fence within the code would end it.
    lines = re.sub("``(?=`)", f"``{ZERO_WIDTH_SPACE}", defused(content.rstrip("\n")))
    return Piece(lines, lines, language=language if _LANGUAGE.fullmatch(language) else "")


def _words(nodes: Sequence[SyntaxTreeNode]) -> str:
    """The bare words of inline nodes."""
    parts = []
    for node in nodes:
        if node.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        else:
            parts.append(_words(node.children) if node.children else node.content)
    return "".join(parts)


def _quoted(piece: Piece) -> Piece:
    if piece.language is not None:
        return piece
    marked = ["\n".join(f"> {line}" for line in text.split("\n")) for text in (piece.text, piece.plain)]
    return Piece(*marked)


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces that are no code put together, line below line."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].language is None and piece.language is None:
            joined[-1] = Piece(f"{joined[-1].text}\n{piece.text}", f"{joined[-1].plain}\n{piece.plain}")
        else:
            joined.append(piece)
    return joined


def _item(marker: str, pieces: list[Piece]) -> list[Piece]:
    """The pieces of a list item: the first behind its marker, further lines indented below it."""
    if not pieces or pieces[0].language is not None:
        pieces = [Piece("", ""), *pieces]
    first, *rest = pieces

    def hung(piece: Piece, lead: str) -> Piece:
        if piece.language is not None:
            return piece
        return Piece(*(lead + text.replace("\n", f"\n{_INDENT}") for text in (piece.text, piece.plain)))

    return [hung(first, marker), *(hung(piece, _INDENT) for piece in rest)]
