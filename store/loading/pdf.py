"""PDF files with a text layer, page by page."""

from __future__ import annotations

import io
import logging
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from store.errors import LoadError
from store.loading.builder import BlockBuilder
from store.loading.metadata import json_values
from store.loading.pdf_pages import Pages, paragraphs, tidy_pages
from store.loading.source import Source, language_code, one_line, title_from_name
from store.records import Document
from store.text import clean, fold

if TYPE_CHECKING:
    from pypdf import PdfReader

_OUTLINE_LIMIT = 5_000
_OBJECT_LIMIT = 1_000_000
_OPERATORS = 3_000_000
"""Drawing operators that are followed in one document. Forms that draw each other make billions of a few lines; the
text of a thousand dense pages needs two millions."""
_SECONDS = 30.0
"""Time of this thread after which no further page is begun, and the page at hand is given up."""
_NO_TITLE = re.compile(r"^(untitled|microsoft \w+ - .*|.*\.(docx?|pdf|indd|tex|dvi|pptx?|xlsx?))?$", re.IGNORECASE)

Headings = dict[int, list[tuple[int, str]]]


def read(source: Source) -> Document:
    """Read a PDF.

    Raises:
        LoadError: a password is needed, the file is damaged, or no page has a text layer.
    """
    reader = _opened(source.data)
    raw, unreadable, left_out = _page_texts(reader)
    pages = tidy_pages(raw)
    if not raw and left_out:
        raise LoadError("What is drawn on its pages takes too long to read.", "Export it again.")
    if not raw:
        raise LoadError("The PDF has no pages.", "Export it again.")
    if len(pages.without_text) == len(raw):
        raise LoadError(
            f"None of its {len(raw)} pages has a text layer (scanned pages, or only a watermark).",
            "Run text recognition (OCR) over it.",
        )
    builder = BlockBuilder()
    _add_pages(pages, _outline(reader), builder)
    facts = _facts(reader)
    return Document(
        title=_title(facts.pop("title", None)) or title_from_name(source.name),
        blocks=builder.build(),
        metadata=json_values({**facts, "pages": len(raw)}),
        language=_language(reader),
        notes=_notes(pages, unreadable, left_out),
        partial=bool(pages.without_text or left_out),
    )


def _opened(data: bytes) -> PdfReader:
    import pypdf

    # Repairs of slightly wrong files are logged line by line; what a reader must know is in the document's notes.
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    if data.count(b" obj") > _OBJECT_LIMIT:
        raise LoadError(f"The PDF has more than {_OBJECT_LIMIT:,} objects.", "Split it.")
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and not reader.decrypt("")
    except pypdf.errors.DependencyError as error:
        raise LoadError(
            f"The PDF is encrypted in a way that cannot be read ({error}).", "Save it decrypted."
        ) from error
    except (pypdf.errors.PyPdfError, ValueError, RecursionError) as error:
        raise LoadError(f"The PDF is damaged or cut short ({error}).", "Export it again.") from error
    if locked:
        raise LoadError("The PDF needs a password to be opened.", "Save it without a password.")
    return reader


class _SpentError(BaseException):
    """A document took too much; no :class:`Exception`, since the parser swallows those that are raised inside of it."""


class _Budget:
    """Counts the drawing operators of a document; called by the parser before each."""

    def __init__(self) -> None:
        self._left = _OPERATORS
        self._until = time.thread_time() + _SECONDS

    def __call__(self, *_: object) -> None:
        """One more operator.

        Raises:
            _SpentError: that was one too many.
        """
        self._left -= 1
        if self._left < 0 or (not self._left % 1000 and self.late):
            self._left = 0
            raise _SpentError

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return time.thread_time() > self._until


def _page_texts(reader: PdfReader) -> tuple[list[str], list[int], int]:
    """The raw text of each page, the numbers of pages whose content is broken, and how many were left out."""
    import pypdf

    texts: list[str] = []
    unreadable: list[int] = []
    try:
        count = len(reader.pages)
    except (pypdf.errors.PyPdfError, RecursionError, KeyError, AttributeError, TypeError) as error:
        raise LoadError(f"The PDF is damaged or cut short ({error}).", "Export it again.") from error
    budget = _Budget()
    for number in range(count):
        if budget.late:
            return texts, unreadable, count - number
        try:
            texts.append(clean(reader.pages[number].extract_text(visitor_operand_before=budget)))
        except _SpentError:
            return texts, unreadable, count - number
        except Exception:  # noqa: BLE001  the parser raises anything on a broken page; the page is reported by number
            texts.append("")
            unreadable.append(number + 1)
    return texts, unreadable, 0


def _add_pages(pages: Pages, outline: Headings, builder: BlockBuilder) -> None:
    several = len(pages.texts) > 1
    for number, text in enumerate(pages.texts):
        if not outline and several and text:
            builder.heading(1, f"Page {number + 1}")
        waiting = list(outline.get(number, ()))
        for paragraph in paragraphs(text, [title for _, title in waiting]):
            if waiting and fold(one_line(paragraph)) == fold(waiting[0][1]):
                builder.heading(*waiting.pop(0))
            else:
                builder.add("paragraph", paragraph)
        for level, title in waiting:
            builder.heading(level, title)


def _outline(reader: PdfReader) -> Headings:
    """Bookmarks by the page they point to; empty when there are none or they are broken."""
    import pypdf

    found: Headings = {}
    try:
        waiting: list[tuple[int, Any]] = [(1, item) for item in reader.outline][::-1]
        for _ in range(_OUTLINE_LIMIT):
            if not waiting:
                break
            level, item = waiting.pop()
            if isinstance(item, list):
                waiting.extend([(level + 1, inner) for inner in item][::-1])
                continue
            page, title = reader.get_destination_page_number(item), one_line(clean(str(item.title or "")))
            if page is not None and page >= 0 and title:
                found.setdefault(page, []).append((level, title))
    except (pypdf.errors.PyPdfError, KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    return found


def _facts(reader: PdfReader) -> dict[str, object]:
    import pypdf

    try:
        info = reader.metadata
    except (pypdf.errors.PyPdfError, ValueError, TypeError, AttributeError, KeyError):
        return {}
    names = ("title", "author", "subject", "creation_date")
    return {name: _fact(info, name) for name in names} if info is not None else {}


def _fact(info: object, name: str) -> object:
    """One entry of the information dictionary; a malformed one (dates often are) counts as absent."""
    try:
        return getattr(info, name)
    except (ValueError, TypeError, AttributeError):
        return None


def _title(value: object) -> str:
    text = one_line(clean(value)) if isinstance(value, str) else ""
    return "" if _NO_TITLE.match(text) else text


def _language(reader: PdfReader) -> str:
    try:
        value = reader.root_object.get("/Lang")
    except (KeyError, AttributeError, TypeError):
        return ""
    return language_code(str(value) if value is not None else "")


def _notes(pages: Pages, unreadable: Sequence[int], left_out: int) -> tuple[str, ...]:
    notes = []
    if left_out:
        notes.append(f"The last {left_out} pages were left out: what is drawn on them takes too long to read.")
    if pages.without_text:
        notes.append(f"No text on {_listed(pages.without_text)}; scanned pages need text recognition (OCR).")
    if unreadable:
        notes.append(f"Damaged content on {_listed(unreadable)}.")
    if pages.repeated:
        notes.append(f"{pages.repeated} repeated header and footer lines were left out.")
    return tuple(notes)


def _listed(numbers: Sequence[int]) -> str:
    """Page numbers for a sentence: ``page 2`` or ``pages 2, 5-7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"page{'s' if len(numbers) > 1 else ''} {shown}"
