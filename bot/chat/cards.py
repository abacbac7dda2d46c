"""Candidate cards in the channels: posted once, and redrawn whenever their candidate changes, wherever it changed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial

from bot.chat.messages import Card
from bot.chat.ports import Platform
from bot.chat.work import Workers
from store.errors import GaplightError, NotFoundError
from store.posts import CANDIDATE, Post, PostStore
from store.records import Candidate, Visibility

logger = logging.getLogger(__name__)


class CardKeeper:
    """Posts and redraws cards on all connected platforms.

    Args:
        posts: which message shows which candidate.
        card: a candidate's card as it stands now.
        channels: by platform, the channel in which admins decide.
        workers: for the database calls.
    """

    def __init__(
        self, posts: PostStore, card: Callable[[str], Card], channels: Mapping[str, str], workers: Workers
    ) -> None:
        self._posts = posts
        self._card = card
        self._channels = channels
        self._workers = workers
        self._platforms: dict[str, Platform] = {}

    def connect(self, platform: Platform) -> None:
        """Make a platform known."""
        self._platforms[platform.name] = platform

    async def announce(self, candidate: Candidate) -> None:
        """Post a new candidate's card where admins decide; private ones wait in the list of candidates instead."""
        if candidate.visibility is Visibility.PRIVATE:
            return
        shown = await self._workers.quick(partial(self._posts.showing, CANDIDATE, candidate.id))
        for name, channel in self._channels.items():
            if name not in self._platforms or any(post.platform == name for post in shown):
                continue
            try:
                await self.post(name, channel, candidate.id)
            except GaplightError:
                logger.exception("The card of candidate %s could not be posted to %s", candidate.id, channel)

    async def post(self, platform: str, channel: str, candidate_id: str) -> str:
        """Post a candidate's card; the message's id.

        Raises:
            NotFoundError: the candidate was deleted.
            UnavailableError: it was not delivered.
        """
        card = await self._workers.quick(lambda: self._card(candidate_id))
        message = await self._platforms[platform].post_card(channel, card)
        post = Post(platform, channel, message, CANDIDATE, candidate_id, version=card.version)
        await self._workers.quick(lambda: self._posts.record(post))
        return message

    async def redraw_outdated(self) -> int:
        """Redraw the cards whose candidate has changed; how many were redrawn."""
        drawn = 0
        for name, platform in self._platforms.items():
            posts = await self._workers.quick(partial(self._posts.outdated_candidates, name))
            for post in posts:
                drawn += await self._redraw(platform, post)
        return drawn

    async def _redraw(self, platform: Platform, post: Post) -> int:
        try:
            card = await self._workers.quick(lambda: self._card(post.subject))
            await platform.redraw(post.channel, post.message, card)
        except NotFoundError:
            await self._workers.quick(lambda: self._posts.remove(post.platform, post.channel, post.message))
            return 0
        except GaplightError as error:
            logger.warning("A card could not be redrawn and is tried again: %s", error)
            return 0
        await self._workers.quick(lambda: self._posts.drawn(post.platform, post.channel, post.message, card.version))
        return 1
