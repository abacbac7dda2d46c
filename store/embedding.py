"""Text → vectors: what an embedding engine promises, and the pure parts that every engine shares.

A model is made ready by :mod:`store.models`; the engines are in :mod:`store.embedding_engines` and, for a model that
runs elsewhere, :mod:`store.remote_embedding`.

All engines hold to the same rules. A vector depends on its own text only, never on the texts that it was asked for
together with. Nothing is cut silently: a document that does not fit is refused, a question that does not fit is read
in windows. Every vector returned is finite and of unit length.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from store.errors import ModelError

Vectors = npt.NDArray[np.float32]
Precision = Literal["fp32", "int8", "unknown"]
Engine = Literal["onnx", "sentence-transformers", "remote"]
Progress = Callable[[int], None]
"""Told how many texts are finished so far, now and then and once at the end, in the caller's thread."""

VECTOR_RECIPE = "1"
"""Part of every fingerprint: raise it when the same model files would give other vectors."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model made a vector, and how.

    Attributes:
        name: as the configuration names it.
        revision: hash of the weights, tokenizer and configuration files; of an endpoint's model, of what it gave for
            the probe sentences when it was first met.
        dimension: length of a vector.
        max_tokens: how long a document may be, in this model's tokens, special tokens and prefix not counted.
        query_prefix: what the model expects in front of a question; often empty.
        document_prefix: what the model expects in front of a document; often empty.
        pooling: how token vectors become one vector, as the model states it.
        normalised: whether the model itself ends in unit length (the engines always do).
        precision: of the weights; an endpoint does not tell it.
        engine: what runs it.
        languages: ISO 639-1 codes that the vocabulary covers; ``("*",)`` for a multilingual model.
    """

    name: str
    revision: str
    dimension: int
    max_tokens: int
    query_prefix: str = ""
    document_prefix: str = ""
    pooling: str = "mean"
    normalised: bool = True
    precision: Precision = "fp32"
    engine: Engine = "onnx"
    languages: tuple[str, ...] = ("en",)

    @property
    def fingerprint(self) -> str:
        """12 hexadecimal digits of everything that changes vectors.

        The name is left out because a renamed or moved copy of the same files gives the same vectors, and the engine
        because an export is only used where it agrees with sentence-transformers.
        """
        parts = asdict(self)
        for irrelevant in ("name", "engine", "languages"):
            del parts[irrelevant]
        text = json.dumps([VECTOR_RECIPE, parts], sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def as_json(self) -> dict[str, object]:
        """Plain values for a manifest; :meth:`from_json` takes them back."""
        return {**asdict(self), "languages": list(self.languages)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ModelIdentity:
        """Read what :meth:`as_json` wrote.

        Raises:
            KeyError: a field is missing.
        """
        known = {field.name: values[field.name] for field in fields(cls)}
        return cls(**{**known, "languages": tuple(known["languages"])})


class Embedder(Protocol):
    """An embedding engine. All methods may be called from any number of threads at once."""

    @property
    def identity(self) -> ModelIdentity:
        """Which model makes the vectors."""

    def embed_queries(self, texts: list[str]) -> Vectors:
        """One unit-length float32 row for each question, shape (n, dimension).

        A question that is longer than the model reads is split at word borders into windows that fit; its vector is
        their mean, weighted by tokens, and the split is logged. So its end counts as much as its beginning.

        Raises:
            UsageError: a text without any letter or digit.
            ModelError: the model gave something that is no direction (NaN, infinity, zero).
        """

    def embed_documents(self, texts: list[str], *, progress: Progress | None = None) -> Vectors:
        """One unit-length float32 row for each document in the order given, shape (n, dimension).

        Raises:
            UsageError: a text without any letter or digit, or longer than ``identity.max_tokens``.
            ModelError: the model gave something that is no direction (NaN, infinity, zero).
        """

    def count_tokens(self, text: str) -> int:
        """Length in the model's tokens, special tokens and prefixes not counted."""

    def count_tokens_many(self, texts: list[str]) -> list[int]:
        """:meth:`count_tokens` of many texts, faster."""


def split_in_windows(text: str, limit: int, offsets: Callable[[str], list[tuple[int, int]]]) -> list[str]:
    """Halve a text, and its halves, until each piece has at most ``limit`` tokens. Pure.

    Halves instead of full windows and a rest: no piece is so short that it means little by itself.

    Args:
        text: what to split; the pieces joined give it back.
        limit: most tokens that a piece may have, at least 1.
        offsets: start and end of each token of a text, in characters.
    """
    spans = offsets(text)
    if len(spans) <= limit or len(text) < 2:  # noqa: PLR2004 -- one character cannot be halved
        return [text]
    middle = spans[len(spans) // 2][0]
    cut = text.rfind(" ", 0, middle) + 1
    # A run without spaces (Chinese, base64) is cut where its middle token starts.
    if cut < middle // 2 or cut == 0:
        cut = middle
    cut = min(max(cut, 1), len(text) - 1)
    return [piece for half in (text[:cut], text[cut:]) for piece in split_in_windows(half, limit, offsets)]


def unit_length(vectors: npt.NDArray[Any]) -> Vectors:
    """Rows scaled to length 1, as float32.

    Raises:
        ModelError: a row is not finite, or has no direction.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    bad = ~np.isfinite(lengths[:, 0]) | (lengths[:, 0] < np.finfo(np.float32).tiny)
    if bad.any():
        raise ModelError(
            f"{int(bad.sum())} of {len(rows)} vectors from the embedding model are NaN, infinite or zero.",
            "Prepare the model again with `gaplight model prepare NAME`, or choose precision fp32.",
        )
    scaled: Vectors = (rows / lengths).astype(np.float32)
    return scaled
