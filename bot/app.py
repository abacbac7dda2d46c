"""The only place where real parts are built and joined."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from bot.answering.observing import Nobody, Observer
from bot.chat_settings import admins, channels, review_channels
from bot.clock import now
from bot.llm_wiring import answering_parts, llm_client, llm_version, uses_llm
from bot.remote_wiring import remote_embedder, server_vectors
from bot.settings import Settings
from store.audit import AuditLog
from store.calibrations import CalibrationStore
from store.candidates import CandidateStore
from store.chunking import CHUNKER_VERSION
from store.database import Database, is_postgresql, open_database
from store.documents import DocumentStore
from store.embedding import Embedder, ModelIdentity
from store.exact_vectors import ExactVectors
from store.gaps import GapStore
from store.index import Index
from store.lexical import LexicalIndex
from store.lexical_tantivy import TantivyIndex
from store.lock import hold
from store.postings import PostingsIndex
from store.posts import PostStore
from store.query_cache import CachedQueries
from store.questions import QuestionStore
from store.text import TOKENISER_VERSION
from store.vectors import ChromaVectors, VectorIndex, embedded_client

if TYPE_CHECKING:
    from bot.answering.engine import Parts
    from bot.answering.live import LiveEngine
    from bot.answering.llm_client import LlmClient
    from bot.answering.policy import Policy
    from bot.chat.review import ReviewParts
    from bot.chat.service import ChatParts
    from bot.discovering import Discovering
    from bot.policy_watch import PolicyWatch
    from bot.reporting import Reporting
    from store.ingest import Ingestor
    from store.models import Report


class App:
    """All parts, each built when it is first asked for.

    Args:
        settings: what to build.
        report: told in one sentence when something takes long.
        changed: gives settings that changed since it was last asked, for programs that run long.
    """

    def __init__(
        self, settings: Settings, report: Report | None = None, changed: Callable[[], Settings | None] = lambda: None
    ) -> None:
        self.settings = settings
        self._report = report
        self._opened = ExitStack()
        self.observer: Observer = Nobody()
        """Told how questions end; to be set before :attr:`engine` or :attr:`chat` is asked for."""
        self._changed = changed

    def report(self, text: str) -> None:
        """Tell whoever started the program something that is worth knowing."""
        if self._report is not None:
            self._report(text)

    @cached_property
    def database(self) -> Database:
        """The SQL database, migrated to the present schema."""
        return open_database(self.settings.database_url)

    @cached_property
    def documents(self) -> DocumentStore:
        """Documents and chunks."""
        return DocumentStore(self.database)

    @cached_property
    def questions(self) -> QuestionStore:
        """The question log."""
        return QuestionStore(self.database)

    @cached_property
    def gaps(self) -> GapStore:
        """The gap records."""
        return GapStore(self.database)

    @cached_property
    def index(self) -> Index:
        """Vectors and words."""
        discard = None if self.settings.vectors.url else self._discard_vectors
        return Index(self.documents, self._embedder, self._vectors, self._lexical, discard, self.report)

    @cached_property
    def ingestor(self) -> Ingestor:
        """What brings documents into the index."""
        from store.ingest import Ingestor

        return Ingestor(self.index)

    @cached_property
    def engine(self) -> LiveEngine:
        """What answers questions; raises as :attr:`engine_parts` does."""
        from bot.answering.live import LiveEngine

        return LiveEngine(self.engine_parts, self._policies.current)

    @cached_property
    def engine_parts(self) -> Parts:
        """What the engine works with.

        Raises:
            IndexMismatchError: the index was made by another model, or is incomplete.
        """
        # What answers questions is imported here only: commands that ask nothing start twice as fast without it.
        from bot.answering.corpus import CorpusWatch
        from bot.answering.engine import Parts
        from discovery.gap_log import GapLog
        from store.search import Searcher, SearchOptions

        self.index.start()
        corpus = CorpusWatch(self.index, self.database)
        options = SearchOptions(self.settings.answer.passages, self.settings.answer.per_document)
        writer, grader = None, None
        if uses_llm(self.settings):
            writer, grader = answering_parts(self.settings, self.llm, self.index.embedder)
        return Parts(
            searcher=Searcher(self.index, options),
            gaps=GapLog(
                self.gaps,
                lambda: corpus.current().platforms,
                self.settings.gaps.merge_similarity,
                self.settings.gaps.repeat_minutes * 60,
            ),
            questions=self.questions,
            corpus=corpus.current,
            now=now,
            writer=writer,
            grader=grader,
            observer=self.observer,
        )

    @cached_property
    def llm(self) -> LlmClient:
        """The language model; raises ConfigurationError where none is configured."""
        return llm_client(self.settings)

    @cached_property
    def reporting(self) -> Reporting:
        """What makes rounds and digests."""
        from bot.reporting import Reporting

        return Reporting(self)

    @cached_property
    def discovery(self) -> Discovering:
        """What finds, tries out and decides on documents for gaps."""
        from bot.discovering import Discovering

        return Discovering(self)

    @cached_property
    def posts(self) -> PostStore:
        """Our messages in chat."""
        return PostStore(self.database)

    @cached_property
    def candidates(self) -> CandidateStore:
        """Suggested sources."""
        return CandidateStore(self.database)

    @cached_property
    def audit(self) -> AuditLog:
        """Who decided what."""
        return AuditLog(self.database)

    @cached_property
    def chat(self) -> ChatParts:
        """What answers in chat, the same for all platforms of this process."""
        from bot.chat.asking import Asking, Places
        from bot.chat.cards import CardKeeper
        from bot.chat.feedback import Feedback, FeedbackParts
        from bot.chat.handlers import Handlers
        from bot.chat.inbox import Inbox
        from bot.chat.review import Review
        from bot.chat.service import ChatParts
        from bot.chat.work import Workers

        settings = self.settings
        workers = Workers(settings.server.workers)
        places = Places(channels(settings), settings.documents.readers)
        review = Review(self._review_parts())
        feedback = FeedbackParts(
            questions=self.questions,
            posts=self.posts,
            candidates=self.candidates,
            audit=self.audit,
            report_missing=self.engine.report_missing,
            channels=places.channels,
            collection=settings.documents.collection,
            now=now,
            voted=self.observer.voted,
        )
        return ChatParts(
            asking=Asking(Handlers(self.engine), self.questions, self.documents.collections, places),
            feedback=Feedback(feedback),
            review=review,
            cards=CardKeeper(self.posts, review.card, review_channels(settings), workers),
            inbox=Inbox(self.questions, workers, now),
            posts=self.posts,
            workers=workers,
        )

    def _review_parts(self) -> ReviewParts:
        from bot.chat.review import ReviewParts

        return ReviewParts(
            candidates=self.candidates,
            gaps=self.gaps,
            audit=self.audit,
            deciding=self.discovery.decisions,
            topics=self.reporting.store.topics,
            digest=self.reporting.cards,
            status=self._status,
            admins=admins(self.settings),
            notices=self.discovery.notices,
            now=now,
        )

    def _status(self) -> str:
        from bot.chat.status import STATUS_DAYS, status_text

        recent = self.questions.stats(now() - timedelta(days=STATUS_DAYS))
        return status_text(self.documents.counts(), recent, self.gaps.list())

    def ready(self) -> bool:
        """Whether database and indexes answer now."""
        self.documents.counts()
        return bool(self.engine)

    @property
    def policy(self) -> Policy:
        """Thresholds, rules and their version, as they are in force now."""
        return self._policies.current()

    @cached_property
    def _policies(self) -> PolicyWatch:
        from bot.policy_watch import PolicyWatch

        return PolicyWatch(self.settings, self._policy, self._changed)

    def _policy(self, settings: Settings) -> Policy:
        from bot.answering.extractive import ExtractiveOptions
        from bot.answering.policy import Policy
        from discovery.rules import RuleThresholds
        from discovery.verdict import DEFAULT_VERDICT

        gate, rules = settings.gate, settings.rules
        thresholds = {name: value for name, value in rules.model_dump().items() if name != "disabled"}
        threshold = self._threshold(settings)
        return Policy(
            version=self._policy_version(settings, threshold),
            threshold=threshold,
            mode=gate.mode,
            rules=RuleThresholds(**thresholds),
            disabled=frozenset(rules.disabled),
            verdict=DEFAULT_VERDICT,
            extractive=ExtractiveOptions(characters=settings.answer.max_characters),
            redact=settings.privacy.redact,
        )

    @cached_property
    def calibrations(self) -> CalibrationStore:
        """Calibrated thresholds."""
        return CalibrationStore(self.database)

    @property
    def support_space(self) -> str:
        """What a support means here; a threshold that was calibrated in another space says nothing."""
        from bot.answering.support import SUPPORT_VERSION

        parts = [SUPPORT_VERSION, CHUNKER_VERSION, TOKENISER_VERSION, self.index.embedder.identity.fingerprint]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @property
    def threshold(self) -> float:
        """Support from which questions are answered: ``gate.support``, else the calibrated, else the built-in value."""
        return self.policy.threshold

    def _threshold(self, settings: Settings) -> float:
        from bot.answering.gate import DEFAULT_SUPPORT

        if settings.gate.support is not None:
            return settings.gate.support
        found = self.calibrations.in_force(self.support_space)
        return found.threshold if found else DEFAULT_SUPPORT

    def _policy_version(self, settings: Settings, threshold: float) -> str:
        """Ten digits that change whenever the same question could be treated differently."""
        from bot.answering.policy import POLICY_VERSION

        index = [CHUNKER_VERSION, TOKENISER_VERSION, self.index.embedder.identity.fingerprint]
        chosen = settings.model_dump(mode="json", include={"answer", "gate", "rules", "gaps", "privacy"})
        text = json.dumps([POLICY_VERSION, index, threshold, chosen, *llm_version(settings)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    def _embedder(self) -> Embedder:
        chosen = self.settings.embedding
        if chosen.is_remote:
            embedder = remote_embedder(self.settings, self.documents)
            self._opened.callback(embedder.close)
            return CachedQueries(embedder)
        assert chosen.engine != "remote"  # the settings refuse it without an address
        from store.models import load

        local = load(
            chosen.model,
            cache=self.settings.model_cache,
            precision=chosen.precision,
            threads=chosen.threads,
            engine=chosen.engine,
            progress=self._report,
        )
        return CachedQueries(local)

    def _vectors(self, identity: ModelIdentity) -> VectorIndex:
        if self.settings.vectors.url:
            vectors = server_vectors(self.settings, self.documents, identity.fingerprint)
            self._opened.callback(vectors.close)
            return ExactVectors(vectors, self.database, identity.fingerprint)
        client = embedded_client(self.settings.data / "vectors")
        self._opened.callback(client.close)
        return ExactVectors(ChromaVectors(client, identity.fingerprint), self.database, identity.fingerprint)

    def _discard_vectors(self) -> None:
        shutil.rmtree(self.settings.data / "vectors", ignore_errors=True)

    def _lexical(self) -> LexicalIndex:
        if self.database.dialect == "postgresql":
            return PostingsIndex(self.database)
        return TantivyIndex(self.settings.data / "lexical")

    def close(self) -> None:
        """Finish writes and give everything back."""
        if "llm" in self.__dict__:
            self.llm.close()
        if "index" in self.__dict__:
            self.index.close()
        self._opened.close()
        if "database" in self.__dict__:
            self.database.close()


def is_shared(settings: Settings) -> bool:
    """Whether database and indexes are on servers, so that several processes may work with them at once."""
    return bool(settings.vectors.url) and is_postgresql(settings.database_url)


@contextmanager
def opened(
    settings: Settings,
    report: Report | None = None,
    *,
    exclusive: bool = True,
    changed: Callable[[], Settings | None] = lambda: None,
) -> Iterator[App]:
    """The parts, closed at the end.

    Args:
        settings: what to build.
        report: told in one sentence when something takes long.
        exclusive: hold the data folder; needed for everything that touches the indexes, unless they are elsewhere.
        changed: as for :class:`App`.

    Raises:
        BusyError: another process holds the data folder.
    """
    app = App(settings, report, changed)
    try:
        if exclusive and not is_shared(settings):
            with hold(settings.data):
                yield app
        else:
            yield app
    finally:
        app.close()
