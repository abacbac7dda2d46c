"""Messages that were taken in: each by one process only, and none lost with a process that dies over it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from bot.chat.messages import Heard, Person
from bot.chat.work import Workers
from store.errors import GaplightError
from store.privacy import redact
from store.questions import QuestionStore
from store.records import Visibility

logger = logging.getLogger(__name__)

_KIND = "message"
LOST_SECONDS = 120.0
"""A message that was taken in so long ago and is not finished was lost with its process. Slack redelivers what it holds
for unanswered after one and five minutes; answers take seconds."""


class Inbox:
    """Claims on messages, in the database.

    Args:
        questions: where claims are kept.
        workers: for the database calls.
        now: the present moment.
        lost_seconds: see :data:`LOST_SECONDS`.
    """

    def __init__(
        self,
        questions: QuestionStore,
        workers: Workers,
        now: Callable[[], datetime],
        lost_seconds: float = LOST_SECONDS,
    ) -> None:
        self._questions = questions
        self._workers = workers
        self._now = now
        self._lost_seconds = lost_seconds
        self._held: set[str] = set()

    async def take(self, heard: Heard) -> bool:
        """Whether this call is the first for the message: redeliveries and copies of a mention carry the same id."""
        if not heard.message:
            return True
        if heard.key in self._held:
            return False
        self._held.add(heard.key)
        try:
            won = await self._workers.quick(lambda: self._claim(heard))
        except GaplightError:
            # While the database is away nobody can claim; an answer that may come twice is better than none.
            logger.exception("A message could not be claimed")
            return True
        if not won:
            self._held.discard(heard.key)
        return won

    async def settle(self, heard: Heard, *, done: bool) -> None:
        """Finish the claim on a message, or give it back so that a redelivery is answered."""
        if not heard.message:
            return
        settle = self._questions.finish if done else self._questions.release
        try:
            await self._workers.quick(lambda: settle(_KIND, heard.key))
        except GaplightError:
            logger.exception("The claim on a message could not be settled")
        finally:
            self._held.discard(heard.key)

    async def lost(self, platforms: frozenset[str]) -> list[Heard]:
        """Messages on these platforms that a process took in and died over; they are held by the caller from now on."""
        before = self._now() - timedelta(seconds=self._lost_seconds)
        found = await self._workers.quick(lambda: self._questions.unfinished_claims(_KIND, before))
        heard = [_heard(payload) for payload in found if payload]
        return [one for one in heard if one.platform in platforms and await self.take(one)]

    def _claim(self, heard: Heard) -> bool:
        return self._questions.claim(
            _KIND, heard.key, now=self._now(), retry_seconds=self._lost_seconds, payload=_payload(heard)
        )


def _payload(heard: Heard) -> dict[str, Any]:
    masked = replace(heard, text=redact(heard.text))
    return asdict(masked)


def _heard(payload: Mapping[str, Any]) -> Heard:
    person = payload["author"]
    # Groups are those of then; what they open now was not asked.
    author = Person(person["id"], outsider=person["outsider"], uncertain=True)
    changed = {
        "author": author,
        "visibility": Visibility(payload["visibility"]),
        "collections": tuple(payload["collections"]),
    }
    return Heard(**dict(payload) | changed)
