"""How much fits into a language model's window, counted without its tokenizer, and whether it was cut. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.answering.llm_wire import Message, Usage

_PIECE = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<number>[0-9]+)|(?P<space>\s+)|(?P<mark>[!-/:-@\[-`{-~]+)|(?P<other>.)", re.DOTALL
)
_LETTERS = 6
"""Letters of a word that one token holds: most words of prose are one token, most identifiers several."""
_MARKS = 2
_OTHER_TOKENS = 1.5
"""Tokens of a character outside ASCII: for Chinese .7 in vocabularies that know it, 2 in those made for English."""
_MARGIN = 1.1
"""On English documentation the estimate without it lies between .8 and 1.4 of a real tokenizer's count."""
_MESSAGE_TOKENS = 8
"""Role and borders of one message in common chat templates."""
_TRUNCATED_SHARE = 0.33
"""A count of the prompt below this part of the estimate cannot be the whole prompt."""
_USUAL_WINDOWS = frozenset(2**power for power in range(11, 18))


@dataclass(frozen=True, slots=True)
class Window:
    """``tokens`` hold prompt and answer together; ``answer`` of them are kept free."""

    tokens: int = 4096
    answer: int = 500

    @property
    def prompt(self) -> int:
        """Tokens left for the prompt."""
        return max(0, self.tokens - self.answer)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has; rather too many than too few."""
    total = 0.0
    for match in _PIECE.finditer(text):
        length = match.end() - match.start()
        if match["word"]:
            total += 1 + (length - 1) // _LETTERS
        elif match["number"]:
            total += length
        elif match["space"]:
            total += "\n" in match["space"]
        elif match["mark"]:
            total += (length + _MARKS - 1) // _MARKS
        else:
            total += _OTHER_TOKENS
    return int(total * _MARGIN + 1)


def prompt_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens a prompt has."""
    return sum(estimated_tokens(message["content"]) + _MESSAGE_TOKENS for message in messages)


def fitting(texts: Sequence[str], room: int) -> int:
    """How many texts, from the first on, fit into so many tokens together."""
    for count, text in enumerate(texts):
        room -= estimated_tokens(text)
        if room < 0:
            return count
    return len(texts)


def truncation(estimate: int, usage: Usage | None, window: Window) -> str:
    """The sign that the endpoint cut the prompt without telling; empty when there is none.

    Args:
        estimate: tokens of the prompt as we counted them.
        usage: as the endpoint counted; None tells nothing.
        window: what it was believed to hold.
    """
    if usage is None or not usage.prompt:
        return ""
    if usage.prompt < estimate * _TRUNCATED_SHARE:
        return f"it counted {usage.prompt} tokens of a prompt of about {estimate}"
    total = usage.prompt + usage.completion
    if total in _USUAL_WINDOWS and total < window.tokens:
        return f"prompt and answer came to exactly {total} tokens"
    if total >= window.tokens:
        return f"prompt and answer came to {total} tokens, the window of {window.tokens} is full"
    return ""
