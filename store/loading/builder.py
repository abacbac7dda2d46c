"""Collecting blocks in reading order under the headings that stand above them."""

from __future__ import annotations

from store.loading.source import one_line, refuse_long
from store.loading.tables import Table
from store.records import Block, BlockKind
from store.text import clean

HEADING_LIMIT = 200
"""Characters after which a "heading" is a mis-styled paragraph; it is then kept as text as well."""


class BlockBuilder:
    """Keeps the stack of open headings while a loader walks through its document.

    A heading with neither text nor sub-headings below it would vanish with its words; it becomes a block instead.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._characters = 0
        self._open: list[tuple[int, str]] = []
        self._bare = False
        self.first_heading = ""

    def heading(self, level: int, text: str) -> None:
        """Open a section.

        Args:
            level: 1 for the outermost; levels may be skipped.
            text: plain words; a blank heading is ignored.
        """
        words = one_line(clean(text))
        if not words:
            return
        if self._bare and level <= self._open[-1][0]:
            self._keep_bare_heading()
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, words[:HEADING_LIMIT]))
        self._bare = True
        self.first_heading = self.first_heading or words[:HEADING_LIMIT]
        if len(words) > HEADING_LIMIT:
            self.add("paragraph", words)

    def add(self, kind: BlockKind, text: str) -> None:
        """Append a piece of text under the open headings; blank text is ignored.

        Raises:
            LoadError: with it, the document has more text than one may have.
        """
        refuse_long(len(text))
        body = clean(text).strip("\n").rstrip()
        if body.strip():
            self._append(Block(kind=kind, text=body, headings=self._path()))

    def add_table(self, table: Table, caption: str = "") -> None:
        """Append a table with the line that stood directly above it."""
        if table.text:
            block = Block("table", clean(table.text), self._path(), clean(table.header), one_line(clean(caption)))
            self._append(block)

    def take_last_paragraph(self) -> str:
        """Remove and return the text of the last block when it is a one-line paragraph of the open section."""
        if not self._blocks or self._bare:
            return ""
        last = self._blocks[-1]
        if last.kind != "paragraph" or "\n" in last.text or last.headings != self._path():
            return ""
        self._characters -= len(last.text)
        return self._blocks.pop().text

    def build(self) -> tuple[Block, ...]:
        """All blocks in reading order."""
        if self._bare:
            self._keep_bare_heading()
        return tuple(self._blocks)

    def _append(self, block: Block) -> None:
        self._characters += len(block.text)
        refuse_long(self._characters)
        self._blocks.append(block)
        self._bare = False

    def _path(self) -> tuple[str, ...]:
        return tuple(words for _, words in self._open)

    def _keep_bare_heading(self) -> None:
        *above, (_, words) = self._open
        self._append(Block("paragraph", words, tuple(title for _, title in above)))
