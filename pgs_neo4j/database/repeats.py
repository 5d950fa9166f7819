"""Repeats what another program's deletions disturb."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from neo4j.exceptions import Neo4jError

from pgs_neo4j.database.driver_errors import is_deleted
from pgs_neo4j.errors import GraphChangedError

Result = TypeVar("Result")

PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds before each repetition.

A deletion that disturbs a statement has committed, so only another one can disturb the next
attempt.
"""


async def repeat_disturbed(work: Callable[[], Awaitable[Result]]) -> Result:
    """Return what ``work`` returns, which must be harmless to repeat.

    It is repeated up to five times if something was deleted that it had found. The last error is
    raised.
    """
    for pause in PAUSES_S:
        try:
            return await work()
        except GraphChangedError:
            pass
        except Neo4jError as error:
            if not is_deleted(error):
                raise
        await asyncio.sleep(pause)
    return await work()
