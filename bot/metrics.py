"""What a running bot counts, in the form that Prometheus reads.

Every label has a small, fixed set of values: nothing of a question, and no name of a person, channel or collection,
can become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.registry import Collector

from store.records import AbstainReason, GapReference, GapType, Question, Reply, Status

PLATFORMS = ("slack", "discord", "cli")
STAGES = ("embed", "dense", "lexical", "search", "gate", "grade", "answer", "total")
"""Steps of a question, as in :attr:`store.records.Reply.timings_ms`; ``search`` is everything after ``embed``."""
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histograms: words are found in a millisecond, and a language model may take half a minute."""
_OTHER = "other"


class Metrics:
    """Counters of one process; may be used by many threads.

    Implements :class:`bot.answering.observing.Observer`.

    Args:
        jobs: names of the jobs of this installation.

    Attributes:
        policy: the version of the policy in force; kept up to date by whoever may ask the database.
    """

    def __init__(self, jobs: Sequence[str] = ()) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=self.registry)
        self.policy = ""
        self._jobs = frozenset(jobs)
        self._build = Gauge("gaplight_build_info", "Always 1.", ["version", "policy"], registry=self.registry)
        self._seconds = Histogram(
            "gaplight_stage_seconds",
            "Time of a step of a question.",
            ["stage"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._questions = self._counter("questions", "Questions answered or refused.", ["platform", "status"])
        self._abstentions = self._counter("abstentions", "Refused questions.", ["reason"])
        self._exposures = self._counter("gap_questions", "Questions that opened or joined a gap.", ["type"])
        self._opened = self._counter("gaps_opened", "Gaps that were opened.")
        self._unlogged = self._counter("unlogged_questions", "Questions that could not be written into the logs.")
        self._votes = self._counter("votes", "Votes on answers.", ["vote"])
        self._job_runs = self._counter("jobs", "Scheduled jobs that ended.", ["job", "outcome"])
        self._start_at_nought()

    def asked(self, question: Question, reply: Reply) -> None:
        """See :meth:`bot.answering.observing.Observer.asked`."""
        platform = question.platform if question.platform in PLATFORMS else _OTHER
        self._questions.labels(platform, reply.status.value).inc()
        if reply.status is Status.ABSTAINED and reply.reason is not None:
            self._abstentions.labels(reply.reason.value).inc()
        for stage in STAGES:
            if stage in reply.timings_ms:
                self._seconds.labels(stage).observe(reply.timings_ms[stage] / 1000)
        if reply.gap is not None:
            self.reported(reply.gap)

    def not_logged(self) -> None:
        """See :meth:`bot.answering.observing.Observer.not_logged`."""
        self._unlogged.inc()

    def reported(self, gap: GapReference) -> None:
        """See :meth:`bot.answering.observing.Observer.reported`."""
        self._exposures.labels(gap.type.value).inc()
        if gap.opened:
            self._opened.inc()

    def voted(self, helpful: bool) -> None:
        """See :meth:`bot.answering.observing.Observer.voted`."""
        self._votes.labels(_vote(helpful)).inc()

    def job_ended(self, job: str, succeeded: bool) -> None:
        """A job of the schedule is over."""
        self._job_runs.labels(job if job in self._jobs else _OTHER, _outcome(succeeded)).inc()

    def read_at_scrape(self, collector: Collector) -> None:
        """Ask a collector for further values whenever the page is made."""
        self.registry.register(collector)

    def page(self) -> bytes:
        """Everything, as Prometheus reads it."""
        self._build.clear()
        self._build.labels(version("gaplight"), self.policy).set(1)
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(f"gaplight_{name}", text, labels, registry=self.registry)

    def _start_at_nought(self) -> None:
        """A series that begins with its first event hides that event from ``rate``."""
        for stage in STAGES:
            self._seconds.labels(stage)
        for reason in AbstainReason:
            self._abstentions.labels(reason.value)
        for kind in GapType:
            self._exposures.labels(kind.value)
        for yes in (True, False):
            self._votes.labels(_vote(yes))
            for job in sorted(self._jobs):
                self._job_runs.labels(job, _outcome(yes))


def _vote(helpful: bool) -> str:
    return "helpful" if helpful else "unhelpful"


def _outcome(succeeded: bool) -> str:
    return "succeeded" if succeeded else "failed"
