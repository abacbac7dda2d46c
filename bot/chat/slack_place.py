"""Where a question is answered in Slack: in its thread, or unseen by others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from bot.chat.messages import Outgoing
from bot.chat.slack_blocks import Post, answer_posts, text_posts
from bot.chat.slack_calls import RefusedError
from bot.chat.slack_lookup import Lookup
from bot.chat.slack_messages import Messages, Spot, unreachable
from store.errors import GaplightError, NotFoundError, UnavailableError

logger = logging.getLogger(__name__)

LOOKING = "Looking through the documents …"
_STATUS = "is looking through the documents …"
_SIGN = "eyes"
_PATIENCE = 20.0
_RESPONSES = 4
"""Slack takes five posts at an address that came with a click; one is left for the word that work goes on."""
_WAITING = "waiting"
_NOT_A_MEMBER = "I am not a member of that channel, so only you see this. Invite me there with `/invite @Gaplight`."


@dataclass(slots=True)
class Aside:
    """Words for one person, unseen by others: where the person is, else in their direct messages.

    Attributes:
        messages, lookup: the ways out.
        person: Slack's id.
        spot: where the person is; the channel may be empty (on the bot's own page).
        response_url: where Slack takes words for this person; empty for none.
    """

    messages: Messages
    lookup: Lookup
    person: str
    spot: Spot
    response_url: str = ""
    _used: int = 0

    async def sign(self, text: str) -> bool:
        """Say that work goes on, if that takes no detour; never raises."""
        if not self.response_url:
            return False
        with suppress(UnavailableError):
            await self._respond(text_posts(text)[0], replace=False)
            return True
        return False

    async def say(self, posts: Sequence[Post], *, replace: bool = False) -> tuple[str, ...]:
        """Show messages; their ids where they have one that lasts.

        Args:
            posts: what is shown.
            replace: the first one takes the place of the sign of work.

        Raises:
            UnavailableError: they could not be delivered in any way.
        """
        ids: list[str] = []
        for place, post in enumerate(posts):
            ids += await self._say(post, replace=replace and place == 0)
        return tuple(ids)

    async def _say(self, post: Post, *, replace: bool) -> tuple[str, ...]:
        if self.response_url and self._used < _RESPONSES:
            self._used += 1
            try:
                await self._respond(post, replace=replace)
            except RefusedError as error:
                logger.info("Slack no longer takes words at this address: %s", error)
                self.response_url = ""
            else:
                return ()
        if self.spot.channel and not self.spot.channel.startswith("D"):
            try:
                await self.messages.whisper(self.spot, self.person, post)
            except RefusedError as error:
                logger.info("Nothing can be shown to a person in %s: %s", self.spot.channel, error)
            else:
                return ()
        spot = self.spot
        if not spot.channel.startswith("D"):
            spot = Spot(await self.lookup.direct_channel(self.person))
        return await self.messages.post(spot, post)

    async def _respond(self, post: Post, *, replace: bool) -> None:
        body = {"response_type": "ephemeral", "replace_original": replace, "text": post.text}
        if self.spot.thread:
            body["thread_ts"] = self.spot.thread
        try:
            await self.messages.calls.respond(self.response_url, body | {"blocks": list(post.blocks)})
        except RefusedError as error:
            if "blocks" not in error.code:
                raise
            logger.warning("Slack refused the blocks of a response; it is sent as plain text: %s", error)
            for text in post.plain:
                await self.messages.calls.respond(self.response_url, body | {"text": text})


class PersonalPlace:
    """A question that was asked by command: only the asker sees the answer.

    Args:
        aside: the way to the asker.
    """

    def __init__(self, aside: Aside) -> None:
        self._aside = aside
        self._signed = False

    async def working(self, note: str = "") -> None:
        """See :meth:`bot.chat.ports.Place.working`."""
        if not self._signed:
            self._signed = await self._aside.sign(note or LOOKING)

    async def deliver(self, outgoing: Outgoing) -> tuple[str, ...]:
        """See :meth:`bot.chat.ports.Place.deliver`."""
        signed, self._signed = self._signed, False
        return await self._aside.say(answer_posts(outgoing), replace=signed)

    async def dismiss(self) -> None:
        """See :meth:`bot.chat.ports.Place.dismiss`."""
        if self._signed:
            self._signed = False
            body = {"delete_original": True}
            with suppress(GaplightError):
                await self._aside.messages.calls.respond(self._aside.response_url, body)


class ThreadPlace:
    """A question that stands in a channel or a direct message.

    Args:
        aside: the way to the asker alone; its spot is where the answer goes.
        question: id of the question's message; empty when there is none to put a sign on.
        status: the spot is a thread of direct messages, which can show a status line.
        hidden: only the asker may see answers here, because other organisations are in the channel.
        again: another process took the question in and died over it; what it has posted stays and is continued.
    """

    def __init__(
        self, aside: Aside, question: str, *, status: bool = False, hidden: bool = False, again: bool = False
    ) -> None:
        self._aside = aside
        self._messages = aside.messages
        self._spot = aside.spot
        self._question = question
        self._status = status
        self._hidden = hidden
        self._again = again
        self._placeholder = ""
        self._unclear_key = ""
        self._reacted = False
        self._status_shown = False
        self._sent: list[str] = []
        self._delivered = 0

    async def working(self, note: str = "") -> None:
        """See :meth:`bot.chat.ports.Place.working`."""
        if self._again or self._placeholder or self._reacted or self._status_shown:
            return
        try:
            if self._status and await self._show_status(note or _STATUS):
                return
            # A placeholder must not delay answers to others that already wait for their turn in this channel.
            if self._hidden or self._messages.calls.busy(self._spot.channel):
                await self._react()
            else:
                await self._hold_place(note or LOOKING)
        except GaplightError as error:
            logger.warning("No sign of work could be given: %s", error)
        except Exception:
            logger.exception("No sign of work could be given")

    async def deliver(self, outgoing: Outgoing) -> tuple[str, ...]:
        """See :meth:`bot.chat.ports.Place.deliver`."""
        posts = answer_posts(outgoing)
        await self._take_up()
        if self._hidden or (outgoing.private and not self._spot.channel.startswith("D")):
            await self.dismiss()
            return await self._aside.say(posts)
        await self._settle_placeholder()
        try:
            for post in posts[self._delivered :]:
                self._sent += await self._show(post)
                self._delivered += 1
        except RefusedError as error:
            if not unreachable(error) or self._sent:
                raise
            logger.warning("An answer cannot be posted in %s: %s", self._spot.channel, error)
            return await self._aside.say((*posts, *text_posts(_NOT_A_MEMBER)))
        await self._take_reaction()
        return tuple(self._sent)

    async def dismiss(self) -> None:
        """See :meth:`bot.chat.ports.Place.dismiss`."""
        await self._take_up()
        with suppress(GaplightError):
            await self._settle_placeholder()
        if self._placeholder:
            await self._messages.remove(self._spot.channel, self._placeholder)
            self._placeholder = ""
        if self._status_shown:
            with suppress(GaplightError):
                await self._show_status("")
        await self._take_reaction()

    async def _take_up(self) -> None:
        """Find what a process that died over the question has posted: its placeholder, or parts of the answer."""
        if not self._again:
            return
        self._again = False
        try:
            found = await self._messages.keyed(self._spot, self._key(""))
        except UnavailableError as error:
            # Twice is better than never.
            logger.warning("What was posted before could not be looked for: %s", error)
            return
        self._placeholder = found.get(self._key(_WAITING), "")
        while part := found.get(self._key(self._delivered)):
            self._sent.append(part)
            self._delivered += 1

    def _key(self, part: int | str) -> str:
        """By which a part of the answer to this question is found; the same in every process."""
        return f"{self._spot.channel}:{self._question}#{part}"

    async def _show(self, post: Post) -> tuple[str, ...]:
        placeholder, self._placeholder = self._placeholder, ""
        key = self._key(self._delivered)
        if placeholder:
            try:
                await self._messages.change(self._spot.channel, placeholder, post, key)
            except NotFoundError:
                logger.info("The placeholder of an answer is gone")
            else:
                return (placeholder,)
        return await self._messages.post(self._spot, post, key)

    async def _hold_place(self, text: str) -> None:
        key = self._key(_WAITING)
        try:
            self._placeholder = await self._messages.try_post(self._spot, text_posts(text)[0], key)
        except RefusedError:
            raise
        except UnavailableError:
            self._unclear_key = key
            await self._react()

    async def _settle_placeholder(self) -> None:
        """A placeholder whose post ended in an error may be there nevertheless: it must not stay for ever."""
        if self._unclear_key:
            key, self._unclear_key = self._unclear_key, ""
            try:
                self._placeholder = await self._messages.find(self._spot, key)
            except UnavailableError as error:
                logger.warning("A placeholder could not be looked for: %s", error)

    async def _show_status(self, status: str) -> bool:
        try:
            await self._messages.calls.once(
                "assistant.threads.setStatus",
                channel_id=self._spot.channel,
                thread_ts=self._spot.thread,
                status=status,
            )
        except UnavailableError as error:
            logger.info("The status line could not be set: %s", error)
            return False
        self._status_shown = bool(status)
        return True

    async def _react(self) -> None:
        if self._question:
            self._reacted = True
            await self._messages.calls.once(
                "reactions.add", channel=self._spot.channel, name=_SIGN, timestamp=self._question
            )

    async def _take_reaction(self) -> None:
        if self._reacted:
            self._reacted = False
            with suppress(GaplightError):
                await self._messages.calls.call(
                    "reactions.remove",
                    patience=_PATIENCE,
                    channel=self._spot.channel,
                    name=_SIGN,
                    timestamp=self._question,
                )
