"""Repartition jobs on a real Neo4j + GDS: what they do, and what their records say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgs_neo4j.database import lease
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.jobs import JobOrder, repartition, repartition_all
from pgs_neo4j.errors import BusyError, EmptyGraphError, UnknownGraphError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.runs import jobs
from pgs_neo4j.pgs.runs.jobs import begin, close, get, list_jobs
from tests.database import alter
from tests.graphs import checksum, count

TEXT = "MATCH (p:Paper {doi: 'doi/3'}) SET p.abstract = 'It says something else now.'"
CITATION = (
    "MATCH (a:Paper {doi: 'doi/3'}), (b:Paper {doi: 'doi/20'}) "
    "CREATE (a)-[:CITES {strength: 1.0}]->(b)"
)
AGE = "MATCH (j:PgsJob {id: $id}) SET j.updated_at = datetime.realtime() - duration('PT1H')"


@pytest.mark.schema
async def test_each_way_a_job_can_go_well(pgs: PGS) -> None:
    db = pgs.db
    first = await repartition(pgs, "papers")
    assert (first.outcome, first.drift) == ("repartitioned", None)
    assert first.figures["partitions"] == 4
    assert first.figures["nodes"] == 160
    assert first.figures["seconds"] > 0

    second = await repartition(pgs, "papers", if_changed=True)
    assert (second.outcome, second.generation, second.drift) == ("unchanged", first.generation, 0.0)

    await alter(db, TEXT)
    third = await repartition(pgs, "papers", max_drift=0.5)
    assert (third.outcome, third.generation) == ("left", first.generation)
    assert third.drift == pytest.approx(1 / 160)
    assert third.figures["changes"]["texts_changed"] == 1

    fourth = await repartition(pgs, "papers", if_changed=True)
    assert fourth.outcome == "refreshed"
    assert fourth.generation != first.generation

    await alter(db, CITATION)
    fifth = await repartition(pgs, "papers", max_drift=0.0)
    assert fifth.outcome == "seeded"
    assert fifth.drift is not None
    assert 0 < fifth.drift < 0.1

    last = await repartition(pgs, "papers")
    assert last.outcome == "repartitioned"
    assert await list_jobs(db, "papers") == [last, fifth, fourth, third, second, first]
    assert await get(db, fifth.id) == fifth
    linked = (
        f"(x:PgsJob {{id: '{last.id}'}})-[:PGS_OF]->(:PgsGeneration {{id: '{last.generation}'}})"
    )
    assert await count(db, linked) == 1
    await repartition(pgs, "papers", keep=1)
    assert await count(db, "(x:PgsGeneration)") == 1
    assert len(await list_jobs(db)) == 7, "records outlive their generation"
    users = await checksum(db)
    await pgs.purge()
    assert await count(db, "(x) WHERE any(l IN labels(x) WHERE l STARTS WITH 'Pgs')") == 0
    assert await checksum(db) == users


@pytest.mark.thorough
async def test_somebody_elses_job_is_busy(pgs: PGS) -> None:
    await ensure_schema(pgs.db)
    async with lease.hold_lease(pgs.db, "papers", seconds=30) as other:
        with pytest.raises(BusyError, match=other.holder.replace(".", r"\.")):
            await repartition(pgs, "papers")
    (job,) = await list_jobs(pgs.db)
    assert job.outcome == "busy"
    assert job.error is not None
    assert other.holder in job.error
    assert (await repartition(pgs, "papers")).outcome == "repartitioned"


@pytest.mark.thorough
async def test_all_graphs_by_name_and_a_failure_stops_none_and_keeps_its_sentence(
    pgs: PGS,
) -> None:
    mapping = (await pgs.graphs.get("papers")).mapping
    await pgs.graphs.add("a_first", mapping)
    await pgs.graphs.add("nothing", GraphMapping(labels=("Nothing",)))
    await repartition_all(pgs, JobOrder(if_changed=True))
    listed = await list_jobs(pgs.db)
    assert [(job.graph, job.outcome) for job in reversed(listed)] == [
        ("a_first", "repartitioned"), ("nothing", "failed"), ("papers", "repartitioned"),
    ]  # fmt: skip
    with pytest.raises(EmptyGraphError) as raised:
        await repartition(pgs, "nothing")
    for job in await list_jobs(pgs.db, "nothing"):
        assert (job.outcome, job.error) == ("failed", str(raised.value))
        assert job.finished_at is not None


async def test_a_job_that_went_silent_is_killed_by_the_next_one(pgs: PGS) -> None:
    db = pgs.db
    await ensure_schema(db)
    dead = await begin(db, "papers")
    alive = await begin(db, "papers")
    elsewhere = await begin(db, "other")
    for job in (dead, elsewhere):
        await alter(db, AGE, id=job.id)
    assert [job.silent for job in await list_jobs(db)] == [True, False, True]
    await begin(db, "papers")
    assert (await get(db, dead.id)).outcome == "killed"
    assert not (await get(db, dead.id)).silent
    assert (await get(db, alive.id)).outcome == "running"
    assert (await get(db, elsewhere.id)).outcome == "running"
    # What was taken for dead has the last word.
    await close(db, replace(dead, outcome="failed", error="it lost its lease"))
    found = await get(db, dead.id)
    assert (found.outcome, found.error) == ("failed", "it lost its lease")
    assert found.finished_at is not None


@pytest.mark.thorough
async def test_the_newest_records_are_kept(pgs: PGS, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "KEPT", 3)
    db = pgs.db
    await ensure_schema(db)
    running = await begin(db, "papers")
    kept = []
    for _ in range(5):
        job = await begin(db, "papers")
        kept.append(await close(db, replace(job, outcome="unchanged")))
    other = await begin(db, "other")
    found = await list_jobs(db, "papers")
    assert [job.id for job in found] == [job.id for job in (*reversed(kept[-3:]), running)]
    assert [job.id for job in await list_jobs(db, limit=2)] == [other.id, kept[-1].id]


async def test_an_ingestion_without_any_document_fails_and_its_record_is_found_by_name(
    pgs: PGS, tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 cut off")
    done = await pgs.ingest(tmp_path, "fresh")
    assert (done.failed, done.has_documents) == (True, False)
    (record,) = await pgs.jobs("fresh")
    assert (record.id, record.outcome) == (done.job, "failed")
    assert record.figures["unfinished"][0]["id"] == "broken.pdf"
    with pytest.raises(UnknownGraphError):
        await pgs.jobs("never")
    (tmp_path / "broken.pdf").write_bytes(b"")
    empty = await pgs.ingest(tmp_path, "fresh")
    assert [(one.id, one.state) for one in empty.outcomes] == [("broken.pdf", "empty")]
    assert (empty.complete, (await pgs.jobs.get(empty.job)).outcome) == (True, "unchanged")
