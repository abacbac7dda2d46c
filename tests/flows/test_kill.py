"""A process that is killed while it ingests loses nothing, doubles nothing, and the next run finishes."""

import multiprocessing
import random
import time

import pytest

from tests.fakes.embedder import HashEmbedder
from tests.fakes.installation import Installation

_FILES = 12
_KILLS = 20


class _SlowEmbedder(HashEmbedder):
    """Takes a while for each batch, so that a kill can land before, between and after the writes."""

    def embed_documents(self, texts, *, progress=None):
        time.sleep(0.02)
        return super().embed_documents(texts)


def _ingest(folder, docs):
    import store.ingest_pipeline

    store.ingest_pipeline.BATCH_CHUNKS = 3
    installation = Installation(folder, _SlowEmbedder())
    installation.ingest(docs)
    installation.close()


def _write(docs, version):
    docs.mkdir(exist_ok=True)
    for number in range(_FILES):
        parts = "\n".join(f"## Part {part}\n\n{version} fact {number} {part}. {'filler ' * 120}\n" for part in range(3))
        (docs / f"{number}.md").write_text(f"# Page {number}\n\n{parts}")


def _texts(folder, docs):
    """What a complete ingest of these documents stores."""
    whole = Installation(folder)
    whole.ingest(docs)
    state = whole.state()
    whole.close()
    return state


@pytest.fixture(scope="module")
def processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chromadb", "store.ingest", "tests.fakes.installation"])
    return context


def _killed(processes, folder, docs, moment):
    process = processes.Process(target=_ingest, args=(folder, docs))
    process.start()
    process.join(moment)
    process.kill()
    process.join()


def _check(folder, allowed):
    """Every stored document is complete in one of the allowed versions, and search shows nothing else."""
    installation = Installation(folder)
    state = installation.state()
    for path, texts in state.items():
        assert any(version.get(path) == texts for version in allowed), path
    known = {text for texts in state.values() for text in texts}
    if known:
        for passage in installation.search("fact 3 2").passages:
            assert any(passage.text in text for text in known)
    installation.close()
    return state


def _converges(folder, docs, wanted):
    installation = Installation(folder)
    installation.ingest(docs)
    live = installation.live_ids()
    assert installation.state() == wanted
    assert installation.index.vectors.count("default") == installation.index.lexical.size == len(live)
    assert installation.documents.stale_collections() == []
    assert installation.ingest(docs).unchanged == _FILES
    installation.close()


@pytest.mark.slow
def test_kills_at_random_moments_lose_nothing_and_double_nothing(tmp_path, processes):
    docs, folder, moments = tmp_path / "docs", tmp_path / "data", random.Random(20)
    _write(docs, "old")
    old = _texts(tmp_path / "old", docs)
    _write(docs, "new")
    new = _texts(tmp_path / "new", docs)

    started = time.monotonic()
    _killed(processes, tmp_path / "timing", docs, 60)
    duration = time.monotonic() - started

    _write(docs, "old")
    for _ in range(_KILLS // 2):
        _killed(processes, folder, docs, moments.uniform(0.1, 0.9) * duration)
        _check(folder, [old])
    _converges(folder, docs, old)

    _write(docs, "new")
    for _ in range(_KILLS // 2):
        _killed(processes, folder, docs, moments.uniform(0.1, 0.9) * duration)
        assert set(_check(folder, [old, new])) == set(old)
    _converges(folder, docs, new)
