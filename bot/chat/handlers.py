"""What happens with a message, the same on every platform; the one place that turns errors into words."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict

from bot.answering.engine import Engine
from bot.chat.messages import Incoming, Outgoing
from store.errors import GaplightError
from store.records import Question, Status, Turn

logger = logging.getLogger(__name__)

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


class Handlers:
    """Answers messages; every path ends in a message.

    Args:
        engine: what answers.
        conversations: what was said before.
    """

    def __init__(self, engine: Engine, conversations: Conversations | None = None) -> None:
        self._engine = engine
        self.conversations = conversations or Conversations()

    def message(self, incoming: Incoming) -> Outgoing:
        """Answer one message within its conversation."""
        question = Question(
            text=incoming.text,
            asker=incoming.asker,
            platform=incoming.platform,
            channel=incoming.channel,
            visibility=incoming.visibility,
            collections=incoming.collections,
            scope=incoming.scope,
            history=self.conversations.history(incoming.conversation),
        )
        try:
            reply = self._engine.ask(question)
        except GaplightError as error:
            return Outgoing(str(error))
        except Exception:
            logger.exception("A question failed in an unforeseen way")
            return Outgoing("Something went wrong on my side, and it was written to the log. Please try again.")
        if reply.status in {Status.ANSWERED, Status.ABSTAINED}:
            turns = Turn("user", incoming.text), Turn("assistant", reply.answer)
            self.conversations.remember(incoming.conversation, *turns)
        return Outgoing(reply.answer, reply)
