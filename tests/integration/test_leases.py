"""The lease against a real Neo4j: one holder at a time, taken over when it runs out."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from pgs_neo4j.database import lease, queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import (
    LONGEST_S,
    Lease,
    LeaseHolder,
    hold_lease,
    is_unreleased,
    take_away,
)
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.errors import BusyError, DatabaseError, DatabaseUnavailableError, LeaseLostError
from pgs_neo4j.pgs.partitioning import generation
from tests.database import alter, fetch
from tests.leases import read_holder
from tests.waiting import until
from tests.write_faults import faulty_writes

PATIENCE_S = 60.0
EXPIRIES = "database/set_lease_expiries"
# A lease that lasts, whatever the machine is busy with, and is looked at all the time.
LASTING_S, LOOKS = 60.0, 300


@pytest.fixture
async def papers(db: Database) -> Database:
    """A database with one stored graph, ``papers``."""
    await ensure_schema(db)
    await alter(db, "CREATE (:PgsGraph {name: 'papers', mapping: '{}'})")
    return db


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holders notice within a fraction of a second what became of their lease."""
    monkeypatch.setattr(lease, "RENEWALS", LOOKS)


async def take(db: Database, name: str, seconds: float = 30.0) -> dict[str, Any]:
    rows = await db.write(
        queries.get("database/merge_leases"),
        graph="papers",
        holder=name,
        seconds=seconds,
        longest=LONGEST_S,
    )
    return rows[0]


async def expire(db: Database, at: str = "datetime.realtime() - duration('PT1H')") -> None:
    """Let the lease be one that ends at another time, long ago if none is given."""
    await alter(db, f"MATCH (l:PgsLease) SET l.expires_at = {at}")


async def holder_of(db: Database) -> LeaseHolder:
    """Return who holds the lease; fail if it is free."""
    found = await read_holder(db, "papers")
    assert found is not None
    return found


async def building(db: Database, name: str, status: str = "building") -> None:
    await alter(
        db,
        "MATCH (g:PgsGraph {name: 'papers'}) "
        "CREATE (:PgsGeneration {id: $id, status: $status})-[:PGS_OF]->(g)",
        id=name,
        status=status,
    )


async def statuses(db: Database) -> dict[str, str]:
    rows = await fetch(db, "MATCH (c:PgsGeneration) RETURN c.id AS id, c.status AS s")
    return {row["id"]: row["s"] for row in rows}


@pytest.mark.thorough
async def test_twenty_who_want_it_at_once_hold_it_one_after_another(papers: Database) -> None:
    inside: list[str] = []
    fences: list[int] = []

    async def work() -> None:
        async with hold_lease(papers, "papers", seconds=30, wait_s=PATIENCE_S) as mine:
            inside.append(mine.holder)
            assert inside == [mine.holder]
            fences.append(mine.fence)
            await asyncio.sleep(0.01)
            assert inside == [mine.holder]
            inside.clear()

    async with asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(work())
    assert fences == list(range(fences[0], fences[0] + 20))
    assert await read_holder(papers, "papers") is None


@pytest.mark.parametrize(
    "expires_at",
    [
        "datetime.realtime() - duration('PT1H')",
        "datetime.realtime('Z') + duration('P10Y')",  # a wrong clock wrote it: none lasts so long
        "null",  # a hand edited it
        "'tomorrow'",
        "7",
    ],
)
async def test_a_lease_that_ran_out_is_taken_over_with_what_it_was_building(
    papers: Database, expires_at: str
) -> None:
    dead = await take(papers, "dead")
    await building(papers, "half")
    await building(papers, "done", status="complete")
    await expire(papers, "datetime.realtime('Z') + duration('PT59M')")
    refused = await take(papers, "next")
    assert (refused["taken"], refused["abandoned"]) == (False, 0)
    assert (await statuses(papers))["half"] == "building"
    await expire(papers, expires_at)
    assert await read_holder(papers, "papers") is None
    taken = await take(papers, "next")
    assert (taken["taken"], taken["fence"], taken["abandoned"]) == (True, dead["fence"] + 1, 1)
    assert await statuses(papers) == {"half": "abandoned", "done": "complete"}
    again = await take(papers, "next")  # after a lost acknowledgment
    assert {**again, "abandoned": 1} == {**taken, "expires_at": again["expires_at"]}


async def test_a_released_lease_is_free_and_its_holder_fenced(
    papers: Database, brisk: None
) -> None:
    assert await take_away(papers, "papers") is None
    with pytest.raises(LeaseLostError, match="or someone released it"):
        async with hold_lease(papers, "papers", seconds=LASTING_S) as own:
            await building(papers, "half")
            former = await take_away(papers, "papers")
            assert former is not None
            assert (former.holder, former.fence) == (own.holder, own.fence)
            assert await read_holder(papers, "papers") is None
            with pytest.raises(LeaseLostError):
                await generation.begin(papers, own, "g2", {})
            await asyncio.sleep(PATIENCE_S)
    assert await statuses(papers) == {"half": "abandoned"}
    assert await take_away(papers, "papers") is None
    async with hold_lease(papers, "papers", seconds=30) as later:
        assert later.fence > own.fence


async def test_what_another_graph_builds_is_left_alone(papers: Database) -> None:
    await alter(
        papers,
        "CREATE (:PgsGraph {name: 'other'})<-[:PGS_OF]-(:PgsGeneration {id: 'o', "
        "status: 'building'})",
    )
    async with (
        hold_lease(papers, "papers", seconds=30),
        hold_lease(papers, "other", seconds=30) as other,
    ):
        assert other.fence > 0
    assert await statuses(papers) == {"o": "abandoned"}
    await building(papers, "p")
    async with hold_lease(papers, "other", seconds=30):
        assert (await statuses(papers))["p"] == "building"


async def test_renewal_keeps_it_beyond_its_time(papers: Database, brisk: None) -> None:
    """Also one that ran out and that nobody took."""
    async with hold_lease(papers, "papers", seconds=LASTING_S) as mine:
        found = await holder_of(papers)
        assert (found.holder, found.fence) == (mine.holder, mine.fence)
        assert f"pid {os.getpid()}" in found.holder
        assert found.acquired_at < found.expires_at
        assert found.expires_at.endswith("Z")
        for end in ("datetime.realtime('Z') + duration('PT20S')", "datetime({year: 2020})"):
            await expire(papers, end)

            async def renewed() -> bool:
                now = await read_holder(papers, "papers")
                return now is not None and now.expires_at[:19] >= found.expires_at[:19]

            await until(renewed, PATIENCE_S)
            now = await holder_of(papers)
            assert (now.fence, now.acquired_at) == (mine.fence, found.acquired_at)
        assert await is_unreleased(papers, "papers")
    assert not await is_unreleased(papers, "papers")


@pytest.mark.parametrize("purged", [False, True])
async def test_a_lost_lease_ends_the_body(papers: Database, brisk: None, purged: bool) -> None:
    with pytest.raises(LeaseLostError, match="took over the lease of graph papers"):
        async with hold_lease(papers, "papers", seconds=LASTING_S):
            if purged:
                await alter(papers, "MATCH (l:PgsLease) DELETE l")
            else:
                await expire(papers)
                await take(papers, "next")
            await asyncio.sleep(PATIENCE_S)
    if not purged:  # it was not released by the one that lost it
        assert (await holder_of(papers)).holder == "next"


async def test_a_database_that_stays_away_ends_the_body_when_the_time_is_over(
    papers: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = faulty_writes(monkeypatch)
    faults.arm("away", 1, EXPIRIES)
    monkeypatch.setattr(lease, "monotonic", lambda: 0.25 * len(faults.seen))
    with pytest.raises(DatabaseUnavailableError, match="could not be reached"):
        async with hold_lease(papers, "papers", seconds=0.6):
            await asyncio.sleep(PATIENCE_S)
    assert len(faults.seen) == 3  # the first within 0.6 s at which 0.6 s are over


async def test_a_database_that_is_away_for_a_moment_costs_nothing(
    papers: Database, brisk: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = faulty_writes(monkeypatch)
    faults.arm("once", 1, EXPIRIES)
    async with hold_lease(papers, "papers", seconds=LASTING_S) as mine:

        async def renewed() -> bool:
            return len(faults.seen) >= 3

        await until(renewed, PATIENCE_S)
        found = await holder_of(papers)
        assert (found.holder, found.fence) == (mine.holder, mine.fence)


@pytest.mark.parametrize("error", [ZeroDivisionError, asyncio.CancelledError])
async def test_a_lease_is_given_back_whatever_ends_the_body(
    papers: Database, error: type[BaseException]
) -> None:
    with pytest.raises(error):
        async with hold_lease(papers, "papers", seconds=30):
            raise error
    assert await read_holder(papers, "papers") is None


async def test_waiting_is_told_once_and_ends_with_the_lease_its_time_or_its_task(
    papers: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = faulty_writes(monkeypatch)
    told: list[str] = []

    async def wait(seconds: float) -> Lease:
        async with hold_lease(
            papers, "papers", seconds=30, wait_s=seconds, on_wait=told.append
        ) as mine:
            return mine

    async with hold_lease(papers, "papers", seconds=30) as first:
        later = asyncio.create_task(wait(PATIENCE_S))

        async def has_asked_twice() -> bool:
            return len(faults.seen) >= 3  # with the question of the holder

        await until(has_asked_twice, PATIENCE_S)
    assert (await later).fence == first.fence + 1
    (message,) = told
    assert f"pid {os.getpid()}" in message
    assert "waiting for up to" in message

    await take(papers, "other")
    with pytest.raises(BusyError, match=r"another job \(other\) since .* UTC; try again"):
        await wait(0.3)
    task = asyncio.create_task(wait(PATIENCE_S))

    async def is_told() -> bool:
        return len(told) == 3

    await until(is_told, PATIENCE_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await holder_of(papers)).holder == "other"


@pytest.mark.parametrize("error", [DatabaseUnavailableError("lost"), asyncio.CancelledError()])
async def test_a_lease_whose_acquirer_never_heard_of_it_is_given_back(
    papers: Database, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    write = Database.write

    async def unheard(self: Database, query: queries.Query, **params: object) -> list[Row]:
        rows = await write(self, query, **params)
        if query.name == "database/merge_leases":
            raise error
        return rows

    monkeypatch.setattr(Database, "write", unheard)
    with pytest.raises(type(error)):
        async with hold_lease(papers, "papers", seconds=30):
            raise AssertionError
    assert await read_holder(papers, "papers") is None


async def test_a_graph_that_is_not_there_has_no_lease(papers: Database) -> None:
    with pytest.raises(
        DatabaseError, match="graph nothing was removed while its lease was awaited"
    ):
        async with hold_lease(papers, "nothing", seconds=30):
            raise AssertionError
    rows = await fetch(papers, "MATCH (l:PgsLease) RETURN count(l) AS found")
    assert rows[0]["found"] == 0


async def test_an_acquirer_that_waited_for_the_lock_judges_by_the_time_it_got_it(
    papers: Database,
) -> None:
    """The other transaction holds the node's lock until the lease has run out."""
    await take(papers, "slow", seconds=0.8)
    async with papers.driver.session() as session:
        blocking = await session.begin_transaction()
        await (await blocking.run("MATCH (l:PgsLease) SET l.asked_at = 0")).consume()
        asking = asyncio.create_task(take(papers, "next"))

        async def ran_out() -> bool:
            return await read_holder(papers, "papers") is None

        await until(ran_out, PATIENCE_S)
        assert not asking.done()
        await blocking.rollback()
        assert (await asking)["taken"]
