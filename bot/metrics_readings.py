"""What is not counted but read whenever the metrics are looked at: the parts at work, and the database."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.answering.llm_client import LlmClient
from bot.chat.api_counts import ApiCounts
from store.errors import LlmFailure


@dataclass(frozen=True, slots=True)
class Readings:
    """What the database and the indexes say at one moment.

    Attributes:
        documents, chunks: how many are indexed, in all collections together.
        gaps: by state.
        succeeded: when each job last succeeded, over all processes; those that never did are left out.
        index: whether the vectors of all chunks are there, made by the configured model.
    """

    documents: int
    chunks: int
    gaps: Mapping[str, int]
    succeeded: Mapping[str, datetime] = field(default_factory=dict)
    index: bool = True


class Work(Protocol):
    """What the chat core tells of its work."""

    @property
    def in_flight(self) -> int:
        """Messages that are being worked on."""

    @property
    def waiting(self) -> int:
        """Questions that wait for a free worker."""

    @property
    def undelivered(self) -> int:
        """Answers that could not be delivered since the start."""


class _Undescribed(Collector):
    """A collector that is not asked when it is registered: the names are fixed and ours alone."""

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand."""
        return ()


class WorkCollector(_Undescribed):
    """Tells of the chat core and of its connections.

    Args:
        work: the core.
        connected: asked by platform whether its connection is alive.
        calls: how calls went, by platform.
    """

    def __init__(self, work: Work, connected: Mapping[str, Callable[[], bool]], calls: Mapping[str, ApiCounts]) -> None:
        self._work = work
        self._connected = connected
        self._calls = calls

    def collect(self) -> Iterator[Metric]:
        """See :class:`prometheus_client.registry.Collector`."""
        yield GaugeMetricFamily("gaplight_in_flight", "Messages that are worked on.", value=self._work.in_flight)
        yield GaugeMetricFamily("gaplight_waiting", "Questions that wait for a worker.", value=self._work.waiting)
        yield CounterMetricFamily(
            "gaplight_undelivered", "Answers that could not be delivered.", value=self._work.undelivered
        )
        up = GaugeMetricFamily("gaplight_platform_up", "1 while the connection is alive.", labels=["platform"])
        for name, alive in self._connected.items():
            up.add_metric([name], float(alive()))
        yield up
        retries = _counter("api_retries", "Calls to a platform that were made again.", "platform", "reason")
        failures = _counter("api_failures", "Calls to a platform that failed for good.", "platform", "kind")
        for name, calls in self._calls.items():
            retries.add_metric([name, "rate_limited"], calls.limited)
            retries.add_metric([name, "passing"], calls.retried)
            failures.add_metric([name, "refused"], calls.refused)
            failures.add_metric([name, "given_up"], calls.given_up)
        yield retries
        yield failures


class LlmCollector(_Undescribed):
    """Tells of a language model."""

    def __init__(self, client: LlmClient) -> None:
        self._client = client

    def collect(self) -> Iterator[Metric]:
        """See :class:`prometheus_client.registry.Collector`."""
        yield CounterMetricFamily("gaplight_llm_calls", "Prompts for the language model.", value=self._client.calls)
        failures = _counter("llm_failures", "Prompts that brought no usable answer.", "kind")
        for kind in LlmFailure:
            failures.add_metric([kind.value], self._client.failures[kind])
        yield failures
        resting = float(self._client.resting)
        yield GaugeMetricFamily("gaplight_llm_breaker_open", "1 while the model is not asked.", value=resting)


class StoreCollector(_Undescribed):
    """Tells of the database; what it says is read beforehand, since a database that hangs must not hang the page.

    Args:
        data: the data folder, whose disk is looked at.
        readings: the latest reading; None while the database does not answer.
    """

    def __init__(self, data: Path, readings: Callable[[], Readings | None]) -> None:
        self._data = data
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        """See :class:`prometheus_client.registry.Collector`."""
        free = shutil.disk_usage(self._data).free if self._data.is_dir() else 0
        yield GaugeMetricFamily("gaplight_data_free_bytes", "Free space at the data folder.", value=free)
        found = self._readings()
        yield GaugeMetricFamily("gaplight_database_up", "1 while the database answers.", value=found is not None)
        if found is None:
            return
        yield GaugeMetricFamily("gaplight_index_up", "1 while vectors are complete.", value=found.index)
        yield GaugeMetricFamily("gaplight_documents", "Documents that are indexed.", value=found.documents)
        yield GaugeMetricFamily("gaplight_chunks", "Pieces of documents that are indexed.", value=found.chunks)
        yield _labelled("gaplight_gaps", "Gaps by state.", "state", found.gaps)
        moments = {job: moment.timestamp() for job, moment in found.succeeded.items()}
        yield _labelled("gaplight_job_last_success_timestamp_seconds", "When a job last succeeded.", "job", moments)


def _labelled(name: str, text: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def _counter(name: str, text: str, *labels: str) -> Any:
    return CounterMetricFamily(f"gaplight_{name}", text, labels=labels)
