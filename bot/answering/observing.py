"""Who is told how questions ended, such as the counters of a running bot. Told of facts, never asked for anything."""

from __future__ import annotations

from typing import Protocol

from store.records import GapReference, Question, Reply


class Observer(Protocol):
    """Called from many threads; must not raise and must not keep what people wrote."""

    def asked(self, question: Question, reply: Reply) -> None:
        """A question that is on record, or should be, has its reply."""

    def not_logged(self) -> None:
        """A question could not be written into the question log or the gap log."""

    def reported(self, gap: GapReference) -> None:
        """A person said that the documents don't answer a question."""

    def voted(self, helpful: bool) -> None:
        """A person voted on an answer."""


class Nobody:
    """Where nobody counts. Implements :class:`Observer`."""

    def asked(self, question: Question, reply: Reply) -> None:
        """See :meth:`Observer.asked`."""

    def not_logged(self) -> None:
        """See :meth:`Observer.not_logged`."""

    def reported(self, gap: GapReference) -> None:
        """See :meth:`Observer.reported`."""

    def voted(self, helpful: bool) -> None:
        """See :meth:`Observer.voted`."""
