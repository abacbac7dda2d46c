"""Posts a digest part by part: each part once, whatever dies meanwhile, or reported as unknown.

A part is claimed before it is sent and finished once its message is on record. What was claimed and is not finished
after a crash may have been sent or not: it is never sent again, and said to be unknown.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.chat.messages import Card
from bot.chat.ports import Platform
from bot.chat.work import Workers
from store.errors import GaplightError, UnavailableError
from store.posts import Post, PostStore
from store.questions import QuestionStore

logger = logging.getLogger(__name__)

_KIND = "digest-part"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of the parts of a digest; each is named ``platform:kind:subject`` of its card.

    Attributes:
        sent: are in the channel, now or from an earlier attempt.
        unknown: may be in the channel: a process died while it sent them.
        failed: are not there; the next attempt sends them.
    """

    sent: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


class DigestPosting:
    """Posts digests to the channels that are configured; one for a process.

    Args:
        posts: keeps which message shows what.
        claims: keeps what was sent.
        channels: by platform.
        workers: for the database calls.
        now: the present moment.
    """

    def __init__(
        self,
        posts: PostStore,
        claims: QuestionStore,
        channels: Mapping[str, str],
        workers: Workers,
        now: Callable[[], datetime],
    ) -> None:
        self._posts = posts
        self._claims = claims
        self._channels = channels
        self._workers = workers
        self._now = now
        self._platforms: dict[str, Platform] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def connect(self, platform: Platform) -> None:
        """Make a platform known."""
        self._platforms[platform.name] = platform

    def attach(self) -> None:
        """Remember the running loop, for :meth:`post_from_thread`."""
        self._loop = asyncio.get_running_loop()

    def post_from_thread(self, key: str, cards: Sequence[Card]) -> Delivery:
        """:meth:`post`, for the scheduler's thread.

        Raises:
            UnavailableError: nothing runs that could post.
        """
        if self._loop is None or not self._platforms:
            raise UnavailableError("No chat platform is connected.", "Run the bot with: gaplight run")
        return asyncio.run_coroutine_threadsafe(self.post(key, cards), self._loop).result()

    async def post(self, key: str, cards: Sequence[Card]) -> Delivery:
        """Post a digest to every channel that is configured and connected, as far as it is not there yet.

        Args:
            key: names the digest for good, such as the round's id.
            cards: its parts, in order; known at every attempt by what they show, wherever they stand.
        """
        sent: list[str] = []
        unknown: list[str] = []
        failed: dict[str, str] = {}
        for name, channel in self._channels.items():
            platform = self._platforms.get(name)
            if platform is None:
                continue
            for number, card in enumerate(cards, 1):
                part = f"{name}:{card.kind}:{card.subject or number}"
                try:
                    known = await self._part(platform, channel, f"{key}:{part}", card)
                except GaplightError as error:
                    failed[part] = str(error)
                    logger.warning("Part %s of digest %s was not delivered: %s", part, key, error)
                    continue
                (sent if known else unknown).append(part)
        return Delivery(tuple(sent), tuple(unknown), failed)

    async def _part(self, platform: Platform, channel: str, part: str, card: Card) -> bool:
        """Send a part, if nobody has; whether it is known to be there."""
        if not await self._workers.quick(lambda: self._claim(part)):
            claim = await self._workers.quick(lambda: self._claims.claim_of(_KIND, part))
            return claim is not None and claim.finished_at is not None
        try:
            message = await platform.post_card(channel, card)
        except GaplightError:
            await self._workers.quick(lambda: self._claims.release(_KIND, part))
            raise
        post = Post(platform.name, channel, message, card.kind, card.subject, version=card.version)
        await self._workers.quick(lambda: self._done(part, post))
        return True

    def _claim(self, part: str) -> bool:
        return self._claims.claim(_KIND, part, now=self._now(), retry_seconds=math.inf)

    def _done(self, part: str, post: Post) -> None:
        self._claims.finish(_KIND, part, now=self._now())
        self._posts.record(post, now=self._now())
