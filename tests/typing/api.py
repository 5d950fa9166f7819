"""Uses of the public API, checked by mypy and never run: the types that callers rely on."""

from __future__ import annotations

from typing import assert_type

from pgs_neo4j import PGS, Answer, Coverage, GraphMapping, Partition, Sweep, Synthesis
from pgs_neo4j.engine import (
    Check,
    CreatedIndexes,
    EndedJob,
    GraphChange,
    Job,
    JobOrder,
    Kept,
    LayeredAnswer,
    LoadResult,
    Partitioning,
    Proposal,
    Purged,
    RunInfo,
    SearchIndex,
    SessionInfo,
    StoredGraph,
    StoredRun,
    Survey,
    diagnose,
)
from pgs_neo4j.export import Document
from pgs_neo4j.model import (
    Analogies,
    AnalogyPlan,
    Drift,
    Found,
    Generation,
    Origin,
    Plan,
    Routing,
    Unit,
)


async def connecting() -> None:
    async with PGS.connect(neo4j_uri="bolt://localhost", neo4j_password="…", max_calls=3) as pgs:
        assert_type(pgs, PGS)
    async with PGS.connect(embedder="hashing", sweep_fraction="none") as pgs:
        assert_type(pgs.settings.neo4j_uri, str | None)
        assert_type(pgs.config.max_calls, int | None)
    async with PGS.connect_without_models(graph="papers") as pgs:
        assert_type(pgs, PGS)
    PGS.connect(neo4j_urri="bolt://localhost")  # type: ignore[call-arg]
    PGS.connect(max_calls="three")  # type: ignore[arg-type]
    assert_type(await diagnose(neo4j_uri=None), tuple[Check, ...])


async def questions(pgs: PGS) -> None:
    assert_type(await pgs.execute("?", graph="papers", mode="continue", max_cost=0.5), Answer)
    assert_type(await pgs.plan("?", max_calls="none"), Plan)
    assert_type(await pgs.layered_search("?", top_k=5), LayeredAnswer)
    assert_type(await pgs.resume("r1", run_timeout_s=60), Answer)
    assert_type(await pgs.route("?", min_sweep_partitions=2), Routing)
    sweep = await pgs.sweep_partition("?", 1, sweep_effort="low")
    assert_type(sweep, Sweep)
    assert_type(await pgs.synthesize("?", [sweep]), Synthesis)
    assert_type(await pgs.execute("?", structure_only=True), Answer)
    assert_type(await pgs.analogies("papers", max_calls=3), Analogies)
    assert_type(await pgs.analogies.plan(), AnalogyPlan)
    assert_type(await pgs.search("?", graph=GraphMapping(), mode="structural"), Found)
    await pgs.search("?", mode="full")  # type: ignore[arg-type]
    await pgs.execute("?", mode="sideways")  # type: ignore[arg-type]
    await pgs.execute("?", max_cals=3)  # type: ignore[call-arg]
    await pgs.route("?", algorithm="kmeans")  # type: ignore[arg-type]


async def stored(pgs: PGS) -> None:
    assert_type(await pgs.graphs(), list[StoredGraph])
    assert_type(await pgs.graphs.get("papers"), StoredGraph)
    assert_type(await pgs.graphs.add("papers", GraphMapping(labels=("Paper",))), bool)
    assert_type(await pgs.graphs.add("papers", GraphMapping(), replace=True), bool)
    assert_type(await pgs.graphs.compare("papers", GraphMapping()), GraphChange | None)
    assert_type(await pgs.graphs.validate(GraphMapping()), list[str])
    assert_type(await pgs.sessions("papers"), list[SessionInfo])
    assert_type(await pgs.sessions.coverage("default", "papers"), Coverage | None)
    assert_type(await pgs.runs("papers", limit=5), list[RunInfo])
    assert_type(await pgs.runs.latest(answered=True), RunInfo)
    assert_type(await pgs.runs.get("r1"), StoredRun)
    assert_type(await pgs.runs.answer("r1"), Answer)
    assert_type(await pgs.runs.document("r1"), Document)
    assert_type(await pgs.kept_replies(), Kept)
    assert_type(await pgs.purge(), Purged)


async def partitions(pgs: PGS) -> None:
    assert_type(await pgs.partitions("papers"), tuple[Partition, ...])
    assert_type(await pgs.partitions.build("papers", force=True, random_seed=7), Partitioning)
    assert_type(await pgs.partitions.generation(), Generation)
    assert_type(await pgs.partitions.units(), list[Unit])
    drift = await pgs.partitions.check("papers", scan=False)
    assert_type(drift, Drift | None)
    if drift is not None:
        assert_type(pgs.partitions.outlook(drift, seed_drift=0.1), Origin | None)


async def operations(pgs: PGS) -> None:
    assert_type(await pgs.jobs("papers", limit=5), list[Job])
    assert_type(await pgs.jobs.run("papers", max_drift=0.05), Job)
    assert_type(await pgs.jobs.attempt("papers", JobOrder(keep=2)), EndedJob)
    assert_type(await pgs.jobs.attempt_all(JobOrder()), list[EndedJob])
    assert_type(await pgs.indexes(), list[SearchIndex])
    assert_type(await pgs.indexes.create("papers"), CreatedIndexes)
    assert_type(await pgs.indexes.create(text=True, facts=True, vectors=True), CreatedIndexes)
    assert_type(await pgs.indexes.drop(), list[str])
    survey = await pgs.survey(["Paper"])
    assert_type(survey, Survey)
    assert_type(pgs.survey.propose(survey), Proposal)
    assert_type(await pgs.load("physics.json.gz", "physics"), LoadResult)
    assert_type(await pgs.load.demo(), LoadResult)
    assert_type(await pgs.doctor(), tuple[Check, ...])
