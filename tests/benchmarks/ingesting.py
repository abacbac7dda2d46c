"""Ingest against the bare embedding engine on the same chunks; a second run; one changed file."""

from __future__ import annotations

import time
from pathlib import Path

from store.models import load
from tests.fakes.installation import Installation

MODEL_CACHE = Path("~/.cache/gaplight/models").expanduser()


def measure(work, folders):
    """Rows of (what, figure, what it should be)."""
    copies = _copies(work, folders)
    embedder = load(cache=MODEL_CACHE)
    work.mkdir(parents=True, exist_ok=True)
    here = Installation(work, embedder)
    embedder.embed_queries(["warm up"])
    full, summary = _timed(lambda: here.ingest(*copies))
    texts = [chunk.embedded_text for batch in here.documents.iterate_chunks() for chunk in batch]
    bare, _ = _timed(lambda: embedder.embed_documents(texts))
    second, _ = _timed(lambda: here.ingest(*copies))
    changed_file = max((path for folder in copies for path in folder.rglob("*.md")), key=lambda path: path.name)
    changed_file.write_text(changed_file.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8")
    changed, again = _timed(lambda: here.ingest(*copies))
    here.close()
    return [
        ("ingest: documents / chunks", f"{summary.documents}/{summary.chunks}", ""),
        ("ingest: chunks a second", f"{summary.chunks / full:.1f}", ""),
        ("bare engine on the same chunks: chunks a second", f"{len(texts) / bare:.1f}", ""),
        ("ingest as a ratio to the bare engine", f"{bare / full:.2f}", "at least .85"),
        ("second run: times faster", f"{full / second:.0f}", "at least 50"),
        (f"one changed file ({again.chunks} chunks): share of a full run", f"{changed / full:.1%}", "at most 3 %"),
    ]


def _copies(work, folders):
    """The folders as copies, so that a file can be changed."""
    import shutil

    return [
        Path(shutil.copytree(folder, work.parent / "copies" / f"{number}-{folder.name}"))
        for number, folder in enumerate(folders)
    ]


def _timed(call):
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result
