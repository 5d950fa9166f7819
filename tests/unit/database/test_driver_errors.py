"""Each error of the driver becomes one error of this package that says what to do."""

import re

import pytest
from neo4j import exceptions as driver_errors

from pgs_neo4j.database.driver_errors import translate_errors
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseAuthError,
    DatabaseError,
    DatabaseHaltedError,
    DatabaseMemoryError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    PGSError,
    QueryError,
)

URI = "bolt://db.example.org:7687"


def server_error(code: str, message: str = "Something failed."):
    return driver_errors.Neo4jError._hydrate_neo4j(code=code, message=message)


def translated(error: BaseException) -> Exception:
    with pytest.raises(PGSError) as caught, translate_errors(URI, 12.4):
        raise error
    assert caught.value.__cause__ is error
    return caught.value


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (TimeoutError(), DatabaseTimeoutError, f"{URI} did not answer within 12 s"),
        (OSError("no route"), DatabaseUnavailableError, f"{URI} cannot be reached"),
        (driver_errors.ServiceUnavailable("x"), DatabaseUnavailableError, "cannot be reached"),
        (driver_errors.SessionExpired("x"), DatabaseUnavailableError, "cannot be reached"),
        (driver_errors.ConfigurationError("bad"), ConfigError, "are wrong: bad"),
        (driver_errors.ResultError(None, "x"), DatabaseError, "driver failed at .* ResultError"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogate"), QueryError, "lone surrogate"),
        (OverflowError("Python int too large"), QueryError, "does not fit into the 64 bits"),
    ],
)
def test_an_error_of_the_driver_itself(error, expected, message):
    result = translated(error)
    assert type(result) is expected
    assert re.search(message, str(result))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("Neo.DatabaseError.X.Y: java.lang.OutOfMemoryError", DatabaseMemoryError),
        ("Neo.DatabaseError.Transaction.TransactionStartFailed: Not now.", QueryError),
        ("Neo.ClientError.Security.Unauthorized", DatabaseAuthError),
        ("Neo.ClientError.Security.Forbidden", DatabaseAuthError),
        ("Neo.ClientError.Transaction.TransactionTimedOut", DatabaseTimeoutError),
        ("Neo.TransientError.Transaction.Terminated", DatabaseTimeoutError),
        ("Neo.TransientError.General.OutOfMemoryError", DatabaseMemoryError),
        ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", DatabaseMemoryError),
        ("Neo.ClientError.Database.DatabaseNotFound", DatabaseError),
        ("Neo.TransientError.Database.DatabaseUnavailable", DatabaseUnavailableError),
        ("Neo.ClientError.Cluster.NotALeader", DatabaseUnavailableError),
        ("Neo.ClientError.Statement.SyntaxError", QueryError),
    ],
)
def test_an_error_of_the_server_by_its_code_or_message(code, expected):
    assert type(translated(server_error(*code.split(": ")))) is expected


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("Neo.DatabaseError.Transaction.TransactionLogError", "Could not append transaction: #310"),
        (
            "Neo.DatabaseError.Transaction.TransactionStartFailed",
            "The database has encountered a critical error, and needs to be restarted.",
        ),
        ("Neo.DatabaseError.General.UnknownError", "java.io.IOException: No space left on device"),
    ],
)
def test_a_database_that_stopped_says_so_and_what_to_do(code, message):
    error = translated(server_error(code, message))
    assert type(error) is DatabaseHaltedError
    assert str(error) == (
        f"Neo4j at {URI} stopped after a critical error, such as a full disk; make room, "
        "restart it ('pgs local stop' ends the local server, which the next command starts), "
        "and repeat the command"
    )


def test_a_message_of_the_server_is_one_short_line_and_names_the_setting():
    message = "x" * 2000 + "\nsecond line"
    text = str(translated(server_error("Neo.ClientError.Statement.SyntaxError", message)))
    assert len(text) < 700
    assert "second line" not in text
    error = server_error("Neo.ClientError.Database.DatabaseNotFound", "No database a.")
    assert str(translated(error)) == "No database a. Set PGS_NEO4J_DATABASE to one that exists."
