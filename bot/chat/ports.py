"""Where the shared chat core and a platform's adapter meet: what each needs of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from aiohttp import web

from bot.chat.messages import Card, Heard, Marked, Outgoing, Person, Press
from store.records import Visibility


class Place(Protocol):
    """Where one question is answered: one message of one person on one platform. Used by one task at a time."""

    async def working(self, note: str = "") -> None:
        """Show at once that work is going on (a placeholder, typing, a deferred interaction); ``note`` in words.

        Never raises: an answer without a sign of work is better than none.
        """

    async def deliver(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Post everything in the right thread, split within the platform's limits; the ids of the messages, in order.

        Rate limits are waited for (bounded) and resumed after the last part that arrived; parts are not repeated.

        Raises:
            UnavailableError: it could not be delivered, not even as plain text.
        """

    async def dismiss(self) -> None:
        """Take the sign of work away: nothing is going to be said. Never raises."""


class Platform(Protocol):
    """A running adapter, as the shared core and the scheduler reach it. Names of places are the platform's own ids."""

    name: str
    """``slack`` or ``discord``: the prefix of the ids of its people."""

    async def start(self) -> None:
        """Connect and begin to answer; returns when connected.

        Raises:
            ConfigurationError: a token, scope or intent is missing; says the click that mends it.
            UnavailableError: the platform cannot be reached.
        """

    async def stop(self) -> None:
        """Take no more messages, then disconnect; answers in flight have been waited for by the caller."""

    def routes(self) -> Sequence[web.RouteDef]:
        """What has to be served over HTTP, known before the start; empty where we connect to the platform."""

    def healthy(self) -> bool:
        """Whether the connection was alive within the last minute."""

    async def place(self, heard: Heard) -> Place:
        """Where a message is answered that was heard earlier, by a process that is gone."""

    async def post_card(self, channel: str, card: Card, thread: str = "") -> str:
        """Post a card; its message id.

        Raises:
            UnavailableError: it was not delivered.
        """

    async def redraw(self, channel: str, message: str, card: Card) -> None:
        """Show a card's new state in place of the old one.

        Raises:
            NotFoundError: the message is gone.
            UnavailableError: it was not delivered.
        """

    async def tell(self, conversation: str, text: str, mention: str = "", *, internal: bool = False) -> str:
        """Post Markdown into a conversation (``channel:thread``).

        ``mention`` holds raw ids of people, groups or roles, separated by commas; they are called in front of the
        text, and nobody else is, whatever the text says. What is ``internal`` is not told where people from other
        organisations read along and answers are hidden from them: a single person is told directly instead.

        Raises:
            UsageError: it is internal, others read along, and it is not for one person.
            UnavailableError: it was not delivered.
        """


class Core(Protocol):
    """What adapters call. Nothing here raises: whatever goes wrong becomes words for the person who waits.

    Every method returns when its work is done, which may take long: adapters acknowledge first and call it in a task.
    """

    closing: bool
    """No more messages are taken in: what arrives now is left unacknowledged, for whoever it is delivered to next."""

    async def hear(self, heard: Heard, place: Place) -> None:
        """Do whatever a message asks for: ignore it, or show work, answer it in ``place`` and record the post.

        A message that was heard before (a redelivery, the other copy of a mention) is ignored.
        """

    async def withdraw(self, platform: str, channel: str, message: str) -> None:
        """The author deleted a message: if its answer is not out yet, it will not be."""

    async def press(self, press: Press) -> Outgoing | None:
        """Do what a button says; the words to show to the one who pressed, and to nobody else.

        None when what happened can be seen anyway. Cards are redrawn by the core.
        """

    async def react(self, platform: str, channel: str, message: str, person: Person, helpful: bool | None) -> None:
        """A reaction on one of our answers counts as a vote; None when the reaction was taken away."""

    async def adopt(self, marked: Marked) -> Outgoing:
        """Store a person's reply as a draft document for the admins to decide on; the words for who marked it."""

    async def command(
        self, words: str, person: Person, channel: str, visibility: Visibility
    ) -> tuple[Outgoing | Card, ...]:
        """``gaps``, ``digest``, ``status``, ``help`` and what follows them; empty when ``words`` is a question."""

    async def home(self, person: Person) -> tuple[Card, ...]:
        """What a person sees on the bot's own page: topics that are open, and for admins candidates to decide on."""

    async def collections(self, person: Person, channel: str, beginning: str) -> tuple[str, ...]:
        """Names of collections that a person may search from a channel, for completion; at most 25."""
