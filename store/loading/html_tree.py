"""Walking an HTML tree without recursion, and telling what a visitor would not see."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborNode

from store.loading.inline import hiding_style
from store.loading.source import one_line

NO_TEXT = frozenset({"script", "style", "head", "svg", "math", "iframe", "object", "canvas", "audio", "video"})
CONTROLS = frozenset({"button", "select", "datalist", "textarea", "input"})
UNSEEN = frozenset({"template", "noscript"})
_MARK_CLASSES = frozenset({"headerlink", "linenos", "lineno", "gutter", "anchor-link"})

_WHOLE_NUMBER = re.compile(r"\s*(\d{1,8})\s*", re.ASCII)
Skip = Callable[[LexborNode], bool]


def whole_number(value: str | None, *, default: int) -> int:
    """The number in an attribute, ``default`` when it holds none."""
    match = _WHOLE_NUMBER.fullmatch(value or "")
    return int(match[1]) if match else default


def children(node: LexborNode) -> Iterator[LexborNode]:
    """The direct children of a node in order, text and comments included."""
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def events(root: LexborNode, skip: Skip) -> Iterator[tuple[bool, LexborNode]]:
    """Each node below ``root``: ``(True, node)`` when it opens, ``(False, node)`` when it closes.

    Nodes for which ``skip`` holds are left out with everything below them.
    """
    stack: list[tuple[bool, LexborNode]] = [(True, child) for child in children(root)][::-1]
    while stack:
        opening, node = stack.pop()
        if opening and skip(node):
            continue
        yield opening, node
        if opening and node.is_element_node:
            stack.append((False, node))
            stack.extend([(True, child) for child in children(node)][::-1])


def is_hidden(node: LexborNode) -> bool:
    """Whether a browser would not show the node: attributes, inline style, template and noscript."""
    if node.tag in UNSEEN:
        return True
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    if (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return True
    return hiding_style(attributes.get("style") or "")


def is_mark(node: LexborNode) -> bool:
    """Whether the node holds no text of the page itself: code, graphics, controls, permalink signs, line numbers."""
    if node.tag in NO_TEXT or node.tag in CONTROLS:
        return True
    names = (node.attributes.get("class") or "").split() if node.attributes else ()
    return any(name in _MARK_CLASSES for name in names)


def not_shown(node: LexborNode) -> bool:
    """Whether the node is skipped wherever it stands."""
    return node.is_comment_node or (node.is_element_node and (is_mark(node) or is_hidden(node)))


def shown_text(node: LexborNode, *, keep_space: bool = False) -> str:
    """Everything a visitor reads inside a node.

    Args:
        node: the element.
        keep_space: for preformatted text; otherwise runs of white space become one space.
    """
    parts: list[str] = []
    for opening, piece in events(node, not_shown):
        if piece.is_text_node:
            parts.append(piece.text_content or "")
        elif piece.tag == "br":
            parts.append("\n" if opening else "")
        elif piece.tag in {"p", "div", "li", "td", "th", "tr"} and not keep_space:
            parts.append(" ")
    text = "".join(parts)
    return text if keep_space else one_line(text)
