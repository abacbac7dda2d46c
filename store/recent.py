"""Remembers what was computed for the texts that were needed last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by text; may be used by many threads.

    Args:
        most: how many are kept, at least 1; the one that was not needed for longest goes first.
        longest: characters of a text that is worth keeping; None for any.
    """

    def __init__(self, most: int, longest: int | None = None) -> None:
        self._most = most
        self._longest = longest
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Value] = OrderedDict()

    def values(self, texts: list[str], make: Callable[[list[str]], Iterable[Value]]) -> dict[str, Value]:
        """The value of each text.

        Args:
            texts: in any order, also repeated.
            make: gives those that are not known, in the order of the texts that it is given, each of them once.
        """
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found.update(zip(missing, make(missing), strict=True))
        with self._lock:
            for text in texts:
                if self._longest is None or len(text) <= self._longest:
                    self._known[text] = found[text]
                    self._known.move_to_end(text)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return found
