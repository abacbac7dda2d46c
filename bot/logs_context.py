"""Which question a thread or task is working on, so that every line of the log can say so.

The value lives in a context variable: tasks inherit it by themselves, threads where the call that starts their work
copies the context (:mod:`bot.chat.work`).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Handling:
    """One question on its way.

    Attributes:
        identity: under which it is recorded and logged.
        private: what people wrote and were told; masked wherever a log line repeats it.
        taken: whether a question has been recorded under this identity.
    """

    identity: str
    private: list[str] = field(default_factory=list)
    taken: bool = False


_current: ContextVar[_Handling | None] = ContextVar("gaplight_question", default=None)


@contextmanager
def handling(*private: str) -> Iterator[None]:
    """Everything that is logged in the block belongs to one message, whose text may not be logged.

    Args:
        private: texts of the message.
    """
    token = _current.set(_Handling(uuid.uuid4().hex, list(private)))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def own_question(text: str, *, recorded: bool) -> Iterator[str]:
    """Everything that is logged in the block belongs to one question; its id.

    The id is that of the message around it, unless a recorded question has taken it: one message, such as an approval,
    can make many questions be asked.

    Args:
        text: of the question; may not be logged.
        recorded: whether the question is going to be recorded under this id.
    """
    around = _current.get()
    shared = around is not None and not (recorded and around.taken)
    own = around if around is not None and shared else _Handling(uuid.uuid4().hex)
    own.taken = own.taken or recorded
    own.private.append(text)
    token = _current.set(own)
    try:
        yield own.identity
    finally:
        _current.reset(token)


def keep_private(text: str) -> None:
    """Let no later line of the present question repeat a text, such as its answer."""
    if (now := _current.get()) is not None:
        now.private.append(text)


def current_question() -> str:
    """The id of the question that is being worked on; empty when there is none."""
    now = _current.get()
    return now.identity if now is not None else ""


def private_texts() -> tuple[str, ...]:
    """What no log line may repeat now."""
    now = _current.get()
    return tuple(now.private) if now is not None else ()
