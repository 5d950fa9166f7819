"""Every error the package raises.

    PGSError
    ├── UsageError                  the request itself must change
    │   ├── ConfigError             a setting or parameter is unknown or out of range
    │   ├── MappingError            a graph mapping is malformed or matches nothing
    │   ├── EmptyGraphError         the graph has no node to read
    │   ├── NoTextError             no node of the graph has text
    │   ├── QuestionError           the question is empty, over-long, or not text
    │   │   └── UnmatchedQuestionError  nothing in the graph matches the question
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
    │   ├── GateError               a Cypher statement is not one plain read
    │   ├── InputFileError          a file to load is missing or malformed
    │   └── OutputError             the output cannot be written to stdout or a file
    ├── DatabaseError               Neo4j, GDS, or the local server
    │   ├── DatabaseUnavailableError
    │   │   └── DatabaseCertificateError  the server's TLS certificate is not trusted
    │   ├── DatabaseAuthError
    │   ├── DatabaseTimeoutError
    │   ├── DatabaseMemoryError     a statement needs more memory than the server has
    │   ├── DatabaseFullError       the disk of the local server is nearly full
    │   ├── DatabaseHaltedError     the database halted, for example on a full disk
    │   ├── DatabaseVersionError
    │   ├── QueryError              a statement was refused
    │   │   └── GraphChangedError   another program deleted what a statement had just read
    │   ├── StoredDataError         another program changed data that pgs stored
    │   ├── RunLostError            a run was deleted or taken over by another process
    │   ├── TextDeletedError        the text to be written is from deleted documents
    │   ├── GDSError                a GDS procedure failed
    │   │   ├── GDSMissingError
    │   │   └── GDSMemoryError      the projection would not fit into memory
    │   └── LocalServerError        the managed local server
    │       ├── ArtifactError       a jar cannot be fetched or has the wrong checksum
    │       ├── JavaMissingError
    │       └── ServerStartError
    ├── BusyError                   another process is working on this graph or run
    │   └── LeaseLostError          another job took over while this one was suspended
    ├── NothingLeftError            the session to be continued has read the whole graph
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
        │   └── PromptCutError      the server cut the prompt off and answered anyway
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

LISTED = 3  # maximum reasons in a message, and maximum partitions to list per reason


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


class ScopeError(UsageError):
    """A scope is malformed or missing, or an operation is not possible within a scope."""


class ConditionError(UsageError):
    """A condition on properties cannot be parsed."""


class EmptyGraphError(UsageError):
    """The graph has no nodes to partition or read."""


class NoTextError(UsageError):
    """No node of the graph has text, and ``structure_only`` is not set."""


class QuestionError(UsageError):
    """The question is empty, over-long, or not text."""


class UnmatchedQuestionError(QuestionError):
    """Nothing in the graph matches the question, and reading the graph anyway would cost a lot."""


class GraphExistsError(UsageError):
    """A graph of that name is stored with another mapping."""


class UnknownGraphError(UsageError):
    """This database stores no graph of that name.

    ``several`` lists the stored graphs if the caller named no graph and several are stored.
    """

    def __init__(self, message: str, *, several: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.several = several


class UnknownSessionError(UsageError):
    """This database stores no session of that id."""


class UnknownRunError(UsageError):
    """This database stores no run of that id."""


def unknown_run(run: str) -> UnknownRunError:
    """Return the error for a run that does not exist, or that belongs to another caller.

    Both cases have the same message, so that no caller learns which runs other callers have.
    """
    return UnknownRunError(f"there is no run {run[:60]!r}; 'pgs runs' lists the runs")


class UnknownSweepError(UsageError):
    """The run has recorded no sweep of that partition."""


class UnknownNodeError(UsageError):
    """The graph has no node of that element id."""


class UnknownPartitionError(UsageError):
    """The graph has no partition of that id, or its map has no unit of that id."""


class UnknownGenerationError(UsageError):
    """The graph has no generation of that id."""


class UnknownDocumentError(UsageError):
    """The graph has no document of that id."""


class UnknownPageError(UsageError):
    """No page of a list begins after that place, for example because its partition is gone."""


class NotPartitionedError(UsageError):
    """The graph has no partitions yet."""


class NoAnswerError(UsageError):
    """The run has no answer yet."""


class FeedbackError(UsageError):
    """The run has no answer, or already has another outcome."""


class IdempotencyError(UsageError):
    """The idempotency key was used before, with another request."""


class GateError(UsageError):
    """A Cypher statement is not one plain read of the user's graph, or the server cannot read it.

    The message names the reason and what would pass.
    """


class InputFileError(UsageError):
    """A file is missing, unreadable, or malformed.

    The message names the line or the key.
    """


class OutputError(UsageError):
    """The output cannot be written, for example because the disk is full."""


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
    """Each time a statement was repeated, another program deleted data that it had just read.

    The statement itself is correct: the same request succeeds once the other program is done.
    """


class StoredDataError(DatabaseError):
    """Another program changed data that this package stored, so they cannot be read."""


class RunLostError(DatabaseError):
    """A run or its partitions were deleted, or another process resumed it."""


class TextDeletedError(DatabaseError):
    """Documents were deleted, or the database was purged, after this process read their text.

    None of that text was written. ``purged`` is true if the runs that had read the text were also
    deleted.
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
    """The job lost its lease: it expired while the job was suspended, or it was released.

    Another job may hold the lease now, so the work of this job is discarded.
    """


class NothingLeftError(PGSError):
    """The session to be continued has read the whole graph, so no call was made."""


class StoppedError(PGSError):
    """A limit was reached before anything could be answered.

    Replies that were paid for stay stored.
    """


class BudgetError(StoppedError):
    """A call was not made because it could exceed the limit on calls, tokens, or cost.

    ``least`` is the smallest limit of that kind that allows the call; None if it is not known.
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

    ``wait_s`` is the wait that the endpoint requested, in seconds; None if it requested none.
    ``tries`` is the maximum number of attempts for this kind of failure; None means until the
    deadline. A nonempty ``reason`` means that the call did not fail but must wait; it says why in a
    few words.
    """

    wait_s: float | None = None
    tries: int | None = None
    reason: str = ""


class ModelError(PGSError):
    """A language or embedding model failed.

    ``retry`` is set if another attempt may succeed. ``usage`` is the usage of the failed call: an
    empty ``Usage`` if the endpoint refused the call, None if the usage is unknown.
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
    """The endpoint has no model of that name, or nothing at this path."""


class ModelAuthError(ModelError):
    """The endpoint refused the key, or none is configured."""


class ModelRateLimitError(ModelError):
    """The endpoint kept answering 429 until the deadline."""


class ModelTimeoutError(ModelError):
    """The model did not answer within the deadline."""


class ModelOutputError(ModelError):
    """The model's reply was malformed or cut off."""


class PromptTooLongError(ModelError):
    """The prompt exceeds the model's context; a smaller prompt may fit.

    ``context`` is the limit for prompt and reply together, and ``prompt`` the length of the prompt.
    Both are the endpoint's numbers, in tokens, and None if it reported none. ``refuses`` is true if
    the endpoint refuses all prompts that are too long instead of cutting them.
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
    """The server cut the prompt off before it answered, so the reply is discarded.

    ``usage`` is the usage of the call.
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
    """Return each reason once, the most frequent first, with its first few partitions."""
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
