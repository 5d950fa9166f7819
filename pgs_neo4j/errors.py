"""Every error the package raises.

    PGSError
    ├── UsageError                  what was asked for cannot be done as asked
    │   ├── ConfigError             a setting or parameter is unknown or out of range
    │   ├── MappingError            a graph mapping is malformed or matches nothing
    │   ├── EmptyGraphError         the graph has no node to read
    │   ├── QuestionError           the question is empty, too long, or no text
    │   ├── UnknownGraphError       no graph of that name is stored
    │   ├── UnknownSessionError     no session of that id is stored
    │   ├── UnknownRunError         no run of that id is stored
    │   ├── IdempotencyError        the key was used for another request
    │   └── InputFileError          a file to load is missing or malformed
    ├── DatabaseError               Neo4j, GDS, or the local server
    │   ├── DatabaseUnavailableError
    │   ├── DatabaseAuthError
    │   ├── DatabaseTimeoutError
    │   ├── DatabaseMemoryError     a statement needs more memory than the server has
    │   ├── DatabaseVersionError
    │   ├── QueryError              a statement was refused
    │   ├── RunLostError            a run was deleted, or is carried out by somebody else
    │   ├── GDSError                a GDS procedure failed
    │   │   ├── GDSMissingError
    │   │   └── GDSMemoryError      the projection would not fit
    │   └── LocalServerError        the managed local server
    │       ├── ArtifactError       a jar could not be fetched or has the wrong checksum
    │       ├── JavaMissingError
    │       └── ServerStartError
    ├── BusyError                   somebody else is at this graph, or at this run
    │   └── LeaseLostError          somebody else took over while this job stood still
    ├── StoppedError                a bound was reached before there was anything to answer from
    │   ├── BudgetError             calls, tokens, or cost
    │   └── DeadlineError           the time of the whole run
    └── ModelError                  a language or embedding model
        ├── ModelUnavailableError
        ├── ModelAuthError
        ├── ModelRateLimitError
        ├── ModelTimeoutError
        ├── ModelOutputError        the reply was malformed or cut off
        ├── PromptTooLongError      the prompt exceeds the model's context
        ├── EmbeddingError          wrong dimensions or no vector
        └── AllSweepsFailedError    no partition could be read; says why for each

Each message is one sentence that says what happened and what to do. Messages never
contain a password, a key, or the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgs_neo4j.model import Usage

LISTED = 3  # reasons, and partitions for each, that a message names


class PGSError(Exception):
    """Root of every error of this package."""


class UsageError(PGSError):
    """The request itself has to change before it can succeed."""


class ConfigError(UsageError):
    """A setting is unknown, malformed, or out of range; the message names it."""


class MappingError(UsageError):
    """A graph mapping is malformed or matches nothing in the database."""


class EmptyGraphError(UsageError):
    """The graph holds no node, so there is nothing to partition or read."""


class QuestionError(UsageError):
    """The question is empty, too long, or no text."""


class UnknownGraphError(UsageError):
    """No graph of that name is stored in this database."""


class UnknownSessionError(UsageError):
    """No session of that id is stored in this database."""


class UnknownRunError(UsageError):
    """No run of that id is stored in this database."""


class IdempotencyError(UsageError):
    """The idempotency key was given before, with another request."""


class InputFileError(UsageError):
    """A file is missing, unreadable, or malformed; the message names line or key."""


class DatabaseError(PGSError):
    """Neo4j, GDS, or the managed local server failed."""


class DatabaseUnavailableError(DatabaseError):
    """The database could not be reached, or went away."""


class DatabaseAuthError(DatabaseError):
    """The database refused the credentials or the right to do this."""


class DatabaseTimeoutError(DatabaseError):
    """The database did not answer within the deadline."""


class DatabaseMemoryError(DatabaseError):
    """A statement needs more memory than the server has."""


class DatabaseVersionError(DatabaseError):
    """Neo4j or GDS is older than this package supports."""


class QueryError(DatabaseError):
    """A statement was refused by the database."""


class RunLostError(DatabaseError):
    """A run or its partitions were deleted, or another process carries the run on."""


class GDSError(DatabaseError):
    """A Graph Data Science procedure failed."""


class GDSMissingError(GDSError):
    """The Graph Data Science library is not installed on the server."""


class GDSMemoryError(GDSError):
    """The projection or algorithm would not fit into the server's memory."""


class LocalServerError(DatabaseError):
    """The managed local server cannot do what was asked."""


class ArtifactError(LocalServerError):
    """A pinned artifact could not be fetched, stored, or has the wrong checksum."""


class JavaMissingError(LocalServerError):
    """No suitable Java was found."""


class ServerStartError(LocalServerError):
    """The server process did not come up; the message quotes its log."""


class BusyError(PGSError):
    """Somebody else repartitions this graph or carries out this run; the message says who."""


class LeaseLostError(BusyError):
    """The lease ran out while this job stood still, and what it was building is given up."""


class StoppedError(PGSError):
    """A bound was reached before there was anything to answer from; what was bought stays."""


class BudgetError(StoppedError):
    """A call would cross the bound on calls, tokens, or cost, so it was not made."""


class DeadlineError(StoppedError):
    """The time that the whole run may take is over."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A failure that is worth another try.

    After ``wait_s`` if the endpoint named a time, at most ``tries`` times for this kind of
    failure (None: until the deadline).
    """

    wait_s: float | None = None
    tries: int | None = None


class ModelError(PGSError):
    """A language or embedding model failed; with ``retry`` another try may succeed.

    ``usage`` is what the failed call has cost, none where it was refused; None: nobody knows.
    """

    def __init__(
        self, message: str, *, retry: Retry | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(message)
        self.retry = retry
        self.usage = usage


class ModelUnavailableError(ModelError):
    """The endpoint could not be reached or answered with a server error."""


class ModelAuthError(ModelError):
    """The endpoint refused the key, or none is configured."""


class ModelRateLimitError(ModelError):
    """The endpoint kept answering 429 until the deadline."""


class ModelTimeoutError(ModelError):
    """The model did not answer within the deadline."""


class ModelOutputError(ModelError):
    """The model's reply was malformed or cut off."""


class PromptTooLongError(ModelError):
    """The prompt exceeds the model's context; smaller ones may be read."""


class EmbeddingError(ModelError):
    """An embedding is missing or has other dimensions than the graph's."""


class AllSweepsFailedError(ModelError):
    """Every sweep of a run failed; ``reasons`` maps partition id to the cause."""

    def __init__(self, reasons: dict[int, str]) -> None:
        self.reasons = reasons
        sweeps = "the only sweep" if len(reasons) == 1 else f"all {len(reasons):,} sweeps"
        super().__init__(
            f"{sweeps} failed ({_by_reason(reasons)}), so nothing counts as read; fix the cause, "
            "and 'pgs resume' goes on"
        )


def _by_reason(reasons: dict[int, str]) -> str:
    """Each reason once, the most frequent first, with the first few partitions it holds for."""
    partitions: dict[str, list[int]] = {}
    for partition, reason in reasons.items():
        partitions.setdefault(reason, []).append(partition)
    ranked = sorted(partitions.items(), key=lambda each: -len(each[1]))
    listed = [f"{_named(found)}: {reason}" for reason, found in ranked[:LISTED]]
    more = sum(len(found) for _, found in ranked[LISTED:])
    return "; ".join([*listed, f"{more:,} more for other reasons"] if more else listed)


def _named(partitions: list[int]) -> str:
    named = ", ".join(f"P{number}" for number in partitions[:LISTED])
    more = len(partitions) - LISTED
    return f"{named} and {more:,} more" if more > 0 else named
