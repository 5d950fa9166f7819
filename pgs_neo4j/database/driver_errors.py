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
"""Parts of the messages of a database that could not write a transaction."""

DELETED = ("Unable to load NODE", "Unable to load RELATIONSHIP")
"""Parts of the message if another transaction deleted what a statement had found.

Neo4j 5.26 fails so when the statement sets or removes a label of that node, or creates a
relationship of it. The properties of a deleted node read as null, and setting them does nothing. A
procedure that fails so quotes the message within an error of its own.
"""

MADE = "EquivalentSchemaRuleAlreadyExists"
"""Ends the code of an error if another transaction has just made an index or a constraint.

Neo4j 5.26 looks for it before it locks its label, so ``IF NOT EXISTS`` may still fail: of 30 times
that six clients made the schema of an empty database at once, some clients failed in a dozen.
"""

_CLOSED = "Driver closed"
"""The message of the driver once it is closed; it has no type of error for that."""

PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds before each repetition.

A transaction that disturbs a statement has committed, so only another one can disturb the next
attempt.
"""

TRIED_ENOUGH = (GraphChangedError, DatabaseTimeoutError)
"""Errors of a read that has used up its attempts or its time.

Code that repeats several reads together, for another reason, lets these pass: they would have all
their attempts once more.
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
        raise _server_error(uri, error) from error
    except (exceptions.ServiceUnavailable, exceptions.SessionExpired, OSError) as error:
        raise _unreachable(uri, error) from error
    except exceptions.ConfigurationError as error:
        # It quotes the query of an address, which may hold anything.
        quotes = "query" in str(error)
        text = "the query of the address is malformed" if quotes else str(error)
        raise ConfigError(f"the Neo4j address or its options are wrong: {text}") from (
            None if quotes else error
        )
    except exceptions.DriverError as error:
        if str(error) == _CLOSED:
            raise DatabaseUnavailableError(
                "the connection is closed; connect again, and work within its block or before its "
                "close()"
            ) from None
        raise DatabaseError(f"the Neo4j driver failed at {uri}: {type(error).__name__}") from error


def _server_error(uri: str, error: exceptions.Neo4jError) -> DatabaseError:
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


def _unreachable(uri: str, error: BaseException) -> DatabaseError:
    untrusted = next(
        (cause for cause in _causes(error) if isinstance(cause, ssl.SSLCertVerificationError)), None
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


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all that led to it; routing tries several servers at once."""
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
    """Whether a database takes no transactions any more, since one could not be written."""
    told = error.message or ""
    return "TransactionLogError" in (error.code or "") or any(sign in told for sign in HALTED)


def is_out_of_memory(error: exceptions.Neo4jError) -> bool:
    """Whether the server has too little memory for a transaction."""
    code = error.code or ""
    return "MemoryPool" in code or "OutOfMemory" in f"{code} {error.message}"


def is_deleted(error: exceptions.Neo4jError) -> bool:
    """Whether another transaction deleted what a statement had found, so that it may be repeated.

    The driver repeats none of it, because the code is the same for a statement that reads what it
    deleted itself, which fails each time. Neo4j reads what is committed, without a snapshot.
    """
    return any(sign in (error.message or "") for sign in DELETED)


def is_made(error: exceptions.Neo4jError) -> bool:
    """Whether another transaction has just made what a statement makes if it does not exist."""
    return (error.code or "").endswith(MADE)


def graph_changed(uri: str) -> GraphChangedError:
    """Return the error for what was deleted after a statement had found it."""
    return GraphChangedError(
        f"the graph in Neo4j at {uri} changed while it was read, again and again; ask again when "
        "no other program deletes from it"
    )


async def repeat_disturbed(work: Callable[[], Awaitable[Result]]) -> Result:
    """Return what ``work`` returns, which must be harmless to repeat.

    It is repeated up to five times if something was deleted that it had found, or if it makes
    something that another transaction has just made. Raises the last error.
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
    """Return ``read`` as work to repeat: rows that lack values are refused.

    What was deleted after it was found lacks values, and is not found again. So rows that come a
    second time as they were have been damaged by another program, and the caller has to judge them.
    The work raises GraphChangedError, which names the server.
    """
    before = ""

    async def read_whole() -> list[Row]:
        nonlocal before
        rows = await read()
        if not any(map(lacks_values, rows)):
            return rows
        # Compared as text, since NaN differs from itself.
        seen = repr(rows)
        if seen == before:
            return rows
        before = seen
        raise graph_changed(uri)

    return read_whole
