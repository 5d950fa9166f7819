"""What another transaction's deletions disturb is repeated, a few times, and then told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

from pgs_neo4j.database import queries, repeats
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.repeats import PAUSES_S, repeat_disturbed
from pgs_neo4j.errors import GraphChangedError, QueryError, StoredDataError

URI = "bolt://db.example.org:7687"
NODE = "Unable to load NODE 4:5d1f5d5c-1a1c-4b8e-8a55-1b1f8f3f7a3f:17."
RELATIONSHIP = "Unable to load RELATIONSHIP 5:5d1f5d5c-1a1c-4b8e-8a55-1b1f8f3f7a3f:17."
OWN = "Node with id 2 has been deleted in this transaction"
QUOTED = f"Failed to invoke procedure: Caused by: EntityNotFoundException: {NODE}"
TOLD = (
    f"the graph in Neo4j at {URI} changed while it was read, again and again; ask again when no "
    "other program deletes from it"
)
ROWS = [{"n": 1}, {"n": 2}]

Step = Neo4jError | list[Any]


def refusal(message: str = NODE, code: str = "Statement.EntityNotFound") -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code=f"Neo.ClientError.{code}", message=message)


@dataclass
class Result:
    """Rows; an error among them is raised in its turn."""

    steps: list[Any]

    async def __aiter__(self) -> AsyncIterator[Any]:
        for step in self.steps:
            if isinstance(step, Neo4jError):
                raise step
            yield step

    def keys(self) -> list[str]:
        return ["n"]

    async def single(self) -> dict[str, str]:
        return {"token": ""}


@dataclass
class Driver:
    """Answers each statement with the next step: an error, or rows. Counting commits is free.

    It repeats a transaction as the driver does, which leaves out what is refused.
    """

    steps: list[Step]
    sent: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def session(self, **options: Any) -> AsyncIterator[Driver]:
        yield self

    async def run(self, query: Any, params: Any) -> Result:
        text = getattr(query, "text", query)
        if text == queries.get("database/count_commit").text:
            return Result([])
        self.sent.append(text)
        step = self.steps.pop(0)
        if isinstance(step, Neo4jError):
            raise step
        return Result(step)

    async def execute_read(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        return await work(self)

    execute_write = execute_read


def parse(mode: str, name: str = "test/statement") -> queries.Query:
    return queries.parse(
        name,
        f"// A test.\n// params:\n// returns: n: int\n// mode: {mode}\n// language: 5, 25\n"
        "RETURN 1 AS n\n",
    )


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "PAUSES_S", (0.0,) * len(PAUSES_S))


def database(*steps: Step) -> tuple[Database, Driver]:
    driver = Driver([*steps])
    made: Any = {"driver": driver, "bookmarks": None}
    return Database(uri=URI, name=None, timeout_s=60.0, **made), driver


async def read(db: Database) -> object:
    return await db.read(parse("read"))


async def write(db: Database) -> object:
    return await db.write(parse("data"))


async def count(db: Database) -> object:
    return await db.write(parse("write"))


async def transact(db: Database) -> object:
    return await db.transact(lambda one: one.write(parse("data")), 60.0)


async def stream(db: Database) -> object:
    return [row async for row in db.stream(parse("read"))]


async def project(db: Database) -> object:
    return (await db.call("RETURN gds.graph.project()", {}, "read"))[1]


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
    # A read is first tried without a transaction of its own.
    assert len(driver.sent) == len(PAUSES_S) + (2 if way is read else 1)


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


async def test_rows_that_were_handed_out_are_not_handed_out_again() -> None:
    db, driver = database([*ROWS, refusal()], ROWS)
    seen = []
    with pytest.raises(GraphChangedError):
        async for row in db.stream(parse("read")):
            seen += [row]
    assert seen == ROWS
    assert len(driver.sent) == 1


async def test_a_caller_begins_a_stream_again() -> None:
    db, driver = database([*ROWS, refusal()], ROWS)

    async def collect() -> object:
        return [row async for row in db.stream(parse("read"))]

    assert await repeat_disturbed(collect) == ROWS
    assert len(driver.sent) == 2


async def test_a_batch_is_not_repeated() -> None:
    db, driver = database(refusal(), [])
    with pytest.raises(GraphChangedError):
        await db.batch(parse("batch"))
    assert len(driver.sent) == 1


async def test_what_lost_its_properties_while_it_was_read_is_read_again() -> None:
    own = parse("read", "runs/read_somewhat")
    db, driver = database([{"n": 1}, {"n": None}], [{"n": 1}])
    assert await db.read(own) == [{"n": 1}]
    assert len(driver.sent) == 2
    db, driver = database([{"n": None}], [{"n": None}], [{"n": 1}])
    with pytest.raises(StoredDataError):
        await db.read(own)
    assert len(driver.sent) == 2
