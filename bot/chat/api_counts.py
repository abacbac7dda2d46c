"""How calls to a platform's API went, counted by its adapter. Only ever grows; read by the metrics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class ApiCounts:
    """Since the start of the process.

    Attributes:
        limited: calls that the platform put off because of its rate limits.
        retried: calls that failed for another passing reason and were made again.
        refused: calls to which the platform said no.
        given_up: calls that did not work within the time that was allowed.
    """

    limited: int = 0
    retried: int = 0
    refused: int = 0
    given_up: int = 0
