"""Which of a question's words and phrases the passages have, each by its weight. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

Pair = tuple[str, str]

MEAN_LENGTH = 80.0
"""Stems of a passage while it isn't measured; three corpora of documents have 60 to 100."""
_SATURATION = 1.2
_LENGTH_SHARE = 0.75
"""The usual constants of BM25, by which the index weighs words too."""

PHRASING = frozenset(
    word
    for line in (
        "总结 概括 概述 简述 综述 描述 说明 解释 阐述 分析 列举 列出 介绍 讨论 比较 指出 回答 评价 论述 归纳",
        "结合 根据 依据 按照 依照 基于 针对 通过 进行 采取 主要 具体 相关 有关 情况 一共 总共 共有 来 用来",
        "哪家 哪位 哪种 哪项 几项 几个 几种 多大 详细 内容",
        "mean meant definit",
    )
    for word in line.split()
)
"""Words that say how to answer, not about what: documents rarely repeat them, so their absence shows nothing. Without
them the separation of Chinese questions (AUROC of the phrases found) rises from 0.93 to 0.98. A longer list of English
ones changed nothing; these ("what does E202 mean?") decide in corpora of a few pages."""


@dataclass(frozen=True, slots=True)
class PassageWords:
    """The question's informative words and its phrases that one passage, or one document's passages, have."""

    document: str
    stems: AbstractSet[str]
    pairs: AbstractSet[Pair]
    strength: float = 0.0
    """Share of the question's words by weight, each counting the more the oftener it stands here: in [0, 1]."""


class QuestionWords:
    """The question's informative words and its phrases with their weights.

    A phrase is two words side by side of which at least one is informative. It weighs what its informative words
    weigh together.

    Args:
        question: all stems of the question in order.
        weights: inverse document frequency (0 or more) of its informative stems.
    """

    def __init__(self, question: Sequence[str], weights: Mapping[str, float]) -> None:
        known = {word: weight for word, weight in weights.items() if weight > 0}
        self._words = {word: weight for word, weight in known.items() if word not in PHRASING} or known
        self._pairs = {
            (first, second): self._words.get(first, 0.0) + self._words.get(second, 0.0)
            for first, second in pairwise(question)
            if first != second and (first in self._words or second in self._words)
        }
        self._phrases: dict[tuple[str, ...], float] = {
            pair: weight for pair, weight in self._pairs.items() if self._words.keys() >= set(pair)
        } or {(word,): weight for word, weight in self._words.items()}
        self._all_words = sum(self._words.values())
        self._all_pairs = sum(self._pairs.values())

    @property
    def total(self) -> float:
        """What the question's words weigh together."""
        return self._all_words

    def found_in(self, document: str, stems: Sequence[str], mean_length: float = MEAN_LENGTH) -> PassageWords:
        """What one passage has of the question.

        Args:
            document: id of its document.
            stems: of the passage, in order.
            mean_length: stems of a passage of this corpus, above 0.
        """
        counts, pairs = _taken_apart(tuple(stems))
        words = self._words.keys() & counts.keys()
        half = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * len(stems) / mean_length)
        strength = sum(self._words[word] * counts[word] / (counts[word] + half) for word in words)
        share = strength / self._all_words if self._all_words else 0.0
        return PassageWords(document, words, self._pairs.keys() & pairs, share)

    def by_document(self, found: Iterable[PassageWords]) -> list[PassageWords]:
        """The passages of each document taken together."""
        joined: dict[str, PassageWords] = {}
        for one in found:
            before = joined.get(one.document)
            joined[one.document] = (
                PassageWords(
                    one.document,
                    before.stems | one.stems,
                    before.pairs | one.pairs,
                    max(before.strength, one.strength),
                )
                if before
                else one
            )
        return list(joined.values())

    def covered(self, stems: AbstractSet[str]) -> float:
        """Share of the question's words, by weight, that these are; 0 for a question without informative words."""
        return sum(self._words[word] for word in stems) / self._all_words if self._all_words else 0.0

    def phrased(self, stems: AbstractSet[str], pairs: AbstractSet[Pair]) -> float:
        """Share of the question's phrases, by weight, that these pairs are; of its words when it has no phrase."""
        return sum(self._pairs[pair] for pair in pairs) / self._all_pairs if self._all_pairs else self.covered(stems)

    def missing_phrases(self, found: Sequence[PassageWords]) -> list[tuple[str, ...]]:
        """Pairs of two informative words that no passage has, in the question's order.

        A question without such a pair is judged by its single words.
        """
        present: set[tuple[str, ...]] = {pair for one in found for pair in one.pairs}
        present |= {(word,) for one in found for word in one.stems}
        return [phrase for phrase in self._phrases if phrase not in present]

    def weight_of_phrases(self, missing: Iterable[tuple[str, ...]]) -> float:
        """What such pairs or words weigh of all; 1 for a question without informative words."""
        total = sum(self._phrases.values())
        return sum(self._phrases[one] for one in missing) / total if total else 1.0


@lru_cache(maxsize=1024)
def _taken_apart(stems: tuple[str, ...]) -> tuple[Mapping[str, int], AbstractSet[Pair]]:
    """How often each stem stands in a passage, and its pairs; the same passages come back for many questions."""
    return Counter(stems), frozenset(pairwise(stems))
