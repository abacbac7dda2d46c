"""The policy in force: made of settings and calibration, and made anew when one of them changes under a running bot."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from bot.answering.policy import Policy
from bot.settings import Settings
from store.errors import UnavailableError

logger = logging.getLogger(__name__)

LIVE_SECTIONS = ("gate", "rules")
"""Sections of the settings file that a running bot takes over without a restart."""
_CHECK_SECONDS = 2.0


class PolicyWatch:
    """Gives the policy in force; may be used by many threads.

    Args:
        settings: at the start.
        build: makes a policy of settings, with the calibrated threshold read anew.
        changed: gives settings that changed since it was last asked, else None.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        settings: Settings,
        build: Callable[[Settings], Policy],
        changed: Callable[[], Settings | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._build = build
        self._changed = changed
        self._clock = clock
        self._turn = threading.Lock()
        self._checked = clock()
        self._policy = build(settings)

    def current(self) -> Policy:
        """The policy; a change shows after at most two seconds."""
        if self._clock() - self._checked >= _CHECK_SECONDS and self._turn.acquire(blocking=False):
            try:
                self._checked = self._clock()
                self._check()
            finally:
                self._turn.release()
        return self._policy

    def _check(self) -> None:
        if changed := self._changed():
            live = {section: getattr(changed, section) for section in LIVE_SECTIONS}
            self._settings = self._settings.model_copy(update=live)
        try:
            policy = self._build(self._settings)
        except UnavailableError as error:
            logger.warning("The policy stays as it was: %s", error.problem)
            return
        if policy.version != self._policy.version:
            logger.info("Policy %s: gate %s from %.2f", policy.version, policy.mode, policy.threshold)
            self._policy = policy
