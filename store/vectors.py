"""Vectors of the chunks in Chroma, embedded or behind a server; derived from the database and rebuildable.

Every Gaplight collection has one Chroma collection per embedding model: a filter over one big collection costs ten
times more than choosing among small ones, and a rebuild for another model can fill its own beside the old one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import numpy as np

from store.errors import ConfigurationError, UnavailableError, UsageError
from store.records import ScopeFilter

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
_T = TypeVar("_T")
_PREFIX = "gaplight-"
_HNSW = {"space": "cosine", "ef_construction": 128, "max_neighbors": 16, "ef_search": 128}


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

    Args:
        client: a Chroma client, see :func:`embedded_client` and :func:`server_client`.
        fingerprint: short hash of the embedding model; only its collections are read and written.
    """

    def __init__(self, client: Any, fingerprint: str) -> None:
        self._client = client
        self._fingerprint = fingerprint
        self._open: dict[str, Any] = {}
        self._batch = int(client.get_max_batch_size())

    def _name(self, collection: str, fingerprint: str) -> str:
        digest = hashlib.sha256(collection.encode()).hexdigest()[:24]
        return f"{_PREFIX}{digest}-{fingerprint}"

    def _existing(self, collection: str) -> Any:
        if collection not in self._open:
            names = {found.name for found in _translated(self._client.list_collections)}
            name = self._name(collection, self._fingerprint)
            if name not in names:
                return None
            self._open[collection] = _translated(lambda: self._client.get_collection(name, embedding_function=None))
        return self._open[collection]

    def _made(self, collection: str) -> Any:
        found = self._existing(collection)
        if found is None:
            found = _translated(
                lambda: self._client.get_or_create_collection(
                    self._name(collection, self._fingerprint),
                    configuration={"hnsw": _HNSW},
                    metadata={"gaplight_collection": collection, "gaplight_model": self._fingerprint},
                    embedding_function=None,
                )
            )
            self._open[collection] = found
        return found

    def upsert(self, collection: str, ids: Sequence[str], vectors: Vectors, scopes: Sequence[Sequence[str]]) -> None:
        """Write in batches that the store accepts; a repeated call with the same ids changes nothing."""
        target = self._made(collection)
        # Chroma refuses empty lists and empty metadata, so a chunk without scope carries a marker.
        metadata = [{"scope": list(facts)} if facts else {"unscoped": True} for facts in scopes]
        for start in range(0, len(ids), self._batch):
            part = slice(start, start + self._batch)
            _translated(
                lambda part=part: target.upsert(  # type: ignore[misc]
                    ids=list(ids[part]), embeddings=vectors[part], metadatas=metadata[part]
                )
            )

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Forget these chunks in batches that the store accepts."""
        target = self._existing(collection)
        if target is None:
            return
        for start in range(0, len(ids), self._batch):
            _translated(lambda start=start: target.delete(ids=list(ids[start : start + self._batch])))  # type: ignore[misc]

    def query(self, collection: str, vector: Vector, limit: int, scope: ScopeFilter) -> list[VectorHit]:
        """The nearest chunks that carry one of the values for every key of ``scope``."""
        target = self._existing(collection)
        if target is None or limit <= 0:
            return []
        where = scope_condition(scope)
        found = _translated(
            lambda: target.query(
                query_embeddings=vector.reshape(1, -1), n_results=limit, where=where, include=["distances"]
            )
        )
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [VectorHit(chunk_id, 1.0 - float(distance)) for chunk_id, distance in pairs if distance == distance]  # noqa: PLR0124 - NaN is the only value unequal to itself

    def count(self, collection: str) -> int:
        """Number of vectors of this model in the collection."""
        target = self._existing(collection)
        return int(_translated(target.count)) if target is not None else 0

    def fingerprints(self) -> dict[str, set[str]]:
        """Which models' vectors exist, read from the metadata of the Chroma collections."""
        found: dict[str, set[str]] = {}
        for entry in _translated(self._client.list_collections):
            if entry.name.startswith(_PREFIX) and entry.metadata:
                found.setdefault(str(entry.metadata["gaplight_collection"]), set()).add(
                    str(entry.metadata["gaplight_model"])
                )
        return found

    def drop(self, collection: str, fingerprint: str) -> None:
        """Remove one model's vectors; nothing happens when there are none."""
        if fingerprint in self.fingerprints().get(collection, set()):
            _translated(lambda: self._client.delete_collection(self._name(collection, fingerprint)))
        if fingerprint == self._fingerprint:
            self._open.pop(collection, None)


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

    folder.mkdir(parents=True, exist_ok=True)
    settings = Settings(anonymized_telemetry=False, allow_reset=False)
    return _translated(lambda: chromadb.PersistentClient(str(folder), settings=settings))


def server_client(url: str) -> Any:
    """A Chroma client on a running server.

    Raises:
        ConfigurationError: the URL is not http(s)://host[:port].
        UnavailableError: the server does not answer.
    """
    import chromadb
    from chromadb.config import Settings

    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError(f"vectors.url is {url!r}.", "Give it as http://host:port or https://host.")
    secure = parts.scheme == "https"
    host, port = parts.hostname, parts.port or (443 if secure else 8000)
    settings = Settings(anonymized_telemetry=False)
    return _translated(lambda: chromadb.HttpClient(host=host, port=port, ssl=secure, settings=settings))


def _translated(call: Callable[[], _T]) -> _T:
    """Run a Chroma call; whatever it raises becomes one error that says what to do."""
    try:
        return call()
    except Exception as error:
        raise UnavailableError(
            f"The vector store failed: {type(error).__name__}: {str(error)[:300]}.",
            "Start its server again; an embedded one that is damaged is rebuilt by `gaplight reindex`.",
        ) from error
