"""What embedding endpoints send, taken apart and checked. Pure.

Two kinds are spoken to: OpenAI-compatible ones (``/v1/embeddings``) and Text Embeddings Inference (``/embed``,
``/info``, ``/tokenize``). Nothing that they send is believed unseen: number, order, length and values of the vectors.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from store.embedding import Vectors
from store.errors import EndpointError

_EXCERPT = 200
_LONGEST_WAIT = 3600.0
OVERLOADED = frozenset({408, 409, 424, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed; 424 is Text Embeddings Inference's failed computation."""
TOO_MUCH = frozenset({400, 413, 422})
"""Statuses with which endpoints refuse a request that is too large: fewer texts at once may pass."""
_REFUSED_KEY = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What Text Embeddings Inference says about itself.

    Attributes:
        model: its name.
        max_input_tokens: what it reads at once, special tokens included.
        max_batch: texts that one request may have.
    """

    model: str
    max_input_tokens: int
    max_batch: int


def read_info(body: bytes) -> ServerInfo | None:
    """The reply to ``/info``; None where it is not one of Text Embeddings Inference."""
    try:
        said = json.loads(body)
        return ServerInfo(str(said["model_id"]), int(said["max_input_length"]), int(said["max_client_batch_size"]))
    except (ValueError, KeyError, TypeError):
        return None


def read_tei(body: bytes, count: int) -> Vectors:
    """Vectors (count, d) of a reply to ``/embed``.

    Raises:
        EndpointError: it is not that.
    """
    rows = _json(body)
    if not isinstance(rows, list):
        raise _garbage(f"a list of vectors was expected, not {type(rows).__name__}")
    return _matrix(rows, count)


def read_openai(body: bytes, count: int) -> Vectors:
    """Vectors (count, d) of a reply to ``/v1/embeddings``, brought into the order of the request by their index.

    Raises:
        EndpointError: it is not that.
    """
    said = _json(body)
    data = said.get("data") if isinstance(said, dict) else None
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise _garbage("it has no list 'data'")
    _counted(len(data), count)
    # Whoever sends a single vector may leave its number out.
    places = [each.get("index", 0 if count == 1 else None) for each in data]
    if {place for place in places if isinstance(place, int)} != set(range(count)):
        raise _garbage(f"its vectors are numbered {places[:5]}, not each once from 0 to {count - 1}")
    rows = dict(zip(places, data, strict=True))
    return _matrix([rows[place].get("embedding") for place in range(count)], count)


def read_tokens(body: bytes, count: int) -> list[list[tuple[int, int]]]:
    """Start and end of each token in characters, for each text of a request to ``/tokenize``.

    Raises:
        EndpointError: it is not that.
    """
    rows = _json(body)
    if not isinstance(rows, list) or len(rows) != count:
        raise _garbage(f"the tokens of {count} texts were expected")
    try:
        return [
            [(int(token["start"] or 0), int(token["stop"] or 0)) for token in row if not token.get("special")]
            for row in rows
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _garbage(f"its tokens cannot be read: {error!r}") from error


def refusal(status: int, body: bytes, retry_after: str, now: datetime) -> EndpointError:
    """The error for a status other than 200.

    Args:
        status: of the reply.
        body: its text says more, in one of several ways.
        retry_after: the header of this name; empty when there is none.
        now: for a date in that header.
    """
    said = f"HTTP {status}: {_said(body)}".rstrip(": ")
    if status in _REFUSED_KEY:
        return EndpointError(f"The embedding endpoint refused the key ({said}).", "Check EMBEDDING_API_KEY.")
    if status in OVERLOADED:
        return EndpointError(
            f"The embedding endpoint is overloaded or failed ({said}).",
            "Try again later, or lower embedding.batch_size and embedding.threads.",
            again=True,
            retry_after=seconds_of(retry_after, now),
        )
    if status in TOO_MUCH:
        advice = "Lower embedding.max_tokens or embedding.batch_size, and check embedding.model."
        return EndpointError(f"The embedding endpoint refused what was sent ({said}).", advice, too_much=True)
    return EndpointError(
        f"The embedding endpoint answered with {said}.", "Check embedding.base_url and embedding.model."
    )


def seconds_of(retry_after: str, now: datetime) -> float:
    """Seconds of a ``Retry-After`` header, which is a number or a date; 0 where it says nothing. At most an hour."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(retry_after) - now).total_seconds()
        except (ValueError, TypeError):
            return 0.0
    return min(max(seconds, 0.0), _LONGEST_WAIT) if seconds == seconds else 0.0  # noqa: PLR0124 -- NaN


def _matrix(rows: Sequence[Any], count: int) -> Vectors:
    _counted(len(rows), count)
    vectors = [_vector(row) for row in rows]
    lengths = {len(vector) for vector in vectors}
    if len(lengths) > 1 or 0 in lengths:
        raise _garbage(f"its vectors have {sorted(lengths)} dimensions")
    matrix: Vectors = np.stack(vectors)
    if not np.isfinite(matrix).all() or not matrix.any(axis=1).all():
        raise _garbage("a vector is NaN, infinite or zero")
    return matrix


def _counted(vectors: int, texts: int) -> None:
    if vectors != texts:
        raise _garbage(f"it has {vectors} vectors for {texts} texts")


def _vector(row: object) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    try:
        if isinstance(row, str):
            return np.frombuffer(base64.b64decode(row, validate=True), dtype="<f4").astype(np.float32)
        if isinstance(row, list):
            vector = np.array([np.nan if each is None else each for each in row], dtype=np.float32)
            if vector.ndim == 1:
                return vector
    except (ValueError, TypeError, OverflowError, binascii.Error) as error:
        raise _garbage(f"a vector cannot be read: {error}") from error
    raise _garbage("a vector is neither a list of numbers nor base64")


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise _garbage(f"it is not JSON: {body[:_EXCERPT].decode('utf-8', 'replace')!r}") from error


def _said(body: bytes) -> str:
    """What an error says, wherever it stands; cut to a line's length."""
    text = body.decode("utf-8", "replace")
    try:
        value: Any = json.loads(text)
        while isinstance(value, Mapping):
            value = next((value[key] for key in ("error", "message", "detail") if value.get(key)), "")
        text = str(value) or text
    except ValueError:
        pass
    return " ".join(text.split())[:_EXCERPT]


def _garbage(what: str) -> EndpointError:
    return EndpointError(
        f"The embedding endpoint sent what cannot be used: {what}.",
        "Check with its operator that embedding.base_url serves an embedding model.",
    )
