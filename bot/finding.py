"""What a check of ``gaplight doctor`` says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a check ended; only a failure makes ``doctor`` fail."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; ``advice`` is the step that mends it, empty when all is well."""

    check: str
    verdict: Verdict
    text: str
    advice: str = ""
