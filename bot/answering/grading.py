"""Has a language model judge which passages are relevant, and put a question in other words when none is."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.answering.llm_budget import Window, prompt_tokens
from bot.answering.llm_wire import Llm
from bot.answering.prompts import grade_prompt, grade_schema
from bot.answering.sources import Rules, prompt_source, within
from store.errors import LlmError, LlmFailure, ModelError, UnavailableError
from store.privacy import redact
from store.records import Passage, Visibility
from store.text import clean, is_blank

logger = logging.getLogger(__name__)

MOST_GRADED = 10
_ANSWER_TOKENS = 200
_LONGEST_REWRITE = 600


@dataclass(frozen=True, slots=True)
class Grades:
    """What the model said.

    Attributes:
        relevant: the passages to answer from, in their order; passages that it was not shown are among them.
        rewrite: the question in other words; empty when some passage is relevant, or when it had none.
    """

    relevant: tuple[Passage, ...]
    rewrite: str = ""


class Grader:
    """Grades passages; may be used by many threads.

    Args:
        llm: what judges.
        window: its tokens.
        rules: what may be sent.
    """

    def __init__(self, llm: Llm, window: Window, rules: Rules) -> None:
        self._llm = llm
        self._window = Window(window.tokens, min(window.answer, _ANSWER_TOKENS))
        self._rules = rules

    def grade(self, question: str, passages: Sequence[Passage]) -> Grades:
        """One call of the model.

        Args:
            question: as it stands alone.
            passages: best first.

        Raises:
            LlmError: there are no grades; the passages then count as they came.
        """
        shown = [passage for passage in passages[:MOST_GRADED] if self._may_see(passage)]
        if not shown:
            raise LlmError(LlmFailure.WITHHELD, "Private passages are not sent to this endpoint (llm.allow_private).")
        asked = redact(question) if self._rules.mask else question
        sources = [prompt_source(passage, self._rules) for passage in shown]
        fitting = within(sources, self._window, prompt_tokens(grade_prompt(asked, ())))
        if not fitting:
            raise LlmError(LlmFailure.CONTEXT_EXCEEDED, f"No source fits into {self._window.tokens} tokens.")
        completion = self._llm.complete(
            grade_prompt(asked, fitting), answer_tokens=self._window.answer, schema=grade_schema()
        )
        numbers, rewrite = parse_grades(completion.text, len(fitting))
        rejected = {
            passage.chunk_id for number, passage in enumerate(shown[: len(fitting)], 1) if number not in numbers
        }
        if not numbers and len(shown) == len(passages[:MOST_GRADED]):
            return Grades((), rewrite)
        return Grades(tuple(passage for passage in passages if passage.chunk_id not in rejected))

    def _may_see(self, passage: Passage) -> bool:
        return self._rules.private or passage.visibility is Visibility.PUBLIC


@dataclass(frozen=True, slots=True)
class Graded:
    """What grading came to.

    Attributes:
        relevant: the passages to answer from; all that were found when the model failed, none when none helps.
        rewrite: the words under which they were found; empty when those of the question did.
        notes: what a maintainer should know.
    """

    relevant: tuple[Passage, ...]
    rewrite: str = ""
    notes: tuple[str, ...] = ()


def graded(
    grader: Grader, question: str, passages: Sequence[Passage], search: Callable[[str], Sequence[Passage]]
) -> Graded:
    """Grade passages; when none is relevant, search once more in other words and grade what that finds.

    Args:
        grader: what judges.
        question: as it stands alone.
        passages: what was found for it, best first.
        search: finds passages for other words.

    Returns:
        When a call of the model or the second search fails, the passages as they came.
    """
    try:
        first = grader.grade(question, passages)
        if first.relevant:
            notes = (f"{len(first.relevant)} of {len(passages)} passages graded relevant",)
            return Graded(first.relevant, notes=notes)
        if is_blank(first.rewrite):
            return Graded((), notes=("The language model found no passage relevant.",))
        second = grader.grade(question, search(first.rewrite))
    except LlmError as error:
        logger.warning("Not graded, LLM error (%s): %s", error.failure, error)
        return Graded(tuple(passages), notes=(f"Not graded, LLM error ({error.failure}): {error.problem}",))
    except (UnavailableError, ModelError) as error:
        logger.warning("Not graded, the second search failed: %s", error)
        return Graded(tuple(passages), notes=(f"Not graded, the second search failed: {error.problem}",))
    if second.relevant:
        return Graded(second.relevant, first.rewrite, (f"Found in other words: {first.rewrite}",))
    return Graded((), notes=(f"The language model found no passage relevant, nor for {first.rewrite!r}.",))


def parse_grades(text: str, sources: int) -> tuple[frozenset[int], str]:
    """The numbers of the relevant sources and the rewritten question.

    Args:
        text: the JSON object that the model wrote; some wrap it in a code fence or in words.
        sources: how many it was shown.

    Raises:
        LlmError: there is no such object, or it names a source that does not exist.
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1])
    except ValueError as error:
        raise LlmError(LlmFailure.GARBAGE, f"The language model's grades are no JSON: {text[:120]!r}.") from error
    relevant = value.get("relevant") if isinstance(value, dict) else None
    if not isinstance(relevant, list) or not all(type(number) is int and 1 <= number <= sources for number in relevant):
        raise LlmError(LlmFailure.GARBAGE, f"The language model's grades are none of 1 to {sources}: {relevant!r}.")
    rewrite = value.get("rewrite")
    words = " ".join(clean(rewrite).split()) if isinstance(rewrite, str) else ""
    return frozenset(relevant), words if len(words) <= _LONGEST_REWRITE else ""
