"""How often rules and their combinations fired, and how often a gap was behind it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discovery.measuring.statistics import Share
from store.records import Rule


@dataclass(frozen=True, slots=True)
class Observed:
    """The rules that fired for one question, and whether a gap was behind it; None while nobody has said."""

    rules: frozenset[Rule]
    gap: bool | None = None


@dataclass(frozen=True, slots=True)
class RuleFigure:
    """One rule or combination.

    Attributes:
        rules: in report order; a combination fired with no other rule.
        fired: of all questions.
        precision: gaps among the questions for which it fired and somebody has said.
        recall: of all gaps that somebody has named.
    """

    rules: tuple[Rule, ...]
    fired: Share
    precision: Share
    recall: Share

    @property
    def name(self) -> str:
        """Tags joined by ``+``; ``none`` for no rule."""
        return "+".join(self.rules) or "none"


def rule_figures(observed: Sequence[Observed]) -> list[RuleFigure]:
    """Each of the seven rules, in their order, whatever else fired."""
    return [_figure((rule,), observed, [one for one in observed if rule in one.rules]) for rule in Rule]


def combination_figures(observed: Sequence[Observed]) -> list[RuleFigure]:
    """Each set of rules that fired together and with no other, the most frequent first."""
    sets = {one.rules for one in observed}
    found = [_figure(_ordered(rules), observed, [one for one in observed if one.rules == rules]) for rules in sets]
    return sorted(found, key=lambda figure: (-figure.fired.hits, figure.name))


def _figure(rules: tuple[Rule, ...], everything: Sequence[Observed], fired: Sequence[Observed]) -> RuleFigure:
    known = [one for one in fired if one.gap is not None]
    gaps = sum(bool(one.gap) for one in known)
    return RuleFigure(
        rules,
        Share(len(fired), len(everything)),
        Share(gaps, len(known)),
        Share(gaps, sum(bool(one.gap) for one in everything)),
    )


def _ordered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(rule for rule in Rule if rule in set(rules))
