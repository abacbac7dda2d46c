"""Builds the parts that find, try out and decide on documents for gaps. A part of the wiring in :mod:`bot.app`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from bot.clock import now
from bot.credentials import credential
from bot.settings import Settings
from discovery.closure import Closure, ClosureParts
from discovery.decisions import DecisionParts, Decisions
from discovery.finders.screening import Screened
from discovery.fine_answers import FineAnswers
from discovery.notices import Notices
from discovery.ports import Finder
from discovery.preview import PreviewParts, Previews
from discovery.provenance import Place, Target
from discovery.regression import Regression
from discovery.suggesting import Suggesting, SuggestingParts
from discovery.updates import Updates
from store.audit import AuditLog
from store.candidates import CandidateStore
from store.documents import DocumentStore
from store.gaps import GapStore
from store.index import Index
from store.questions import QuestionStore
from store.records import Source, Visibility
from store.search import SearchOptions
from store.source_ingest import SourceIngestor

if TYPE_CHECKING:
    from bot.answering.engine import Parts, Policy
    from bot.answering.tryout import Tryout
    from discovery.finders.github_api import GithubApi

_BYTES = 1000


class Installed(Protocol):
    """The parts below, as :class:`bot.app.App` builds them."""

    settings: Settings

    @property
    def documents(self) -> DocumentStore:
        """Documents and chunks."""

    @property
    def questions(self) -> QuestionStore:
        """The question log."""

    @property
    def gaps(self) -> GapStore:
        """The gap records."""

    @property
    def candidates(self) -> CandidateStore:
        """Suggested sources."""

    @property
    def audit(self) -> AuditLog:
        """Who decided what."""

    @property
    def index(self) -> Index:
        """Vectors and words."""

    @property
    def engine_parts(self) -> Parts:
        """What the engine works with."""

    @property
    def policy(self) -> Policy:
        """Thresholds and rules."""


class Discovering:
    """The discovery loop over one installation, each part built when it is first asked for."""

    def __init__(self, app: Installed) -> None:
        self._app = app
        self._settings = app.settings.discovery

    @cached_property
    def finders(self) -> Mapping[str, Finder]:
        """What ``discovery.finders`` switches on, by name, screened by lists and former decisions."""
        built = {"folder": self._folders, "github": self._github}
        return {name: self._screened(built[name]()) for name in self._settings.finders}

    @cached_property
    def target(self) -> Target:
        """Where sources go unless somebody says otherwise; a new collection is public."""
        name = self._settings.collection or self._app.settings.documents.collection
        return Target(name, self._app.documents.collections().get(name, Visibility.PUBLIC))

    @cached_property
    def tryout(self) -> Tryout:
        """The engine without a trace in the logs, and with one more document."""
        from bot.answering.tryout import Tryout

        app = self._app
        options = SearchOptions(app.settings.answer.passages, app.settings.answer.per_document)
        return Tryout(app.index, app.engine_parts, lambda: app.policy, options, app.engine_parts.corpus)

    @cached_property
    def previews(self) -> Previews:
        """What a source would change."""
        parts = PreviewParts(
            trying=self.tryout,
            finders=self.finders,
            fine=FineAnswers(self._app.questions, now),
            place=Place(self.target, self._app.documents.collections),
            allowed=self._settings.licences,
            most=self._settings.limits.previews,
        )
        return Previews(parts)

    @cached_property
    def suggesting(self) -> Suggesting:
        """From a topic to suggestions that wait."""
        limits = self._settings.limits
        parts = SuggestingParts(
            finders=self.finders,
            previews=self.previews,
            candidates=self._app.candidates,
            gaps=self._app.gaps,
            target=self.target,
            now=now,
            found=limits.found,
            kept=limits.candidates,
        )
        return Suggesting(parts)

    @cached_property
    def closure(self) -> Closure:
        """Asks gaps again, and settles them."""
        parts = ClosureParts(
            gaps=self._app.gaps,
            questions=self._app.questions,
            audit=self._app.audit,
            asker=self.tryout.served,
            collections=self._app.documents.collections,
            now=now,
            verdict=self._app.policy.verdict,
        )
        return Closure(parts)

    @cached_property
    def regression(self) -> Regression:
        """Keeps closed gaps closed."""
        return Regression(self.closure, self._app.audit, self._app.documents, lambda: self._app.policy.version)

    @cached_property
    def decisions(self) -> Decisions:
        """What admins decide, carried out. The engine is built with the first decision, not before."""
        parts = DecisionParts(
            candidates=self._app.candidates,
            audit=self._app.audit,
            claims=self._app.questions,
            finders=self.finders,
            ingestor=lambda: SourceIngestor(self._app.index),
            closure=lambda: self.closure,
            regression=lambda: self.regression,
            collections=self._app.documents.collections,
            now=now,
            allowed=self._settings.licences,
            expire_days=self._settings.expire_days,
        )
        return Decisions(parts)

    @cached_property
    def notices(self) -> Notices:
        """Who is to be told of closed gaps."""
        app = self._app
        return Notices(app.questions, app.gaps, app.audit, now, wanted=self._settings.tell_askers)

    @cached_property
    def updates(self) -> Updates:
        """New versions of what was ingested from elsewhere."""
        return Updates(self._app.candidates, self.finders, now)

    @cached_property
    def github_api(self) -> GithubApi:
        """GitHub, with the token of the environment."""
        from discovery.finders.github_api import GithubApi

        return GithubApi(self._app.settings.github.api_url, credential("GITHUB_TOKEN"), now)

    def _screened(self, finder: Finder) -> Screened:
        return Screened(
            finder, self._settings.allow, self._settings.deny, self._app.candidates.of_source, self._ingested
        )

    def _ingested(self, sources: Sequence[Source]) -> Collection[str]:
        """Sources that are in some collection already, as files of ingested folders or by their own key."""
        present = {document.source for document in self._app.documents.documents()} if sources else set()
        return [source.key for source in sources if source.key in present or _path(source) in present]

    def _folders(self) -> Finder:
        from discovery.finders.folder import FolderFinder
        from discovery.finders.folder_index import FolderIndex

        size = self._settings.limits.file_kilobytes * _BYTES
        data, folders = self._app.settings.data, self._settings.folders
        index = FolderIndex(data / "folders", folders, skip=(data,), size_limit=size)
        return FolderFinder(index, folders, self._settings.folder_licence, size)

    def _github(self) -> Finder:
        from discovery.finders.github import GithubFinder, GithubOptions

        limits = self._settings.limits
        options = GithubOptions(
            organisations=self._settings.organisations,
            wider=self._settings.wider,
            searches=limits.searches,
            size_limit=limits.file_kilobytes * _BYTES,
        )
        return GithubFinder(self.github_api, options)


def _path(source: Source) -> str:
    return source.key.removeprefix("folder:")
