"""Files to ingest, and what must hold afterwards, for several processes that share a database."""

from __future__ import annotations

from store.sources import IngestRequest


def write(folder, *names):
    """Make a file of three chunks for each name."""
    folder.mkdir(exist_ok=True)
    for name in names:
        parts = "\n".join(f"## Part {part}\n\n{name} fact {part}. {'filler ' * 120}\n" for part in range(3))
        (folder / f"{name}.md").write_text(f"# Page {name}\n\n{parts}", encoding="utf-8")
    return folder


def ingest(app, *paths, **options):
    """Run an ingest into the collection of the settings."""
    return app.ingestor.run(IngestRequest(paths=paths, collection=app.settings.documents.collection, **options))


def assert_sound(app, documents):
    """Database, vectors and words have the same chunks, and nothing is left over."""
    collection = app.settings.documents.collection
    counts = app.documents.counts()
    assert counts.documents == documents
    assert app.index.vectors.count(collection) == app.index.lexical.size == counts.chunks
    assert app.documents.stale_collections() == []
    app.index.check()


def found(app, text):
    """Documents found for a text."""
    collections = (app.settings.documents.collection,)
    return {passage.document for passage in app.engine_parts.searcher.search(text, collections).passages}
