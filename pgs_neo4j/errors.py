"""Every error the package raises.

    PGSError
    ├── UsageError                  the request itself must change
    │   ├── ConfigError             a setting or parameter is unknown or out of range
    │   ├── MappingError            a graph mapping is malformed or matches nothing
    │   ├── EmptyGraphError         the graph has no node to read
    │   ├── NoTextError             no node of the graph has text
    │   ├── QuestionError           the question is empty, over-long, or not text
    │   │   └── UnmatchedQuestionError  nothing in the graph matches it
    │   ├── GraphExistsError        the name has another mapping, and ``replace`` is not set
    │   ├── UnknownGraphError       no graph of that name is stored
    │   ├── UnknownSessionError     no session of that id is stored
    │   ├── UnknownRunError         no run of that id is stored
    │   ├── UnknownSweepError       the run has recorded no sweep of that partition
    │   ├── UnknownNodeError        no node of the graph has that element id
    │   ├── UnknownPartitionError   the graph has no partition or unit of that id
    │   ├── UnknownGenerationError  the graph has no generation of that id
    │   ├── UnknownDocumentError    the graph has no document of that id
    │   ├── UnknownPageError        no page of a list begins at that place
    │   ├── NotPartitionedError     the graph has no partitions yet
    │   ├── NoAnswerError           the run has no answer yet
    │   ├── FeedbackError           the run has no answer, or another outcome
    │   ├── IdempotencyError        the key belongs to another request
    │   ├── InputFileError          a file to load is missing or malformed
    │   └── OutputError             stdout or a file takes no text
    ├── DatabaseError               Neo4j, GDS, or the local server
    │   ├── DatabaseUnavailableError
    │   │   └── DatabaseCertificateError  the server's TLS certificate is not trusted
    │   ├── DatabaseAuthError
    │   ├── DatabaseTimeoutError
    │   ├── DatabaseMemoryError     a statement needs more memory than the server has
    │   ├── DatabaseFullError       the disk of the local server is nearly full
    │   ├── DatabaseHaltedError     the database stopped, as on a full disk, until it is restarted
    │   ├── DatabaseVersionError
    │   ├── QueryError              a statement was refused
    │   │   └── GraphChangedError   another program deletes what statements read
    │   ├── StoredDataError         another program changed what pgs stored
    │   ├── RunLostError            a run was deleted or taken over by another process
    │   ├── TextDeletedError        documents were deleted whose text was to be written
    │   ├── GDSError                a GDS procedure failed
    │   │   ├── GDSMissingError
    │   │   └── GDSMemoryError      the projection would not fit into memory
    │   └── LocalServerError        the managed local server
    │       ├── ArtifactError       a jar cannot be fetched or has the wrong checksum
    │       ├── JavaMissingError
    │       └── ServerStartError
    ├── BusyError                   another process works on this graph or run
    │   └── LeaseLostError          another job took over while this one was suspended
    ├── NothingLeftError            a session that was to be continued has read the whole graph
    ├── StoppedError                a limit was reached before anything was read
    │   ├── BudgetError             calls, tokens, or cost
    │   ├── WaitError               the endpoint asks for a longer wait than pgs allows
    │   └── DeadlineError           the time limit of the whole run
    └── ModelError                  a language or embedding model
        ├── ModelUnavailableError
        │   └── UnknownModelError   the endpoint has no such model or path
        ├── ModelAuthError
        ├── ModelRateLimitError
        ├── ModelTimeoutError
        ├── ModelOutputError        the reply was malformed or cut off
        ├── PromptTooLongError      the prompt exceeds the model's context
        │   └── PromptCutError      its server cut it and answered
        ├── EmbeddingError          wrong dimensions or no vector
        └── AllSweepsFailedError    no partition could be read

Each message is one sentence that says what happened and what to do. No message contains a
password, a key, or the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgs_neo4j.model import Usage

LISTED = 3  # reasons named in a message, and partitions named for each


class PGSError(Exception):
    """Base class of all errors of this package."""


class UsageError(PGSError):
    """The request itself must change before it can succeed."""


class ConfigError(UsageError):
    """A setting is unknown, malformed, or out of range.

    The message names the setting.
    """


class MappingError(UsageError):
    """A graph mapping is malformed or matches nothing in the database."""


class EmptyGraphError(UsageError):
    """The graph has no nodes to partition or read."""


class NoTextError(UsageError):
    """No node of the graph has text, and ``structure_only`` is not set."""


class QuestionError(UsageError):
    """The question is empty, over-long, or not text."""


class UnmatchedQuestionError(QuestionError):
    """Nothing in the graph matches the question, and reading anyway would cost much."""


class GraphExistsError(UsageError):
    """A graph of that name is stored with another mapping."""


class UnknownGraphError(UsageError):
    """This database stores no graph of that name.

    ``several`` are the stored graphs if none was named and there is more than one.
    """

    def __init__(self, message: str, *, several: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.several = several


class UnknownSessionError(UsageError):
    """This database stores no session of that id."""


class UnknownRunError(UsageError):
    """This database stores no run of that id."""


def unknown_run(run: str) -> UnknownRunError:
    """Return the error for a run that is not there, or that belongs to another caller.

    Both read alike, so that nobody learns which runs others have.
    """
    return UnknownRunError(f"there is no run {run[:60]!r}; 'pgs runs' lists the runs")


class UnknownSweepError(UsageError):
    """The run has recorded no sweep of that partition."""


class UnknownNodeError(UsageError):
    """The graph has no node of that element id."""


class UnknownPartitionError(UsageError):
    """The graph has no partition, or its map no unit, of that id."""


class UnknownGenerationError(UsageError):
    """The graph has no generation of that id."""


class UnknownDocumentError(UsageError):
    """The graph has no document of that id."""


class UnknownPageError(UsageError):
    """No page of a list begins after that place, such as after a partition that is gone."""


class NotPartitionedError(UsageError):
    """The graph has no partitions yet."""


class NoAnswerError(UsageError):
    """The run has no answer yet."""


class FeedbackError(UsageError):
    """The run has no answer, or already has another outcome."""


class IdempotencyError(UsageError):
    """The idempotency key was used before, with another request."""


class InputFileError(UsageError):
    """A file is missing, unreadable, or malformed.

    The message names the line or the key.
    """


class OutputError(UsageError):
    """The output cannot be written, as on a full disk."""


class DatabaseError(PGSError):
    """Neo4j, GDS, or the managed local server failed."""


class DatabaseUnavailableError(DatabaseError):
    """The database could not be reached, or the connection was lost."""


class DatabaseCertificateError(DatabaseUnavailableError):
    """The TLS certificate of the database is not trusted."""


class DatabaseAuthError(DatabaseError):
    """The database refused the credentials, or the user lacks a permission."""


class DatabaseTimeoutError(DatabaseError):
    """The database did not answer within the deadline."""


class DatabaseFullError(DatabaseError):
    """The disk of the local server has too little room for a write."""


class DatabaseHaltedError(DatabaseError):
    """The database stopped after a critical error, such as a full disk, until it is restarted."""


class DatabaseMemoryError(DatabaseError):
    """A statement needs more memory than the server has."""


class DatabaseVersionError(DatabaseError):
    """This release does not support the version of Neo4j, of GDS, or of the stored schema."""


class QueryError(DatabaseError):
    """The database refused a statement."""


class GraphChangedError(QueryError):
    """A statement was repeated, and each time something was deleted that it had just read.

    Nothing is wrong with it: the same request succeeds once the other program is done.
    """


class StoredDataError(DatabaseError):
    """Another program changed what this package stored, so that it cannot be read."""


class RunLostError(DatabaseError):
    """A run or its partitions were deleted, or another process resumed it."""


class TextDeletedError(DatabaseError):
    """Documents were deleted, or everything was purged, after their text was read.

    Nothing was written that holds it. ``purged``: the runs that had read it are gone as well.
    """

    def __init__(self, message: str, *, purged: bool = False) -> None:
        super().__init__(message)
        self.purged = purged


class GDSError(DatabaseError):
    """A Graph Data Science procedure failed."""


class GDSMissingError(GDSError):
    """The Graph Data Science library is not installed on the server."""


class GDSMemoryError(GDSError):
    """The projection or algorithm would not fit into the server's memory."""


class LocalServerError(DatabaseError):
    """The managed local server cannot do what was requested."""


class ArtifactError(LocalServerError):
    """A pinned artifact is unavailable or has the wrong checksum."""


class JavaMissingError(LocalServerError):
    """No suitable Java was found."""


class ServerStartError(LocalServerError):
    """The server process did not start; the message quotes its log."""


class BusyError(PGSError):
    """Another process is repartitioning this graph or executing this run.

    The message names that process.
    """


class LeaseLostError(BusyError):
    """The lease expired while this job was suspended, or was released.

    Another job may have it, so the work of this one is discarded.
    """


class NothingLeftError(PGSError):
    """The session to be continued has read the whole graph, so nothing was read or paid."""


class StoppedError(PGSError):
    """A limit was reached before anything could be answered.

    Replies that were paid for stay stored.
    """


class BudgetError(StoppedError):
    """A call could exceed the limit on calls, tokens, or cost.

    It was not made. ``least`` is the smallest limit of that kind under which it would be made.
    """

    def __init__(self, message: str, *, least: float | None = None) -> None:
        super().__init__(message)
        self.least = least


class WaitError(StoppedError):
    """A model endpoint asks for a longer wait than pgs allows.

    The run makes no further call. The message names the time when it can be resumed.
    """


class DeadlineError(StoppedError):
    """The run reached its time limit."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How to retry a failed call.

    Wait ``wait_s`` seconds if the endpoint specified a time. Try at most ``tries`` times for this
    kind of failure; None means until the deadline. With a ``reason``, this is no failure but a wait
    for that reason, in a few words.
    """

    wait_s: float | None = None
    tries: int | None = None
    reason: str = ""


class ModelError(PGSError):
    """A language or embedding model failed.

    With ``retry``, another attempt may succeed. ``usage`` is the cost of the failed call: an empty
    ``Usage`` if the call was refused, None if its cost is unknown.
    """

    def __init__(
        self, message: str, *, retry: Retry | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(message)
        self.retry = retry
        self.usage = usage


class ModelUnavailableError(ModelError):
    """The endpoint could not be reached or answered with a server error."""


class UnknownModelError(ModelUnavailableError):
    """The endpoint has no such model, or nothing at this path."""


class ModelAuthError(ModelError):
    """The endpoint refused the key, or none is configured."""


class ModelRateLimitError(ModelError):
    """The endpoint kept answering 429 until the deadline."""


class ModelTimeoutError(ModelError):
    """The model did not answer within the deadline."""


class ModelOutputError(ModelError):
    """The model's reply was malformed or cut off."""


class PromptTooLongError(ModelError):
    """The prompt exceeds the model's context; a smaller one may fit.

    ``context`` is the limit that the endpoint named, its reply included, and ``prompt`` the length
    that it counted, both in tokens; None: unnamed. ``refuses``: the endpoint refuses each prompt
    that is longer.
    """

    def __init__(
        self,
        message: str,
        *,
        context: int | None = None,
        prompt: int | None = None,
        refuses: bool = True,
    ) -> None:
        super().__init__(message)
        self.context = context
        self.prompt = prompt
        self.refuses = refuses


class PromptCutError(PromptTooLongError):
    """The server answered, but it had cut the prompt, so the reply counts for nothing.

    ``usage`` is what the call has cost.
    """

    def __init__(
        self, message: str, *, prompt: int | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(message, prompt=prompt)
        self.usage = usage


class EmbeddingError(ModelError):
    """An embedding is missing, or its dimensions differ from the graph's."""


class AllSweepsFailedError(ModelError):
    """Every sweep of a run failed.

    ``reasons`` maps each partition id to its cause.
    """

    def __init__(self, reasons: dict[int, str]) -> None:
        self.reasons = reasons
        sweeps = "the only sweep" if len(reasons) == 1 else f"all {len(reasons):,} sweeps"
        super().__init__(
            f"{sweeps} failed ({_group_by_reason(reasons)}), so nothing was read; fix the cause, "
            "then continue with 'pgs resume'"
        )


def _group_by_reason(reasons: dict[int, str]) -> str:
    """Return each reason once, most frequent first, with the first few partitions."""
    partitions: dict[str, list[int]] = {}
    for partition, reason in reasons.items():
        partitions.setdefault(reason, []).append(partition)
    ranked = sorted(partitions.items(), key=lambda entry: -len(entry[1]))
    listed = [f"{_name_partitions(numbers)}: {reason}" for reason, numbers in ranked[:LISTED]]
    more = sum(len(numbers) for _, numbers in ranked[LISTED:])
    return "; ".join([*listed, f"{more:,} more for other reasons"] if more else listed)


def _name_partitions(partitions: list[int]) -> str:
    names = ", ".join(f"P{number}" for number in partitions[:LISTED])
    more = len(partitions) - LISTED
    return f"{names} and {more:,} more" if more > 0 else names
