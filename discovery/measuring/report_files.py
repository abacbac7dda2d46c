"""Writes a report: the page, the same as csv, and the json by which the next probe can be compared."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discovery.measuring.probe import ProbeResult
from store.errors import UsageError

PAGE, TABLE, DATA = "index.html", "items.csv", "probe.json"
_COLUMNS = ("scenario", "question", "covered", "support", "max_score", "reason", "document", "section", "quote")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def read_earlier(path: Path) -> Mapping[str, Any] | None:
    """The json of an earlier probe, given as a file or as its report's folder; None when there is none.

    Raises:
        UsageError: it cannot be read.
    """
    file = path / DATA if path.is_dir() else path
    if not file.exists():
        return None
    try:
        values = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} is not the JSON of a probe: {error}.") from error
    if not isinstance(values, dict):
        raise UsageError(f"{file} is not the JSON of a probe.")
    return values


def write_report(folder: Path, page: str, result: ProbeResult, values: Mapping[str, Any]) -> list[Path]:
    """Write the three files; what an earlier report left there is replaced.

    Args:
        folder: made when it does not exist.
        page: the HTML.
        result: for the csv.
        values: for the json.

    Raises:
        UsageError: the folder cannot be written.
    """
    texts = {
        PAGE: page,
        TABLE: "\ufeff" + _csv(result),  # without the mark, spreadsheets take UTF-8 for something else
        DATA: json.dumps(values, ensure_ascii=False, indent=1) + "\n",
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            unfinished = folder / f".{name}.new"
            unfinished.write_text(text, encoding="utf-8", newline="")
            unfinished.replace(folder / name)
    except OSError as error:
        raise UsageError(f"The report cannot be written to {folder}: {error.strerror}.", "Choose a folder.") from error
    return [folder / name for name in texts]


def _csv(result: ProbeResult) -> str:
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow(_COLUMNS)
    for item in result.items:
        near = item.nearest
        writer.writerow(
            [
                _cell(item.scenario),
                _cell(item.question),
                int(item.covered),
                f"{item.support:.4f}",
                f"{item.max_score:.4f}",
                item.reason,
                *(map(_cell, (near.document, near.section, near.quote)) if near else ("", "", "")),
            ]
        )
    return target.getvalue()


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
