"""The lease against a real Neo4j: one holder at a time, taken over when it runs out."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import psutil
import pytest

from pgs_neo4j.database import lease, queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.holder import Holder
from pgs_neo4j.database.lease import LONGEST_S, Lease, hold_lease, read_holder, take_away
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.errors import BusyError, DatabaseError, DatabaseUnavailableError, LeaseLostError
from pgs_neo4j.partitioning import generation
from tests.waiting import until

PATIENCE_S = 60.0
# A lease that lasts, whatever the machine is busy with, and is looked at all the time.
LASTING_S, LOOKS = 60.0, 300
SOON = "MATCH (l:PgsLease) SET l.expires_at = datetime.realtime('Z') + duration('PT20S')"


@pytest.fixture
async def papers(db: Database) -> Database:
    """A database with one stored graph, ``papers``."""
    await ensure_schema(db)
    await db.call("CREATE (:PgsGraph {name: 'papers', mapping: '{}'})", {}, "write")
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


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text[:19])


async def run_out(db: Database) -> None:
    """Let the lease be one that ran out long ago."""
    await db.call(
        "MATCH (l:PgsLease) SET l.expires_at = datetime.realtime() - duration('PT1H')", {}, "write"
    )


async def building(db: Database, name: str, status: str = "building") -> None:
    await db.call(
        "MATCH (g:PgsGraph {name: 'papers'}) "
        "CREATE (:PgsGeneration {id: $id, status: $status})-[:PGS_OF]->(g)",
        {"id": name, "status": status},
        "write",
    )


async def statuses(db: Database) -> dict[str, str]:
    _, rows = await db.call("MATCH (c:PgsGeneration) RETURN c.id AS id, c.status AS s", {}, "read")
    return {row["id"]: row["s"] for row in rows}


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


async def test_of_twenty_who_do_not_wait_one_gets_it(papers: Database) -> None:
    taken = asyncio.Event()

    async def work() -> str:
        try:
            async with hold_lease(papers, "papers", seconds=30) as mine:
                await taken.wait()
                return str(mine.fence)
        except BusyError as error:
            return str(error)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work()) for _ in range(20)]

        async def nineteen() -> bool:
            return sum(task.done() for task in tasks) == 19

        await until(nineteen, PATIENCE_S)
        now = await read_holder(papers, "papers")
        taken.set()
    answers = [task.result() for task in tasks]
    refused = [answer for answer in answers if not answer.isdigit()]
    assert len(refused) == 19
    assert now is not None
    assert all(f"another job ({now.holder})" in said for said in refused)
    assert all("UTC" in said and "try again" in said for said in refused)


async def test_who_holds_it_can_be_asked(papers: Database) -> None:
    assert await read_holder(papers, "papers") is None
    async with hold_lease(papers, "papers", seconds=30) as mine:
        found = await read_holder(papers, "papers")
        assert found is not None
        assert (found.holder, found.fence) == (mine.holder, mine.fence)
        assert f"pid {os.getpid()}" in found.holder
        assert found.acquired_at < found.expires_at
        assert found.expires_at.endswith("Z")
    assert await read_holder(papers, "papers") is None


async def test_a_lease_that_ran_out_is_taken_over_with_the_next_fence(papers: Database) -> None:
    first = await take(papers, "dead")
    assert not (await take(papers, "next"))["taken"]
    await run_out(papers)
    assert await read_holder(papers, "papers") is None
    async with hold_lease(papers, "papers", seconds=30) as mine:
        assert mine.fence == first["fence"] + 1


async def test_a_lease_that_ends_in_ten_years_has_run_out(papers: Database) -> None:
    """A wrong clock wrote it; no lease lasts longer than the longest one."""
    dead = await take(papers, "dead")
    await building(papers, "half")
    far = "MATCH (l:PgsLease) SET l.expires_at = datetime.realtime('Z') + duration($ahead)"
    await papers.call(far, {"ahead": "PT59M"}, "write")
    assert not (await take(papers, "next"))["taken"]
    await papers.call(far, {"ahead": "P10Y"}, "write")
    assert await read_holder(papers, "papers") is None
    taken = await take(papers, "next")
    assert (taken["taken"], taken["fence"]) == (True, dead["fence"] + 1)
    assert await statuses(papers) == {"half": "abandoned"}


@pytest.mark.parametrize("expiry", [None, "tomorrow", 7])
async def test_a_lease_without_a_time_has_run_out(papers: Database, expiry: object) -> None:
    """A hand edited it."""
    dead = await take(papers, "dead")
    edit = "MATCH (l:PgsLease) SET l.expires_at = $expiry"
    await papers.call(edit, {"expiry": expiry}, "write")
    assert await read_holder(papers, "papers") is None
    taken = await take(papers, "next")
    assert (taken["taken"], taken["fence"]) == (True, dead["fence"] + 1)


async def test_a_released_lease_is_free_and_its_holder_fenced(
    papers: Database, brisk: None
) -> None:
    assert await take_away(papers, "papers") is None
    with pytest.raises(LeaseLostError, match="released by hand"):
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


async def test_a_takeover_gives_up_what_the_dead_holder_was_building(papers: Database) -> None:
    await take(papers, "dead")
    await building(papers, "half")
    await building(papers, "done", status="complete")
    refused = await take(papers, "next")
    assert (refused["taken"], refused["abandoned"]) == (False, 0)
    assert (await statuses(papers))["half"] == "building"
    await run_out(papers)
    taken = await take(papers, "next")
    assert (taken["taken"], taken["abandoned"]) == (True, 1)
    assert await statuses(papers) == {"half": "abandoned", "done": "complete"}


async def test_what_another_graph_builds_is_left_alone(papers: Database) -> None:
    await papers.call(
        "CREATE (:PgsGraph {name: 'other'})<-[:PGS_OF]-(:PgsGeneration {id: 'o', "
        "status: 'building'})",
        {},
        "write",
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


async def test_asking_again_after_a_lost_acknowledgement_changes_nothing(papers: Database) -> None:
    first = await take(papers, "me")
    again = await take(papers, "me")
    assert again["taken"]
    assert (again["fence"], again["acquired_at"]) == (first["fence"], first["acquired_at"])


async def test_renewal_keeps_it_beyond_its_time(papers: Database, brisk: None) -> None:
    async with hold_lease(papers, "papers", seconds=LASTING_S) as mine:
        await papers.call(SOON, {}, "write")
        soon = await read_holder(papers, "papers")
        assert soon is not None

        async def renewed_beyond() -> bool:
            now = await read_holder(papers, "papers")
            assert now is not None
            assert (now.fence, now.acquired_at) == (mine.fence, soon.acquired_at)
            return moment(now.expires_at) - moment(soon.expires_at) > timedelta(seconds=20)

        await until(renewed_beyond, PATIENCE_S)


async def test_a_lost_lease_ends_the_body(papers: Database, brisk: None) -> None:
    ended: list[str] = []

    async def work() -> None:
        async with hold_lease(papers, "papers", seconds=LASTING_S):
            await run_out(papers)
            await take(papers, "next")
            try:
                await asyncio.sleep(PATIENCE_S)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

    with pytest.raises(LeaseLostError, match="took over the lease of graph papers"):
        await work()
    assert ended == ["cancelled"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    found = await read_holder(papers, "papers")
    assert found is not None
    assert found.holder == "next"  # and was not released by the one that lost it


async def test_a_lease_that_ran_out_but_was_not_taken_goes_on(
    papers: Database, brisk: None
) -> None:
    async with hold_lease(papers, "papers", seconds=LASTING_S) as mine:
        await run_out(papers)

        async def renewed() -> bool:
            return await read_holder(papers, "papers") is not None

        await until(renewed, PATIENCE_S)
        found = await read_holder(papers, "papers")
        assert found is not None
        assert found.fence == mine.fence


async def test_a_lease_node_that_was_purged_is_lost(papers: Database, brisk: None) -> None:
    with pytest.raises(LeaseLostError):
        async with hold_lease(papers, "papers", seconds=LASTING_S):
            await papers.call("MATCH (l:PgsLease) DELETE l", {}, "write")
            await asyncio.sleep(PATIENCE_S)


async def test_a_database_that_stays_away_ends_the_body_when_the_time_is_over(
    papers: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []
    write = Database.write

    async def away(self: Database, query: queries.Query, **params: object) -> list[Row]:
        if query.name != "database/set_lease_expiries":
            return await write(self, query, **params)
        tries.append(query.name)
        raise DatabaseUnavailableError("away")

    monkeypatch.setattr(lease, "monotonic", lambda: 0.25 * len(tries))
    monkeypatch.setattr(Database, "write", away)
    with pytest.raises(DatabaseUnavailableError, match="could not be reached"):
        async with hold_lease(papers, "papers", seconds=0.6):
            await asyncio.sleep(PATIENCE_S)
    assert len(tries) == 3  # the first within 0.6 s at which 0.6 s are over


async def test_a_database_that_is_away_for_a_moment_costs_nothing(
    papers: Database, brisk: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []
    write = Database.write

    async def away_once(self: Database, query: queries.Query, **params: object) -> list[Row]:
        if query.name == "database/set_lease_expiries":
            tries.append(query.name)
            if len(tries) == 1:
                raise DatabaseUnavailableError("away")
        return await write(self, query, **params)

    monkeypatch.setattr(Database, "write", away_once)
    async with hold_lease(papers, "papers", seconds=LASTING_S) as mine:

        async def renewed() -> bool:
            return len(tries) >= 3

        await until(renewed, PATIENCE_S)
        found = await read_holder(papers, "papers")
        assert found is not None
        assert (found.holder, found.fence) == (mine.holder, mine.fence)


async def test_a_cancellation_from_outside_stays_one_and_the_lease_is_given_back(
    papers: Database,
) -> None:
    inside = asyncio.Event()

    async def work() -> None:
        async with hold_lease(papers, "papers", seconds=30):
            inside.set()
            await asyncio.sleep(PATIENCE_S)

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert await read_holder(papers, "papers") is None


async def test_a_cancellation_from_outside_wins_over_the_loss(
    papers: Database, brisk: None
) -> None:
    cleaning = asyncio.Event()

    async def work() -> None:
        async with hold_lease(papers, "papers", seconds=LASTING_S):
            await run_out(papers)
            await take(papers, "next")
            try:
                await asyncio.sleep(PATIENCE_S)
            finally:
                cleaning.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(PATIENCE_S)

    task = asyncio.create_task(work())
    await cleaning.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def test_an_error_of_the_body_wins_over_the_loss(papers: Database, brisk: None) -> None:
    with pytest.raises(ZeroDivisionError):
        async with hold_lease(papers, "papers", seconds=LASTING_S):
            await run_out(papers)
            await take(papers, "next")
            try:
                await asyncio.sleep(PATIENCE_S)
            except asyncio.CancelledError:
                raise ZeroDivisionError from None


async def test_a_timeout_of_the_body_is_its_own(papers: Database) -> None:
    with pytest.raises(TimeoutError):
        async with hold_lease(papers, "papers", seconds=30), asyncio.timeout(0.01):
            await asyncio.sleep(PATIENCE_S)
    assert await read_holder(papers, "papers") is None


async def test_a_body_that_ends_well_despite_the_loss_has_ended_well(
    papers: Database, brisk: None
) -> None:
    async def work() -> str:
        async with hold_lease(papers, "papers", seconds=LASTING_S):
            await run_out(papers)
            await take(papers, "next")
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(PATIENCE_S)
            return "done"

    assert await work() == "done"


async def test_waiting_is_told_once_and_ends_with_the_lease(papers: Database) -> None:
    told: list[str] = []
    release = asyncio.Event()

    async def first() -> Lease:
        async with hold_lease(papers, "papers", seconds=30) as mine:
            await release.wait()
            return mine

    async def second() -> Lease:
        def heard(message: str) -> None:
            told.append(message)
            asyncio.get_running_loop().call_later(0.5, release.set)

        async with hold_lease(
            papers, "papers", seconds=30, wait_s=PATIENCE_S, on_wait=heard
        ) as mine:
            return mine

    holding = asyncio.create_task(first())

    async def is_held() -> bool:
        return await read_holder(papers, "papers") is not None

    await until(is_held, PATIENCE_S)
    later = await second()
    assert later.fence == (await holding).fence + 1
    (message,) = told
    assert f"pid {os.getpid()}" in message
    assert "waiting for up to" in message


async def test_waiting_ends_when_its_time_is_over(papers: Database) -> None:
    await take(papers, "other")
    with pytest.raises(BusyError, match=r"another job \(other\) since .* UTC; try again"):
        async with hold_lease(papers, "papers", seconds=30, wait_s=0.3):
            raise AssertionError


async def test_a_cancelled_wait_leaves_the_holder_alone(papers: Database) -> None:
    await take(papers, "other")
    waiting = asyncio.Event()

    async def work() -> None:
        async with hold_lease(
            papers, "papers", seconds=30, wait_s=PATIENCE_S, on_wait=lambda _: waiting.set()
        ):
            raise AssertionError

    task = asyncio.create_task(work())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    found = await read_holder(papers, "papers")
    assert found is not None
    assert found.holder == "other"


async def test_a_lease_whose_acquirer_never_heard_of_it_is_given_back(
    papers: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Database.write

    async def unheard(self: Database, query: queries.Query, **params: object) -> list[Row]:
        rows = await write(self, query, **params)
        if query.name == "database/merge_leases":
            raise DatabaseUnavailableError("the acknowledgement was lost")
        return rows

    monkeypatch.setattr(Database, "write", unheard)
    with pytest.raises(DatabaseUnavailableError):
        async with hold_lease(papers, "papers", seconds=30):
            raise AssertionError
    assert await read_holder(papers, "papers") is None


async def test_a_graph_that_is_not_there_has_no_lease(papers: Database) -> None:
    with pytest.raises(DatabaseError, match="graph nothing was removed during the wait"):
        async with hold_lease(papers, "nothing", seconds=30):
            raise AssertionError
    _, rows = await papers.call("MATCH (l:PgsLease) RETURN count(l) AS found", {}, "read")
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


STOPPED = """
import asyncio, sys
from pgs_neo4j.database import connection, lease
from pgs_neo4j.errors import LeaseLostError

lease.RENEWALS = 300

async def main():
    async with connection.connect(sys.argv[1], sys.argv[2], sys.argv[3] or None) as opened:
        try:
            async with lease.hold_lease(opened, "papers", seconds=60.0):
                print("held", flush=True)
                await asyncio.sleep(60)
        except LeaseLostError:
            print("lost", flush=True)

asyncio.run(main())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
async def test_a_holder_that_was_stopped_past_its_time_notices(papers: Database, endpoint) -> None:
    arguments = [endpoint.uri, endpoint.user, endpoint.password or ""]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STOPPED, *arguments, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"held\n"
        process.send_signal(signal.SIGSTOP)
        stopped = psutil.Process(process.pid)

        async def at_rest() -> bool:
            return stopped.status() == psutil.STATUS_STOPPED

        await until(at_rest, PATIENCE_S)
        await run_out(papers)
        async with hold_lease(papers, "papers", seconds=30) as mine:
            process.send_signal(signal.SIGCONT)
            assert await process.stdout.readline() == b"lost\n"
            found = await read_holder(papers, "papers")
            assert found is not None
            assert found.holder == mine.holder
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def test_no_name_comes_twice() -> None:
    names = {str(Holder.unique()) for _ in range(100)}
    assert len(names) == 100
