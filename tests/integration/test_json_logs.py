"""JSON logs of a server on a real database: each record of a run has its id."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from pgs_neo4j.cli import logs
from pgs_neo4j.database.connection import Database
from pgs_neo4j.telemetry.logs import JOB, RUN
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import events, served


@pytest.fixture
def as_json() -> Iterator[None]:
    logs.start()
    yield
    logs.stop()


@pytest.mark.thorough
async def test_runs_at_once_and_the_server_itself_write_records(
    endpoint: Endpoint, db: Database, as_json: None, capsys: pytest.CaptureFixture[str]
) -> None:
    async with engine_on_papers(endpoint, db) as pgs, served(pgs) as server:
        async with server.owner() as owner:
            body = {"question": "Why the canary?", "graph": "papers", "full_sweep": True}
            asked = [owner.post("/api/runs", json={**body, "session": name}) for name in "ab"]
            runs = [answer.json() for answer in await asyncio.gather(*asked)]
            for run in runs:
                await events(owner, run["events"])
        ids: set[tuple[str, str]] = set()
        job = await pgs.jobs.run("papers", on_event=lambda _: ids.add((RUN.get(), JOB.get())))
        token = server.token
    assert ("", job.id) in ids
    assert (RUN.get(), JOB.get()) == ("", "")
    told = capsys.readouterr().err
    records = [json.loads(line) for line in told.splitlines()]
    for run in runs:
        own = [one["message"] for one in records if one.get("run") == run["run"]]
        assert own[0] == "a run began on graph papers"
        assert own[-1] == "a run ended: answered"
    assert {"uvicorn.error", "pgs_neo4j.web.runs.board"} <= {one["logger"] for one in records}
    assert "canary" not in told
    assert token not in told
