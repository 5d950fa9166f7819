"""The state of graphs as figures, and what a scrape does when the database is away."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgs_neo4j.engine import PGS, FailedJob, GraphState, Job
from pgs_neo4j.engine import metrics as jobs
from pgs_neo4j.engine import metrics as module
from pgs_neo4j.engine import metrics as names
from pgs_neo4j.engine.metrics import GraphMetrics, graph_figures
from pgs_neo4j.errors import BusyError, DatabaseUnavailableError, UnknownGraphError
from tests.unit.engine.test_metrics import samples

STATE = GraphState(
    graph="papers", age_s=12.5, nodes=160, partitions=4, changed=True, drift=0.25, leased=False
)
NEW = GraphState(
    graph="new", age_s=None, nodes=None, partitions=None, changed=None, drift=None, leased=True
)
JOB = Job(id="j1", graph="papers", outcome="repartitioned", started_at="", figures={"seconds": 4.2})


class Engine:
    """Counts looks; each takes some seconds or fails."""

    def __init__(self, error: Exception | None = None, seconds: float = 0.0) -> None:
        self.graphs = SimpleNamespace(states=self.states)
        self.looks, self.error, self.seconds = 0, error, seconds

    async def states(self) -> list[GraphState]:
        self.looks += 1
        await asyncio.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return [STATE]


def of(engine: Engine) -> GraphMetrics:
    return GraphMetrics(cast(PGS, engine))


def test_what_is_not_known_is_left_out() -> None:
    figures = graph_figures([NEW, STATE])
    assert figures.value(names.GENERATION_AGE, "papers") == 12.5
    assert figures.value(names.CHANGED, "papers") == 1
    assert figures.values[names.LEASED] == {("new",): 1.0, ("papers",): 0.0}
    for metric in (names.GENERATION_AGE, names.NODES, names.DRIFT, names.CHANGED):
        assert [*figures.values[metric]] == [("papers",)]


async def test_scrapes_that_come_together_share_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    metrics = of(engine)
    clock = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: clock[0])
    listed = await asyncio.gather(*(metrics.figures() for _ in range(20)))
    assert engine.looks == 1
    assert {one.value(names.NODES, "papers") for one in listed} == {160}
    clock[0] += module.FRESH_S
    assert (await metrics.figures()).value(names.DATABASE_UP) == 1
    assert engine.looks == 2


async def test_a_database_that_is_away_is_told_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.01)
    away = of(Engine(DatabaseUnavailableError("Neo4j is away; start it")))
    for metrics in (away, of(Engine(seconds=60))):
        figures = await metrics.figures()
        assert figures.values == {names.DATABASE_UP: {(): 0.0}}


def read_jobs(*ended: Any, states: Any = (STATE,), code: int = 0) -> Any:
    return samples(jobs.job_text(ended, states, code))


def test_the_file_of_a_job_says_how_it_ended() -> None:
    read = read_jobs(JOB)
    graph = ("graph", "papers")
    assert read["pgs_repartition_exit_code", ()] == 0
    assert read["pgs_repartition_finished_timestamp_seconds", ()] > 1.7e9
    assert read["pgs_repartition_outcome", (graph, ("outcome", "repartitioned"))] == 1
    assert read["pgs_repartition_seconds", (graph,)] == 4.2
    assert read["pgs_graph_nodes", (graph,)] == 160


def test_a_failure_is_told_without_its_text_and_without_an_unknown_name() -> None:
    failed = FailedJob("papers", BusyError("canary is at work; wait"), None)
    unknown = FailedJob("canary", UnknownGraphError("there is no canary; add it"), None)
    read = read_jobs(failed, unknown, code=4)
    outcome = (("graph", "papers"), ("outcome", "failed"))
    assert read["pgs_repartition_outcome", outcome] == 1
    assert read["pgs_repartition_exit_code", ()] == 4
    assert "canary" not in jobs.job_text([failed, unknown], [STATE], 4)
    assert "pgs_graph" not in jobs.job_text([failed], [], 5)
