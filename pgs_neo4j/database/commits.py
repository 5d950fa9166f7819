"""Transactions of the driver: those that only read, and one whose commit is acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from neo4j import AsyncManagedTransaction, AsyncSession
from neo4j.exceptions import IncompleteCommit

from pgs_neo4j.database import queries
from pgs_neo4j.database.driver_values import sent

Result = TypeVar("Result")
Work = Callable[[AsyncManagedTransaction], Awaitable[Result]]

LOST_S = 0.2  # pause after the acknowledgement of a commit was lost


async def run_to_commit(
    run: Callable[[Work[Result]], Awaitable[Result]], work: Work[Result]
) -> Result:
    """Run a transaction until its commit is acknowledged: it must be harmless to repeat."""
    while True:
        try:
            return await run(work)
        except IncompleteCommit:
            await asyncio.sleep(LOST_S)


async def read_nothing(transaction: AsyncManagedTransaction) -> None:
    """Let the server say what it committed last."""
    await (await transaction.run(queries.get("database/read_nothing").text)).consume()


async def read_once(
    session: AsyncSession, text: str, params: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of a read statement, which is not tried again."""
    result = await session.run(text, sent(params))
    return [dict(record) async for record in result]
