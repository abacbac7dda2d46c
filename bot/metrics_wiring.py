"""Builds the metrics of a running bot from its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.app import App
from bot.chat.api_counts import ApiCounts
from bot.chat.health import Scrape
from bot.chat.ports import Platform
from bot.chat.service import ChatService
from bot.jobs import JOBS, last_successes
from bot.llm_wiring import uses_llm
from bot.metrics import Metrics
from bot.metrics_readings import LlmCollector, Readings, StoreCollector, WorkCollector
from store.errors import GaplightError, IndexMismatchError, UnavailableError


class RunMetrics:
    """What a running bot counts and reads.

    Args:
        app: the parts below; told to count here, which holds for what it builds from now on.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self.counted = Metrics(JOBS)
        self.calls: dict[str, ApiCounts] = {}
        self._readings: Readings | None = None
        app.observer = self.counted

    def api(self, platform: str) -> ApiCounts:
        """What the adapter of a platform counts its calls in."""
        return self.calls.setdefault(platform, ApiCounts())

    def scrape(self, service: ChatService, platforms: Sequence[Platform]) -> Scrape:
        """The page; call it once, when everything is built."""
        alive = {platform.name: platform.healthy for platform in platforms}
        calls: Mapping[str, ApiCounts] = {name: self.api(name) for name in alive}
        self.counted.read_at_scrape(WorkCollector(service, alive, calls))
        self.counted.read_at_scrape(StoreCollector(self._app.settings.data, lambda: self._readings))
        if uses_llm(self._app.settings):
            self.counted.read_at_scrape(LlmCollector(self._app.llm))
        return Scrape(self._read, self.counted.page)

    def _read(self) -> None:
        """Ask the database. Until it has answered there is no reading: the one before says nothing of now."""
        self._readings = None
        try:
            counts = self._app.documents.counts()
            self.counted.policy = self._app.policy.version
            gaps = {state.value: count for state, count in self._app.gaps.counts().items()}
            succeeded = last_successes(self._app.questions)
            self._readings = Readings(counts.documents, counts.chunks, gaps, succeeded, self._index_complete())
        except GaplightError:
            return

    def _index_complete(self) -> bool:
        try:
            self._app.index.check()
        except (IndexMismatchError, UnavailableError):
            return False
        return True
