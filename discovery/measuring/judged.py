"""One asked question judged: where its document ranked, what the gate did, whether the citations hold. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from discovery.measuring.asked import Asked
from store.records import AbstainReason, Citation, Passage, Status

CUT = 10
"""Documents that count for the reciprocal rank and the gain."""
_CHARACTERS_A_TOKEN = 4


class Failure(StrEnum):
    """What went wrong first, in the order of the steps."""

    RETRIEVAL = "retrieval"
    SCOPE = "scope"
    EVIDENCE = "evidence"
    GENERATION = "generation"


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one question.

    Attributes:
        asked: question and reply.
        ranks: 1-based places of its right documents among those retrieved; None when nobody named one.
        correct: end to end: answered from a right document, or refused where the documents have no answer; None
            without a label.
        failure: what went wrong first; None when nothing did, or nobody can tell.
    """

    asked: Asked
    ranks: tuple[int, ...] | None
    correct: bool | None
    failure: Failure | None

    @property
    def rank(self) -> int:
        """Place of the first right document; 0 when none was found."""
        return self.ranks[0] if self.ranks else 0

    def found_within(self, count: int) -> bool:
        """Whether a right document is among the first ones."""
        return 0 < self.rank <= count

    @property
    def recall(self) -> dict[int, float]:
        """Share of the right documents among the first 1, 3, 5 and 10."""
        wanted = max(1, len(self.asked.probe.gold_documents))
        return {count: sum(rank <= count for rank in self.ranks or ()) / wanted for count in (1, 3, 5, CUT)}

    @property
    def reciprocal_rank(self) -> float:
        """1 for the first place, 1/2 for the second; 0 beyond the tenth."""
        return 1 / self.rank if self.found_within(CUT) else 0.0

    @property
    def gain(self) -> float:
        """Normalised discounted cumulative gain over ten documents, each right one weighing the same."""
        wanted = min(CUT, max(1, len(self.asked.probe.gold_documents)))
        best = sum(1 / math.log2(place + 1) for place in range(1, wanted + 1))
        return sum(1 / math.log2(rank + 1) for rank in self.ranks or () if rank <= CUT) / best

    @property
    def tokens(self) -> int:
        """About how many tokens the retrieved passages have."""
        return sum(map(_tokens, self.asked.reply.passages))

    @property
    def citations_valid(self) -> bool | None:
        """Whether each citation quotes a passage of this very question literally; None without an answer."""
        if self.asked.reply.status is not Status.ANSWERED:
            return None
        reply = self.asked.reply
        return bool(reply.citations) and all(_stands(citation, reply.passages) for citation in reply.citations)


def judge(asked: Asked) -> Judged:
    """Judge one question that was measured."""
    probe, reply = asked.probe, asked.reply
    documents = list(dict.fromkeys(passage.document for passage in reply.passages))
    ranks: tuple[int, ...] | None = None
    if probe.gold_documents:
        ranks = tuple(
            place for place, one in enumerate(documents, 1) if any(same(one, g) for g in probe.gold_documents)
        )
    cites_right = not probe.gold_documents or any(
        same(citation.document, gold) for citation in reply.citations for gold in probe.gold_documents
    )
    if probe.answerable is None:
        return Judged(asked, ranks, None, None)
    correct = asked.covered is probe.answerable and (not probe.answerable or cites_right)
    return Judged(asked, ranks, correct, None if correct else _failure(asked, ranks))


def _failure(asked: Asked, ranks: tuple[int, ...] | None) -> Failure:
    if not asked.probe.answerable:
        return Failure.EVIDENCE
    if asked.reply.reason in {AbstainReason.SCOPE_CONFLICT, AbstainReason.OUT_OF_SCOPE}:
        return Failure.SCOPE
    if ranks == ():
        return Failure.RETRIEVAL
    generation = {AbstainReason.UNSUPPORTED_CITATION, AbstainReason.UNGROUNDED_ANSWER}
    return Failure.GENERATION if asked.covered or asked.reply.reason in generation else Failure.EVIDENCE


def same(document: str, gold: str) -> bool:
    """Whether a document's path or address is the one that somebody named, perhaps without folders or ending."""
    first, second = (one.strip().strip("/").casefold().replace("\\", "/") for one in (document, gold))
    if first == second or first.endswith(f"/{second}") or second.endswith(f"/{first}"):
        return True
    if "." in second.rpartition("/")[2]:
        return False
    bare = _without_ending(first)
    return bare == second or bare.endswith(f"/{second}")


def _without_ending(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.rpartition('.')[0] or name}"


def _stands(citation: Citation, passages: Sequence[Passage]) -> bool:
    """Pieces of a quotation may leave something out between them; each must stand in the cited document."""
    texts = [" ".join(one.text.split()) for one in passages if one.document == citation.document]
    pieces = [" ".join(piece.split()) for piece in citation.quote.split("…")]
    return bool(texts) and all(any(piece in text for text in texts) for piece in pieces if piece)


def _tokens(passage: Passage) -> int:
    """About four characters of Latin text make a token, and one Chinese character."""
    wide = sum(character > "\u2e7f" for character in passage.text)
    return wide + (len(passage.text) - wide) // _CHARACTERS_A_TOKEN
