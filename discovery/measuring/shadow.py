"""What the gate would have done to answers that people have voted on. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discovery.measuring.statistics import Share


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that was given: whether the gate would refuse it, and its votes."""

    would_refuse: bool
    helpful: int = 0
    unhelpful: int = 0


@dataclass(frozen=True, slots=True)
class ShadowResult:
    """Answers by what the gate would have done; an answer with as many votes for as against counts as neither.

    Attributes:
        refused: of all answers that were given.
        liked_refused: of the liked ones.
        disliked_stopped: of the disliked ones.
    """

    refused: Share
    liked_refused: Share
    disliked_stopped: Share

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        return (
            f"The gate would have refused {self.refused.hits} of {self.refused.of} answers: "
            f"{self.liked_refused.hits} of {self.liked_refused.of} liked ones, "
            f"and stopped {self.disliked_stopped.hits} of {self.disliked_stopped.of} disliked ones."
        )


def shadow(answered: Iterable[Answered]) -> ShadowResult:
    """Compare the gate's judgement with people's."""
    answers = list(answered)
    liked = [one for one in answers if one.helpful > one.unhelpful]
    disliked = [one for one in answers if one.unhelpful > one.helpful]
    return ShadowResult(
        *(Share(sum(one.would_refuse for one in part), len(part)) for part in (answers, liked, disliked))
    )
