"""Make any sentence-transformers model ready to run without torch, and load it.

A model is prepared once: found (a folder, the installed package of the default model, the hub), exported to ONNX,
compared with the original on probe sentences, and kept in a cache folder. From then on loading takes a fraction of
a second, needs no network, and imports neither torch nor sentence-transformers nor transformers.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from store.embedding import Embedder, ModelIdentity
from store.embedding_engines import SentenceTransformersEmbedder, usable_threads
from store.errors import BusyError, ModelError
from store.model_export import ERROR_FILE, ExportRequest
from store.model_files import (
    MODEL_FILE,
    Manifest,
    RequestedPrecision,
    open_onnx,
    open_tokenizer,
    read_manifest,
)
from store.model_sources import DEFAULT_MODEL, ModelSource, find_source, safe_name

logger = logging.getLogger(__name__)

Report = Callable[[str], None]
"""Told in one sentence what is being done, for a person who waits."""

RequestedEngine = Literal["auto", "onnx", "sentence-transformers"]

_WAIT_SECONDS = 1800
"""How long to wait for another process that prepares the same model: a large one takes minutes."""
_STDERR_TAIL = 600
_NEEDED_TO_PREPARE = ("torch", "sentence_transformers", "onnx")


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model that is ready to load.

    Attributes:
        folder: where its files are.
        identity: which model it is.
        source: folder of the original model.
        fallback_reason: why sentence-transformers runs it and not ONNX Runtime; empty when ONNX Runtime does.
        figures: what the comparisons with the original gave (cosines).
        fresh: whether this call prepared it.
    """

    folder: Path
    identity: ModelIdentity
    source: str
    fallback_reason: str
    figures: dict[str, float]
    fresh: bool


def prepare(
    name: str = DEFAULT_MODEL,
    *,
    cache: Path,
    precision: RequestedPrecision = "auto",
    progress: Report | None = None,
) -> PreparedModel:
    """Make a model ready, unless it already is. Several processes may call this at once.

    Args:
        name: a folder, or the name of a model on the Hugging Face hub; the default model needs no network.
        cache: folder for prepared models, created when missing. Each gets a subfolder named after the model and a
            hash of its files and the precision; a subfolder without a complete manifest is prepared anew. Where the
            original is not at hand, a subfolder of the same name and precision that was copied here will do.
        precision: ``fp32``, ``int8``, or ``auto``: int8 where it stays close to fp32 on the probe sentences.
        progress: told what is being done.

    Raises:
        ModelError: the model cannot be found, verified, fetched, loaded or written.
        BusyError: another process has been preparing the same model for half an hour.
    """
    source = find_source(name)
    folder = cache / _folder_name(source, precision)
    ready = read_manifest(folder)
    if ready is not None:
        return _prepared(folder, ready, source, fresh=False)
    if source.folder is None and (elsewhere := _brought_along(cache, source.name, precision)) is not None:
        return _prepared(*elsewhere, source, fresh=False)
    with _only_one(folder):
        ready = read_manifest(folder)
        if ready is not None:
            return _prepared(folder, ready, source, fresh=False)
        if progress is not None:
            progress(f"Preparing the embedding model {source.name} (once; takes a while).")
        return _prepared(folder, _export(source, precision, folder), source, fresh=True)


def load(
    name: str = DEFAULT_MODEL,
    *,
    cache: Path,
    precision: RequestedPrecision = "auto",
    threads: int | None = None,
    engine: RequestedEngine = "auto",
    progress: Report | None = None,
) -> Embedder:
    """Open a model, preparing it first when that was not done yet (see :func:`prepare`, also for the errors).

    Args:
        name: as for :func:`prepare`, like ``cache``, ``precision`` and ``progress``.
        cache: folder for prepared models.
        precision: ``auto``, ``fp32`` or ``int8``.
        threads: how many documents are embedded side by side; None means every processor that may be used.
        engine: ``onnx`` or ``sentence-transformers`` insists on one, which is then run in fp32 if it is the latter;
            ``auto`` takes ONNX Runtime where its export agrees with the original.
        progress: told when the model has to be prepared first.

    Raises:
        ModelError: also when a prepared file is damaged, or ``onnx`` was asked for and does not agree.
    """
    original = engine == "sentence-transformers"
    prepared = prepare(name, cache=cache, precision="fp32" if original else precision, progress=progress)
    tokenizer = open_tokenizer(prepared.folder)
    identity = replace(prepared.identity, engine="sentence-transformers") if original else prepared.identity
    if engine == "onnx" != identity.engine:
        raise ModelError(
            f"{identity.name} cannot be run by ONNX Runtime: {prepared.fallback_reason}.",
            "Set embedding.engine to 'auto' or 'sentence-transformers'.",
        )
    if identity.engine == "onnx":
        return open_onnx(prepared.folder / MODEL_FILE, identity, tokenizer, threads or usable_threads())
    reason = prepared.fallback_reason or "embedding.engine asks for it"
    logger.warning("%s is run by sentence-transformers (slower): %s.", identity.name, reason)
    from store.model_original import load_original

    return SentenceTransformersEmbedder(identity, load_original(prepared.source, local=True), tokenizer)


def _brought_along(cache: Path, name: str, precision: RequestedPrecision) -> tuple[Path, Manifest] | None:
    """A model that was prepared where its original was at hand, in the build of an image for example; the latest."""
    found = [
        (folder, manifest)
        for folder in cache.glob(f"{safe_name(name)}-*")
        if (manifest := read_manifest(folder)) is not None
        and (manifest.identity.name, manifest.requested_precision) == (name, precision)
    ]
    return max(found, key=lambda one: one[0].stat().st_mtime, default=None)


def _prepared(folder: Path, manifest: Manifest, source: ModelSource, *, fresh: bool) -> PreparedModel:
    original = str(source.folder or manifest.source)
    return PreparedModel(folder, manifest.identity, original, manifest.fallback_reason, manifest.figures, fresh)


def _folder_name(source: ModelSource, precision: RequestedPrecision) -> str:
    # A hub model is known by its name alone until it was fetched: asking for its revision would need the network.
    key = json.dumps([source.name if not source.revision else "", source.revision, precision])
    return f"{safe_name(source.name)}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f".{folder.name}.lock", timeout=_WAIT_SECONDS):
            yield
    except Timeout as error:
        raise BusyError(
            f"Another process has been preparing {folder.name} for {_WAIT_SECONDS // 60} minutes.",
            "Wait for it, or end it and try again.",
        ) from error
    except OSError as error:
        raise ModelError(
            f"The model cannot be written to {folder}: {error}.", "Free space there, or choose another --data folder."
        ) from error


def _export(source: ModelSource, precision: RequestedPrecision, folder: Path) -> Manifest:
    """Export to a temporary folder beside the final one, then rename: a killed export leaves no half model."""
    missing = [name for name in _NEEDED_TO_PREPARE if importlib.util.find_spec(name) is None]
    if missing:
        raise ModelError(
            f"The model {source.name} is not among the prepared ones in {folder.parent}, and what prepares one is not "
            f"installed here: {', '.join(missing)}.",
            "Run `gaplight model prepare` where they are installed, and copy the folder that it names into that one.",
        )
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        work = Path(temporary) / "model"
        work.mkdir()
        request = ExportRequest(source.name, str(source.folder or ""), source.revision, precision, str(work))
        _run_export(request)
        manifest = read_manifest(work)
        if manifest is None:
            raise ModelError(f"The export of {source.name} left no complete model.", "Try again with precision fp32.")
        if folder.exists():
            shutil.rmtree(folder)
        work.rename(folder)
    return manifest


def _run_export(request: ExportRequest) -> None:
    """Run the export in a process of its own, so that torch does not stay in this one."""
    environment = {**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "true"}
    if request.folder:
        environment |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    # Safe path: a folder named `store` where the user happens to stand must not be taken for this package.
    home = str(Path(__file__).resolve().parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-P", "-m", "store.model_export", json.dumps(asdict(request))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 -- our own
    if done.returncode == 0:
        return
    left = Path(request.target) / ERROR_FILE
    if left.is_file():
        raise ModelError(**json.loads(left.read_text(encoding="utf-8")))
    tail = done.stderr.strip()[-_STDERR_TAIL:]
    raise ModelError(
        f"The export of {request.name} ended with code {done.returncode}: {tail}",
        "Check free memory and space; `gaplight model prepare NAME` tries again.",
    )
