"""Makes writes to the database fail, be done without acknowledgment, or be done twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.errors import DatabaseUnavailableError

Write = Callable[..., Awaitable[list[Row]]]


@dataclass(slots=True)
class WriteFaults:
    """Counts the writes of a connection, and does something to one of them.

    ``how`` is ``once`` to fail one write, ``dead`` to fail it and all later writes, ``away`` to
    fail it and later writes of the same name, ``lost`` to do it and then fail, or ``twice`` to do
    it twice.
    """

    write: Write
    how: str = ""
    at: int = 0
    name: str = ""
    seen: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def arm(self, how: str, at: int, name: str = "") -> None:
        """Begin to count writes, either all or those of a name."""
        self.how, self.at, self.name, self.seen, self.done = how, at, name, [], []

    @property
    def fired(self) -> bool:
        """Whether the armed write has occurred."""
        return len(self.seen) >= self.at

    async def run(self, db: Database, query: Query, params: Row) -> list[Row]:
        """Replace ``Database.write``."""
        if self.name in ("", query.name):
            self.seen.append(query.name)
        hit = len(self.seen) == self.at and self.name in ("", query.name)
        away = self.how == "away" and self.fired and self.name == query.name
        if away or (self.how == "dead" and self.fired) or (self.how == "once" and hit):
            raise DatabaseUnavailableError(f"gone before {query.name}")
        rows = await self.write(db, query, **params)
        self.done.append(query.name)
        if self.how == "lost" and hit:
            raise DatabaseUnavailableError(f"gone after {query.name}")
        return await self.write(db, query, **params) if self.how == "twice" and hit else rows


def faulty_writes(patch: pytest.MonkeyPatch) -> WriteFaults:
    """Return what is to go wrong with the writes from now on; at first, nothing is."""
    made = WriteFaults(Database.write)

    async def write(db: Database, query: Query, **params: Any) -> list[Row]:
        return await made.run(db, query, params)

    patch.setattr(Database, "write", write)
    return made
