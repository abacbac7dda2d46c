"""From a question to a message, the same on every platform; the one place that turns errors into words. Synchronous."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from bot.chat.messages import Incoming, Outgoing
from store.errors import GaplightError
from store.records import Question, Reply, Status, Turn

logger = logging.getLogger(__name__)

FAILED = "Something went wrong on my side, and it was written to the log. Please try again."
_REMEMBERED_CONVERSATIONS = 1000
_REMEMBERED_TURNS = 10


class Conversations:
    """The last turns of recent conversations; may be used by many threads."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, tuple[Turn, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def history(self, conversation: str) -> tuple[Turn, ...]:
        """The turns so far, oldest first."""
        with self._lock:
            return self._turns.get(conversation, ())

    def remember(self, conversation: str, *turns: Turn) -> None:
        """Add turns; the oldest turns and the conversations longest unused are forgotten."""
        with self._lock:
            self._turns[conversation] = (*self._turns.get(conversation, ()), *turns)[-_REMEMBERED_TURNS:]
            self._turns.move_to_end(conversation)
            while len(self._turns) > _REMEMBERED_CONVERSATIONS:
                self._turns.popitem(last=False)

    def forget(self, conversation: str) -> None:
        """Start the conversation anew."""
        with self._lock:
            self._turns.pop(conversation, None)


class Answering(Protocol):
    """What answers; made of :mod:`bot.answering`."""

    def ask(self, question: Question, *, log: bool = True) -> Reply:
        """Answer a question or refuse with a reason; False leaves no trace in the logs."""


class Handlers:
    """Answers messages; every path ends in a message.

    Args:
        engine: what answers.
        conversations: what was said before, for callers that keep no log of conversations themselves.
    """

    def __init__(self, engine: Answering, conversations: Conversations | None = None) -> None:
        self._engine = engine
        self.conversations = conversations or Conversations()

    def message(self, incoming: Incoming) -> Outgoing:
        """Answer one message within its conversation, and remember both."""
        outgoing = self.answer(incoming, self.conversations.history(incoming.conversation))
        if outgoing.reply and outgoing.reply.status in {Status.ANSWERED, Status.ABSTAINED}:
            turns = Turn("user", incoming.text), Turn("assistant", outgoing.reply.answer)
            self.conversations.remember(incoming.conversation, *turns)
        return outgoing

    def answer(self, incoming: Incoming, history: Sequence[Turn] = (), *, log: bool = True) -> Outgoing:
        """Answer one message.

        Args:
            incoming: what was asked.
            history: what was said before, oldest first.
            log: False leaves no trace in question log and gap log.
        """
        question = Question(
            text=incoming.text,
            asker=incoming.asker,
            platform=incoming.platform,
            channel=incoming.channel,
            visibility=incoming.visibility,
            collections=incoming.collections,
            scope=incoming.scope,
            history=tuple(history),
            conversation=incoming.conversation,
        )
        try:
            reply = self._engine.ask(question, log=log)
        except Exception as error:  # noqa: BLE001 - whatever happens, somebody waits for words
            return Outgoing(words_for(error))
        return Outgoing(_text_of(reply), reply)


def words_for(error: BaseException) -> str:
    """What a person is told of an error; one that nobody foresaw is logged and tells nothing of itself."""
    if isinstance(error, GaplightError):
        return str(error)
    logger.error("A message failed in an unforeseen way", exc_info=error)
    return FAILED


def _text_of(reply: Reply) -> str:
    if reply.gap and reply.status is Status.ABSTAINED:
        return f"{reply.answer}\n\nThe question was noted as a gap in the documents."
    return reply.answer
