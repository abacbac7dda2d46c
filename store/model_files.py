"""A prepared model on disk: its manifest, and how to open it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from store.embedding import ModelIdentity
from store.embedding_engines import OnnxEmbedder
from store.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

RequestedPrecision = Literal["auto", "fp32", "int8"]

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
_MANIFEST = "manifest.json"
_FORMAT = 1
"""Raise it when an older prepared folder can no longer be read; it is then prepared anew."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a prepared folder says about itself.

    Attributes:
        identity: which model it is.
        requested_precision: what was asked for; ``identity.precision`` is what it became.
        source: folder of the original model, needed again by the engine ``sentence-transformers``.
        model_bytes: size of ``model.onnx``; 0 when there is none.
        fallback_reason: why ONNX Runtime does not run it; empty when it does.
        figures: what the comparisons with the original gave.
    """

    identity: ModelIdentity
    requested_precision: RequestedPrecision
    source: str
    model_bytes: int
    fallback_reason: str = ""
    figures: dict[str, float] = field(default_factory=dict)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write ``manifest.json`` atomically; it comes last, so a folder that has one is complete."""
    values = {**asdict(manifest), "identity": manifest.identity.as_json(), "format": _FORMAT}
    draft = folder / f"{_MANIFEST}.tmp"
    draft.write_text(json.dumps(values, ensure_ascii=False, indent=2), encoding="utf-8")
    draft.replace(folder / _MANIFEST)


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None when it is missing, of another format, or its files are not as stated.

    Such a folder is what a killed or an older program leaves behind: the model is then prepared anew.
    """
    try:
        values: dict[str, Any] = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        if values.pop("format") != _FORMAT:
            return None
        manifest = Manifest(**{**values, "identity": ModelIdentity.from_json(values["identity"])})
        complete = (folder / TOKENIZER_FILE).is_file()
        if manifest.identity.engine == "onnx":
            complete = complete and (folder / MODEL_FILE).stat().st_size == manifest.model_bytes
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if complete else None


def open_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a prepared folder.

    Raises:
        ModelError: its file is damaged.
    """
    from tokenizers import Tokenizer

    path = folder / TOKENIZER_FILE
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise _damaged(path, error) from error


def open_onnx(path: Path, identity: ModelIdentity, tokenizer: Tokenizer, threads: int) -> OnnxEmbedder:
    """Run an exported model.

    Each call computes on the caller's own thread: two calls side by side do more than one call on two threads
    (measured on two shared cores: 34-42 against 18-37 chunks/s in fp32, 46-55 against 45 in int8).

    Raises:
        ModelError: ONNX Runtime refuses the file.
    """
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions share no narrower base
        raise _damaged(path, error) from error
    return OnnxEmbedder(identity, session, tokenizer, threads)


def _damaged(path: Path, error: Exception) -> ModelError:
    return ModelError(
        f"{path} cannot be read: {error}.", f"Delete the folder {path.parent}; the model is then prepared again."
    )
