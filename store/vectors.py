"""Vectors of the chunks in Chroma, embedded or behind a server; derived from the database and rebuildable.

Every Gaplight collection has one Chroma collection per embedding model: a filter over one big collection costs ten
times more than choosing among small ones, and a rebuild for another model can fill its own beside the old one.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from store.errors import GaplightError, UnavailableError, UsageError, VectorsLostError
from store.private_folder import make_private
from store.records import ScopeFilter

logger = logging.getLogger(__name__)

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
_T = TypeVar("_T")
_PREFIX = "gaplight-"
_HNSW = {"space": "cosine", "ef_construction": 128, "max_neighbors": 16, "ef_search": 128}
_ATTEMPTS = 3
_PAGE = 100
"""Collections that are listed at once; hosted servers refuse more."""
_EMBEDDED = "; an embedded one that is damaged is rebuilt by `gaplight reindex`."


@dataclass(frozen=True, slots=True)
class VectorHit:
    """One chunk found by meaning, with its cosine similarity in [-1, 1]."""

    chunk_id: str
    score: float


class VectorIndex(Protocol):
    """Nearest chunks by cosine similarity, kept apart by collection and embedding model."""

    def upsert(self, collection: str, ids: Sequence[str], vectors: Vectors, scopes: Sequence[Sequence[str]]) -> None:
        """Write vectors (n, d); ``scopes`` has the ``key=value`` facts of each chunk."""

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Forget these chunks; unknown ids are no error."""

    def query(self, collection: str, vector: Vector, limit: int, scope: ScopeFilter) -> list[VectorHit]:
        """The nearest chunks, best first; fewer than ``limit`` where there are fewer."""

    def count(self, collection: str) -> int:
        """Number of vectors of this model; 0 for a collection that does not exist."""

    def fingerprints(self) -> dict[str, set[str]]:
        """Which models' vectors exist: collection → model fingerprints."""

    def drop(self, collection: str, fingerprint: str) -> None:
        """Remove one model's vectors of one collection."""


class ChromaVectors:
    """The :class:`VectorIndex` promise kept by Chroma.

    Another process may drop a collection and fill it again, and a server may come back without its data. So a handle
    that Chroma no longer knows is opened anew, and a collection is only searched once it holds as many vectors as it
    should: a search that finds nothing because vectors are missing must not look like one that finds nothing.

    Args:
        client: a Chroma client, see :func:`embedded_client` and :func:`store.vector_server.server_client`.
        fingerprint: short hash of the embedding model; only its collections are read and written.
        expected: how many chunks of a collection the database has; None takes what is there for complete.
        batch: vectors of one write at most; None takes what the client says.
    """

    def __init__(
        self,
        client: Any,
        fingerprint: str,
        expected: Callable[[str], int] | None = None,
        batch: int | None = None,
    ) -> None:
        self._client = client
        self._fingerprint = fingerprint
        self._expected = expected or (lambda _: 0)
        self._open: dict[str, Any] = {}
        self._complete: set[str] = set()
        self._batch = batch or int(translated(client.get_max_batch_size))

    def _name(self, collection: str, fingerprint: str) -> str:
        digest = hashlib.sha256(collection.encode()).hexdigest()[:24]
        return f"{_PREFIX}{digest}-{fingerprint}"

    def _existing(self, collection: str) -> Any:
        if collection not in self._open:
            name = self._name(collection, self._fingerprint)
            found = translated(lambda: _unless_missing(lambda: self._client.get_collection(name, None)))
            if found is None:
                return None
            self._open[collection] = found
        return self._open[collection]

    def _made(self, collection: str) -> Any:
        found = self._existing(collection)
        if found is None:
            found = translated(
                lambda: self._client.get_or_create_collection(
                    self._name(collection, self._fingerprint),
                    configuration={"hnsw": _HNSW},
                    metadata={"gaplight_collection": collection, "gaplight_model": self._fingerprint},
                    embedding_function=None,
                )
            )
            self._open[collection] = found
        return found

    def _searchable(self, collection: str) -> Any:
        """The collection with all its vectors; None where there are none and none should be.

        Raises:
            VectorsLostError: there should be more.
        """
        target = self._existing(collection)
        if collection in self._complete:
            return target
        held = self._on(collection, lambda found: found.count()) or 0
        wanted = self._expected(collection)
        if held < wanted:
            raise VectorsLostError(
                f"The vector store holds {held} of the {wanted} chunks of {collection!r}.",
                "Wait for a rebuild under way, or run `gaplight reindex`.",
            )
        if held:
            self._complete.add(collection)
        return self._existing(collection)

    def _on(self, collection: str, call: Callable[[Any], _T], opened: Callable[[str], Any] | None = None) -> _T | None:
        """Call something on the collection's handle, once more with a new one when Chroma no longer knows it."""
        for attempt in range(_ATTEMPTS):
            target = (opened or self._existing)(collection)
            if target is None:
                return None
            found = translated(lambda target=target: _unless_missing(lambda: (call(target),)))  # type: ignore[misc]
            if found is not None:
                return found[0]
            self._forget(collection)
            logger.info("The vectors of %s were replaced; attempt %d", collection, attempt + 1)
        raise UnavailableError(
            f"The vectors of {collection!r} are being replaced by another process.", "Try again when it is done."
        )

    def _forget(self, collection: str) -> None:
        self._open.pop(collection, None)
        self._complete.discard(collection)

    def upsert(self, collection: str, ids: Sequence[str], vectors: Vectors, scopes: Sequence[Sequence[str]]) -> None:
        """Write in batches that the store accepts; a repeated call with the same ids changes nothing."""
        # Chroma refuses empty lists and empty metadata, so a chunk without scope carries a marker.
        metadata = [{"scope": list(facts)} if facts else {"unscoped": True} for facts in scopes]
        for start in range(0, len(ids), self._batch):
            part = slice(start, start + self._batch)
            self._on(
                collection,
                lambda target, part=part: target.upsert(  # type: ignore[misc]
                    ids=list(ids[part]), embeddings=vectors[part], metadatas=metadata[part]
                ),
                self._made,
            )

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Forget these chunks in batches that the store accepts."""
        for start in range(0, len(ids), self._batch):
            some = list(ids[start : start + self._batch])
            self._on(collection, lambda target, some=some: target.delete(ids=some))  # type: ignore[misc]

    def query(self, collection: str, vector: Vector, limit: int, scope: ScopeFilter) -> list[VectorHit]:
        """The nearest chunks that carry one of the values for every key of ``scope``.

        Raises:
            VectorsLostError: the collection holds fewer vectors than it should.
        """
        where = scope_condition(scope)
        if limit <= 0:
            return []
        found = self._on(
            collection,
            lambda target: target.query(
                query_embeddings=vector.reshape(1, -1), n_results=limit, where=where, include=["distances"]
            ),
            self._searchable,
        )
        if found is None:
            return []
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [VectorHit(chunk_id, 1.0 - float(distance)) for chunk_id, distance in pairs if distance == distance]  # noqa: PLR0124 - NaN is the only value unequal to itself

    def count(self, collection: str) -> int:
        """Number of vectors of this model in the collection."""
        return int(self._on(collection, lambda target: target.count()) or 0)

    def fingerprints(self) -> dict[str, set[str]]:
        """Which models' vectors exist, read from the metadata of the Chroma collections."""
        found: dict[str, set[str]] = {}
        for entry in self._listed():
            if entry.name.startswith(_PREFIX) and entry.metadata:
                found.setdefault(str(entry.metadata["gaplight_collection"]), set()).add(
                    str(entry.metadata["gaplight_model"])
                )
        return found

    def _listed(self) -> list[Any]:
        everything: list[Any] = []
        for start in itertools.count(0, _PAGE):
            page = translated(lambda start=start: self._client.list_collections(_PAGE, start))  # type: ignore[misc]
            everything += page
            if len(page) < _PAGE:
                break
        return everything

    def drop(self, collection: str, fingerprint: str) -> None:
        """Remove one model's vectors; nothing happens when there are none."""
        name = self._name(collection, fingerprint)
        translated(lambda: _unless_missing(lambda: self._client.delete_collection(name)))
        if fingerprint == self._fingerprint:
            self._forget(collection)


def scope_condition(scope: ScopeFilter) -> dict[str, Any] | None:
    """The scope as Chroma's ``where``: None without facts, a bare condition for one, ``$and``/``$or`` for more.

    Raises:
        UsageError: a key has no value, which would silently widen or empty the result.
    """
    clauses: list[dict[str, Any]] = []
    for key, values in scope.items():
        if not values:
            raise UsageError(f"The scope {key!r} has no value.", "Give it as key=value.")
        options: list[dict[str, Any]] = [{"scope": {"$contains": f"{key}={value}"}} for value in values]
        clauses.append(options[0] if len(options) == 1 else {"$or": options})
    if not clauses:
        return None
    return clauses[0] if len(clauses) == 1 else {"$and": clauses}


def embedded_client(folder: Path) -> Any:
    """A Chroma client on a local folder. The caller holds the data folder's lock: two processes lose vectors."""
    import chromadb
    from chromadb.config import Settings

    make_private(folder)
    settings = Settings(anonymized_telemetry=False, allow_reset=False)
    return translated(lambda: chromadb.PersistentClient(str(folder), settings=settings))


def _unless_missing(call: Callable[[], _T]) -> _T | None:
    """What a Chroma call gives; None when it is about a collection that Chroma does not know."""
    from chromadb.errors import NotFoundError

    try:
        return call()
    except NotFoundError:
        return None


def translated(call: Callable[[], _T], address: str = "") -> _T:
    """Run a Chroma call; whatever it raises becomes one error that says what to do.

    Args:
        call: what is to be done.
        address: the server's, when it is first asked and may be the wrong one.

    Raises:
        UnavailableError: it failed.
    """
    try:
        return call()
    except GaplightError:
        raise
    except Exception as error:
        # Libraries add lines of advice of their own, such as where to read about HTTP.
        reason = (str(error).splitlines() or [""])[0][:300].rstrip(". ")
        raise UnavailableError(
            f"The vector store{f' at {address}' if address else ''} failed: {type(error).__name__}: {reason}.",
            f"Start its server again{', or correct vectors.url.' if address else _EMBEDDED}",
        ) from error
