"""The views of the engine on a real Neo4j: whatever a command can do, Python can."""

from __future__ import annotations

import pytest

from pgs_neo4j.engine import PGS, JobOrder
from pgs_neo4j.errors import MappingError, UnknownRunError, UnknownSessionError, UsageError
from tests.conftest import Endpoint
from tests.engines import without_models


@pytest.mark.schema
async def test_sessions_runs_and_jobs_are_listed_read_and_deleted(
    endpoint: Endpoint, pgs: PGS
) -> None:
    answer = await pgs.execute("What is missing?", graph="papers", session_id="s")
    (run,) = await pgs.sessions.runs("s")
    assert run["id"] == answer.run
    assert (await pgs.runs.get(answer.run)).status == "complete"
    assert (await pgs.runs.answer(answer.run)).text == answer.text
    assert (await pgs.runs.document(answer.run)).answer.run == answer.run
    assert await pgs.sessions.coverage("s") == await pgs.sessions.coverage("s", "papers")
    assert [info.id for info in await pgs.sessions("papers")] == ["s"]
    (job,) = await pgs.jobs.attempt_all(JobOrder(if_changed=True))
    assert await pgs.jobs("papers", limit=1) == [job] == [await pgs.jobs.get(job.id)]
    assert (await pgs.partitions.generation()).id == job.generation == answer.generation
    with pytest.raises(UsageError, match="there is no job j0; 'pgs jobs list'"):
        await pgs.jobs.get("j0")
    async with without_models(endpoint, llm_provider="openai", llm_api_key=None) as other:
        assert [graph.name for graph in await other.graphs()] == ["papers"]
        assert [info.id for info in await other.sessions("papers")] == ["s"]
    with pytest.raises(MappingError):
        await pgs.indexes.create("papers")
    await pgs.sessions.delete("s")
    assert await pgs.sessions() == []
    with pytest.raises(UnknownSessionError):
        await pgs.sessions.runs("s")
    with pytest.raises(UnknownRunError):
        await pgs.runs.get(answer.run)
