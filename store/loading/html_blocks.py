"""From an HTML tree to blocks: headings, paragraphs, lists, tables, code and quotations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from store.loading.builder import BlockBuilder
from store.loading.fence import fenced
from store.loading.html_limits import refuse_costly_markup
from store.loading.html_tables import is_layout, read_table
from store.loading.html_tree import children, events, is_hidden, is_mark, shown_text, whole_number
from store.loading.source import one_line, refuse_long
from store.loading.tables import caption_like

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "body", "caption", "center", "dd", "details", "dialog", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "legend", "main", "nav", "p"),
        *("section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr"),
    )
)
_SECTIONS = frozenset({"article", "main", "section"})
_LANDMARK_ROLES = frozenset({"navigation", "banner", "contentinfo", "search"})
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight)-([\w+#-]+)")
_SPACE = re.compile(r"\s+")
_LINK_SHARE = 0.5
"""Share of linked text from which an aside is a list of links, not a remark."""


@dataclass(slots=True)
class Outcome:
    """What was left out, in characters."""

    hidden: int = 0
    furniture: int = 0


def add_html(markup: str, builder: BlockBuilder) -> Outcome:
    """Take a piece of HTML (as in Markdown) apart into ``builder``.

    Raises:
        LoadError: it would keep the parser busy for minutes; see :mod:`store.loading.html_limits`.
    """
    refuse_costly_markup(markup)
    body = LexborHTMLParser(markup).body
    return add_tree(body, builder, landmarks=False, pictures=True) if body is not None else Outcome()


def add_tree(root: LexborNode, builder: BlockBuilder, *, landmarks: bool, pictures: bool = False) -> Outcome:
    """Take everything visible below ``root`` apart into ``builder``.

    Args:
        root: its own tag is not looked at, except that a section counts as opened.
        builder: receives headings and blocks.
        landmarks: leave out navigation and the page's own header, footer and asides.
        pictures: read the alternative texts of pictures, which no visitor of a page sees; authors of Markdown
            describe their pictures in them.
    """
    reader = _Reader(builder, landmarks=landmarks, pictures=pictures, sections=int(root.tag in _SECTIONS))
    for opening, node in events(root, reader.skips):
        if node.is_text_node:
            refuse_long(len(node.text_content or ""))
            reader.text.append(_SPACE.sub(" ", node.text_content or ""))
        elif opening:
            reader.enter(node)
        else:
            reader.leave(node)
    reader.flush()
    reader.end_list()
    return reader.outcome


@dataclass(slots=True)
class _Reader:
    """Text, lists and sections that are open at one place of the walk."""

    builder: BlockBuilder
    landmarks: bool
    pictures: bool
    sections: int
    outcome: Outcome = field(default_factory=Outcome)
    text: list[str] = field(default_factory=list)
    lists: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    marker: str = ""
    quotes: int = 0

    def skips(self, node: LexborNode) -> bool:
        """Whether a node is left out; heads, tables and code are taken whole here and not entered."""
        if node.is_comment_node:
            self.outcome.hidden += len(node.comment_content or "")
            return True
        if not node.is_element_node:
            return False
        if is_mark(node):
            return True
        if is_hidden(node):
            self.outcome.hidden += len(one_line(node.text())) or len(node.inner_html or "")
            return True
        if self.landmarks and self._is_landmark(node):
            self.outcome.furniture += len(one_line(node.text()))
            return True
        return self._take_whole(node)

    def enter(self, node: LexborNode) -> None:
        tag = node.tag
        self.sections += tag in _SECTIONS
        if tag == "br":
            self.text.append("\n")
        elif tag == "code":
            self.text.append("`")
        elif tag == "img" and self.pictures:
            self.text.append(f" {_SPACE.sub(' ', node.attributes.get('alt') or '')} ")
        elif tag in {"ul", "ol", "menu"}:
            self._open_list(node)
        elif tag == "li":
            self.flush()
            self._open_item()
        elif tag == "blockquote":
            self.flush()
            self.quotes += 1
        elif tag in _BLOCKS and tag != "dd":
            self.flush()

    def leave(self, node: LexborNode) -> None:
        tag = node.tag
        self.sections -= tag in _SECTIONS
        if tag == "code":
            self.text.append("`")
        elif tag == "dt":
            self.text.append(": ")
        elif tag in {"td", "th"}:
            self.text.append(" ")
        elif tag in _BLOCKS or tag == "li":
            self.flush()
        elif tag in {"ul", "ol", "menu"}:
            self.flush()
            self.lists.pop()
            if not self.lists:
                self.end_list()
        elif tag == "blockquote":
            self.flush()
            self.quotes -= 1

    def flush(self) -> None:
        """Turn the collected text into a paragraph, a quotation or a line of the open list."""
        lines = [one_line(line) for line in "".join(self.text).replace("``", "").split("\n")]
        self.text.clear()
        shown = [line for line in lines if line]
        if not shown:
            return
        if self.lists:
            self._add_to_item(shown)
        elif self.quotes:
            self.builder.add("quote", "\n".join(f"> {line}" for line in shown))
        else:
            self.builder.add("paragraph", "\n".join(shown))

    def end_list(self) -> None:
        """Hand over the list that was collected."""
        if self.lines:
            self.builder.add("list", "\n".join(self.lines))
        self.lines.clear()
        self.marker = ""

    def _is_landmark(self, node: LexborNode) -> bool:
        role = (node.attributes.get("role") or "").lower()
        if node.tag == "nav" or role in _LANDMARK_ROLES:
            return True
        if node.tag == "aside" and self.sections:
            words = len(one_line(node.text()))
            return sum(len(one_line(link.text())) for link in node.css("a")) > _LINK_SHARE * words
        return node.tag in {"header", "footer", "aside"} and not self.sections

    def _take_whole(self, node: LexborNode) -> bool:
        if node.tag in _HEADINGS and not self.lists:
            self.flush()
            self.builder.heading(int(node.tag[1]), shown_text(node))
            return True
        if node.tag == "pre":
            self.flush()
            self._add_code(node)
            return True
        if node.tag == "table" and not is_layout(node):
            self.flush()
            self._add_table(node)
            return True
        return False

    def _open_list(self, node: LexborNode) -> None:
        self.flush()
        first = whole_number(node.attributes.get("start"), default=1)
        self.lists.append(first if node.tag == "ol" else -1)

    def _open_item(self) -> None:
        if not self.lists:  # an item outside of any list, as browsers forgive it
            return
        number = self.lists[-1]
        self.marker = f"{number}. " if number >= 0 else "- "
        if number >= 0:
            self.lists[-1] += 1

    def _add_to_item(self, shown: list[str]) -> None:
        indent = "   " * min(len(self.lists) - 1, 20)
        first = self.marker or "   "
        self.lines.append(f"{indent}{first}{shown[0]}")
        self.lines.extend(f"{indent}   {line}" for line in shown[1:])
        self.marker = ""

    def _add_code(self, node: LexborNode) -> None:
        code = shown_text(node, keep_space=True).strip("\n")
        if not code.strip():
            return
        block = fenced(code, _language(node))
        if self.lists:
            self._add_to_item(block.split("\n"))
        else:
            self.builder.add("code", block)

    def _add_table(self, node: LexborNode) -> None:
        table, caption = read_table(node)
        if self.lists:
            self._add_to_item(table.text.split("\n"))
            return
        above = "" if caption else self.builder.take_last_paragraph()
        if above and not caption_like(above):
            self.builder.add("paragraph", above)
            above = ""
        self.builder.add_table(table, caption or above)


def _language(node: LexborNode) -> str:
    """The language of a code block from the classes that highlighters use."""
    nearby = [*(child for child in children(node) if child.tag == "code"), node]
    parent = node.parent
    if parent is not None:
        nearby.extend([parent, *([parent.parent] if parent.parent is not None else [])])
    for place in nearby:
        match = _LANGUAGE.search(place.attributes.get("class") or "") if place.is_element_node else None
        if match and match[1] not in {"default", "none", "text"}:
            return match[1]
    return ""
