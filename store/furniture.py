"""What the web pages of a site repeat: remembered, so that one changed page is read as it was among the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from store.errors import LoadError
from store.index import Index
from store.ingest_files import Work, short_digest
from store.loading import load
from store.loading.boilerplate import repeated_blocks
from store.records import Document

_STATE = "furniture:"
_WEB_PAGES = frozenset({".html", ".htm", ".xhtml"})


def is_web_page(work: Work) -> bool:
    """Whether a file may have furniture."""
    return work.file.source.suffix.lower() in _WEB_PAGES


def furniture(index: Index, collection: str, root: Path, work: Sequence[Work]) -> frozenset[str]:
    """What the web pages of a root repeat: known from other runs, and seen among the pages of this one."""
    pages = [item for item in work if item.root == root and is_web_page(item)]
    if not pages:
        return frozenset()
    key = _STATE + short_digest(collection, str(root))
    found = repeated_blocks(list(_loaded(pages)))
    with index.turn.awaited():  # another run may be adding what it found
        stored = index.documents.index_state(key)
        known = frozenset(str(text) for text in stored) if isinstance(stored, list) else frozenset()
        if found - known:
            index.documents.set_index_state(key, sorted(known | found))
    return known | found


def _loaded(pages: Iterable[Work]) -> Iterable[Document]:
    """Pages for comparison with each other; one that cannot be read is reported when its turn comes."""
    for page in pages:
        try:
            yield load(page.file.source)
        except LoadError:
            continue
