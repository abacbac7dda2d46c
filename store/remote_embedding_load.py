"""Meets an embedding endpoint: finds out what it is, what it reads and whether it is the model of the index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from store.embedding import ModelIdentity, Vectors, unit_length
from store.errors import EndpointError, ModelError
from store.model_original import prefixes
from store.model_probe import PROBES
from store.model_sources import find_source
from store.remote_embedding import RemoteEmbedder, halved
from store.remote_embedding_http import EmbeddingHttp, Endpoint
from store.remote_embedding_identity import Known, StateStore, recognised, remember, remembered
from store.remote_embedding_tokens import AskedTokens, EstimatedTokens, TokenizerTokens, Tokens, read_tokenizer
from store.remote_embedding_wire import ServerInfo, read_info, read_openai, read_tei, read_tokens

DEFAULT_TOKENS = 256
"""Tokens that a model is taken to read where neither it nor the settings say so: what the smallest ones do."""
_SMALLEST = 16
_INFO_SECONDS = 15.0
_TAIL = ("zebra", "violin", "harbour", "seven")
_OTHER_TAIL = ("index", "rollback", "quota", "winter")
_NOISE = 4.0
_SAME = 1e-6

LocalProbes = Callable[[ModelIdentity], Vectors | None]
"""The probe vectors of a model that runs on this machine; None where it cannot be had."""


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """What the settings say about the model behind an endpoint.

    Attributes:
        model: its name there.
        tokenizer: its ``tokenizer.json``, or a folder with one; None to do without.
        max_tokens: tokens that a text may have, special ones not counted; None to find out.
        query_prefix: what goes before a question; None takes what the model's authors ask for.
        document_prefix: the same for documents.
        languages: that the model reads; empty to find out.
        batch_size: texts of one request at most.
        threads: requests under way at once while documents are embedded.
        fields: further fields of an OpenAI-compatible request, such as ``dimensions``.
    """

    model: str
    tokenizer: Path | None = None
    max_tokens: int | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None
    languages: tuple[str, ...] = ()
    batch_size: int = 32
    threads: int = 4
    fields: Mapping[str, object] = field(default_factory=dict)


class TeiApi:
    """Text Embeddings Inference."""

    def __init__(self, http: EmbeddingHttp, endpoint: Endpoint, info: ServerInfo, batch_size: int) -> None:
        self._http = http
        self._root = tei_root(endpoint.base_url)
        self._seconds = endpoint.batch_seconds
        self.max_batch = max(1, min(batch_size, info.max_batch))

    def embed(self, texts: Sequence[str], seconds: float) -> Vectors:
        """See :meth:`store.remote_embedding.Api.embed`."""
        return halved(self._once, texts, seconds)

    def tokens(self, texts: list[str]) -> list[list[tuple[int, int]]]:
        """The tokens of texts, special ones left out."""
        body = {"inputs": texts, "add_special_tokens": False}
        return read_tokens(self._http.call(f"{self._root}/tokenize", body, self._seconds), len(texts))

    def _once(self, texts: Sequence[str], seconds: float) -> Vectors:
        body = {"inputs": list(texts), "normalize": True, "truncate": False}
        return read_tei(self._http.call(f"{self._root}/embed", body, seconds), len(texts))


class OpenAiApi:
    """An OpenAI-compatible endpoint."""

    def __init__(self, http: EmbeddingHttp, endpoint: Endpoint, options: RemoteOptions) -> None:
        self._http = http
        self._url = openai_url(endpoint.base_url)
        self._fields = {**options.fields, "model": options.model, "encoding_format": "float"}
        self.max_batch = max(1, options.batch_size)

    def embed(self, texts: Sequence[str], seconds: float) -> Vectors:
        """See :meth:`store.remote_embedding.Api.embed`."""
        return halved(self._once, texts, seconds)

    def _once(self, texts: Sequence[str], seconds: float) -> Vectors:
        return read_openai(self._http.call(self._url, {**self._fields, "input": list(texts)}, seconds), len(texts))


def tei_root(base_url: str) -> str:
    """Where ``/info`` and ``/embed`` are: the address without a ``/v1`` at its end. Pure."""
    return base_url.rstrip("/").removesuffix("/v1")


def openai_url(base_url: str) -> str:
    """Where OpenAI-compatible embeddings are: below the path that the address has, else below ``/v1``. Pure."""
    path = urlsplit(base_url).path.strip("/")
    return f"{base_url.rstrip('/')}{'' if path else '/v1'}/embeddings"


def load_remote(
    endpoint: Endpoint,
    options: RemoteOptions,
    store: StateStore,
    made_by: ModelIdentity | None = None,
    local_probes: LocalProbes = lambda _: None,
) -> RemoteEmbedder:
    """Open the embedding model behind an endpoint.

    Args:
        endpoint: where it is.
        options: what is known of it.
        store: where probe vectors are kept.
        made_by: the model that made the index; None for an empty one.
        local_probes: gives those of a local model that made the index, so that an endpoint with the same model can
            take over without a rebuild.

    Raises:
        EndpointError: it does not answer, or not with vectors.
        ModelError: it cuts texts that it should read, or its tokeniser is damaged.
    """
    http = EmbeddingHttp(endpoint)
    try:
        return _met(http, endpoint, options, store, made_by, local_probes)
    except BaseException:
        http.close()
        raise


def _met(
    http: EmbeddingHttp,
    endpoint: Endpoint,
    options: RemoteOptions,
    store: StateStore,
    made_by: ModelIdentity | None,
    local_probes: LocalProbes,
) -> RemoteEmbedder:
    info = _asked_info(http, endpoint)
    api = TeiApi(http, endpoint, info, options.batch_size) if info else OpenAiApi(http, endpoint, options)
    tokens = _tokens(options, api)
    draft = _draft(options, info, tokens)
    probes = _embedded(api, [draft.document_prefix + text for text in PROBES], endpoint.batch_seconds)
    draft = replace(draft, dimension=probes.shape[1])
    known = remembered(store, made_by)
    if made_by and made_by.engine != "remote" and all(one.identity.revision != made_by.revision for one in known):
        ours = local_probes(made_by)
        known = [*([Known(made_by, ours)] if ours is not None else []), *known]
    identity = recognised(probes, draft, known, fixed_tokens=options.max_tokens is not None)
    _refuse_cutting(api, tokens, identity, endpoint.batch_seconds)
    same = next((one.probes for one in known if one.identity.revision == identity.revision), probes)
    remember(store, Known(identity, same))
    return RemoteEmbedder(Known(identity, probes), api, http, endpoint, tokens, options.threads)


def _asked_info(http: EmbeddingHttp, endpoint: Endpoint) -> ServerInfo | None:
    """What Text Embeddings Inference says about itself; None for anything else.

    Raises:
        EndpointError: the endpoint is out of reach or overloaded.
    """
    try:
        return read_info(http.call(f"{tei_root(endpoint.base_url)}/info", None, _INFO_SECONDS))
    except EndpointError as error:
        if error.again:
            raise
        return None


def _tokens(options: RemoteOptions, api: TeiApi | OpenAiApi) -> Tokens:
    """The model's own tokeniser where it is named or installed, else the endpoint's, else an estimate."""
    if options.tokenizer:
        return read_tokenizer(options.tokenizer.expanduser())
    try:
        folder = find_source(options.model).folder
    except ModelError:
        folder = None
    if folder is not None and (folder / "tokenizer.json").is_file():
        return read_tokenizer(folder)
    return AskedTokens(api.tokens, api.max_batch) if isinstance(api, TeiApi) else EstimatedTokens()


def _draft(options: RemoteOptions, info: ServerInfo | None, tokens: Tokens) -> ModelIdentity:
    query, document = prefixes(options.model, {}, "")
    query = query if options.query_prefix is None else options.query_prefix
    document = document if options.document_prefix is None else options.document_prefix
    states = tokens.states if isinstance(tokens, TokenizerTokens) else 0
    reads = info.max_input_tokens if info else states or DEFAULT_TOKENS
    room = reads - tokens.special() - tokens.reserved(document)
    if options.max_tokens is None and room < _SMALLEST:
        raise ModelError(
            f"{options.model} reads {reads} tokens, of which its prefix {document!r} leaves {room}.",
            "Choose another model.",
        )
    return ModelIdentity(
        name=options.model,
        revision="",
        dimension=0,
        max_tokens=options.max_tokens or room,
        query_prefix=query,
        document_prefix=document,
        pooling="unknown",
        precision="unknown",
        engine="remote",
        languages=options.languages or tokens.languages(),
    )


def _embedded(api: TeiApi | OpenAiApi, texts: Sequence[str], seconds: float) -> Vectors:
    size = api.max_batch
    parts = [api.embed(texts[start : start + size], seconds) for start in range(0, len(texts), size)]
    if len({part.shape[1] for part in parts}) > 1:
        raise EndpointError("The embedding endpoint gave vectors of different dimensions.", "Check its model.")
    return unit_length(np.concatenate(parts))


def _refuse_cutting(api: TeiApi | OpenAiApi, tokens: Tokens, identity: ModelIdentity, seconds: float) -> None:
    """Refuse an endpoint that reads only the beginning of a text of the permitted length, or refuses it.

    Two texts that differ in their last words alone must give other vectors. What the same text gives twice tells
    noise from difference.
    """
    long, other = (_longest(tokens, identity.max_tokens, tail) for tail in (_TAIL, _OTHER_TAIL))
    prefix = identity.document_prefix
    try:
        first, second, again = (_embedded(api, [prefix + text], seconds)[0] for text in (long, other, long))
    except EndpointError as error:
        if not error.too_much:
            raise
        raise ModelError(
            f"{identity.name} refuses a text of {identity.max_tokens} tokens: {error.problem}", _lower(identity)
        ) from error
    if np.abs(first - second).max() <= _NOISE * np.abs(first - again).max() + _SAME:
        raise ModelError(
            f"{identity.name} does not read texts of {identity.max_tokens} tokens to their end.", _lower(identity)
        )


def _lower(identity: ModelIdentity) -> str:
    return (
        f"Set embedding.max_tokens to less than {identity.max_tokens}, or give the endpoint a longer window "
        "(num_ctx in Ollama)."
    )


def _longest(tokens: Tokens, limit: int, tail: Sequence[str]) -> str:
    """A text that ends in these words and is as long as permitted, or a few tokens shorter."""
    words = PROBES[-1].split()
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        fits = len(tokens.spans([_text(words, middle, tail)])[0]) <= limit
        low, high = (middle, high) if fits else (low, middle - 1)
    return _text(words, low, tail)


def _text(words: Sequence[str], count: int, tail: Sequence[str]) -> str:
    repeated = [*words] * (count // len(words) + 1)
    return " ".join([*repeated[:count], *tail])
