"""Vectors in a Chroma server: never waited for longer than a question can bear, and left alone while it is down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import httpx

from store.breaker import BreakerPolicy, CircuitBreaker
from store.chroma_address import DEFAULT_TENANT, ChromaServer
from store.errors import ConfigurationError, UnavailableError, VectorsLostError
from store.records import ScopeFilter
from store.vectors import ChromaVectors, Vector, VectorHit, VectorIndex, Vectors, translated

_T = TypeVar("_T")
_CLOUD_BATCH = 300
"""Records that Chroma Cloud takes in one write."""
_READ_SECONDS = 10.0
"""For counting and listing, which no question waits for."""
_SHORTEST = 0.05
_BREAKER = BreakerPolicy(failures=2, rest=10.0)
_BROKEN = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""A kept connection that the server has closed meanwhile: another one may work."""


class Patience(threading.local):
    """How long the present thread waits for the server; chromadb itself waits for ever."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: float | None = None

    @contextmanager
    def of(self, seconds: float) -> Iterator[None]:
        """Everything within takes at most so long together."""
        before, self._until = self._until, time.monotonic() + seconds
        try:
            yield
        finally:
            self._until = before

    def limit(self, request: httpx.Request) -> None:
        """Told by httpx of each request before it is sent."""
        left = self._seconds if self._until is None else max(self._until - time.monotonic(), _SHORTEST)
        request.extensions["timeout"] = httpx.Timeout(left).as_dict()


class ServerVectors:
    """The :class:`store.vectors.VectorIndex` promise kept by a Chroma server that may be down.

    The server is first asked when something is needed of it. A question that it does not answer in time fails; after
    two of them in a row none waits any more, until a single one finds it well again.

    Args:
        server: where it is.
        fingerprint: short hash of the embedding model.
        expected: how many chunks of a collection the database has.
        breaker: when to stop asking.
    """

    def __init__(
        self,
        server: ChromaServer,
        fingerprint: str,
        expected: Callable[[str], int],
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self._server = server
        self._fingerprint = fingerprint
        self._expected = expected
        self._breaker = breaker or CircuitBreaker(_BREAKER)
        self._patience = Patience(server.write_seconds)
        self._lock = threading.Lock()
        self._vectors: VectorIndex | None = None
        self._connections = ExitStack()

    def query(self, collection: str, vector: Vector, limit: int, scope: ScopeFilter) -> list[VectorHit]:
        """See :meth:`store.vectors.VectorIndex.query`."""
        if not self._breaker.admit():
            raise UnavailableError(
                f"The vector store at {self._server.url} does not answer; it is asked again in "
                f"{self._breaker.remaining:.0f} s.",
                "Run `gaplight doctor` to see what is wrong.",
            )
        with self._breaker.reporting(_worked), self._patience.of(self._server.question_seconds):
            return self._asked(lambda vectors: vectors.query(collection, vector, limit, scope))

    def upsert(self, collection: str, ids: Sequence[str], vectors: Vectors, scopes: Sequence[Sequence[str]]) -> None:
        """See :meth:`store.vectors.VectorIndex.upsert`."""
        self._asked(lambda target: target.upsert(collection, ids, vectors, scopes))

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """See :meth:`store.vectors.VectorIndex.delete`."""
        self._asked(lambda target: target.delete(collection, ids))

    def count(self, collection: str) -> int:
        """See :meth:`store.vectors.VectorIndex.count`."""
        with self._patience.of(_READ_SECONDS):
            return self._asked(lambda target: target.count(collection))

    def fingerprints(self) -> dict[str, set[str]]:
        """See :meth:`store.vectors.VectorIndex.fingerprints`."""
        with self._patience.of(_READ_SECONDS):
            return self._asked(lambda target: target.fingerprints())

    def drop(self, collection: str, fingerprint: str) -> None:
        """See :meth:`store.vectors.VectorIndex.drop`."""
        self._asked(lambda target: target.drop(collection, fingerprint))

    def close(self) -> None:
        """Give the connections back."""
        self._connections.close()

    def _asked(self, call: Callable[[VectorIndex], _T]) -> _T:
        try:
            return call(self._opened())
        except UnavailableError as error:
            if not isinstance(error.__cause__, _BROKEN):
                raise
        return call(self._opened())

    def _opened(self) -> VectorIndex:
        if self._vectors is None:
            with self._lock:
                if self._vectors is None:
                    client = server_client(self._server, self._patience)
                    self._connections.callback(close_client, client)
                    batch = _CLOUD_BATCH if self._server.is_cloud else None
                    self._vectors = ChromaVectors(client, self._fingerprint, self._expected, batch)
        return self._vectors


def _worked(error: BaseException) -> bool | None:
    """A server that has lost its data answers all the same."""
    return isinstance(error, VectorsLostError) if isinstance(error, UnavailableError) else None


def server_client(server: ChromaServer, patience: Patience | None = None) -> Any:
    """A Chroma client on a running server.

    Args:
        server: where it is.
        patience: how long each thread waits; None waits for ``write_seconds``.

    Raises:
        ConfigurationError: the URL is not http(s)://host[:port], or Chroma Cloud is not told whose it is.
        UnavailableError: the server does not answer, or does not know tenant or database.
    """
    parts = _address(server)
    patience = patience or Patience(server.write_seconds)
    translated(lambda: _look(server, patience), server.url)
    return translated(lambda: _client(server, parts, patience), server.url)


def _address(server: ChromaServer) -> tuple[str, int, bool]:
    """Host, or the whole address where it has a path, port, and whether there is TLS."""
    parts = urlsplit(server.url)
    try:
        port = parts.port
    except ValueError:
        port = 0
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise ConfigurationError(f"vectors.url is {server.url!r}.", "Give it as http://host:port or https://host.")
    if server.is_cloud and (server.tenant == DEFAULT_TENANT or not server.api_key):
        raise ConfigurationError(
            "Chroma Cloud needs vectors.tenant, vectors.database and a key.",
            "Copy tenant and database from its settings page, and put the key into VECTORS_API_KEY.",
        )
    secure = parts.scheme == "https"
    host = server.url.rstrip("/") if parts.path.strip("/") else parts.hostname
    return host, port or (443 if secure else 8000), secure


def _look(server: ChromaServer, patience: Patience) -> None:
    """Ask for tenant and database first: while it is made, a chromadb client cannot be given a time limit."""
    host, port, secure = _address(server)
    root = host if "/" in host else f"{'https' if secure else 'http'}://{_bracketed(host)}:{port}"
    path = f"api/v2/tenants/{quote(server.tenant, safe='')}/databases/{quote(server.database, safe='')}"
    with httpx.Client(headers=server.headers, event_hooks={"request": [patience.limit]}) as client:
        client.get(f"{root}/{path}").raise_for_status()


def _client(server: ChromaServer, parts: tuple[str, int, bool], patience: Patience) -> Any:
    import chromadb
    from chromadb.config import Settings

    host, port, secure = parts
    client = chromadb.HttpClient(
        host=_bracketed(host),
        port=port,
        ssl=secure,
        headers=server.headers,
        settings=Settings(anonymized_telemetry=False),
        tenant=server.tenant,
        database=server.database,
    )
    # chromadb has no setting for it: its HTTP sessions wait for ever.
    for session in _sessions(client):
        session.event_hooks = {"request": [patience.limit]}
    return client


def server_version(server: ChromaServer) -> str:
    """Which Chroma answers there.

    Raises:
        ConfigurationError, UnavailableError: as :func:`server_client`.
    """
    patience = Patience(server.write_seconds)
    with patience.of(_READ_SECONDS), ExitStack() as connections:
        client = server_client(server, patience)
        connections.callback(close_client, client)
        return str(translated(client.get_version))


def close_client(client: Any) -> None:
    """Give a client's connections back, which its own ``close`` leaves open."""
    for session in _sessions(client):
        session.close()
    client.close()


def _sessions(client: Any) -> list[httpx.Client]:
    """A client asks through one, and looks after tenant and database through another."""
    return [part._server._session for part in (client, client._admin_client)]  # noqa: SLF001


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and "/" not in host else host
