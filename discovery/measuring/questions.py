"""Questions to measure with, read from csv, tsv, xlsx or jsonl files, or from all of those below a folder."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from store.errors import GaplightError, UsageError
from store.loading.encoding import decode
from store.records import ScopeFilter
from store.text import clean

SUFFIXES = (".csv", ".tsv", ".xlsx", ".jsonl")
_COLUMNS = {
    "question": ("question", "questions", "query", "frage"),
    "answerable": ("answerable", "covered", "label"),
    "scenario": ("scenario", "category", "topic"),
    "gold_documents": ("gold_documents", "gold_doc_ids", "gold", "documents"),
    "language": ("language", "lang"),
    "channel": ("channel",),
    "scope": ("scope",),
    "score": ("score",),
    "id": ("id",),
}
_LONGEST_CELL = 10_000_000
_YES = {"1", "1.0", "true", "yes", "y", "x"}
_NO = {"0", "0.0", "false", "no", "n"}
_MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to measure with.

    Attributes:
        text: the question.
        scenario: what it belongs to; the file's folder or name where the file doesn't say.
        answerable: whether the documents answer it; None when nobody said.
        gold_documents: paths (or their ends) or addresses of documents that answer it.
        score: a score that was measured elsewhere; None takes that of the engine.
        id: of the row, where it has one.
    """

    text: str
    scenario: str = ""
    answerable: bool | None = None
    gold_documents: tuple[str, ...] = ()
    language: str = ""
    channel: str = ""
    scope: ScopeFilter = field(default_factory=dict)
    score: float | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class ProbeFile:
    """The questions of a file or folder, and what was left out and why, in sentences."""

    probes: tuple[Probe, ...]
    notes: tuple[str, ...] = ()


def read_probes(path: Path) -> ProbeFile:
    """All questions of a file, or of the files below a folder in the order of their names.

    Raises:
        UsageError: nothing there, an unknown format, no column with questions, or no question at all.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist.", f"Give a file ({', '.join(SUFFIXES)}) or a folder of them.")
    files = sorted(one for one in path.rglob("*") if one.suffix.lower() in SUFFIXES) if path.is_dir() else [path]
    probes: list[Probe] = []
    notes: list[str] = []
    for file in files:
        scenario = _default_scenario(file, path)
        for number, row in _rows(file):
            try:
                probe = _probe(row, scenario)
            except ValueError as error:
                raise UsageError(f"{file}, row {number}: {error}.") from error
            if probe is None:
                notes.append(f"{file.name}, row {number} has no question and was left out.")
            else:
                probes.append(probe)
    if not probes:
        raise UsageError(f"There is no question in {path}.", "It needs a column named question with a text in it.")
    return ProbeFile(tuple(probes), tuple(notes))


def _default_scenario(file: Path, root: Path) -> str:
    """The sub-folder, or the file's name where there are several files; empty for a single file."""
    if not root.is_dir():
        return ""
    folder = file.parent.relative_to(root).as_posix()
    return file.stem if folder == "." else folder


def _rows(file: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Row numbers as an editor shows them, and values by normalised column name."""
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{file} is no {', '.join(SUFFIXES)} file.", "Save it in one of these formats.")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    if suffix == ".jsonl":
        return _json_rows(file, _text(file, data))
    table = _sheet(file, data) if suffix == ".xlsx" else _delimited(_text(file, data), suffix)
    return _table_rows(file, table)


def _text(file: Path, data: bytes) -> str:
    try:
        return decode(data).text
    except GaplightError as error:
        raise UsageError(f"{file}: {error.problem}", "Save it as UTF-8.") from error


def _json_rows(file: Path, text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{file}, line {number} is no JSON: {error}.", "Each line is one JSON object.") from error
        if not isinstance(values, dict) or _found(values, "question") is None:
            raise UsageError(f"{file}, line {number} has no question.", 'Write it as {"question": "..."}.')
        yield number, values


def _delimited(text: str, suffix: str) -> Iterable[list[object]]:
    head = text[:10_000].partition("\n")[0]
    delimiter = "\t" if suffix == ".tsv" else max(",;\t", key=lambda mark: (head.count(mark), mark == ","))
    usual = csv.field_size_limit(_LONGEST_CELL)
    try:
        return [list(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]
    finally:
        csv.field_size_limit(usual)  # it holds for the whole process, and documents are read with the usual one


def _sheet(file: Path, data: bytes) -> Iterable[list[object]]:
    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # a wrong size in the file would cut the rows off
        return [list(row) for _, row in zip(range(_MOST_ROWS), sheet.iter_rows(values_only=True), strict=False)]
    except Exception as error:  # what a damaged archive raises has no common base
        raise UsageError(f"{file} is no readable Excel file: {error}.", "Save it again as .xlsx.") from error


def _table_rows(file: Path, table: Iterable[list[object]]) -> Iterator[tuple[int, Mapping[str, object]]]:
    header: list[str] = []
    for number, row in enumerate(table, 1):
        if not any(str(value).strip() for value in row if value is not None):
            continue
        if not header:
            header = [_name(value) for value in row]
            if not set(header) & set(_COLUMNS["question"]):
                shown = ", ".join(filter(None, header)) or "none"
                raise UsageError(f"{file} has no column named question; its columns: {shown}.", "Name it in row 1.")
            continue
        yield number, dict(zip(header, row, strict=False))


def _name(value: object) -> str:
    return "_".join(str(value or "").strip().casefold().replace("-", " ").split())


def _found(row: Mapping[str, object], column: str) -> object:
    return next((row[name] for name in _COLUMNS[column] if row.get(name) not in (None, "")), None)


def _probe(row: Mapping[str, object], scenario: str) -> Probe | None:
    text = clean(str(_found(row, "question") or "")).strip()
    if not text:
        return None
    score = _found(row, "score")
    return Probe(
        text,
        clean(str(_found(row, "scenario") or scenario)).strip(),
        _flag(_found(row, "answerable")),
        _list(_found(row, "gold_documents")),
        str(_found(row, "language") or "").strip(),
        str(_found(row, "channel") or "").strip(),
        _scope(_found(row, "scope")),
        None if score is None else float(str(score)),
        str(_found(row, "id") or "").strip(),
    )


def _flag(value: object) -> bool | None:
    if value is None:
        return None
    text = str(value).strip().casefold()
    if text in _YES | _NO:
        return text in _YES
    raise ValueError(f"answerable is {value!r}, not 1 or 0")


def _list(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    parts = value if isinstance(value, list) else str(value).replace("|", ";").split(";")
    return tuple(text for part in parts if (text := str(part).strip()))


def _scope(value: object) -> ScopeFilter:
    if value is None:
        return {}
    if isinstance(value, dict):
        return {str(k): tuple(map(str, v)) if isinstance(v, list) else (str(v),) for k, v in value.items()}
    facts: dict[str, tuple[str, ...]] = {}
    for fact in str(value).split(";"):
        key, equals, one = (part.strip() for part in fact.partition("="))
        if not (key and equals and one):
            raise ValueError(f"scope is {value!r}, not key=value")
        facts[key] = (*facts.get(key, ()), one)
    return facts
