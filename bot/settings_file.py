"""The settings file of a program that runs long."""

from __future__ import annotations

import logging
from pathlib import Path

from bot.settings import DEFAULT_CONFIG, Settings, load_settings
from store.errors import ConfigurationError

logger = logging.getLogger(__name__)


class SettingsFile:
    """Settings that are read again when their file changes.

    Args:
        config: the file; None for the one that is looked for by default.
        data: overrides the data folder.
    """

    def __init__(self, config: Path | None, data: Path | None) -> None:
        self._config = config
        self._data = data
        self._seen = self._state()

    def changed(self) -> Settings | None:
        """The settings after a change; None while there is none, or while what stands there cannot be used."""
        state = self._state()
        if state == self._seen:
            return None
        self._seen = state
        try:
            return load_settings(self._config, self._data)
        except ConfigurationError as error:
            logger.warning("The changed settings are not used: %s", error)
            return None

    def _state(self) -> tuple[int, int] | None:
        try:
            found = (self._config or DEFAULT_CONFIG).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size
