"""A platform that keeps what is posted to it: where the shared chat core ends, without any network."""

from __future__ import annotations

import itertools

from bot.chat.asking import Asking, Places
from bot.chat.cards import CardKeeper
from bot.chat.feedback import Feedback, FeedbackParts
from bot.chat.handlers import Handlers
from bot.chat.inbox import Inbox
from bot.chat.review import Review, ReviewParts
from bot.chat.service import ChatOptions, ChatParts, ChatService
from bot.chat.work import Workers
from store.audit import AuditLog
from store.candidates import CandidateStore
from store.errors import NotFoundError, UnavailableError
from store.posts import PostStore


class Room:
    """A place that remembers everything that happened in it.

    Args:
        failures: how many deliveries fail before one works.
    """

    def __init__(self, platform, failures=0):
        self.platform = platform
        self.failures = failures
        self.signs = []
        self.delivered = []
        self.dismissed = 0

    async def working(self, note=""):
        self.signs.append(note)

    async def deliver(self, outgoing):
        if self.failures:
            self.failures -= 1
            raise UnavailableError("The platform does not answer.")
        self.delivered.append(outgoing)
        return (self.platform.next_id(),)

    async def dismiss(self):
        self.dismissed += 1

    @property
    def texts(self):
        return [outgoing.text for outgoing in self.delivered]


class PlainPlatform:
    """An adapter without a remote end."""

    def __init__(self, name="slack"):
        self.name = name
        self.alive = True
        self.started = 0
        self.stopped = 0
        self.cards = {}
        self.told = []
        self.rooms = []
        self.failing = False
        self._ids = itertools.count(1)

    def next_id(self):
        return f"m{next(self._ids)}"

    def room(self, failures=0):
        room = Room(self, failures)
        self.rooms.append(room)
        return room

    async def start(self):
        self.started += 1

    async def stop(self):
        self.stopped += 1

    def healthy(self):
        return self.alive

    def routes(self):
        return ()

    async def place(self, _heard):
        return self.room()

    async def post_card(self, channel, card, thread=""):
        self._fail()
        message = self.next_id()
        self.cards[channel, message] = card
        return message

    async def redraw(self, channel, message, card):
        self._fail()
        if (channel, message) not in self.cards:
            raise NotFoundError(f"There is no message {message}.")
        self.cards[channel, message] = card

    async def tell(self, conversation, text, mention="", *, internal=False):
        self._fail()
        self.told.append((conversation, text, mention))
        return self.next_id()

    def _fail(self):
        if self.failing:
            raise UnavailableError("The platform does not answer.")


def service_over(installation, *, engine=None, channels=None, readers=None, admins=(), review_channels=None, **options):
    """The whole core over an installation, as :mod:`bot.app` wires it; ``options`` are :class:`ChatOptions`' and
    ``deciding``, ``topics``, ``digest``.
    """
    engine = engine or installation.engine()
    candidates = CandidateStore(installation.database)
    posts = PostStore(installation.database)
    workers = Workers(2)
    places = Places(channels or {}, readers or {})
    review = Review(
        ReviewParts(
            candidates=candidates,
            gaps=installation.gaps,
            audit=AuditLog(installation.database),
            deciding=options.pop("deciding", None),
            topics=options.pop("topics", list),
            digest=options.pop("digest", tuple),
            status=lambda: "All is well.",
            admins=frozenset(admins),
            notices=options.pop("notices", None),
            now=installation.clock,
        )
    )
    feedback = FeedbackParts(
        questions=installation.questions,
        posts=posts,
        candidates=candidates,
        audit=AuditLog(installation.database),
        report_missing=engine.report_missing,
        channels=places.channels,
        collection="default",
        now=installation.clock,
    )
    parts = ChatParts(
        asking=Asking(Handlers(engine), installation.questions, installation.documents.collections, places),
        feedback=Feedback(feedback),
        review=review,
        cards=CardKeeper(posts, review.card, review_channels or {}, workers),
        inbox=Inbox(installation.questions, workers, installation.clock),
        posts=posts,
        workers=workers,
    )
    return ChatService(parts, ChatOptions(**options))
