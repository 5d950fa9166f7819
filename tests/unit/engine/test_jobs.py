"""What a job asks of the engine, and what its record says afterwards."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pgs_neo4j.engine.jobs import FailedJob, JobOrder, attempt, repartition
from pgs_neo4j.errors import (
    BusyError,
    ConfigError,
    DatabaseUnavailableError,
    GDSMemoryError,
    LeaseLostError,
    UnknownGraphError,
)
from pgs_neo4j.model import Drift
from pgs_neo4j.pgs.runs import jobs
from pgs_neo4j.pgs.runs.jobs import Job
from tests.fakes.engine import Engine

SMALL = Drift(committed=True, nodes=160, relationships=480, nodes_added=4)
NONE = Drift(committed=True, nodes=160, relationships=480)


@pytest.fixture
def engine() -> Engine:
    """An engine with one graph, ``papers``, that has partitions."""
    return Engine()


def only(engine: Engine) -> dict[str, Any]:
    (stored,) = engine.db.jobs.values()
    return stored


async def test_a_job_partitions_by_force_unless_only_what_changed_counts(engine: Engine) -> None:
    job = await repartition(engine, "papers", keep=2)
    assert (job.outcome, job.generation, job.drift) == ("repartitioned", "g1", None)
    assert (job.figures["partitions"], job.figures["steps"]) == (4, {"scan": 0.25})
    assert json.loads(only(engine)["figures"]) == job.figures
    engine.reused = True
    assert (await repartition(engine, None, if_changed=True)).outcome == "unchanged"
    assert engine.calls == [
        ("partition", "papers", True, 2), ("partition", "papers", False, None),
    ]  # fmt: skip


async def test_a_drift_that_is_allowed_leaves_the_graph(engine: Engine) -> None:
    engine.drift = SMALL
    job = await repartition(engine, "papers", max_drift=0.025)
    assert engine.calls == [("check", "papers", True), ("clean up", "papers")]
    assert (job.outcome, job.generation) == ("left", "g1")
    assert job.drift == pytest.approx(0.025)
    assert only(engine)["outcome"] == "left"


@pytest.mark.parametrize(
    ("drift", "allowed"),
    [
        (SMALL, 0.02),
        (SMALL, 0.0),
        (NONE, 0.5),
        (Drift(committed=True, nodes=160, settings_changed=True), 1.0),
        (None, 1.0),  # there are no partitions yet
    ],
)
async def test_any_other_drift_goes_to_the_engine(
    engine: Engine, drift: Drift | None, allowed: float
) -> None:
    engine.drift = drift
    await repartition(engine, "papers", max_drift=allowed)
    assert engine.calls == [("check", "papers", True), ("partition", "papers", False, None)]


@pytest.mark.parametrize(
    ("error", "outcome", "said"),
    [
        (BusyError("another job"), "busy", "another job"),
        (LeaseLostError("taken over"), "failed", "taken over"),
        (GDSMemoryError("too large"), "failed", "too large"),
        (ZeroDivisionError("secret"), "failed", "ZeroDivisionError"),
    ],
)
async def test_an_error_is_recorded_and_raised_on_and_a_fault_of_ours_by_its_name_alone(
    engine: Engine, error: Exception, outcome: str, said: str
) -> None:
    engine.raising["papers"] = error
    with pytest.raises(type(error)) as raised:
        await repartition(engine, "papers")
    assert raised.value is error
    assert (only(engine)["outcome"], only(engine)["error"]) == (outcome, said)


async def test_a_cancelled_job_is_interrupted_and_a_second_time_waits_for_the_record(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, closing = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        inside.set()
        await asyncio.sleep(60)

    write = type(engine.db).write

    async def slow(self: Any, query: Any, **params: Any) -> Any:
        if query.name == "pgs/runs/set_job_results":
            closing.set()
            await asyncio.sleep(0.05)
        return await write(self, query, **params)

    monkeypatch.setattr(type(engine.db), "write", slow)
    engine.working = work
    task = asyncio.create_task(repartition(engine, "papers"))
    for moment in (inside, closing):
        await moment.wait()
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (only(engine)["outcome"], only(engine)["error"]) == ("interrupted", None)


async def test_a_database_that_is_gone_hides_no_result_and_begins_no_job(engine: Engine) -> None:
    begun: list[Job] = []
    ended = await attempt(engine, "papers", JobOrder(), on_begin=begun.append)
    assert isinstance(ended, Job)
    assert [(job.id, job.outcome) for job in begun] == [(ended.id, "running")]
    engine.db.failing["pgs/runs/set_job_results"] = DatabaseUnavailableError("gone")
    job = await repartition(engine, "papers")
    assert (job.outcome, job.finished_at) == ("repartitioned", None)
    engine.db.failing["pgs/runs/merge_jobs"] = DatabaseUnavailableError("gone")
    begun.clear()
    ended = await attempt(engine, "papers", JobOrder(), on_begin=begun.append)
    assert isinstance(ended, FailedJob)
    assert (ended.graph, ended.job, begun) == ("papers", None, [])
    with pytest.raises(DatabaseUnavailableError):
        await repartition(engine, "papers")


async def test_an_order_that_cannot_be_is_refused_and_an_unknown_graph_has_no_job(
    engine: Engine,
) -> None:
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(ConfigError, match="from 0 to 1"):
            JobOrder(max_drift=wrong)
    with pytest.raises(ConfigError, match="keep is 0"):
        JobOrder(keep=0)
    with pytest.raises(UnknownGraphError):
        await repartition(engine, "other")
    assert engine.db.jobs == {}


async def test_a_job_gives_signs_of_life(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SIGN_S", 0.001)
    engine.db.failing["pgs/runs/set_job_signs"] = DatabaseUnavailableError("for a moment")

    async def until_two_signs() -> None:
        while engine.db.asked.count("pgs/runs/set_job_signs") < 2:
            await asyncio.sleep(0.001)

    engine.working = until_two_signs
    assert (await repartition(engine, "papers")).outcome == "repartitioned"
