"""Jobs of a server: one per graph, and none left when it stops."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import BusyError
from pgs_neo4j.web.access.tokens import Tokens
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.shared import Serving


def serving() -> Serving:
    return Serving(cast(PGS, SimpleNamespace()), RunBoard(1), Tokens(), "c")


async def job(until: asyncio.Event) -> Any:
    await until.wait()
    return "ended"


async def test_a_graph_has_one_job_at_a_time() -> None:
    here, go = serving(), asyncio.Event()
    here.start_job("papers", job(go))
    with pytest.raises(BusyError, match="papers is in progress"):
        here.start_job("papers", job(go))
    here.start_job("other", job(go))
    go.set()
    assert str(await here.jobs["papers"]) == "ended"
    here.start_job("papers", job(go))
    assert str(await here.jobs["papers"]) == "ended"


async def test_a_server_that_stops_cancels_its_jobs_and_begins_none() -> None:
    here = serving()
    here.start_job("papers", job(asyncio.Event()))
    await asyncio.sleep(0)
    await here.stop()
    assert here.jobs["papers"].cancelled()
    assert here.stopped.is_set()
    with pytest.raises(BusyError):
        here.start_job("other", job(asyncio.Event()))
