"""reStructuredText, through docutils' document tree."""

from __future__ import annotations

import re
from typing import Any

from store.errors import LoadError
from store.loading.builder import BlockBuilder
from store.loading.encoding import decode
from store.loading.fence import fenced
from store.loading.plain import add_paragraphs
from store.loading.source import Source, one_line, refuse_long, title_from_name
from store.loading.tables import markdown_table
from store.records import Document
from store.text import clean

_SETTINGS = {
    "report_level": 5,  # above the severest: problems are handled here, not printed
    "halt_level": 5,
    "file_insertion_enabled": False,  # an include directive would read any file of the machine
    "raw_enabled": False,
    "_disable_config": True,
    "input_encoding": "unicode",
    "line_length_limit": 100_000_000,
    "warning_stream": False,
}
_SILENT = frozenset({"comment", "substitution_definition", "target", "meta", "raw", "image", "pending", "docinfo"})
_ROLE = re.compile(r":[\w:.+-]+:(?=`)")
_LINK_TARGET = re.compile(r"`([^`<]+?)\s*<[^`>]+>`_*|`([^`]+)`_*")
_DIRECTIVE = re.compile(r"^\.\. (?P<name>[\w:.-]+)::[ \t]*(?P<argument>[^\n]*)\n?(?P<body>.*)\Z", re.DOTALL)
_NO_PROSE = re.compile(
    r"(?:include|literalinclude|raw|csv-table|toctree|index|highlight|auto\w*|currentmodule|module)\Z"
)
"""Directives whose arguments are names of files and modules, or markup for another writer."""
_OPTION = re.compile(r"^\s+:[\w-]+:.*$", re.MULTILINE)
_ADMONITIONS = frozenset(
    ("attention", "caution", "danger", "error", "hint", "important", "note", "tip", "warning", "admonition")
)
_TEXT = frozenset(("paragraph", "line_block", "rubric", "subtitle", "caption", "attribution", "term"))
_LARGEST = 2_000_000
_MOST_LINES = 50_000
"""Characters and lines up to which markup is taken apart: docutils copies the lines of each level of nesting."""
_INLINE_WORK = 50_000_000
"""Marks times characters, summed over all texts of a document; a megabyte of real documentation takes a tenth."""
_MARKS = ("*", "`", "|", "_", "[")
_DEEPEST = 50
"""Directives inside directives that are followed; real documents nest three or four."""


def read(source: Source) -> Document:
    """Read a reStructuredText file; what docutils cannot take apart is read as plain text, with a note.

    Raises:
        LoadError: the bytes are not text.
    """
    decoded = decode(source.data)
    refuse_long(len(decoded.text))
    text = clean(decoded.text)
    builder = BlockBuilder()
    notes = decoded.notes
    try:
        _refuse_large(text)
        _Walker(builder).walk(_tree(text), 0)
    except LoadError:
        raise
    except Exception as error:  # noqa: BLE001  docutils fails in many ways on odd input; the text itself is still good
        builder = BlockBuilder()
        add_paragraphs(text, builder)
        why = "is too large to be taken apart" if isinstance(error, _TooLargeError) else _unread(error)
        notes = (*notes, f"The markup {why}; taken as plain text.")
    return Document(
        title=builder.first_heading or title_from_name(source.name),
        blocks=builder.build(),
        encoding=decoded.encoding,
        notes=notes,
    )


def _unread(error: Exception) -> str:
    return f"could not be read ({type(error).__name__})"


class _TooLargeError(Exception):
    """More than docutils takes apart within memory and time."""


def _refuse_large(text: str) -> None:
    if len(text) > _LARGEST or text.count("\n") > _MOST_LINES:
        raise _TooLargeError


def _tree(text: str) -> Any:
    from docutils.core import publish_doctree
    from docutils.parsers.rst import Parser

    return publish_doctree(
        text, parser=Parser(inliner=_inliner()), settings_overrides={**_SETTINGS, "doctitle_xform": False}
    )


def _inliner() -> Any:
    """What reads marks within lines, as long as they are few enough: the time for those without an end is the product
    of their number and the length of the text.
    """
    from docutils import nodes
    from docutils.parsers.rst.states import Inliner

    inliner = Inliner()
    parse, left = inliner.parse, _INLINE_WORK

    def patient(text: str, lineno: int, memo: Any, parent: Any) -> Any:
        nonlocal left
        left -= len(text) * sum(map(text.count, _MARKS))
        return parse(text, lineno, memo, parent) if left >= 0 else ([nodes.Text(text)], [])

    # Its own class is looked at by name, so that no other can be derived from it.
    inliner.parse = patient  # type: ignore[method-assign]
    return inliner


class _Walker:
    """Turns nodes of the document tree into blocks."""

    def __init__(self, builder: BlockBuilder) -> None:
        self._builder = builder

    def walk(self, parent: Any, level: int) -> None:
        """Add all children of a node that lies ``level`` sections deep."""
        for node in parent.children:
            self._add(node, level)

    def _add(self, node: Any, level: int) -> None:
        name = node.tagname
        if name == "section":
            self.walk(node, level + 1)
        elif name == "title":
            self._builder.heading(max(1, level), _words(node))
        elif name == "table":
            self._add_table(node)
        elif name == "system_message":
            self._add_unknown(node, level)
        elif name in {"definition_list", "field_list", "option_list"}:
            self._add_pairs(node, level)
        elif name in _ADMONITIONS:
            self._add_admonition(node, level)
        elif name not in _SILENT and not self._add_leaf(node):
            self.walk(node, level)

    def _add_leaf(self, node: Any) -> bool:
        """Add a node that becomes exactly one block; False when it is none of these."""
        name = node.tagname
        if name in {"literal_block", "doctest_block", "math_block"}:
            self._builder.add("code", fenced(node.astext(), _language(node)))
        elif name in {"bullet_list", "enumerated_list"}:
            self._builder.add("list", "\n".join(_list_lines(node)))
        elif name in {"block_quote", "epigraph"}:
            self._builder.add("quote", "\n".join(f"> {line}" for line in _words(node).split("\n")))
        elif name in _TEXT:
            self._builder.add("paragraph", _words(node))
        else:
            return not getattr(node, "children", ())
        return True

    def _add_admonition(self, node: Any, level: int) -> None:
        label = "" if node.tagname == "admonition" else f"{node.tagname.capitalize()}: "
        first, *rest = node.children or [None]
        if label and first is not None and first.tagname == "paragraph":
            self._builder.add("paragraph", f"{label}{_words(first)}")
            for child in rest:
                self._add(child, level)
        else:
            for child in node.children:
                self._builder.add("paragraph", _words(child)) if child.tagname == "title" else self._add(child, level)

    def _add_pairs(self, node: Any, level: int) -> None:
        for item in node.children:
            if len(item.children) <= 1:
                self.walk(item, level)
                continue
            *names, body = item.children
            label = ", ".join(_words(name) for name in names)
            first, *rest = body.children or [None]
            text = _words(first) if first is not None and first.tagname == "paragraph" else ""
            self._builder.add("paragraph", f"{label}: {text}".rstrip())
            for child in rest if text else body.children:
                self._add(child, level)

    def _add_table(self, node: Any) -> None:
        titles = [child for child in node.children if child.tagname == "title"]
        rows: list[list[str]] = []
        header_rows = 0
        for row in node.findall(lambda found: getattr(found, "tagname", "") == "row"):
            rows.append(
                [text for entry in row.children for text in [_words(entry)] * (int(entry.get("morecols", 0)) + 1)]
            )
            header_rows += row.parent.tagname == "thead"
        self._builder.add_table(markdown_table(rows, max(1, header_rows)), _words(titles[0]) if titles else "")

    def _add_unknown(self, node: Any, level: int) -> None:
        """Directives of Sphinx and others are unknown to docutils: their code and text are kept."""
        for block in node.children:
            match = _DIRECTIVE.match(block.astext()) if block.tagname == "literal_block" else None
            if match and not _NO_PROSE.match(match["name"]):
                body = _OPTION.sub("", match["body"])
                lines = [line.removeprefix("   ") for line in body.split("\n")]
                text = "\n".join([match["argument"], *lines]).strip()
                if text and level < _DEEPEST:
                    self.walk(_tree(text), level + 1)


def _words(node: Any) -> str:
    """The text of a node, paragraphs set apart by lines, marks of unknown roles removed."""
    if node.tagname == "system_message":
        return ""
    if node.tagname == "literal":
        return f"`{node.astext()}`"
    if not getattr(node, "children", ()):
        return node.astext() if node.tagname == "#text" else ""
    joint = (
        ""
        if node.tagname in {"paragraph", "term", "title"} or any(_is_text(child) for child in node.children)
        else "\n"
    )
    text = joint.join(filter(None, (_words(child) for child in node.children)))
    if node.tagname == "problematic":
        return _LINK_TARGET.sub(lambda match: match[1] or match[2], _ROLE.sub("", text))
    return text


def _is_text(node: Any) -> bool:
    return bool(node.tagname == "#text")


def _list_lines(node: Any, depth: int = 0) -> list[str]:
    lines: list[str] = []
    indent = "   " * depth
    numbered = node.tagname == "enumerated_list"
    for number, item in enumerate(node.children, int(node.get("start", 1)) if numbered else 0):
        marker = f"{number}. " if numbered else "- "
        for child in item.children:
            if child.tagname in {"bullet_list", "enumerated_list"}:
                lines.extend(_list_lines(child, depth + 1))
                continue
            code = child.tagname == "literal_block"
            text = fenced(child.astext(), _language(child)) if code else _words(child)
            for line in text.split("\n") if code else [one_line(text)]:
                lines.append(f"{indent}{marker}{line}".rstrip())
                marker = "   "
    return lines


def _language(node: Any) -> str:
    names = [name for name in node.get("classes", ()) if name != "code"]
    return str(node.get("language") or (names[0] if names else ""))
