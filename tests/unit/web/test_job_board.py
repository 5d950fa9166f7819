"""Jobs of a server: one on a graph at a time, followed by events, and none left when it stops."""

from __future__ import annotations

import asyncio
import json

import pytest

from pgs_neo4j.engine import Job
from pgs_neo4j.errors import BusyError, DatabaseError, UsageError
from pgs_neo4j.events import OnEvent, Progressed, UsageCounted
from pgs_neo4j.model import Usage
from pgs_neo4j.web.access.callers import OWNER, Caller, UnknownJobError
from pgs_neo4j.web.jobs import JobBoard, LiveJob, ServedJobEnd, ServedJobFailure
from pgs_neo4j.web.served_work import held_costs, stop_served

ANN = Caller("ann", tenant=True, graphs=frozenset({"papers"}), cost_per_day=5.0)
BOB = Caller("bob", tenant=True)
RECORD = Job(id="j1", graph="papers", started_at="2026-11-24T09:00:00Z")
END: ServedJobEnd = {
    "record": "j1", "outcome": "ingested", "states": {}, "documents": [], "notes": [],
    "cost": 0.25,
}  # fmt: skip


class Held:
    """Work that waits until it may end."""

    def __init__(self) -> None:
        self.go, self.cost = asyncio.Event(), 0.0

    async def work(self, on_event: OnEvent) -> ServedJobEnd:
        on_event(Progressed("ingest", 1, 2, "documents"))
        on_event(UsageCounted(Usage(calls=1), self.cost))
        await self.go.wait()
        return END


async def told(job: LiveJob) -> list[tuple[str, dict[str, object]]]:
    return [(entry.name, json.loads(entry.data)) async for entry in job.log.after(0)]


async def test_a_graph_has_one_job_at_a_time_and_every_end_is_noted() -> None:
    board, held, ends = JobBoard(), Held(), list[str]()
    job = board.start(LiveJob("papers", OWNER, "ingest"), held.work, lambda: ends.append("first"))
    with pytest.raises(BusyError, match="papers is in progress"):
        board.start(LiveJob("papers", OWNER, "demo"), held.work, lambda: ends.append("refused"))
    board.start(LiveJob("other", OWNER, "ingest"), held.work)
    held.go.set()
    events = await told(job)
    assert [name for name, _ in events] == ["accepted", "progressed", "usage", "ended"]
    assert events[-1][1] == {**END, "job": job.id, "graph": "papers", "kind": "ingest"}
    assert events[-1][1].keys() >= ServedJobEnd.__annotations__.keys()
    await asyncio.sleep(0)  # the task has ended
    assert (job.state, ends) == ("ended", ["refused", "first"])
    board.start(LiveJob("papers", OWNER, "ingest"), held.work)
    board.live.stopping = True
    with pytest.raises(BusyError, match="the server is stopping"):
        board.start(LiveJob("papers", OWNER, "demo"), held.work)
    await stop_served(board.live)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [(UsageError("no; do that"), "usage", "no"), (RuntimeError("canary"), "fault", "unexpected")],
)
async def test_an_error_is_told_and_a_fault_says_nothing_of_its_cause(
    error: Exception, code: str, said: str
) -> None:
    async def fail(_: OnEvent) -> ServedJobEnd:
        raise error

    job = JobBoard().start(LiveJob("papers", OWNER, "demo"), fail)
    (_, (name, data)) = await told(job)
    assert data.keys() >= ServedJobFailure.__annotations__.keys()
    assert (name, data["code"], job.state) == ("failed", code, "failed")
    assert said in str(data["error"])
    assert "canary" not in str(data)


async def test_a_server_that_stops_cancels_its_jobs_and_begins_none() -> None:
    board, ends = JobBoard(), list[str]()
    job = board.start(LiveJob("papers", OWNER, "ingest"), Held().work, lambda: ends.append("end"))
    await stop_served(board.live)  # before it has begun
    assert (job.state, ends) == ("cancelled", ["end"])
    assert [name for name, _ in await told(job)][-2:] == ["stopping", "cancelled"]
    with pytest.raises(BusyError, match="the server is stopping"):
        board.start(LiveJob("other", OWNER, "ingest"), Held().work)


async def test_a_job_is_known_by_its_record_unless_something_keeps_it_from_having_one() -> None:
    async def away(_: OnEvent) -> ServedJobEnd:
        raise DatabaseError("the database is away")

    board, held = JobBoard(), Held()
    job, other = (board.start(LiveJob(graph, OWNER, "demo"), held.work) for graph in ("a", "b"))
    failing = board.start(LiveJob("c", OWNER, "demo"), away)
    with pytest.raises(DatabaseError, match="the database is away"):
        await failing.wait_for_record()
    waiting = [asyncio.create_task(one.wait_for_record()) for one in (job, other)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    job.begin(RECORD)
    await waiting[0]
    assert (job.record, job.state) == ("j1", "running")
    await stop_served(board.live)
    await job.wait_for_record()
    with pytest.raises(BusyError, match="the server is stopping"):
        await waiting[1]


async def test_jobs_are_seen_by_who_started_them_and_by_the_owner() -> None:
    board, held = JobBoard(), Held()
    ann = board.start(LiveJob("papers", ANN, "ingest"), held.work)
    bob = board.start(LiveJob("notes", BOB, "repartition"), held.work)
    assert board.find(ann.id, ANN) is board.find(ann.id, OWNER) is ann
    for caller, id_ in ((BOB, ann.id), (ANN, "b000000000000")):
        with pytest.raises(UnknownJobError, match="no job"):
            board.find(id_, caller)
    assert (board.live.active(ANN), board.live.active(BOB)) == ([ann], [bob])
    assert (board.live.active(OWNER), board.live.active(OWNER, "notes")) == ([ann, bob], [bob])
    assert board.live.active(Caller("ann", tenant=True, graphs=frozenset())) == []
    await board.live.cancel(ann)
    held.go.set()
    await told(bob)
    assert (ann.state, board.live.active(OWNER)) == ("cancelled", [])


async def test_what_jobs_may_cost_is_held_until_they_end() -> None:
    board, held = JobBoard(), Held()
    job = board.start(LiveJob("papers", ANN, "ingest", most_cost=4.0), held.work)
    assert (held_costs(board.live, ANN), held_costs(board.live, BOB)) == ({job: 4.0}, {})
    held.go.set()
    await told(job)
    assert held_costs(board.live, ANN) == {}
