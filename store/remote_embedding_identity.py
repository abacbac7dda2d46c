"""Which model answers behind an address: judged by the vectors that it gives, not by the name that it bears.

An endpoint may be upgraded, moved or exchanged without a word. So the probe sentences are embedded at every start, and
compared with what they were when the index was made. Who agrees is the same model, whatever it is called and wherever
it runs; who does not gets a new identity, which the index then refuses.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from store.embedding import ModelIdentity, Vectors, unit_length
from store.errors import ModelError

SAME_MODEL = 0.999
"""Lowest cosine of any probe at which two engines count as the same model. Half precision reaches .9999; dynamic int8
(.98) and other models (below .9) don't."""

_KEY = "embedding-probe:"
_LATEST = f"{_KEY}latest"


class StateStore(Protocol):
    """Small values that are kept with the index; :class:`store.documents.DocumentStore` is one."""

    def index_state(self, key: str) -> object:
        """What was stored under the key; None when nothing was."""

    def set_index_state(self, key: str, value: object) -> None:
        """Store one JSON value."""


@dataclass(frozen=True, slots=True)
class Known:
    """A model that has been seen.

    Attributes:
        identity: as it was then.
        probes: its unit-length vectors of the probe sentences, in their order.
    """

    identity: ModelIdentity
    probes: Vectors


def agreement(one: Vectors, other: Vectors) -> float:
    """The lowest cosine between the vectors of the same sentences; -1 when their dimensions differ. Pure."""
    if one.shape != other.shape:
        return -1.0
    return float(np.min(np.sum(one.astype(np.float64) * other, axis=1)))


def recognised(fresh: Vectors, draft: ModelIdentity, known: Iterable[Known], *, fixed_tokens: bool) -> ModelIdentity:
    """The identity of the model that gave these vectors. Pure.

    Args:
        fresh: unit-length vectors of the probe sentences.
        draft: what is known without having seen it before; its revision does not count.
        known: models to compare with, the one that made the index first.
        fixed_tokens: whether the draft's number of tokens is prescribed; otherwise it is what the endpoint can read,
            and an index that was cut for less stays as it is.

    Returns:
        The identity of the first that agrees, under the draft's name; else the draft with a revision of its own.
    """
    for one in known:
        was = one.identity
        same_use = (was.query_prefix, was.document_prefix) == (draft.query_prefix, draft.document_prefix)
        fits = was.max_tokens == draft.max_tokens if fixed_tokens else was.max_tokens <= draft.max_tokens
        if same_use and fits and agreement(fresh, one.probes) >= SAME_MODEL:
            return replace(was, name=draft.name, engine=draft.engine, languages=draft.languages or was.languages)
    return replace(draft, revision=hashlib.sha256(fresh.astype("<f4").tobytes()).hexdigest()[:40])


def remembered(store: StateStore, made_by: ModelIdentity | None) -> list[Known]:
    """The model that made the index, and the one that was met last, as far as their probes were kept."""
    latest = _read(store.index_state(_LATEST))
    found = [latest] if latest else []
    if made_by:
        kept = _read(store.index_state(_KEY + made_by.revision))
        found = [*([Known(made_by, kept.probes)] if kept else []), *found]
    return found


def remember(store: StateStore, known: Known) -> None:
    """Keep a model's probes, so that it is recognised at the next start."""
    value = {
        "identity": known.identity.as_json(),
        "vectors": base64.b64encode(known.probes.astype("<f2").tobytes()).decode(),
    }
    for key in (_KEY + known.identity.revision, _LATEST):
        if store.index_state(key) != value:
            store.set_index_state(key, value)


def _read(value: object) -> Known | None:
    """What :func:`remember` wrote; None where it is missing or of another form."""
    if not isinstance(value, Mapping):
        return None
    stored: Mapping[str, Any] = value
    try:
        identity = ModelIdentity.from_json(dict(stored["identity"]))
        flat = np.frombuffer(base64.b64decode(stored["vectors"]), dtype="<f2").astype(np.float32)
        return Known(identity, unit_length(flat.reshape(-1, identity.dimension)))
    except (KeyError, TypeError, ValueError, ModelError):
        return None
