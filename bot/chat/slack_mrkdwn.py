"""Markdown becomes Slack's mrkdwn: the same words, links that work, and nothing that pings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bot.chat.slack_tables import WIDEST, records
from bot.chat.slack_text import escape, wrapped
from bot.chat.tables import Table, aligned
from bot.chat.text_parts import ZERO_WIDTH_SPACE, clean, size

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_FOLLOWABLE = re.compile(r"https?://[^\s/?#]|mailto:\S", re.IGNORECASE)
_FENCE = "```"
_LONGEST_LINK = 1000
_BARE_URL = re.compile(r"https?://[^\s<>|]+")
_MARKER = re.compile(r"\[(\d{1,4})\]")
_MARKS = {"strong": "*", "em": "_", "s": "~"}
_INDENT = "    "
_RULE = "─" * 12


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph, list, table or block of code.

    Attributes:
        text: mrkdwn; for code the escaped lines without the fence.
        plain: the same without emphasis, for texts that must be cut: no mark then stands without its partner.
        code: is shown with a fence around it.
    """

    text: str
    plain: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class _Style:
    """How inline text is written: without emphasis, on one line, below which marks."""

    plain: bool = False
    one_line: bool = False
    within: frozenset[str] = field(default_factory=frozenset)


def link(url: str, label: str) -> str:
    """A Slack link; the label alone where the address is none that may be followed (``javascript:``, a file).

    Args:
        url: the address, not escaped.
        label: plain text; the address itself when empty.
    """
    shown = escape(" ".join(label.split()))
    if not _followable(url):
        return shown or escape(url)
    address = escape(re.sub(r"\s", "%20", url).replace("|", "%7C").replace("<", "%3C").replace(">", "%3E"))
    token = f"<{address}|{shown}>" if shown and shown != address else f"<{address}>"
    if size(token) <= _LONGEST_LINK:
        return token
    return f"{shown} ({address})" if shown and shown != address else address


def to_pieces(markdown: str, sources: Mapping[int, str] | None = None) -> list[Piece]:
    """Markdown as pieces of mrkdwn, in order.

    Args:
        markdown: CommonMark with pipe tables; HTML counts as text.
        sources: addresses of numbered sources; markers such as ``[2]`` become links to them.
    """
    tree = SyntaxTreeNode(_PARSER.parse(clean(markdown)))
    return _Writer(sources or {}).blocks(tree.children)


def split(pieces: Iterable[Piece], limit: int) -> list[str]:
    """Pieces joined to texts that are not longer than allowed; nothing is lost and the order is kept.

    Args:
        pieces: what :func:`to_pieces` made.
        limit: how long each text may be, as :func:`bot.chat.text_parts.size` counts; at least twice the longest link.
    """
    parts: list[str] = []
    for shown in (text for piece in pieces for text in _fitting(piece, limit)):
        if parts and size(parts[-1]) + size(shown) + 2 <= limit:
            parts[-1] = f"{parts[-1]}\n\n{shown}"
        else:
            parts.append(shown)
    return parts


def to_mrkdwn(markdown: str) -> str:
    """Markdown as one mrkdwn text, however long it is."""
    return "\n\n".join(_shown(piece) for piece in to_pieces(markdown))


def _shown(piece: Piece) -> str:
    return _fenced(piece.text) if piece.code else piece.text


def _fitting(piece: Piece, limit: int) -> list[str]:
    shown = _shown(piece)
    if size(shown) <= limit:
        return [shown] if piece.text.strip() else []
    if piece.code:
        return [_fenced(part) for part in wrapped(piece.text, limit - 2 * len(_FENCE) - 2)]
    return wrapped(piece.plain or piece.text, limit)


def _fenced(code: str) -> str:
    return f"{_FENCE}\n{code}\n{_FENCE}"


def _code(content: str) -> Piece:
    # A fence cannot be escaped: an invisible character keeps the one in the text from ending the block.
    inner = content.strip("\n").replace(_FENCE, f"`{ZERO_WIDTH_SPACE}`{ZERO_WIDTH_SPACE}`")
    return Piece(escape(inner), code=True)


def _followable(url: str) -> bool:
    return _FOLLOWABLE.match(url) is not None


class _Writer:
    """Walks the tree of a Markdown text."""

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
                pieces = [_code(node.content)]
            case "bullet_list" | "ordered_list":
                pieces = self._list(node)
            case "blockquote":
                pieces = [_quoted(piece) for piece in self.blocks(node.children)]
            case "table":
                pieces = self._table(node)
            case "hr":
                pieces = [Piece(_RULE, _RULE)]
            case _:
                pieces = [Piece(escape(node.content), escape(node.content))]
        return pieces

    def _heading(self, node: SyntaxTreeNode) -> list[Piece]:
        title = self._inline(node.children, _Style(one_line=True, within=frozenset({"strong"})))
        plain = self._inline(node.children, _Style(plain=True, one_line=True))
        return [Piece(f"*{title}*", plain)] if title.strip() else []

    def _paragraph(self, node: SyntaxTreeNode) -> Piece:
        return Piece(self._inline(node.children, _Style()), self._inline(node.children, _Style(plain=True)))

    def _list(self, node: SyntaxTreeNode) -> list[Piece]:
        start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        pieces: list[Piece] = []
        for place, item in enumerate(node.children):
            marker = "• " if start is None else f"{start + place}. "
            for piece in _item(marker, self.blocks(item.children)):
                if pieces and not pieces[-1].code and not piece.code:
                    last = pieces[-1]
                    pieces[-1] = Piece(f"{last.text}\n{piece.text}", f"{last.plain}\n{piece.plain}")
                else:
                    pieces.append(piece)
        return pieces

    def _table(self, node: SyntaxTreeNode) -> list[Piece]:
        rows = [row.children for part in node.children for row in part.children]
        style = _Style(plain=True, one_line=True)
        shown = Table(
            words=[[_words(cell.children) for cell in row] for row in rows],
            shown=[[self._inline(cell.children, style) for cell in row] for row in rows],
            right=["right" in str(cell.attrs.get("style", "")) for cell in rows[0]],
        )
        drawn = aligned(shown, WIDEST)
        if drawn is None:
            text = records(shown)
            return [Piece(text, text)]
        links = dict.fromkeys(target for row in shown.shown for cell in row for target in re.findall(r"<[^<>]+>", cell))
        return [_code(drawn), *([Piece(text, text)] if (text := "  ".join(links)) else [])]

    def _inline(self, nodes: Sequence[SyntaxTreeNode], style: _Style) -> str:
        text = ""
        open_end = False
        for node in nodes:
            shown, marked = self._shown(node, style)
            if not shown:
                continue
            # Slack reads a mark as one only beside a space or a sign; an invisible one stands in for it.
            if (marked and text[-1:].isalnum()) or (open_end and shown[0].isalnum()):
                text += ZERO_WIDTH_SPACE
            text += shown
            open_end = marked
        return text

    def _shown(self, node: SyntaxTreeNode, style: _Style) -> tuple[str, bool]:
        """One inline node, and whether it stands between marks."""
        marked = False
        match node.type:
            case "text" | "text_special":
                shown = self._text(node.content)
            case "softbreak" | "hardbreak":
                shown = " " if style.one_line else "\n"
            case "code_inline":
                marked = "`" not in node.content and bool(node.content.strip()) and not style.plain
                shown = f"`{escape(node.content)}`" if marked else escape(node.content)
            case "strong" | "em" | "s":
                shown, marked = self._emphasis(node, style)
            case "link":
                shown = link(str(node.attrs.get("href", "")), _words(node.children))
            case "image":
                shown = link(str(node.attrs.get("src", "")), _words(node.children) or node.content or "image")
            case _:
                shown = self._inline(node.children, style) if node.children else self._text(node.content)
        return shown, marked

    def _emphasis(self, node: SyntaxTreeNode, style: _Style) -> tuple[str, bool]:
        inner = self._inline(node.children, replace(style, one_line=True, within=style.within | {node.type}))
        if style.plain or node.type in style.within or not inner.strip():
            return inner, False
        mark = _MARKS[node.type]
        return f"{mark}{inner}{mark}", True

    def _text(self, content: str) -> str:
        shown = ""
        place = 0
        for match in _BARE_URL.finditer(content):
            url = _trimmed(match.group())
            shown += self._markers(content[place : match.start()]) + link(url, "")
            place = match.start() + len(url)
        return shown + self._markers(content[place:])

    def _markers(self, content: str) -> str:
        def linked(match: re.Match[str]) -> str:
            url = self._sources.get(int(match[1]), "")
            return link(url, match.group()) if _followable(url) else match.group()

        return _MARKER.sub(linked, escape(content))


def _words(nodes: Sequence[SyntaxTreeNode]) -> str:
    """The bare words of inline nodes."""
    parts = []
    for node in nodes:
        if node.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        else:
            parts.append(_words(node.children) if node.children else node.content)
    return "".join(parts)


def _trimmed(url: str) -> str:
    """A bare address without the punctuation of the sentence around it."""
    while url and (url[-1] in ".,;:!?'\"*_~]}" or (url[-1] == ")" and url.count(")") > url.count("("))):
        url = url[:-1]
    return url


def _quoted(piece: Piece) -> Piece:
    def marked(text: str) -> str:
        return "\n".join(f"> {line}" for line in text.split("\n"))

    return Piece(marked(piece.text), marked(piece.plain or piece.text))


def _item(marker: str, pieces: list[Piece]) -> list[Piece]:
    """The pieces of a list item: the first behind its marker, further lines indented below it."""
    if not pieces or pieces[0].code:
        pieces = [Piece("", ""), *pieces]
    first, *rest = pieces

    def hung(text: str, lead: str) -> str:
        return lead + text.replace("\n", f"\n{_INDENT}")

    head = Piece(hung(first.text, marker), hung(first.plain or first.text, marker))
    below = [
        piece if piece.code else Piece(hung(piece.text, _INDENT), hung(piece.plain or piece.text, _INDENT))
        for piece in rest
    ]
    return [head, *below]
