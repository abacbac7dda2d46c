"""Documents that are on every machine with Gaplight: descriptions of installed packages, and our own guides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path

_SUFFIXES = {"text/markdown": ".md", "text/x-rst": ".rst"}
_SHORTEST = 200
"""Characters below which a description is only a line that points elsewhere."""
_LONGEST = 45_000
"""Characters above which a description is mostly a history of changes. It is left out as a whole, never cut."""


def write_package_descriptions(folder: Path) -> int:
    """Write the long description of every installed package as a file of its format; returns how many.

    Files of packages that are no longer installed are removed, unchanged ones stay as they are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = dict(_descriptions())
    for stale in set(folder.iterdir()) - {folder / name for name in wanted}:
        stale.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
    return len(wanted)


def _descriptions() -> Iterator[tuple[str, str]]:
    for distribution in distributions():
        try:
            text = _description(distribution)
        except UnicodeDecodeError:
            continue  # a package with damaged metadata still works, and the demo has others
        name = re.sub(r"[^\w.-]+", "_", distribution.metadata["Name"] or "").lower()
        if name and _SHORTEST <= len(text) <= _LONGEST:
            kind = (distribution.metadata["Description-Content-Type"] or "").split(";")[0].strip()
            # Without a declared type the index of packages assumes reStructuredText, but most are plain text.
            yield name + _SUFFIXES.get(kind, ".txt"), text


def _description(distribution: Distribution) -> str:
    payload = distribution.metadata.get_payload()  # type: ignore[attr-defined]
    text = payload if isinstance(payload, str) and payload.strip() else distribution.metadata["Description"] or ""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def project_docs() -> list[Path]:
    """The guides of this project, where it is installed from a checkout."""
    docs = Path(__file__).resolve().parents[1] / "docs"
    return [docs] if docs.is_dir() and any(docs.glob("*.md")) else []


def second_source() -> tuple[Path, ...]:
    """A folder of documents that are installed here and not part of the demo's corpus: scikit-learn's descriptions of
    its data sets. Empty where scikit-learn was installed without them.
    """
    spec = find_spec("sklearn")
    if spec is None or spec.origin is None:
        return ()
    folder = Path(spec.origin).parent / "datasets" / "descr"
    return (folder,) if folder.is_dir() else ()
