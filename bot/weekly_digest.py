"""The weekly digest: a round is made, and what it found is posted, once, however often the process dies meanwhile.

The parts of a digest are kept before the first of them is posted. Whoever comes next posts what is missing, from what
was kept: what has changed since must not change which parts there are.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Protocol

from bot.chat.digest_cards import digest_cards
from bot.chat.messages import Action, Card, Verb
from discovery.digest import Digest
from store.errors import UnavailableError
from store.questions import QuestionStore
from store.rounds import RoundStore

logger = logging.getLogger(__name__)

_KIND = "digest"
RESUMED_FOR = timedelta(days=3)
"""A digest that could not be posted for longer is given up: the next one is near, and nobody reads two at once."""
_SAME_WEEK = timedelta(days=1)


class Delivered(Protocol):
    """What became of the parts of a digest, see :class:`bot.chat.digest_posting.Delivery`."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """May be in the channel."""

    @property
    def failed(self) -> Mapping[str, str]:
        """Are not there, and why."""


Post = Callable[[str, Sequence[Card]], Delivered]


class WeeklyDigest:
    """Makes and posts digests; may be used by several processes.

    Args:
        make: makes a round and its digest.
        post: posts the parts that are missing under a key; None where no channel is set up.
        claims: keep what is being posted.
        rounds: told which round people know of.
        now: the present moment.
        silent: nothing is posted in a week without news.
        report: told in a sentence what an admin has to know.
    """

    def __init__(
        self,
        make: Callable[[], Digest],
        post: Post | None,
        claims: QuestionStore,
        rounds: RoundStore,
        now: Callable[[], datetime],
        *,
        silent: bool = False,
        report: Callable[[str], None] = logger.warning,
    ) -> None:
        self._make = make
        self._post = post
        self._claims = claims
        self._rounds = rounds
        self._now = now
        self._silent = silent
        self._report = report

    def run(self) -> Digest | None:
        """Post this week's digest; None when that was done, or carried on, within a day: a second attempt of one week.

        Raises:
            UnavailableError: parts could not be posted; :meth:`resume` tries them again.
        """
        failure = self._resumed()
        latest = self._claims.latest_claims(_KIND, 1)
        if latest and latest[0].claimed_at > self._now() - _SAME_WEEK:
            if failure:
                raise failure
            return None
        if failure:
            self._report(str(failure))
        digest = self._make()
        if self._post is None or (digest.quiet and self._silent):
            self._rounds.report(digest.number, self._now())
        else:
            self.post(digest)
        return digest

    def post(self, digest: Digest) -> bool:
        """Post a digest, or what is missing of it; False when it was posted before.

        Raises:
            UnavailableError: parts could not be posted; :meth:`resume` tries them again.
        """
        kept = {"number": digest.number, "at": self._now().isoformat(), "cards": _stored(digest_cards(digest))}
        key = _key(digest.number)
        if self._claims.claim(_KIND, key, now=self._now(), retry_seconds=math.inf, payload=kept):
            self._deliver(kept)
            return True
        known = self._claims.claim_of(_KIND, key)
        if known is not None and known.finished_at is not None:
            return False
        self.resume()
        return True

    def resume(self) -> None:
        """Post what is missing of digests that were begun.

        Raises:
            UnavailableError: parts could not be posted; the next call tries them again.
        """
        if failure := self._resumed():
            raise failure

    def _resumed(self) -> UnavailableError | None:
        """Post what is missing; why some of it could not be posted."""
        failure = None
        if self._post is None:
            return None
        for kept in self._claims.unfinished_claims(_KIND, self._now() + timedelta(seconds=1)):
            begun = datetime.fromisoformat(kept["at"])
            if begun < self._now() - RESUMED_FOR:
                self._claims.finish(_KIND, _key(kept["number"]), now=self._now())
                self._report(f"The digest of {begun:%Y-%m-%d} could not be posted whole and is given up.")
                continue
            try:
                self._deliver(kept)
            except UnavailableError as error:
                failure = error
        return failure

    def _deliver(self, kept: Mapping[str, Any]) -> None:
        assert self._post is not None
        number = kept["number"]
        self._rounds.report(number, self._now())
        delivery = self._post(_key(number), _cards(kept["cards"]))
        if delivery.unknown:
            parts = ", ".join(delivery.unknown)
            self._report(f"Parts of the digest may be in the channel or not, and are not posted again: {parts}.")
        if delivery.failed:
            parts = "; ".join(f"{part}: {reason}" for part, reason in delivery.failed.items())
            raise UnavailableError(f"Parts of the digest could not be posted: {parts}", "They are tried again.")
        self._claims.finish(_KIND, _key(number), now=self._now())


def _key(number: int) -> str:
    return f"round-{number}"


def _stored(cards: Sequence[Card]) -> list[dict[str, Any]]:
    return [asdict(card) | {"facts": dict(card.facts)} for card in cards]


def _cards(stored: Sequence[Mapping[str, Any]]) -> list[Card]:
    return [Card(**dict(card) | {"actions": tuple(_action(one) for one in card["actions"])}) for card in stored]


def _action(stored: Mapping[str, Any]) -> Action:
    return Action(**dict(stored) | {"verb": Verb(stored["verb"])})
