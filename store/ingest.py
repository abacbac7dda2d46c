"""Folders and files → documents in the index. A second run does nothing; one changed file costs one file.

A document is identified by collection and absolute path. Whether it has to be read again is decided by a fingerprint
of its normalised content and of everything else its chunks depend on, never by its time stamp.

Runs that are at work at the same time, in threads or in processes that share a database, share what there is to do:
each file is read by one of them (:mod:`store.ingest_pipeline`). A run ends when everything it was asked for is in,
whoever brought it in.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from store.chunking import CHUNKER_VERSION, OVERLAP_TOKENS, TARGET_TOKENS
from store.document_claims import Claims
from store.documents import Known
from store.errors import LoadError
from store.furniture import furniture
from store.index import MODEL_STATE, Index, facts
from store.ingest_files import LOADER_VERSION, Work, is_stored, moved, size_of, source_of
from store.ingest_pipeline import Job, Pipeline
from store.ingest_summary import IngestProgress, IngestSummary, Silent
from store.sources import IngestRequest, Issue, Survey, Target, files_of, gone_documents, targets_of
from store.walk import Refused

_ROOTS = "roots:"
_LOOK_SECONDS = 0.25
"""Between two looks at whether other runs are done."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What one look at the disk compares with, and where it notes what it saw."""

    skip: frozenset[Path]
    known: Mapping[str, Known]
    survey: Survey
    settings: str
    summary: IngestSummary


class Ingestor:
    """Runs ingests into one index; many threads and processes may do so at once, and then share the work."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._documents = index.documents

    def run(self, request: IngestRequest, progress: IngestProgress | None = None) -> IngestSummary:
        """Bring the collection up to date with the given folders and files.

        Whatever interrupts it, every document answers in its complete old or its complete new version, and the next
        run finishes.

        Raises:
            UsageError: no path, a path that does not exist, or ``prune`` asked for with a part of a folder.
            IndexMismatchError: the index belongs to another embedding model.
            BusyError: another process is building the index anew.
        """
        started = time.monotonic()
        targets = self._begun(request)
        known = self._documents.fingerprints(request.collection)
        summary, survey = IngestSummary(), Survey()
        skip = frozenset(path.resolve() for path in request.skip)
        look = _Look(skip, known, survey, self._settings(request), summary)
        work = [item for target in targets for item in self._changed(target, look)]
        if work:
            self._bring_in(request, work, look, progress or Silent())
        with self._index.turn.awaited():
            self._remember_roots(request.collection, targets)
            gone = gone_documents(request, targets, known, survey, summary.skipped)
            summary.removed = self._removed(request.collection, gone, known)
        summary.documents = self._documents.counts().documents
        summary.seconds = round(time.monotonic() - started, 3)
        return summary

    def _begun(self, request: IngestRequest) -> list[Target]:
        with self._index.turn:
            targets = targets_of(request, [Path(root) for root in self._roots(request.collection)])
            self._documents.ensure_collection(request.collection, request.visibility)
            self._index.purge()
        return targets

    def _removed(self, collection: str, gone: Sequence[str], known: Mapping[str, Known]) -> int:
        """Remove documents, but for those that another run has brought in anew since this one looked."""
        if not gone:
            return 0
        seen = {entry.document_id: entry.fingerprint for entry in known.values()}
        present = {entry.document_id: entry.fingerprint for entry in self._documents.fingerprints(collection).values()}
        return self._index.remove([one for one in gone if present.get(one) == seen[one]])

    # Roots

    def _roots(self, collection: str) -> list[str]:
        """Folders that were ingested as a whole."""
        stored = self._documents.index_state(_ROOTS + collection)
        return [str(root) for root in stored] if isinstance(stored, list) else []

    def _remember_roots(self, collection: str, targets: Sequence[Target]) -> None:
        known = self._roots(collection)
        roots = sorted({*known, *(str(target.root) for target in targets if target.whole)})
        if roots != known:
            self._documents.set_index_state(_ROOTS + collection, roots)

    # What has changed

    def _changed(self, target: Target, look: _Look) -> Iterator[Work]:
        survey, summary = look.survey, look.summary
        for file in files_of(target, look.skip):
            if isinstance(file, Refused):
                summary.skipped.append(Issue(file.path, file.reason))
                if file.folder:
                    survey.unlisted.append(file.folder)
                continue
            source = source_of(file)
            if source in survey.seen:
                if survey.seen[source].source != file.source:
                    summary.failed.append(Issue(file.path, "another file has the same name once accents are composed"))
                continue
            survey.seen[source] = file
            item = Work(file, source, target.root, look.known.get(source), size_of(file.source))
            try:
                if is_stored(file, item.known, look.settings) and moved(self._documents, item):
                    summary.unchanged += 1
                else:
                    yield item
            except LoadError as error:
                summary.failed.append(Issue(file.path, str(error)))

    def _settings(self, request: IngestRequest) -> str:
        """Everything but the content that the chunks of this run depend on.

        The model's limit is taken from the index where there is one: a run without changes need not load the model.
        """
        model = self._documents.index_state(MODEL_STATE)
        known = model.get("max_tokens") if isinstance(model, Mapping) else None
        limit = known or self._index.embedder.identity.max_tokens
        versions = [LOADER_VERSION, CHUNKER_VERSION, TARGET_TOKENS, OVERLAP_TOKENS]
        return json.dumps([*versions, limit, facts(request.scope)])

    # Bringing in what has changed

    def _bring_in(self, request: IngestRequest, work: Sequence[Work], look: _Look, progress: IngestProgress) -> None:
        with self._index.turn.awaited():
            self._index.claim()
        progress.found(len(work))
        repeated = {
            root: furniture(self._index, request.collection, root, work) for root in {item.root for item in work}
        }
        with self._index.claims.run(request.collection) as claims:
            pipeline = Pipeline(self._index, claims, Job(request, look.settings, repeated), progress, look.summary)
            self._finish(pipeline, claims, pipeline.process(work))

    def _finish(self, pipeline: Pipeline, claims: Claims, left: Sequence[Work]) -> None:
        """Look again at the files that other runs have, as soon as they are done with them or have died over them."""
        told = False
        while left:
            free = claims.free([item.source for item in left])
            others = [item for item in left if item.source not in free]
            if free:
                left = others + pipeline.process([item for item in left if item.source in free])
                continue
            if not told:
                self._index.report(f"Waiting for other runs, which are bringing in {len(left)} of the documents.")
                told = True
            time.sleep(_LOOK_SECONDS)
