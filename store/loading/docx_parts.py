"""Reading the pieces of WordprocessingML (ECMA-376, part 1, chapter 17) that python-docx passes over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_CODE = re.compile(r"code|source|preformatted|macro", re.IGNORECASE)
_DROPPED = frozenset({"del", "moveFrom", "Fallback", "txbxContent", "instrText", "delText", "pPr", "rPr"})
_MAX_SPAN = 200
_MAX_LEVEL = 8


def local_name(element: Any) -> str:
    """The element's name without its namespace; empty for comments."""
    tag = element.tag
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def visible_text(element: Any) -> str:
    """All text of a paragraph or cell part in order.

    Deleted and hidden text, field codes, and the second copy that Word keeps for old readers are left out; so are
    text boxes (see :func:`boxes_in`).
    """
    parts: list[str] = []
    waiting = [element]
    while waiting:
        node = waiting.pop()
        name = local_name(node)
        if name in _DROPPED or (name == "r" and _is_vanished(node)):
            continue
        if name == "t":
            parts.append(node.text or "")
        elif name in {"tab", "ptab"}:
            parts.append("\t")
        elif name in {"br", "cr"}:
            parts.append("\n")
        elif name == "noBreakHyphen":
            parts.append("-")
        waiting.extend(list(node)[::-1])
    return "".join(parts)


def boxes_in(paragraph: Any) -> list[Any]:
    """The contents of text boxes anchored in a paragraph, each once."""
    found: list[Any] = []
    waiting = [paragraph]
    while waiting:
        node = waiting.pop()
        name = local_name(node)
        if name in {"Fallback", "del", "moveFrom"}:
            continue
        if name == "txbxContent":
            found.append(node)
            continue
        waiting.extend(list(node)[::-1])
    return found


def is_deleted(paragraph: Any) -> bool:
    """Whether a tracked change removed the whole paragraph mark and its runs."""
    return paragraph.find(f"{_W}pPr/{_W}rPr/{_W}del") is not None and not visible_text(paragraph).strip()


def _is_vanished(run: Any) -> bool:
    mark = run.find(f"{_W}rPr/{_W}vanish")
    return mark is not None and mark.get(f"{_W}val", "1") not in {"0", "false", "off"}


def numbering_of(properties_owner: Any) -> tuple[str, int] | None:
    """List id and level (0-8) stated in a paragraph or style; None when it is in no list."""
    found = properties_owner.find(f"{_W}pPr/{_W}numPr")
    if found is None:
        return None
    number, level = found.find(f"{_W}numId"), found.find(f"{_W}ilvl")
    depth = level.get(f"{_W}val", "0") if level is not None else "0"
    if number is None:
        return None
    return number.get(f"{_W}val", "0"), min(int(depth), _MAX_LEVEL) if depth.isdigit() else 0


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph style means for us. ``level`` is 0 for anything but a heading."""

    level: int = 0
    is_title: bool = False
    is_code: bool = False
    numbering: tuple[str, int] | None = None


class Styles:
    """Meaning of the paragraph styles of one document, inheritance included."""

    def __init__(self, document: Any) -> None:
        root = document.styles.element
        self._elements = {style.get(f"{_W}styleId"): style for style in root.findall(f"{_W}style")}
        self._known: dict[str, Style] = {}

    def of(self, paragraph: Any) -> Style:
        """The meaning of a paragraph's style, its own outline level considered."""
        reference = paragraph.find(f"{_W}pPr/{_W}pStyle")
        name = reference.get(f"{_W}val", "") if reference is not None else ""
        if name not in self._known:
            self._known[name] = self._resolved(name)
        level = _outline_level(paragraph)
        style = self._known[name]
        return Style(level, style.is_title, style.is_code, style.numbering) if level and not style.level else style

    def _resolved(self, name: str) -> Style:
        chain = list(self._chain(name))
        names = [_style_name(element) for element in chain]
        levels = [int(match[1]) for text in names if (match := _HEADING.match(text))]
        levels += [level for element in chain if (level := _outline_level(element))]
        numbering = next((found for element in chain if (found := numbering_of(element))), None)
        return Style(
            level=levels[0] if levels else 0,
            is_title=bool(names) and names[0].lower() == "title",
            is_code=bool(names) and bool(_CODE.search(names[0])),
            numbering=numbering,
        )

    def _chain(self, name: str) -> Iterator[Any]:
        seen: set[str] = set()
        while name in self._elements and name not in seen:
            seen.add(name)
            element = self._elements[name]
            yield element
            base = element.find(f"{_W}basedOn")
            name = base.get(f"{_W}val", "") if base is not None else ""


def _style_name(style: Any) -> str:
    found = style.find(f"{_W}name")
    return found.get(f"{_W}val", "") if found is not None else ""


def _outline_level(owner: Any) -> int:
    """1-9 for a heading by outline level; 0 for body text (stored as 9) or none."""
    found = owner.find(f"{_W}pPr/{_W}outlineLvl")
    value = found.get(f"{_W}val", "9") if found is not None else "9"
    return int(value) + 1 if value.isdigit() and int(value) < _MAX_LEVEL + 1 else 0


def numbering_formats(document: Any) -> dict[tuple[str, int], str]:
    """Number format (``bullet``, ``decimal`` ...) by list id and level."""
    part = next((rel.target_part for rel in document.part.rels.values() if rel.reltype.endswith("/numbering")), None)
    root = getattr(part, "element", None)
    if root is None:
        return {}
    levels = {
        abstract.get(f"{_W}abstractNumId"): {
            level.get(f"{_W}ilvl", "0"): _value(level.find(f"{_W}numFmt")) for level in abstract.findall(f"{_W}lvl")
        }
        for abstract in root.findall(f"{_W}abstractNum")
    }
    return {
        (number.get(f"{_W}numId", ""), int(level)): name
        for number in root.findall(f"{_W}num")
        for level, name in levels.get(_value(number.find(f"{_W}abstractNumId")), {}).items()
        if level.isdigit()
    }


def _value(element: Any) -> str:
    return element.get(f"{_W}val", "") if element is not None else ""


def table_rows(table: Any) -> tuple[list[list[str]], int]:
    """Cells of a table with spanned cells filled, and how many header rows it has (at least one)."""
    rows: list[list[str]] = []
    header_rows = 0
    for row in _unwrapped(table, "tr"):
        above = rows[-1] if rows else []
        line: list[str] = []
        for cell in _unwrapped(row, "tc"):
            properties = cell.find(f"{_W}tcPr")
            covered = properties is not None and _continues(properties.find(f"{_W}vMerge"))
            text = above[len(line)] if covered and len(line) < len(above) else _cell_text(cell)
            line.extend([text] * _span(properties))
        rows.append(line)
        if header_rows == len(rows) - 1 and row.find(f"{_W}trPr/{_W}tblHeader") is not None:
            header_rows += 1
    return rows, min(max(1, header_rows), max(1, len(rows) - 1))


def _unwrapped(parent: Any, wanted: str) -> Iterator[Any]:
    """Direct children of one kind, those in content controls included."""
    waiting = list(parent)[::-1]
    while waiting:
        node = waiting.pop()
        name = local_name(node)
        if name == wanted:
            yield node
        elif name in {"sdt", "sdtContent", "customXml", "ins"}:
            waiting.extend(list(node)[::-1])


def _continues(merge: Any) -> bool:
    return merge is not None and merge.get(f"{_W}val", "continue") == "continue"


def _span(properties: Any) -> int:
    value = _value(properties.find(f"{_W}gridSpan")) if properties is not None else ""
    return max(1, min(int(value), _MAX_SPAN)) if value.isdigit() else 1


def _cell_text(cell: Any) -> str:
    """Paragraphs, text boxes and nested tables of a cell; the cells of a nested table are set apart by semicolons."""
    parts: list[str] = []
    waiting: list[Any] = list(cell)[::-1]
    while waiting:
        node = waiting.pop()
        name = local_name(node)
        if name == "p":
            parts.append(visible_text(node).strip())
            waiting.extend([child for box in boxes_in(node) for child in box][::-1])
        elif name in {"tbl", "tr", "sdt", "sdtContent", "customXml", "ins"}:
            waiting.extend(list(node)[::-1])
        elif name == "tc":
            parts.append(";")
            waiting.extend(list(node)[::-1])
    joined = " ".join(filter(None, parts))
    return re.sub(r"(?: ;)+(?= |$)", ";", joined.removeprefix("; ")).strip(" ;")
