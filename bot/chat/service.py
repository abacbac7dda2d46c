"""What adapters call: takes messages in, has them answered in threads, and sees to it that each is answered once."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from bot.chat.asking import Asking
from bot.chat.candidate_cards import as_message
from bot.chat.cards import CardKeeper
from bot.chat.feedback import Feedback
from bot.chat.handlers import words_for
from bot.chat.inbox import Inbox
from bot.chat.intake import Intake, addressed, how_addressed, take_in
from bot.chat.messages import Addressed, Card, Heard, Marked, Outgoing, Person, Press, Verb
from bot.chat.pacing import Pace
from bot.chat.ports import Place, Platform
from bot.chat.review import DECISIONS, Review, is_command
from bot.chat.wording import GREETING, OUTSIDER, TOO_FAST, UNKNOWN_PERSON, queued
from bot.chat.work import Workers
from bot.logs_context import handling
from store.errors import GaplightError
from store.posts import ANSWER, Post, PostStore
from store.records import Reply, Status, Visibility

logger = logging.getLogger(__name__)

_REMEMBERED_WITHDRAWALS = 10_000
_WORTH_SAYING = 5
"""Questions in front of a new one from which on the asker is told."""
_HOUR = 3600.0
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Limits of the conversation.

    Attributes:
        answers_a_minute: answers in one conversation within a minute; a backstop against loops.
        answer_outsiders: platforms on which people from other organisations are answered.
    """

    answers_a_minute: int = 10
    answer_outsiders: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ChatParts:
    """What the service works with."""

    asking: Asking
    feedback: Feedback
    review: Review
    cards: CardKeeper
    inbox: Inbox
    posts: PostStore
    workers: Workers


@dataclass(frozen=True, slots=True)
class _Delivered:
    """What went out: nothing, where silence was right."""

    messages: tuple[str, ...] = ()
    reply: Reply | None = None


class ChatService:
    """The core of the chat: one for all platforms of a process. Implements :class:`bot.chat.ports.Core`.

    Args:
        parts: what it works with.
        options: limits.
        clock: seconds that only ever grow.
    """

    def __init__(
        self, parts: ChatParts, options: ChatOptions | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        self._parts = parts
        self._options = options or ChatOptions()
        self._pace = Pace(clock)
        self._platforms: dict[str, Platform] = {}
        self._withdrawn: OrderedDict[str, None] = OrderedDict()
        self.closing = False
        """No more messages are taken in."""
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.undelivered = 0
        """Answers that could not be delivered since the start."""

    @property
    def cards(self) -> CardKeeper:
        """What keeps the candidate cards up to date."""
        return self._parts.cards

    def connect(self, platform: Platform) -> None:
        """Make a platform known, for what is posted there on the core's own account."""
        self._platforms[platform.name] = platform
        self._parts.cards.connect(platform)

    @property
    def in_flight(self) -> int:
        """Messages that are being worked on."""
        return self._in_flight

    @property
    def waiting(self) -> int:
        """Questions that wait for a free worker."""
        return self._parts.workers.waiting

    def close(self) -> None:
        """Take no more messages in; those in flight are finished. Others can be answered by whoever comes next."""
        self.closing = True

    async def check(self, ready: Callable[[], bool]) -> bool:
        """Ask something that may block, beside the questions; an error counts as no."""
        try:
            return await self._parts.workers.quick(ready)
        except GaplightError as error:
            logger.warning("Not ready: %s", error)
        except Exception:
            logger.exception("Whether all is ready could not be found out")
        return False

    async def settled(self, seconds: float) -> bool:
        """Wait until nothing is being worked on, at most some seconds; whether that was reached."""
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    # Messages

    async def hear(self, heard: Heard, place: Place) -> None:
        """See :meth:`bot.chat.ports.Core.hear`."""
        if self.closing:
            return
        self._in_flight += 1
        self._idle.clear()
        try:
            with handling(heard.text):
                await self._dealt_with(heard, place)
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    async def _dealt_with(self, heard: Heard, place: Place) -> None:
        try:
            how, intake = await self._taken_in(heard)
            if how is not None and intake is not Intake.IGNORE and await self._parts.inbox.take(heard):
                await self._respond_once(heard, place, how, intake)
        except Exception:
            logger.exception("A message on %s could not be dealt with", heard.platform)
            await place.dismiss()

    async def resume_lost(self) -> int:
        """Answer the messages that a process took in and then died over; how many there were."""
        lost = await self._parts.inbox.lost(frozenset(self._platforms))
        for heard in lost:
            place = await self._platforms[heard.platform].place(heard)
            how = how_addressed(heard)
            with handling(heard.text):
                await self._respond_once(heard, place, how, self._intake(heard, how))
        return len(lost)

    async def _respond_once(self, heard: Heard, place: Place, how: Addressed, intake: Intake) -> None:
        delivered: _Delivered | None = None
        try:
            delivered = await self._respond(heard, place, how, intake)
        finally:
            # Before anything else: a crash from here on must not lead to a second answer.
            await self._parts.inbox.settle(heard, done=delivered is not None)
        if delivered is not None and delivered.reply is not None:
            await self._remember(heard, delivered.reply, delivered.messages)

    async def _taken_in(self, heard: Heard) -> tuple[Addressed | None, Intake]:
        if heard.by_bot:
            return None, Intake.IGNORE
        answered_here: frozenset[str] = frozenset()
        if heard.in_thread and not heard.direct and not heard.mentions_bot:
            answered_here = await self._parts.workers.quick(lambda: self._parts.posts.askers_in(heard.conversation))
        channel = self._parts.asking.channel(heard)
        how = addressed(heard, auto_answer=channel.auto_answer, answered_here=answered_here)
        if how is Addressed.OVERHEARD and not self._pace.allows(
            f"auto:{heard.platform}:{heard.channel}", channel.auto_answers_per_hour, _HOUR
        ):
            return None, Intake.IGNORE
        return how, self._intake(heard, how)

    def _intake(self, heard: Heard, how: Addressed | None) -> Intake:
        return take_in(heard, how, answer_outsiders=heard.platform in self._options.answer_outsiders)

    async def _respond(self, heard: Heard, place: Place, how: Addressed, intake: Intake) -> _Delivered | None:
        """Deliver what is due; None when it could not be delivered."""
        if intake is Intake.REFUSE_OUTSIDER:
            return await self._deliver(place, Outgoing(_refusal(heard.author), private=not heard.alone))
        if intake is Intake.GREET:
            return await self._deliver(place, Outgoing(GREETING))
        if how is Addressed.DIRECTLY and (shown := await self._commanded(heard)):
            return await self._deliver_all(place, shown)
        if not self._pace.allows(f"pace:{heard.conversation}", self._options.answers_a_minute, _MINUTE):
            return await self._paused(heard, place)
        if how is not Addressed.OVERHEARD:
            waiting = self._parts.workers.waiting
            await place.working(queued(waiting) if waiting > _WORTH_SAYING else "")
        outgoing = await self._parts.workers.work(lambda: self._answer(heard))
        silent = outgoing is None or (how is Addressed.OVERHEARD and not _answered(outgoing.reply))
        if outgoing is None or silent or heard.key in self._withdrawn:
            await place.dismiss()
            return _Delivered()
        return await self._deliver(place, outgoing)

    async def _commanded(self, heard: Heard) -> tuple[Outgoing | Card, ...]:
        """What a command shows that was written as a message; empty for a question."""
        if not is_command(heard.text):
            return ()
        return await self.command(heard.text, heard.author, heard.channel, heard.visibility)

    async def _deliver_all(self, place: Place, shown: Sequence[Outgoing | Card]) -> _Delivered | None:
        """Deliver one after another; None as soon as one could not be delivered."""
        for one in shown:
            outgoing = one if isinstance(one, Outgoing) else as_message(one)
            if await self._deliver(place, outgoing) is None:
                return None
        return _Delivered()

    async def _paused(self, heard: Heard, place: Place) -> _Delivered | None:
        """Say once a minute that it goes too fast: a machine at the other end would answer every notice."""
        if self._pace.allows(f"paused:{heard.conversation}", 1, _MINUTE):
            return await self._deliver(place, Outgoing(TOO_FAST))
        await place.dismiss()
        return _Delivered()

    def _answer(self, heard: Heard) -> Outgoing | None:
        """Runs in a worker; None for a question that was deleted while it waited."""
        if heard.key in self._withdrawn:
            return None
        try:
            return self._parts.asking.answer(heard)
        except Exception as error:  # noqa: BLE001 - whatever happens, somebody waits for words
            return Outgoing(words_for(error))

    async def _deliver(self, place: Place, outgoing: Outgoing) -> _Delivered | None:
        try:
            return _Delivered(await place.deliver(outgoing), outgoing.reply)
        except GaplightError:
            self.undelivered += 1
            logger.exception("An answer could not be delivered")
            return None

    async def _remember(self, heard: Heard, reply: Reply, messages: tuple[str, ...]) -> None:
        if not reply.question_id:
            return
        posts = [
            Post(
                heard.platform,
                heard.channel,
                message,
                ANSWER,
                reply.question_id,
                conversation=heard.conversation,
                asker=heard.author.id,
            )
            for message in messages
        ]
        try:
            await self._parts.workers.quick(lambda: self._parts.posts.record(*posts))
        except GaplightError:
            logger.exception("A post could not be recorded; reactions on it and follow-ups will not be recognised")

    async def withdraw(self, platform: str, channel: str, message: str) -> None:
        """See :meth:`bot.chat.ports.Core.withdraw`."""
        self._withdrawn[f"{platform}:{channel}:{message}"] = None
        while len(self._withdrawn) > _REMEMBERED_WITHDRAWALS:
            self._withdrawn.popitem(last=False)

    # Buttons, reactions, commands

    async def press(self, press: Press) -> Outgoing | None:
        """See :meth:`bot.chat.ports.Core.press`."""
        try:
            if press.verb is Verb.ASK_PERSON:
                return await self._refer(press)
            if press.verb is Verb.SHARE:
                return await self._share(press)
            if press.verb in DECISIONS:
                return await self._parts.workers.work(lambda: self._parts.review.decide(press))
            return await self._parts.workers.work(lambda: self._parts.feedback.press(press))
        except Exception as error:  # noqa: BLE001 - no click is ever silent
            return Outgoing(words_for(error), private=True)

    async def react(self, platform: str, channel: str, message: str, person: Person, helpful: bool | None) -> None:
        """See :meth:`bot.chat.ports.Core.react`."""
        try:
            await self._parts.workers.quick(
                lambda: self._parts.feedback.react(platform, channel, message, person, helpful)
            )
        except GaplightError:
            logger.exception("A reaction could not be counted")

    async def adopt(self, marked: Marked) -> Outgoing:
        """See :meth:`bot.chat.ports.Core.adopt`."""
        try:
            adopted = await self._parts.workers.work(lambda: self._parts.feedback.adopt(marked))
        except Exception as error:  # noqa: BLE001 - whoever marked it waits for words
            return Outgoing(words_for(error), private=True)
        if adopted.candidate is not None:
            await self._parts.cards.announce(adopted.candidate)
        return adopted.outgoing

    async def command(
        self,
        words: str,
        person: Person,
        channel: str,
        visibility: Visibility,  # noqa: ARG002 - what is shown is the same everywhere: nothing that is private
    ) -> tuple[Outgoing | Card, ...]:
        """See :meth:`bot.chat.ports.Core.command`."""
        if person.outsider and is_command(words):
            return (Outgoing(_refusal(person), private=True),)
        try:
            return await self._parts.workers.work(lambda: self._parts.review.command(words, person, channel))
        except Exception as error:  # noqa: BLE001 - whoever gave the command waits for words
            return (Outgoing(words_for(error), private=True),)

    async def home(self, person: Person) -> tuple[Card, ...]:
        """See :meth:`bot.chat.ports.Core.home`."""
        try:
            return await self._parts.workers.work(lambda: self._parts.review.home(person))
        except Exception as error:  # noqa: BLE001 - a page that says what is wrong is better than an empty one
            return (Card("notice", "", 0, "Not available at the moment", words_for(error)),)

    async def collections(self, person: Person, channel: str, beginning: str) -> tuple[str, ...]:
        """See :meth:`bot.chat.ports.Core.collections`."""
        platform = person.id.partition(":")[0]
        if person.outsider and platform not in self._options.answer_outsiders:
            return ()
        heard = Heard(platform, channel, "", "", person, "")
        try:
            names = await self._parts.workers.quick(lambda: self._parts.asking.names_in_reach(heard))
        except Exception:
            logger.exception("The collections could not be listed")
            return ()
        return tuple(name for name in names if name.casefold().startswith(beginning.casefold()))[:25]

    async def _refer(self, press: Press) -> Outgoing:
        referral = await self._parts.workers.quick(lambda: self._parts.feedback.referral(press))
        if isinstance(referral, Outgoing):
            return referral
        platform = self._platforms[press.platform]
        try:
            await platform.tell(press.conversation, referral.text, referral.mention)
        except GaplightError:
            await self._parts.workers.quick(lambda: self._parts.feedback.take_back(referral))
            raise
        return Outgoing("I have asked in the thread.", private=True)

    async def _share(self, press: Press) -> Outgoing:
        def may_read(collections: Sequence[str]) -> bool:
            return self._parts.asking.may_still_read(press, collections)

        shared = await self._parts.workers.quick(lambda: self._parts.feedback.shared_answer(press, may_read))
        if isinstance(shared, Outgoing):
            return shared
        await self._platforms[press.platform].tell(press.conversation, shared.text, internal=True)
        return Outgoing("Shared in the conversation.", private=True)


def _refusal(person: Person) -> str:
    return UNKNOWN_PERSON if person.uncertain else OUTSIDER


def _answered(reply: Reply | None) -> bool:
    return reply is not None and reply.status is Status.ANSWERED
