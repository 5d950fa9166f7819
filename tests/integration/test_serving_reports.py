"""Reports over HTTP, as a run records them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import events, served


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with engine_on_papers(endpoint, db) as opened:
        yield opened


@pytest.fixture
async def owner(pgs: PGS) -> AsyncIterator[httpx2.AsyncClient]:
    async with served(pgs) as server, server.owner() as client:
        yield client


async def test_each_sweep_tells_the_link_of_its_report_when_it_can_be_read(
    owner: httpx2.AsyncClient,
) -> None:
    asked = await owner.post("/api/runs", json={"question": "Why?", "full_sweep": True})
    run = asked.json()
    first = await events(owner, run["events"], until=lambda told: told.name == "sweep_finished")
    early = (await owner.get(first[-1].data["report"])).json()
    assert [one["text"] for one in early["findings"]] == first[-1].data["findings"]
    told = await events(owner, run["events"])
    links = {
        one.data["partition"]: one.data["report"] for one in told if one.name == "sweep_finished"
    }
    answer = (await owner.get(f"/api/runs/{run['run']}/answer.json")).json()
    assert {sweep["partition"] for sweep in answer["sweeps"]} == {*links} == {1, 2, 3, 4}
    for sweep in answer["sweeps"]:
        report = (await owner.get(links[sweep["partition"]])).json()
        assert report["domain_state"] == sweep["report"]["domain_state"]
        for ours, theirs in zip(report["findings"], sweep["report"]["findings"], strict=True):
            assert ours["text"] == theirs["text"]
            cited = [one["element_id"] for one in ours["citations"] if one["valid"]]
            for node in cited:
                assert (await owner.get(f"/api/graphs/papers/nodes/{node}")).status_code == 200
        assert report["absences"] == sweep["report"]["absences"]
        assert len(report["flags"]) == len(sweep["report"]["flags"])
    snapshot = (await owner.get(f"/api/runs/{run['run']}")).json()
    assert {one["partition"]: one["report"] for one in snapshot["sweeps"]} == links


async def test_a_partition_that_the_run_has_not_read_has_none(
    pgs: PGS, owner: httpx2.AsyncClient
) -> None:
    answer = await pgs.execute("Why?", graph="papers", full_sweep=True)
    assert (await owner.get(f"/api/runs/{answer.run}/reports/1")).status_code == 200
    refused = await owner.get(f"/api/runs/{answer.run}/reports/99")
    assert (refused.status_code, refused.json()["code"]) == (404, "unknown_sweep")
