"""Builds what makes and keeps vectors on other machines from the settings."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bot.credentials import credential
from store.chroma_address import ChromaServer
from store.embedding import ModelIdentity, Vectors
from store.errors import ModelError

if TYPE_CHECKING:
    from bot.settings import Settings
    from store.documents import DocumentStore
    from store.remote_embedding import RemoteEmbedder
    from store.vector_server import ServerVectors

logger = logging.getLogger(__name__)

EMBEDDING_KEY = "EMBEDDING_API_KEY"
VECTORS_KEY = "VECTORS_API_KEY"
_BATCHES_AT_ONCE = 4


def remote_embedder(settings: Settings, documents: DocumentStore) -> RemoteEmbedder:
    """The embedding model of the configured endpoint.

    Raises:
        EndpointError: it does not answer.
        ModelError: it cannot be used.
    """
    from store.index import MODEL_STATE
    from store.remote_embedding_http import Endpoint
    from store.remote_embedding_load import RemoteOptions, load_remote

    chosen = settings.embedding
    endpoint = Endpoint(
        base_url=chosen.base_url,
        api_key=credential(EMBEDDING_KEY),
        connect_seconds=chosen.connect_seconds,
        question_seconds=chosen.question_seconds,
        batch_seconds=chosen.batch_seconds,
        retries=chosen.retries,
    )
    options = RemoteOptions(
        model=chosen.model,
        tokenizer=chosen.tokenizer,
        max_tokens=chosen.max_tokens,
        query_prefix=chosen.query_prefix,
        document_prefix=chosen.document_prefix,
        languages=chosen.languages,
        batch_size=chosen.batch_size,
        threads=chosen.threads or _BATCHES_AT_ONCE,
        fields=chosen.options,
    )
    made_by = _identity(documents.index_state(MODEL_STATE))
    return load_remote(endpoint, options, documents, made_by, lambda maker: _local_probes(settings, maker))


def _identity(state: object) -> ModelIdentity | None:
    try:
        return ModelIdentity.from_json(dict(state)) if isinstance(state, Mapping) else None
    except (KeyError, TypeError):
        return None


def _local_probes(settings: Settings, maker: ModelIdentity) -> Vectors | None:
    """What the model on this machine that made the index gives for the probe sentences.

    None where it would have to be fetched, has changed since, or cannot be run: then the endpoint is a model of its
    own, and the index has to be built anew.
    """
    from store.model_probe import PROBES
    from store.model_sources import find_source
    from store.models import load

    try:
        if maker.precision == "unknown" or find_source(maker.name).folder is None:
            return None
        embedder = load(maker.name, cache=settings.model_cache, precision=maker.precision)
        if embedder.identity.fingerprint != maker.fingerprint:
            return None
        return embedder.embed_documents(list(PROBES))
    except ModelError as error:
        logger.info("The endpoint cannot be compared with %s: %s", maker.name, error.problem)
        return None


def chroma_server(settings: Settings) -> ChromaServer:
    """The configured Chroma server."""
    chosen = settings.vectors
    return ChromaServer(
        url=chosen.url,
        tenant=chosen.tenant,
        database=chosen.database,
        api_key=credential(VECTORS_KEY),
        key_header=chosen.key_header,
        question_seconds=chosen.question_seconds,
        write_seconds=chosen.write_seconds,
    )


def server_vectors(settings: Settings, documents: DocumentStore, fingerprint: str) -> ServerVectors:
    """The vectors of one model in the configured Chroma server."""
    from store.vector_server import ServerVectors

    return ServerVectors(chroma_server(settings), fingerprint, lambda name: documents.counts(name).chunks)
