"""The views of the engine on a real Neo4j: whatever a command can do, Python can."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS, JobOrder
from pgs_neo4j.errors import MappingError, UnknownRunError, UnknownSessionError, UsageError
from pgs_neo4j.model import GraphMapping
from tests.conftest import Endpoint
from tests.engines import engine_on_papers


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on four topics of papers."""
    async with engine_on_papers(endpoint, db) as opened:
        yield opened


async def test_a_survey_proposes_a_graph_that_can_be_added_and_removed(pgs: PGS) -> None:
    survey = await pgs.survey(["Paper"])
    mapping = pgs.survey.propose(survey).mapping
    assert (mapping.title, mapping.text) == ("title", ("title", "abstract"))
    assert await pgs.graphs.validate(mapping) == []
    assert await pgs.graphs.add("again", mapping)
    assert [graph.name for graph in await pgs.graphs()] == ["again", "papers"]
    await pgs.graphs.remove("again")
    assert [graph.name for graph in await pgs.graphs()] == ["papers"]
    with pytest.raises(MappingError):
        await pgs.graphs.validate(GraphMapping(labels=("Nothing",)))


async def test_sessions_and_runs_are_listed_read_and_deleted(pgs: PGS) -> None:
    answer = await pgs.execute("What is missing?", graph="papers", session_id="s")
    (run,) = await pgs.sessions.runs("s")
    assert run["id"] == answer.run
    assert (await pgs.runs.get(answer.run)).status == "complete"
    assert (await pgs.runs.answer(answer.run)).text == answer.text
    assert (await pgs.runs.document(answer.run)).answer.run == answer.run
    assert await pgs.sessions.coverage("s") == await pgs.coverage("papers", "s")
    assert [info.id for info in await pgs.sessions("papers")] == ["s"]
    await pgs.sessions.delete("s")
    assert await pgs.sessions() == []
    with pytest.raises(UnknownSessionError):
        await pgs.sessions.runs("s")
    with pytest.raises(UnknownRunError):
        await pgs.runs.get(answer.run)


async def test_partitions_and_jobs_agree(pgs: PGS) -> None:
    job = await pgs.jobs.run("papers")
    assert job.outcome == "repartitioned"
    assert (await pgs.partitions.generation()).id == job.generation
    assert len(await pgs.partitions()) == job.figures["partitions"]
    assert await pgs.jobs() == [job]
    assert await pgs.jobs.get(job.id) == job
    (again,) = await pgs.jobs.attempt_all(JobOrder(if_changed=True))
    assert await pgs.jobs("papers", limit=1) == [again]
    drift = await pgs.partitions.check()
    assert drift is not None
    assert pgs.partitions.outlook(drift) is None
    with pytest.raises(UsageError, match="there is no job j0; 'pgs jobs list'"):
        await pgs.jobs.get("j0")


async def test_a_file_is_loaded_and_its_graph_stored(pgs: PGS, tmp_path: Path) -> None:
    file = tmp_path / "brain.json"
    nodes = [{"id": name, "concept": f"about {name}"} for name in "ab"]
    file.write_text(json.dumps({"nodes": nodes, "edges": [{"source": "a", "target": "b"}]}))
    result = await pgs.load(file, "brain")
    assert (result.nodes, result.relationships) == (2, 1)
    assert (await pgs.graphs.get("brain")).mapping == result.mapping
    assert (await pgs.load(str(file), "brain")).unchanged


@pytest.mark.usefixtures("no_search_indexes")
async def test_indexes_the_doctor_and_an_engine_without_models(
    endpoint: Endpoint, pgs: PGS
) -> None:
    with pytest.raises(MappingError):
        await pgs.indexes.create("papers")
    assert await pgs.indexes.drop() == []
    checks = {check.name: check.status for check in await pgs.doctor()}
    assert checks["configuration"] == "ok"
    assert checks["graph papers"] in ("ok", "warning")
    assert "failed" not in checks.values()
    async with PGS.connect_without_models(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        llm_provider="openai",
        llm_api_key=None,
    ) as other:
        assert [graph.name for graph in await other.graphs()] == ["papers"]
        assert other.sweep_llm is other.synthesis_llm
