"""Builds the parts that make rounds and tell of them. A part of the wiring in :mod:`bot.app`."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from bot.chat.digest_cards import digest_cards
from bot.chat.messages import Card
from bot.clock import now
from bot.discovering import Discovering, Installed
from discovery.digest import Digest, DigestOptions
from discovery.digests import DigestParts, Digests
from discovery.platforms import load_platforms
from discovery.rounds import Progress, RoundParts, Rounds
from discovery.schedule import zone_of
from store.database import Database
from store.gap_activity import GapActivity
from store.rounds import RoundStore


class Reportable(Installed, Protocol):
    """The parts below, as :class:`bot.app.App` builds them."""

    @property
    def database(self) -> Database:
        """The SQL database."""

    @property
    def discovery(self) -> Discovering:
        """What finds documents for gaps."""


class Reporting:
    """Rounds and digests over one installation, each part built when it is first asked for."""

    def __init__(self, app: Reportable) -> None:
        self._app = app
        self._settings = app.settings

    @cached_property
    def store(self) -> RoundStore:
        """Rounds that were made."""
        return RoundStore(self._app.database)

    @cached_property
    def activity(self) -> GapActivity:
        """Who asked about a gap and when."""
        return GapActivity(self._app.database)

    @cached_property
    def rounds(self) -> Rounds:
        """Makes rounds."""
        topics = self._settings.topics
        parts = RoundParts(
            gaps=self._app.gaps,
            activity=self.activity,
            rounds=self.store,
            platforms=lambda: self._app.engine_parts.corpus().platforms,
            now=now,
            suggest=self._app.discovery.suggesting.suggest if self._looks_anywhere() else None,
            embedder=lambda: self._app.index.embedder,
            searched=topics.searched,
            same_topic=topics.similarity,
        )
        return Rounds(parts)

    @cached_property
    def glance(self) -> Rounds:
        """Sees the topics as they are now without model, indexes and finders: beside a running bot too."""
        parts = RoundParts(
            gaps=self._app.gaps,
            activity=self.activity,
            rounds=self.store,
            platforms=load_platforms,
            now=now,
            same_topic=self._settings.topics.similarity,
        )
        return Rounds(parts)

    @cached_property
    def digests(self) -> Digests:
        """What a round is told as."""
        topics = self._settings.topics
        parts = DigestParts(
            rounds=self.store,
            gaps=self._app.gaps,
            activity=self.activity,
            candidates=self._app.candidates,
            audit=self._app.audit,
            options=DigestOptions(
                topics=topics.shown, weeks=topics.weeks, zone=zone_of(self._settings.digest.timezone)
            ),
        )
        return Digests(parts)

    def cards(self) -> tuple[Card, ...]:
        """The digest of the latest round, with what became of it since; empty before the first."""
        digest = self.digests.latest()
        return digest_cards(digest) if digest else ()

    def make(self, progress: Progress | None = None) -> Digest:
        """Make a round; its digest."""
        return self.digests.of(self.rounds.run(progress))

    def _looks_anywhere(self) -> bool:
        """Whether some finder has a place to look in."""
        discovery = self._settings.discovery
        return bool(discovery.folders) or any(finder != "folder" for finder in discovery.finders)
