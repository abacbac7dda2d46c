"""Every error that Gaplight raises on purpose.

    GaplightError
    ├── UsageError              the caller asked for something impossible (exit code 2)
    ├── ConfigurationError      a setting is wrong or missing (exit code 2)
    ├── NotFoundError           an id, name or file that does not exist
    ├── ConflictError           somebody else decided first, or the state does not allow the step
    ├── BusyError               another process holds the data folder, or brings documents in
    ├── IndexMismatchError      the index was built by another model or format; says how to rebuild
    ├── LoadError               one file could not be read; carries the reason for that file
    ├── ModelError              the embedding model cannot be found, verified or run
    └── UnavailableError        a database, vector store or remote end does not answer now
        ├── LlmError            the language model gave no answer; carries what kind of failure it was
        ├── EndpointError       an embedding endpoint gave no vectors; says whether another attempt can help
        └── VectorsLostError    the vector store answers, but holds less than the database

Each message says what was wrong, the value that was given, and what to do next.
"""

from __future__ import annotations

from enum import StrEnum


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
    """Another process holds the data folder, or the turn to bring documents in."""


class IndexMismatchError(GaplightError):
    """The index was built by another model or in another format."""


class LoadError(GaplightError):
    """One file could not be read."""


class ModelError(GaplightError):
    """The embedding model cannot be found, verified or run."""


class UnavailableError(GaplightError):
    """A database, vector store or remote end does not answer at the moment."""


class LlmFailure(StrEnum):
    """Why a language model gave no answer that can be used."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    REFUSED = "refused"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    CIRCUIT_OPEN = "circuit_open"
    CONTEXT_EXCEEDED = "context_exceeded"
    GARBAGE = "garbage"
    EMPTY = "empty"
    FILTERED = "filtered"
    CUT_OFF = "cut_off"
    WITHHELD = "withheld"


class LlmError(UnavailableError):
    """The language model gave no answer; the question is then treated as if there were none.

    Args:
        failure: what kind of failure it was.
        problem: see :class:`GaplightError`.
        next_step: see there.
        retry_after: seconds after which the endpoint wants to be asked again; 0 when it did not say.
    """

    def __init__(self, failure: LlmFailure, problem: str, next_step: str = "", retry_after: float = 0.0) -> None:
        super().__init__(problem, next_step)
        self.failure = failure
        self.retry_after = retry_after


class EndpointError(UnavailableError):
    """An embedding endpoint gave no vectors.

    Args:
        problem: see :class:`GaplightError`.
        next_step: see there.
        again: whether the same request may succeed a little later.
        retry_after: seconds after which the endpoint wants to be asked again; 0 when it did not say.
        too_much: whether fewer texts at once may pass.
    """

    def __init__(
        self,
        problem: str,
        next_step: str = "",
        *,
        again: bool = False,
        retry_after: float = 0.0,
        too_much: bool = False,
    ) -> None:
        super().__init__(problem, next_step)
        self.again = again
        self.retry_after = retry_after
        self.too_much = too_much


class VectorsLostError(UnavailableError):
    """The vector store answers, but does not hold what the database has."""
