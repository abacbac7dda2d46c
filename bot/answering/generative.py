"""An answer written by a language model from the passages, of which only what they support is shown."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.answering import citations
from bot.answering.citation_check import CheckedAnswer, check_answer
from bot.answering.extractive import QUOTE_CHARACTERS, Answer
from bot.answering.links import addresses, host_of, without_foreign_links
from bot.answering.llm_budget import Window, prompt_tokens, truncation
from bot.answering.llm_wire import Llm
from bot.answering.prompts import NO_ANSWER, PromptSource, answer_prompt
from bot.answering.quoting import shortened
from bot.answering.sources import Rules, allowed, prompt_source, within
from store.embedding import Embedder
from store.errors import LlmError, LlmFailure, ModelError
from store.language import detect_language
from store.model_probe import covers
from store.privacy import redact
from store.records import AbstainReason, Citation, Passage
from store.text import clean

logger = logging.getLogger(__name__)

MOST_SOURCES = 6
"""More passages make small models wander and hardly ever hold the answer."""
KEPT = 0.5
"""Share of an answer's sentences that must be supported; with less, what is left could mislead."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of asking the model.

    Attributes:
        answer: the checked answer; None when there is none to show.
        reason: why an answer that was written, or the want of one, is a refusal; None when the model failed.
        notes: what a maintainer should know, in words.
        own_words: whether the answer speaks for itself rather than quotes.
    """

    answer: Answer | None
    reason: AbstainReason | None = None
    notes: tuple[str, ...] = ()
    own_words: bool = False


@dataclass(frozen=True, slots=True)
class GenerativeOptions:
    """How the model is used.

    Attributes:
        window: tokens of prompt and answer.
        rules: what may be sent.
        sources: most passages that are sent.
    """

    window: Window
    rules: Rules
    sources: int = MOST_SOURCES


class GenerativeAnswerer:
    """Writes answers; may be used by many threads.

    Args:
        llm: what writes.
        embedder: of the index; compares sentences with sources.
        options: how much is sent.
    """

    def __init__(self, llm: Llm, embedder: Embedder, options: GenerativeOptions) -> None:
        self._llm = llm
        self._embedder = embedder
        self._options = options

    def write(self, question: str, passages: Sequence[Passage]) -> Written:
        """Answer from passages.

        Args:
            question: as it stands alone.
            passages: best first; the answer cites these and no others.

        Returns:
            An answer whose every sentence is supported, or why there is none. Failures of the model are told in the
            notes and have no reason: they say nothing about the documents.
        """
        try:
            return self._written(question, passages)
        except LlmError as error:
            logger.warning("LLM error (%s): %s", error.failure, error)
            return Written(None, notes=(f"LLM error ({error.failure}): {error.problem}",))
        except ModelError as error:
            logger.exception("A generated answer could not be checked")
            return Written(None, notes=(f"The generated answer could not be checked: {error.problem}",))

    def _written(self, question: str, passages: Sequence[Passage]) -> Written:
        sent = allowed(passages, self._options.rules)[: self._options.sources]
        if not sent:
            raise LlmError(LlmFailure.WITHHELD, "Private passages are not sent to this endpoint (llm.allow_private).")
        asked = redact(question) if self._options.rules.mask else question
        text, count, notes = self._asked(asked, [prompt_source(passage, self._options.rules) for passage in sent])
        written = self._judged(text, sent[:count], question)
        for note in (*notes, *written.notes):
            logger.info("Generated answer: %s", note)
        return replace(written, notes=(*notes, *written.notes))

    def _asked(self, question: str, sources: Sequence[PromptSource]) -> tuple[str, int, tuple[str, ...]]:
        """The model's text, how many sources it saw, and notes; a prompt that was too long is sent again by half."""
        window = self._options.window
        overhead = prompt_tokens(answer_prompt(question, ()))
        shown = within(sources, window, overhead)
        if not shown:
            raise LlmError(LlmFailure.CONTEXT_EXCEEDED, f"No source fits into a window of {window.tokens} tokens.")
        notes: tuple[str, ...] = ()
        prompt = answer_prompt(question, shown)
        try:
            completion = self._llm.complete(prompt, answer_tokens=window.answer)
        except LlmError as error:
            half = Window(window.answer + (overhead + prompt_tokens(prompt)) // 2, window.answer)
            fewer = within(shown, half, overhead)
            if error.failure is not LlmFailure.CONTEXT_EXCEEDED or not fewer:
                raise
            shown, prompt = fewer, answer_prompt(question, fewer)
            notes = (f"The prompt was too long for the endpoint; it was sent again with {len(shown)} sources.",)
            completion = self._llm.complete(prompt, answer_tokens=window.answer)
        if sign := truncation(prompt_tokens(prompt), completion.usage, window):
            note = f"The endpoint seems to cut prompts ({sign}); see llm.context_tokens in docs/llm.md."
            logger.warning(note)
            notes = (*notes, note)
        return completion.text, len(shown), notes

    def _judged(self, text: str, sources: Sequence[Passage], question: str) -> Written:
        if _says_no_answer(text):
            note = "The language model found no answer in the sources."
            return Written(None, AbstainReason.INSUFFICIENT_EVIDENCE, (note,))
        if text.lstrip().startswith(("{", "[{", "```json\n{")):
            raise LlmError(LlmFailure.GARBAGE, "The language model wrote JSON instead of an answer.")
        known = frozenset().union(*map(_addresses, sources))
        linked = without_foreign_links(clean(text), known)
        checked = self._checked(linked.text, sources, question)
        cited = [sources[number - 1] for number in checked.quotes]
        final = without_foreign_links(checked.text, frozenset().union(*map(_addresses, cited)))
        notes = _notes(checked, (*linked.removed, *final.removed))
        if reason := _refused(checked):
            return Written(None, reason, notes)
        shown = [_citation(number, sources[number - 1], quote) for number, quote in checked.quotes.items()]
        return Written(Answer(*citations.renumber(final.text, shown)), None, notes, own_words=True)

    def _checked(self, text: str, sources: Sequence[Passage], question: str) -> CheckedAnswer:
        """Meaning counts where the embedding model reads all languages, words where there is only one."""
        languages = {detect_language(passage.text) for passage in sources}
        own = detect_language(text, default=next(iter(languages)) if len(languages) == 1 else "en")
        covered = self._embedder.identity.languages
        reads = all(covers(covered, language) for language in (own, *languages))
        embed = self._embedder.embed_queries if reads else None
        return check_answer(text, sources, question, embed, translated=reads and own not in languages)


def _refused(checked: CheckedAnswer) -> AbstainReason | None:
    """Why a checked answer must not be shown."""
    if checked.quotes and checked.kept >= KEPT:
        return None
    if checked.admits and not checked.quotes:
        return AbstainReason.INSUFFICIENT_EVIDENCE
    return AbstainReason.UNSUPPORTED_CITATION if checked.cited else AbstainReason.UNGROUNDED_ANSWER


def _says_no_answer(text: str) -> bool:
    return text.strip(" \n.*_`\"'").upper().startswith(NO_ANSWER)


def _addresses(passage: Passage) -> frozenset[str]:
    return addresses(f"{passage.url} \n{passage.text}")


def _citation(number: int, passage: Passage, quote: str) -> Citation:
    return Citation(
        number,
        passage.document,
        passage.title,
        citations.section_at(passage, quote),
        passage.url,
        passage.score,
        shortened(quote, QUOTE_CHARACTERS),
    )


def _notes(checked: CheckedAnswer, links: Sequence[str]) -> tuple[str, ...]:
    """What was done to an answer, for the log; never its private text at length."""
    notes = []
    if links:
        # The path may carry what must not get out, so that only the hosts are told.
        hosts = ", ".join(dict.fromkeys(map(host_of, links)))[:300]
        notes.append(f"Removed {len(links)} address(es) that no cited source holds: {hosts}")
    if checked.pointless:
        notes.append(f"Removed {len(checked.pointless)} citation(s) without a source: {list(checked.pointless)}")
    if checked.moved:
        notes.append(f"Set {checked.moved} citation(s) right")
    if checked.dropped:
        reasons = "; ".join(dict.fromkeys(one.why for one in checked.dropped))[:300]
        notes.append(f"Dropped {len(checked.dropped)} unsupported sentence(s): {reasons}")
    return tuple(notes)
