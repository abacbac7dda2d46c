"""Tells askers in their own thread that their question is answered now."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Protocol

from bot.chat.ports import Platform
from bot.chat.wording import closure_notice
from bot.chat.work import Workers
from discovery.notices import Notice
from store.errors import GaplightError

logger = logging.getLogger(__name__)

NOTICE_DAYS = 14
"""Older closures are not told any more: people have found another way by then."""


class NoticeSource(Protocol):
    """Hands out each notice once; see :class:`discovery.notices.Notices`."""

    def take(self, since: datetime | None = None) -> Iterable[Notice]:
        """Notices that nobody has taken yet."""

    def give_back(self, notice: Notice) -> None:
        """It was not delivered."""


class Notifier:
    """Delivers notices on all connected platforms.

    Args:
        notices: where they come from.
        workers: for the database calls.
        now: the present moment.
    """

    def __init__(self, notices: NoticeSource, workers: Workers, now: Callable[[], datetime]) -> None:
        self._notices = notices
        self._workers = workers
        self._now = now
        self._platforms: dict[str, Platform] = {}

    def connect(self, platform: Platform) -> None:
        """Make a platform known."""
        self._platforms[platform.name] = platform

    async def tell(self) -> int:
        """Tell everybody who is due; how many were told."""
        since = self._now() - timedelta(days=NOTICE_DAYS)
        due = await self._workers.quick(lambda: list(self._notices.take(since)))
        told = 0
        for notice in due:
            told += await self._told(notice)
        return told

    async def _told(self, notice: Notice) -> int:
        platform = self._platforms.get(notice.platform)
        if platform is not None:
            text = closure_notice(notice.question, notice.documents)
            try:
                await platform.tell(notice.conversation, text, notice.asker.partition(":")[2], internal=True)
            except GaplightError as error:
                logger.warning("Somebody could not be told that a gap is closed: %s", error)
            else:
                return 1
        await self._workers.quick(lambda: self._notices.give_back(notice))
        return 0
