"""Every error that Gaplight raises on purpose.

    GaplightError
    ├── UsageError              the caller asked for something impossible (exit code 2)
    ├── ConfigurationError      a setting is wrong or missing (exit code 2)
    ├── NotFoundError           an id, name or file that does not exist
    ├── ConflictError           somebody else decided first, or the state does not allow the step
    ├── BusyError               another process holds the data folder
    ├── IndexMismatchError      the index was built by another model or format; says how to rebuild
    ├── LoadError               one file could not be read; carries the reason for that file
    ├── ModelError              the embedding model cannot be found, verified or run
    └── UnavailableError        a database, vector store or remote end does not answer now

Each message says what was wrong, the value that was given, and what to do next.
"""

from __future__ import annotations


class GaplightError(Exception):
    """Base of all deliberate errors.

    Args:
        problem: what was wrong, with the offending value.
        next_step: what the reader can do about it; may be empty when nothing can be done.
    """

    exit_code = 1

    def __init__(self, problem: str, next_step: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.problem} {self.next_step}".strip()


class UsageError(GaplightError):
    """The caller asked for something impossible."""

    exit_code = 2


class ConfigurationError(GaplightError):
    """A setting is wrong or missing."""

    exit_code = 2


class NotFoundError(GaplightError):
    """An id, a name or a file that does not exist."""


class ConflictError(GaplightError):
    """Somebody else decided first, or the present state does not allow the step."""


class BusyError(GaplightError):
    """Another process holds the data folder."""


class IndexMismatchError(GaplightError):
    """The index was built by another model or in another format."""


class LoadError(GaplightError):
    """One file could not be read."""


class ModelError(GaplightError):
    """The embedding model cannot be found, verified or run."""


class UnavailableError(GaplightError):
    """A database, vector store or remote end does not answer at the moment."""
