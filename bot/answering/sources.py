"""Which passages a language model is shown, and as what: within its window, and only what may leave. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.answering.llm_budget import Window, estimated_tokens, fitting
from bot.answering.prompts import PromptSource, render_source
from bot.answering.quoting import shortened
from store.privacy import redact
from store.records import Passage, Visibility

_FEWEST_TOKENS = 64
"""Room below which the beginning of a source that is too long is not worth sending."""
_SHORTENED_BY = 0.8


@dataclass(frozen=True, slots=True)
class Rules:
    """What may leave.

    Attributes:
        private: whether passages of private collections may.
        mask: whether secrets and personal data in questions are masked.
        mask_sources: the same for passages; on this machine the contact that somebody asks for may be told.
    """

    private: bool
    mask: bool = True
    mask_sources: bool = True


def allowed(passages: Sequence[Passage], rules: Rules) -> tuple[Passage, ...]:
    """The passages that may be sent; none when the best one may not, for the others would give a poorer answer."""
    if rules.private:
        return tuple(passages)
    if passages and passages[0].visibility is Visibility.PRIVATE:
        return ()
    return tuple(passage for passage in passages if passage.visibility is Visibility.PUBLIC)


def prompt_source(passage: Passage, rules: Rules) -> PromptSource:
    """A passage as the model reads it: its document, its section and its text."""
    name = " › ".join(filter(None, [passage.title or passage.document, passage.section]))
    text = passage.text
    return PromptSource(redact(name), redact(text)) if rules.mask and rules.mask_sources else PromptSource(name, text)


def within(sources: Sequence[PromptSource], window: Window, overhead: int) -> tuple[PromptSource, ...]:
    """As many sources as fit, from the first on.

    Args:
        sources: best first.
        window: of the model.
        overhead: tokens of the prompt without any source.

    Returns:
        Whole sources; when not even the first fits, its beginning, or nothing where there is no room at all.
    """
    room = window.prompt - overhead
    count = fitting([render_source(number, source) for number, source in enumerate(sources, 1)], room)
    if count or not sources or room < _FEWEST_TOKENS:
        return tuple(sources[:count])
    first = sources[0]
    while estimated_tokens(render_source(1, first)) > room:
        first = PromptSource(first.name[:200], shortened(first.text, int(len(first.text) * _SHORTENED_BY)))
    return (first,)
