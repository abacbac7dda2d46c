"""The engine of a running bot, whose policy may change while it runs; each question keeps the one it began with."""

from __future__ import annotations

from collections.abc import Callable

from bot.answering.engine import Engine, Parts
from bot.answering.policy import Policy
from store.records import GapReference, Question, Reply


class LiveEngine:
    """Answers like :class:`bot.answering.engine.Engine`, by the policy in force.

    Args:
        parts: what the engine works with.
        policy: the present one; asked for with every question.
    """

    def __init__(self, parts: Parts, policy: Callable[[], Policy]) -> None:
        self._parts = parts
        self._policy = policy

    def ask(self, question: Question, *, log: bool = True) -> Reply:
        """As :meth:`Engine.ask`."""
        return Engine(self._parts, self._policy()).ask(question, log=log)

    def report_missing(self, question: Question) -> GapReference:
        """As :meth:`Engine.report_missing`."""
        return Engine(self._parts, self._policy()).report_missing(question)
