"""Everything that decides how a question is treated, under one version."""

from __future__ import annotations

from dataclasses import dataclass

from bot.answering.extractive import ExtractiveOptions
from bot.answering.gate import GateMode
from discovery.rules import RuleThresholds
from discovery.verdict import GapVerdict
from store.records import Rule

POLICY_VERSION = "4"
"""Raise it when rules, support, gate or answers change for the same settings: it is part of every policy's version."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that decides how a question is treated; ``version`` is stored with every question.

    Attributes:
        version: short hash of all of it, and of index format and model.
        threshold: support from which the gate lets an answer through.
        mode: whether the gate's refusal counts.
    """

    version: str
    threshold: float
    mode: GateMode
    rules: RuleThresholds
    disabled: frozenset[Rule]
    verdict: GapVerdict
    extractive: ExtractiveOptions
    redact: bool = True
