"""Errors of the driver say what to do here, and what other transactions disturb is repeated."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import groupby

import pytest
from neo4j import exceptions
from neo4j.exceptions import Neo4jError

from pgs_neo4j.database import driver_errors, queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.driver_errors import PAUSES_S, translate_errors
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseAuthError,
    DatabaseError,
    DatabaseHaltedError,
    DatabaseMemoryError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    GraphChangedError,
    PGSError,
    QueryError,
    StoredDataError,
)
from tests.database import list_rows
from tests.fakes.disturbed import NODE, RELATIONSHIP, URI, Driver, Step, database_of, refusal

ADDRESS = "bolt://db.example.org:7687"


def server_error(code: str, message: str = "Something failed."):
    return exceptions.Neo4jError._hydrate_neo4j(code=code, message=message)


def translated(error: BaseException) -> Exception:
    with pytest.raises(PGSError) as caught, translate_errors(ADDRESS, 12.4):
        raise error
    assert caught.value.__cause__ is error
    return caught.value


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (TimeoutError(), DatabaseTimeoutError, f"{ADDRESS} did not answer within 12 s"),
        (OSError("no route"), DatabaseUnavailableError, f"{ADDRESS} cannot be reached"),
        (exceptions.ServiceUnavailable("x"), DatabaseUnavailableError, "cannot be reached"),
        (exceptions.SessionExpired("x"), DatabaseUnavailableError, "cannot be reached"),
        (exceptions.ConfigurationError("bad"), ConfigError, "are wrong: bad"),
        (exceptions.ResultError(None, "x"), DatabaseError, "driver failed at .* ResultError"),
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
        f"Neo4j at {ADDRESS} stopped after a critical error, such as a full disk; make room, "
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


OWN = "Node with id 2 has been deleted in this transaction"
QUOTED = f"Failed to invoke procedure: Caused by: EntityNotFoundException: {NODE}"
TOLD = (
    f"the graph in Neo4j at {URI} kept changing while it was read; ask again when no "
    "other program deletes from it"
)
ROWS = [{"n": 1}, {"n": 2}]


def parse(mode: str, name: str = "test/statement", kind: str = "int") -> queries.Query:
    return queries.parse(
        name,
        f"// A test.\n// returns: n: {kind}\n// mode: {mode}\nRETURN 1 AS n\n",
    )


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_errors, "PAUSES_S", (0.0,) * len(PAUSES_S))


def database(*steps: Step) -> tuple[Database, Driver]:
    driver = Driver([*steps])
    return database_of(driver), driver


async def read(db: Database) -> object:
    return await db.read(parse("read"))


async def write(db: Database) -> object:
    return await db.write(parse("data"))


async def count(db: Database) -> object:
    return await db.write(parse("write"))


async def transact(db: Database) -> object:
    return await db.transact(lambda one: one.write(parse("data")), 60.0)


async def stream(db: Database) -> object:
    return await db.stream(parse("read"), list_rows)


async def project(db: Database) -> object:
    return (await db.call("RETURN gds.graph.project()", {}, "read"))[1]


async def read_unchecked(db: Database, query: queries.Query) -> list[Row]:
    """Read as it is done outside tests, which compare all rows with headers."""
    rows: list[Row] = await getattr(Database.read, "__wrapped__", Database.read)(db, query)
    return rows


WAYS = [read, write, count, transact, stream, project]
Way = Callable[[Database], Awaitable[object]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("message", [NODE, RELATIONSHIP])
async def test_what_meets_a_deletion_is_repeated(way: Way, message: str) -> None:
    db, driver = database(refusal(message), refusal(message), ROWS)
    assert await way(db) == ROWS
    assert len(driver.sent) == 3


@pytest.mark.parametrize("way", WAYS)
async def test_a_deletion_that_a_procedure_quotes_is_one_as_well(way: Way) -> None:
    db, _ = database(refusal(QUOTED, "Procedure.ProcedureCallFailed"), ROWS)
    assert await way(db) == ROWS


async def test_an_index_that_another_client_has_just_made_is_looked_for_again() -> None:
    made = refusal("An equivalent index already exists", "Schema.EquivalentSchemaRuleAlreadyExists")
    db, driver = database(made, [])
    assert await db.write(parse("data")) == []
    assert len(driver.sent) == 2


@pytest.mark.parametrize("way", WAYS)
async def test_an_error_among_the_first_rows_that_nobody_saw_is_repeated(way: Way) -> None:
    db, _ = database([refusal()], ROWS)
    assert await way(db) == ROWS


@pytest.mark.parametrize("way", WAYS)
async def test_deletions_without_end_are_told_in_one_sentence(way: Way) -> None:
    db, driver = database(*[refusal()] * 50)
    with pytest.raises(GraphChangedError) as told:
        await way(db)
    assert str(told.value) == TOLD
    assert len(driver.sent) == len(PAUSES_S) + 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "error",
    [
        refusal(OWN),
        refusal("Cannot delete node<23>", "Schema.ConstraintValidationFailed"),
        refusal("x", "Statement.PropertyNotFound"),
    ],
)
async def test_what_fails_each_time_is_not_repeated(way: Way, error: Neo4jError) -> None:
    db, driver = database(error, ROWS)
    with pytest.raises(QueryError) as told:
        await way(db)
    assert type(told.value) is QueryError
    assert len(driver.sent) == 1


async def test_a_taker_of_rows_begins_again_with_the_first() -> None:
    db, driver = database([*ROWS, refusal()], refusal(), ROWS)
    taken: list[list[Row]] = []

    async def take(rows: AsyncIterator[Row]) -> int:
        taken.append([])
        async for row in rows:
            taken[-1] += [row]
        return len(taken)

    assert await db.stream(parse("read"), take) == 3
    assert taken == [ROWS, [], ROWS]
    assert len(driver.sent) == 3


async def test_breaks_before_and_after_the_first_row_share_their_attempts() -> None:
    db, driver = database(*[[*ROWS, refusal()], refusal(), [refusal()]] * 20)
    with pytest.raises(GraphChangedError) as told:
        await stream(db)
    assert str(told.value) == TOLD
    assert len(driver.sent) == len(PAUSES_S) + 1


async def test_a_taker_of_rows_that_fails_is_not_asked_again() -> None:
    db, driver = database(ROWS, ROWS)

    async def take(rows: AsyncIterator[Row]) -> None:
        await anext(rows)
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await db.stream(parse("read"), take)
    assert len(driver.sent) == 1


async def test_attempts_without_rows_share_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    db, driver = database(refusal(), refusal(), [ROWS[0], refusal()], refusal(), ROWS)
    dues: list[float] = []
    started = asyncio.timeout_at

    def timeout_at(due: float | None) -> asyncio.Timeout:
        assert due is not None
        dues.append(due)
        return started(due)

    monkeypatch.setattr(asyncio, "timeout_at", timeout_at)
    assert await stream(db) == ROWS
    # Three attempts wait for the first row, and two for what follows it, whichever row that is.
    assert [len([*same]) for _, same in groupby(dues)] == [4, 4, 1, 1]
    assert len(driver.sent) == 5


async def test_a_batch_is_not_repeated() -> None:
    db, driver = database(refusal(), [])
    with pytest.raises(GraphChangedError):
        await db.batch(parse("batch"))
    assert len(driver.sent) == 1


LOST = [{"n": 1}, {"n": None}]


@pytest.mark.parametrize("name", ["pgs/runs/read_somewhat", "test/statement"])
async def test_what_lost_its_properties_while_it_was_read_is_read_again(name: str) -> None:
    db, driver = database(LOST, [{"n": 3}, {"n": None}], [{"n": 1}])
    assert await db.read(parse("read", name)) == [{"n": 1}]
    assert len(driver.sent) == 3


async def test_a_map_that_lost_its_properties_is_read_again() -> None:
    db, _ = database([{"n": {"id": None, "sweeps": []}}], [{"n": {"id": "r1", "sweeps": []}}])
    assert await db.read(parse("read", kind="dict")) == [{"n": {"id": "r1", "sweeps": []}}]


async def test_what_comes_a_second_time_without_a_value_was_damaged() -> None:
    db, driver = database(LOST, LOST, ROWS)
    with pytest.raises(StoredDataError):
        await db.read(parse("read", "pgs/runs/read_somewhat"))
    assert len(driver.sent) == 2
    db, driver = database(LOST, LOST, ROWS)
    # It may be the user's own value.
    assert await read_unchecked(db, parse("read")) == LOST
    assert len(driver.sent) == 2


async def test_values_that_are_lost_without_end_are_told_in_the_same_sentence() -> None:
    db, driver = database(*[[{"n": [place, None]}] for place in range(50)])
    with pytest.raises(GraphChangedError) as told:
        await db.read(parse("read", kind="list[int]"))
    assert str(told.value) == TOLD
    assert len(driver.sent) == len(PAUSES_S) + 1


async def test_a_number_that_differs_from_itself_is_the_same_damage() -> None:
    damaged = ([{"n": [float("nan"), None]}] for _ in range(2))
    db, driver = database(*damaged, ROWS)
    (row,) = await read_unchecked(db, parse("read", kind="list[float]"))
    assert row["n"][1] is None
    assert len(driver.sent) == 2


async def test_a_stream_that_begins_with_a_lost_value_is_repeated() -> None:
    db, driver = database([{"n": None}, {"n": 2}], ROWS)
    assert await stream(db) == ROWS
    assert len(driver.sent) == 2


@pytest.mark.parametrize(
    ("kind", "lost"),
    [("int", None), ("list[int]", [1, None]), ("list[list[any]]", [["a", "b"], ["c", None]])],
)
async def test_a_stream_that_loses_a_value_later_is_repeated(kind: str, lost: object) -> None:
    whole = {"n": 1 if kind == "int" else []}
    db, driver = database([whole, {"n": lost}, whole], [whole])
    assert await db.stream(parse("read", kind=kind), list_rows) == [whole]
    assert len(driver.sent) == 2


async def test_a_null_that_a_header_allows_is_handed_out() -> None:
    db, _ = database(LOST)
    assert await db.stream(parse("read", kind="int?"), list_rows) == LOST
