"""Turns errors of the driver into errors of this package, and repeats disturbed statements."""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from neo4j import exceptions

from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseAuthError,
    DatabaseCertificateError,
    DatabaseError,
    DatabaseHaltedError,
    DatabaseMemoryError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    GraphChangedError,
    QueryError,
)

Result = TypeVar("Result")

HALTED = ("has encountered a critical error", "No space left on device")
"""Parts of error messages that show that the database could not write a transaction."""

DELETED = ("Unable to load NODE", "Unable to load RELATIONSHIP")
"""Parts of error messages that show that another transaction deleted a node of the statement.

Neo4j 5.26 fails with this message if the statement sets or removes a label of the deleted node, or
creates a relationship to it. Reading a property of the deleted node returns null, however, and
setting a property has no effect. If the error occurs in a procedure, the procedure's error message
quotes this message.
"""

MADE = "EquivalentSchemaRuleAlreadyExists"
"""The end of the error code if another transaction has just created the same index or constraint.

Neo4j 5.26 checks whether the index exists before it locks the label, so ``IF NOT EXISTS`` may still
fail. In 30 trials, six clients created the schema of an empty database at the same time. Some
clients failed in a dozen of the trials.
"""

_CLOSED = "Driver closed"
"""The message of a closed driver, which has no error type for this case."""

PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds before each repetition.

The pauses can be short: a transaction that disturbed a statement has already committed, so only
another transaction can disturb the next attempt.
"""

TRIED_ENOUGH = (GraphChangedError, DatabaseTimeoutError)
"""Errors of a read that has used up its attempts or its time.

Code that repeats a group of reads for another reason must not catch these errors. Otherwise each
read gets all its attempts again.
"""


@contextmanager
def translate_errors(uri: str, timeout_s: float) -> Iterator[None]:
    """Raise an error of this package in place of a driver error."""
    try:
        yield
    except TimeoutError as error:
        raise DatabaseTimeoutError(
            f"Neo4j at {uri} did not answer within {timeout_s:.0f} s; "
            "raise PGS_QUERY_TIMEOUT_S, or check the server"
        ) from error
    except UnicodeEncodeError as error:
        raise QueryError(
            "a value contains a lone surrogate (half a character) and cannot be stored; remove it"
        ) from error
    except (OverflowError, struct.error) as error:
        raise QueryError(
            "a number does not fit into the 64 bits that Neo4j stores; use a smaller one"
        ) from error
    except exceptions.Neo4jError as error:
        raise _make_server_error(uri, error) from error
    except (exceptions.ServiceUnavailable, exceptions.SessionExpired, OSError) as error:
        raise _make_unreachable_error(uri, error) from error
    except exceptions.ConfigurationError as error:
        # The driver may quote the query part of the address, which may contain a secret.
        quotes = "query" in str(error)
        text = "the query of the address is malformed" if quotes else str(error)
        raise ConfigError(f"the Neo4j address or its options are wrong: {text}") from (
            None if quotes else error
        )
    except exceptions.DriverError as error:
        if str(error) == _CLOSED:
            raise DatabaseUnavailableError(
                "the connection is closed; connect again, and use it inside its 'async with' block "
                "or before close()"
            ) from None
        raise DatabaseError(f"the Neo4j driver failed at {uri}: {type(error).__name__}") from error


def _make_server_error(uri: str, error: exceptions.Neo4jError) -> DatabaseError:
    code = error.code or ""
    message = (error.message or type(error).__name__).splitlines()[0][:500]
    if isinstance(error, exceptions.AuthError) or ".Security." in code:
        return DatabaseAuthError(
            f"Neo4j at {uri} refused access ({code.rsplit('.', 1)[-1]}); check PGS_NEO4J_USER, "
            "PGS_NEO4J_PASSWORD, and that user's rights"
        )
    if is_halted(error):
        return DatabaseHaltedError(
            f"Neo4j at {uri} stopped after a critical error, such as a full disk; make room, "
            "restart it ('pgs local stop' ends the local server, which the next command starts), "
            "and repeat the command"
        )
    if "TransactionTimedOut" in code or "Terminated" in code:
        return DatabaseTimeoutError(f"Neo4j at {uri} ended the transaction: {message}")
    if is_out_of_memory(error):
        return DatabaseMemoryError(
            f"Neo4j at {uri} ran out of memory for this statement; raise "
            f"server.memory.heap.max_size (PGS_LOCAL_HEAP_MB for the local server): {message}"
        )
    if is_deleted(error):
        return graph_changed(uri)
    if "DatabaseNotFound" in code:
        return DatabaseError(f"{message} Set PGS_NEO4J_DATABASE to one that exists.")
    if "DatabaseUnavailable" in code or "NotALeader" in code:
        return DatabaseUnavailableError(f"Neo4j at {uri} is not ready: {message}")
    return QueryError(f"Neo4j refused a statement ({code}): {message}")


def _make_unreachable_error(uri: str, error: BaseException) -> DatabaseError:
    untrusted = next(
        (cause for cause in _walk_causes(error) if isinstance(cause, ssl.SSLCertVerificationError)),
        None,
    )
    if untrusted is not None:
        reason = untrusted.verify_message.rstrip(".").lower() or "it cannot be verified"
        return DatabaseCertificateError(
            f"the TLS certificate of Neo4j at {uri} is not trusted ({reason}); name the "
            "certificate of its issuer in PGS_NEO4J_CA, and use the host that it was issued for"
        )
    return DatabaseUnavailableError(
        f"Neo4j at {uri} cannot be reached; check the address and that it is running"
    )


def _walk_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all its causes.

    A cause may be a group of errors, since routing tries many servers.
    """
    waiting, seen = [error], set[int]()
    while waiting:
        cause = waiting.pop()
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        grouped = cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()
        waiting += [cause for cause in (cause.__cause__, cause.__context__, *grouped) if cause]


def is_halted(error: exceptions.Neo4jError) -> bool:
    """Return whether the database stopped all transactions because a write failed."""
    message = error.message or ""
    return "TransactionLogError" in (error.code or "") or any(sign in message for sign in HALTED)


def is_out_of_memory(error: exceptions.Neo4jError) -> bool:
    """Return whether the server ran out of memory for a transaction."""
    code = error.code or ""
    return "MemoryPool" in code or "OutOfMemory" in f"{code} {error.message}"


def is_deleted(error: exceptions.Neo4jError) -> bool:
    """Return whether a statement failed because another transaction deleted a node it had found.

    Neo4j reads the latest committed data, without a snapshot. It is safe to repeat the statement,
    but the driver does not repeat it: a statement that reads a node which it deleted itself has the
    same error code and fails each time.
    """
    return any(sign in (error.message or "") for sign in DELETED)


def is_made(error: exceptions.Neo4jError) -> bool:
    """Return whether another transaction has just created the same index or constraint."""
    return (error.code or "").endswith(MADE)


def graph_changed(uri: str) -> GraphChangedError:
    """Return the error for data that was deleted after a statement had found it."""
    return GraphChangedError(
        f"the graph in Neo4j at {uri} kept changing while it was read; ask again when no other "
        "program deletes from it"
    )


async def repeat_disturbed(work: Callable[[], Awaitable[Result]]) -> Result:
    """Run ``work``, which must be harmless to repeat, and return its result.

    Repeats ``work`` up to five times if another transaction deletes data that ``work`` has found,
    or has just created the same index or constraint. Raises the last error.
    """
    for pause in PAUSES_S:
        try:
            return await work()
        except GraphChangedError:
            pass
        except exceptions.Neo4jError as error:
            if not (is_deleted(error) or is_made(error)):
                raise
        await asyncio.sleep(pause)
    return await work()


def refuse_lost(
    read: Callable[[], Awaitable[list[Row]]], lacks_values: Callable[[Row], bool], uri: str
) -> Callable[[], Awaitable[list[Row]]]:
    """Wrap ``read`` for ``repeat_disturbed``: raise GraphChangedError for rows that lack values.

    A node that was deleted after the statement found it lacks values, but the next attempt does not
    find the node. So if two attempts return the same rows, no deletion removed the values, and
    another program has damaged them. These rows are returned, and the caller must check them. The
    error names the server at ``uri``.
    """
    before = ""

    async def read_whole() -> list[Row]:
        nonlocal before
        rows = await read()
        if not any(map(lacks_values, rows)):
            return rows
        # Rows are compared as text, since NaN differs from itself.
        seen = repr(rows)
        if seen == before:
            return rows
        before = seen
        raise graph_changed(uri)

    return read_whole
