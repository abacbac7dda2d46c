"""The engines that run an embedding model on this machine: ONNX Runtime, and sentence-transformers itself.

Nothing here imports torch or sentence-transformers: a loaded model is handed in.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from store.embedding import ModelIdentity, Progress, Vectors, unit_length
from store.embedding_checks import CheckedEmbedder, Side
from store.text import clean

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PROGRESS_STEP = 32


def reserved_tokens(tokenizer: Tokenizer, prefix: str) -> int:
    """Tokens that a prefix takes from what a model reads.

    One more than it has by itself: prefix and text may fall into other tokens together than apart.
    """
    return len(tokenizer.encode(prefix, add_special_tokens=False).ids) + 1 if prefix else 0


class _LocalEmbedder(CheckedEmbedder):
    """What both engines share: a tokeniser on this machine. Subclasses turn token ids into vectors."""

    def __init__(self, identity: ModelIdentity, tokenizer: Tokenizer) -> None:
        super().__init__(identity)
        # Truncation and padding are the only settings that encoding would change in a shared tokenizer; with both
        # off it is read-only, which is what makes it safe for many threads.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        special = tokenizer.num_special_tokens_to_add(is_pair=False)
        self._read_at_once = identity.max_tokens + special + reserved_tokens(tokenizer, identity.document_prefix)
        self._query_room = self._read_at_once - special - reserved_tokens(tokenizer, identity.query_prefix)

    def count_tokens(self, text: str) -> int:
        """Length in the model's tokens, special tokens and prefixes not counted."""
        return len(self._tokenizer.encode(clean(text), add_special_tokens=False).ids)

    def count_tokens_many(self, texts: list[str]) -> list[int]:
        """:meth:`count_tokens` of many texts, faster."""
        encoded = self._tokenizer.encode_batch_fast([clean(text) for text in texts], add_special_tokens=False)
        return [len(encoding.ids) for encoding in encoded]

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token of a text, in characters; special tokens not among them."""
        offsets: list[tuple[int, int]] = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return offsets

    @property
    def _query_tokens(self) -> int:
        return max(1, self._query_room)

    def _query_windows(self, text: str) -> list[str]:
        # Each token stands for at least one byte: a question that is surely short enough need not be counted.
        return [text] if len(text.encode()) <= self._query_room else super()._query_windows(text)

    def _has_tokens(self, text: str) -> bool:
        return self.count_tokens(text) > 0

    def _unit_vectors(self, texts: list[str], side: Side, progress: Progress | None) -> Vectors:
        if not texts:
            return np.empty((0, self._identity.dimension), dtype=np.float32)
        prefix = self._prefix(side)
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast([prefix + text for text in texts])]
        for text, row in zip(texts, ids, strict=True):
            if len(row) > self._read_at_once:
                raise self._too_long(text)
        return unit_length(self._run(texts, ids, side, progress))

    def _run(self, texts: list[str], ids: list[list[int]], side: Side, progress: Progress | None) -> npt.NDArray[Any]:
        """Vectors of texts, given without (``texts``) and with (``ids``) the prefix of their side."""
        raise NotImplementedError


class OnnxEmbedder(_LocalEmbedder):
    """Runs an exported model with ONNX Runtime.

    Texts run one at a time, without padding, several threads side by side. Per second of processor time that gives
    19 chunks of 145 tokens in fp32 and 29 in int8, against 13 and 17 in batches of 32 sorted by length (AVX2, one
    thread). And it makes an int8 vector reproducible: dynamic quantisation scales by the largest activation of the
    whole batch, so that in batches of 32 the same text moves by about .01 of cosine with its neighbours.

    Args:
        identity: what the manifest says.
        session: ONNX Runtime session with inputs ``input_ids`` and ``attention_mask`` and one output (1, dimension).
        tokenizer: the model's own.
        threads: how many documents are computed side by side, at least 1.
    """

    def __init__(self, identity: ModelIdentity, session: Any, tokenizer: Tokenizer, threads: int) -> None:
        super().__init__(identity, tokenizer)
        self._session = session
        self._threads = max(1, threads)

    def _run(
        self,
        texts: list[str],
        ids: list[list[int]],
        side: Side,  # noqa: ARG002 -- the ids have the prefix of their side already
        progress: Progress | None,
    ) -> npt.NDArray[Any]:
        rows = np.empty((len(texts), self._identity.dimension), dtype=np.float32)
        # Longest first: the threads then finish together.
        order = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
        for done, (place, row) in enumerate(zip(order, self._in_order(ids, order), strict=True), start=1):
            rows[place] = row
            if progress is not None and (done % _PROGRESS_STEP == 0 or done == len(order)):
                progress(done)
        return rows

    def _in_order(self, ids: list[list[int]], order: Sequence[int]) -> Iterable[npt.NDArray[Any]]:
        if self._threads == 1 or len(order) == 1:
            yield from (self._vector(ids[place]) for place in order)
            return
        with ThreadPoolExecutor(self._threads, thread_name_prefix="embed") as pool:
            yield from pool.map(lambda place: self._vector(ids[place]), order)

    def _vector(self, ids: list[int]) -> npt.NDArray[Any]:
        row = np.array([ids], dtype=np.int64)
        outputs = self._session.run(None, {"input_ids": row, "attention_mask": np.ones_like(row)})
        vector: npt.NDArray[Any] = outputs[0][0]
        return vector


class SentenceTransformersEmbedder(_LocalEmbedder):
    """Runs a model with sentence-transformers itself, for models whose export does not agree with it.

    Args:
        identity: what the manifest says.
        model: a loaded ``SentenceTransformer``.
        tokenizer: the model's own.
    """

    def __init__(self, identity: ModelIdentity, model: Any, tokenizer: Tokenizer) -> None:
        super().__init__(identity, tokenizer)
        self._model = model
        # Its tokenizer switches padding and truncation while encoding: "Already borrowed" from two threads.
        self._lock = threading.Lock()

    def _run(self, texts: list[str], ids: list[list[int]], side: Side, progress: Progress | None) -> npt.NDArray[Any]:
        rows = np.empty((len(texts), self._identity.dimension), dtype=np.float32)
        order = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
        for start in range(0, len(order), _PROGRESS_STEP):
            places = order[start : start + _PROGRESS_STEP]
            rows[places] = self._encode([texts[place] for place in places], side)
            if progress is not None:
                progress(start + len(places))
        return rows

    def _encode(self, texts: list[str], side: Side) -> Any:
        # The side and the prefix are handed over apart: some models pool without the prefix or have two encoders.
        encode = self._model.encode_query if side == "query" else self._model.encode_document
        with self._lock:
            return encode(texts, prompt=self._prefix(side), batch_size=_PROGRESS_STEP, show_progress_bar=False)


def usable_threads() -> int:
    """Processors that this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
