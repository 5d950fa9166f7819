"""Jobs of a server: one per graph, told by their ids, and none left when it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgs_neo4j.engine import PGS, FailedJob, Job
from pgs_neo4j.errors import BusyError, DatabaseError
from pgs_neo4j.web.access.tokens import Tokens
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.shared import JobWork, Serving

JOB = Job(id="j1", graph="papers", started_at="2026-11-24T09:00:00Z")


def serving() -> Serving:
    return Serving(cast(PGS, SimpleNamespace()), RunBoard(1), Tokens(), "c")


def job(until: asyncio.Event, record: Job = JOB) -> JobWork:
    """A job that begins at once, and ends when it may."""

    async def work(tell: Callable[[Job], None]) -> Any:
        tell(record)
        await until.wait()
        return "ended"

    return work


async def test_a_graph_has_one_job_at_a_time() -> None:
    here, go = serving(), asyncio.Event()
    await here.start_job("papers", job(go))
    with pytest.raises(BusyError, match="papers is in progress"):
        await here.start_job("papers", job(go))
    await here.start_job("other", job(go))
    go.set()
    assert str(await here.jobs["papers"]) == "ended"
    await here.start_job("papers", job(go))
    assert str(await here.jobs["papers"]) == "ended"


async def test_a_job_is_known_as_soon_as_it_is_recorded() -> None:
    here = serving()
    assert await here.start_job("papers", job(asyncio.Event())) is JOB
    assert not here.jobs["papers"].done()
    await here.stop()


async def test_a_second_job_is_refused_while_the_first_one_is_being_recorded() -> None:
    here, go = serving(), asyncio.Event()

    async def slow(tell: Callable[[Job], None]) -> Any:
        await go.wait()
        tell(JOB)
        return "ended"

    first = asyncio.create_task(here.start_job("papers", slow))
    await asyncio.sleep(0)
    with pytest.raises(BusyError, match="papers is in progress"):
        await here.start_job("papers", slow)
    go.set()
    assert await first is JOB


async def test_a_job_that_cannot_be_recorded_fails_its_request() -> None:
    here = serving()

    async def away(tell: Callable[[Job], None]) -> Any:
        return FailedJob("papers", DatabaseError("the database is away"))

    with pytest.raises(DatabaseError, match="the database is away"):
        await here.start_job("papers", away)


async def test_a_request_hears_that_the_server_stops() -> None:
    here = serving()

    async def never(tell: Callable[[Job], None]) -> Any:
        await asyncio.Event().wait()

    asked = asyncio.create_task(here.start_job("papers", never))
    await asyncio.sleep(0)
    await here.stop()
    with pytest.raises(BusyError, match="the server is stopping"):
        await asked


async def test_a_server_that_stops_cancels_its_jobs_and_begins_none() -> None:
    here = serving()
    await here.start_job("papers", job(asyncio.Event()))
    await here.stop()
    assert here.jobs["papers"].cancelled()
    assert here.stopped.is_set()
    with pytest.raises(BusyError):
        await here.start_job("other", job(asyncio.Event()))
