"""Secrets: from an environment variable, or from the file that ``NAME_FILE`` names. Never from the settings file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from store.errors import ConfigurationError

CREDENTIALS = (
    "SLACK_BOT_TOKEN",
    "SLACK_APP_TOKEN",
    "SLACK_SIGNING_SECRET",
    "DISCORD_TOKEN",
    "GITHUB_TOKEN",
    "LLM_API_KEY",
    "EMBEDDING_API_KEY",
    "VECTORS_API_KEY",
    "DATABASE_URL",
)
"""Every secret there is."""

_FILE = "_FILE"


def credential(name: str, environment: Mapping[str, str] | None = None) -> str:
    """A secret without white space around it; empty when it is not set.

    Args:
        name: such as ``SLACK_BOT_TOKEN``; ``SLACK_BOT_TOKEN_FILE`` may name a file that holds it instead.
        environment: the variables; those of the process when None.

    Raises:
        ConfigurationError: the file cannot be read, or both variables are set.
    """
    variables = os.environ if environment is None else environment
    value, path = variables.get(name, "").strip(), variables.get(name + _FILE, "").strip()
    if value and path:
        raise ConfigurationError(f"Both {name} and {name}{_FILE} are set.", "Keep one of them.")
    if not path:
        return value
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{name}{_FILE} is {path!r}, which cannot be read: {error}.", "Correct the path or its permissions."
        ) from error


def secret_values(environment: Mapping[str, str] | None = None) -> set[str]:
    """All secrets that are set, and the passwords in those that are addresses: what may never be shown.

    Raises:
        ConfigurationError: as :func:`credential`.
    """
    values = {credential(name, environment) for name in CREDENTIALS} - {""}
    return values | {part for value in values for part in _passwords(value)}


def _passwords(address: str) -> set[str]:
    try:
        password = urlsplit(address).password or ""
    except ValueError:
        return set()
    return {password, unquote(password)} - {""}


def needed(name: str, what_for: str) -> str:
    """A secret that must be there.

    Raises:
        ConfigurationError: it is not set; says what it is for.
    """
    if value := credential(name):
        return value
    raise ConfigurationError(
        f"{name} is not set.", f"{what_for} Put it into the environment, or its file's path into {name}_FILE."
    )
