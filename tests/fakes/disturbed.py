"""A driver whose statements meet data that another transaction deletes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from neo4j.exceptions import Neo4jError

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database

URI = "bolt://db.example.org:7687"
NODE = "Unable to load NODE 4:5d1f5d5c-1a1c-4b8e-8a55-1b1f8f3f7a3f:17."
RELATIONSHIP = "Unable to load RELATIONSHIP 5:5d1f5d5c-1a1c-4b8e-8a55-1b1f8f3f7a3f:17."

Step = Neo4jError | list[Any]


def refusal(message: str = NODE, code: str = "Statement.EntityNotFound") -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code=f"Neo.ClientError.{code}", message=message)


@dataclass
class Result:
    """Rows of a statement; an error among them is raised when its turn comes."""

    steps: list[Any]

    async def __aiter__(self) -> AsyncIterator[Any]:
        for step in self.steps:
            if isinstance(step, Neo4jError):
                raise step
            yield step

    async def consume(self) -> Result:
        return self

    @property
    def counters(self) -> Result:
        return self

    contains_updates = False

    def keys(self) -> list[str]:
        return ["n"]

    async def single(self) -> dict[str, str]:
        return {"token": ""}


@dataclass
class Driver:
    """Answers each statement with the next step: an error, or rows.

    A statement that counts commits takes no step. A transaction runs only once, because the real
    driver does not repeat a transaction that was refused.
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
        step = self.next_step(text)
        if isinstance(step, Neo4jError):
            raise step
        return Result(step)

    def next_step(self, text: str) -> Step:
        return self.steps.pop(0)

    async def execute_read(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        return await work(self)

    execute_write = execute_read


@dataclass
class NamedDriver(Driver):
    """Answers statements in turn, by their names; the last answer is repeated.

    Statements without answers have no rows.
    """

    answers: Mapping[str, list[Step]] = field(default_factory=dict)

    def next_step(self, text: str) -> Step:
        for name, steps in self.answers.items():
            if queries.get(name).text == text:
                return steps.pop(0) if len(steps) > 1 else steps[0]
        return []

    def count(self, name: str) -> int:
        """How often a statement was sent."""
        return self.sent.count(queries.get(name).text)


def database_of(driver: Driver) -> Database:
    """A database that this driver answers for."""
    made: Any = {"driver": driver, "bookmarks": None}
    return Database(uri=URI, name=None, timeout_s=60.0, **made)
