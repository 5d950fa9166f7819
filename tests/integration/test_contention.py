"""Many tasks on few connections, and writers that lock the same nodes in opposite orders."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import neo4j
import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, connect
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.llm.calls.replies import Replies, claim_purchases, free_purchases
from tests.conftest import Endpoint
from tests.database import alter, fetch

CONNECTIONS, TASKS = 5, 80
WRITERS, KEYS = 8, 12
CROSSED_S = 5.0


def reply(key: str, writer: int) -> dict[str, Any]:
    return {"key": key, "run": f"r{writer}", "private": False, "text": "t", "model": "m",
            "input_tokens": 1, "output_tokens": 1, "proven": True, "size": 1}  # fmt: skip


async def test_many_tasks_share_five_connections(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them get their turn, also after some were canceled in the middle."""
    await ensure_schema(db)
    opening = neo4j.AsyncGraphDatabase.driver

    def small(*args: Any, **settings: Any) -> neo4j.AsyncDriver:
        return opening(*args, max_connection_pool_size=CONNECTIONS, **settings)

    monkeypatch.setattr(neo4j.AsyncGraphDatabase, "driver", small)
    async with connect(endpoint.uri, endpoint.user, endpoint.password) as pooled:
        replies = Replies(pooled, "r1")

        async def work(number: int) -> int:
            key = f"k{number}"
            await replies.keep([reply(key, number)])
            return len(await replies.find([key]))

        tasks = [asyncio.create_task(work(number)) for number in range(TASKS)]
        await asyncio.sleep(0.2)
        for task in tasks[::20]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        failed = [result for result in results if isinstance(result, Exception)]
        assert failed == []
        done = [result for result in results if isinstance(result, int)]
        assert len(done) >= TASKS - len(tasks[::20])
        assert set(done) == {1}
        async with asyncio.timeout(60):  # no connection was lost with the canceled tasks
            again = await asyncio.gather(*(work(TASKS + n) for n in range(2 * CONNECTIONS)))
        assert set(again) == {1}


@pytest.mark.thorough
async def test_crossed_writers_fail_nothing_and_lose_nothing(db: Database) -> None:
    """The database breaks deadlocks, and the writer that loses is tried again."""
    await ensure_schema(db)
    await alter(
        db,
        "UNWIND range(0, $most) AS i CREATE (:PgsRun {id: 'r' + i, holder: 'h' + i, "
        "status: 'running', updated_at: datetime()})",
        most=WRITERS - 1,
    )
    writes: Counter[int] = Counter()
    loop = asyncio.get_running_loop()
    end = loop.time() + CROSSED_S

    async def write(writer: int) -> None:
        draw, keys = random.Random(writer), [f"k{number}" for number in range(KEYS)]
        replies = Replies(db, f"r{writer}")
        while loop.time() < end or not writes[writer]:
            draw.shuffle(keys)
            await replies.keep([reply(key, writer) for key in keys])
            claims = await claim_purchases(db, f"r{writer}", [f"new {key}" for key in keys[:3]])
            await free_purchases(db, f"r{writer}", claims.own)
            spent = {"tally": writes[writer] + 1, "calls": writes[writer] + 1}
            totals = queries.get("pgs/runs/set_run_totals")
            assert await db.write(
                totals, run=f"r{writer}", holder=f"h{writer}", spent=spent, days=[]
            )
            writes[writer] += 1

    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    assert len(writes) == WRITERS
    rows = await fetch(db, "MATCH (r:PgsRun) RETURN r.id AS id, r.calls AS calls")
    assert {row["id"]: row["calls"] for row in rows} == {f"r{w}": n for w, n in writes.items()}
    found = await Replies(db, "r0").find([f"k{number}" for number in range(KEYS)])
    assert len(found) == KEYS
