"""Repeats what other transactions disturb, by what they delete or make."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from neo4j.exceptions import Neo4jError

from pgs_neo4j.database.driver_errors import graph_changed, is_deleted, is_made
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import DatabaseTimeoutError, GraphChangedError

Result = TypeVar("Result")

PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds before each repetition.

A transaction that disturbs a statement has committed, so only another one can disturb the next
attempt.
"""

TRIED_ENOUGH = (GraphChangedError, DatabaseTimeoutError)
"""What a read raises after its attempts, or after its time.

Code that repeats several reads together, for another reason, lets these pass: they would have all
their attempts once more.
"""


async def repeat_disturbed(work: Callable[[], Awaitable[Result]]) -> Result:
    """Return what ``work`` returns, which must be harmless to repeat.

    It is repeated up to five times if something was deleted that it had found, or if it makes what
    another transaction has just made. The last error is raised.
    """
    for pause in PAUSES_S:
        try:
            return await work()
        except GraphChangedError:
            pass
        except Neo4jError as error:
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
