"""The phases of a run, in order, with a stand-in for each wing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.calls.ledger import Spent
from pgs_neo4j.calls.stop import Stop, StopKind
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import BudgetError
from pgs_neo4j.events import ignore
from pgs_neo4j.model import (
    Crosscheck,
    GraphMapping,
    Partition,
    Report,
    Route,
    Routing,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from pgs_neo4j.partitioning import generation
from pgs_neo4j.pgs import pipeline
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.order import RunOrder
from pgs_neo4j.pgs.route import Selection
from pgs_neo4j.runs import answers, session
from pgs_neo4j.runs.session import Read
from pgs_neo4j.sweeping.order import SweepResult

PART = Partition(id=1, size=3, tokens=9)
ROUTING = Routing(routes=(Route(partition=1, similarity=None, reason="all"),), considered=1)
ORDER = RunOrder(question="Why?", graph="papers", mapping=GraphMapping(), config=PGSConfig())
READ = Sweep(
    partition=1,
    status=SweepStatus.ACCEPTED,
    nodes=3,
    read=((0, 3),),
    report=Report(partition=1),
)


class Wings:
    """Stands in for every wing, and notes the phases in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, result: SweepResult) -> None:
        self.phases: list[str] = []
        self.properties: dict[str, Any] = {}
        self.used: list[str] = []
        self.result = result
        self.failure: Exception | None = None
        spend = SimpleNamespace(usage=Usage(), budget=SimpleNamespace(cost=0.0, check=lambda _: 0))
        spend.sweeping_stop = lambda: result.stop
        spend.settled = Spent
        spend.scheduler = SimpleNamespace(deadline=None)
        llm = SimpleNamespace(name="model")
        self.tools: Any = SimpleNamespace(
            db=None, calls=spend, log=RunLog(ignore), models={"model": True}, model_names="model",
            sweep_llm=llm, synthesis_llm=llm, space=SimpleNamespace(kind="none"), end=None,
        )  # fmt: skip
        self.record: Any = SimpleNamespace(
            db=None,
            id="r1",
            handle=None,
            replies=SimpleNamespace(tidy=self.tidy),
            before=Spent(),
            partitioning=SimpleNamespace(
                generation=SimpleNamespace(id="g1", texts=3), partitions=(PART,), outdated=False
            ),
            recording=SimpleNamespace(finish=self.finish),
        )
        for module, name, stand_in in (
            (pipeline, "record_run", self.record_run),
            (pipeline, "choose_partitions", self.choose),
            (pipeline, "sweep_run", self.sweep),
            (pipeline, "check_reports", self.check),
            (pipeline, "write_synthesis", self.synthesize),
            (session, "read_so_far", self.read_so_far),
            (generation, "read_units", self.read_units),
            (answers, "write", self.write),
        ):
            monkeypatch.setattr(module, name, stand_in)

    @asynccontextmanager
    async def record_run(self, *_: Any) -> AsyncIterator[Any]:
        self.phases.append("partition")
        yield self.record

    async def choose(self, *_: Any, **__: Any) -> tuple[Selection, Routing]:
        self.phases.append("choose")
        return Selection((PART,), Read({})), ROUTING

    async def sweep(self, *_: Any) -> list[SweepResult]:
        self.phases.append("sweep")
        return [self.result]

    async def read_so_far(self, *_: Any) -> Read:
        return Read({1: frozenset(range(3))}, {1: frozenset(range(3))})

    async def check(self, order: Any, _: Any) -> Crosscheck:
        self.phases.append("check")
        assert order.read == {1: frozenset(range(3))}
        return Crosscheck()

    async def read_units(self, *_: Any) -> list[Any]:
        return []

    async def synthesize(self, order: Any, _: Any) -> Synthesis:
        self.phases.append("synthesize")
        assert order.sweeps == (self.result.sweep,)
        if self.failure:
            raise self.failure
        return Synthesis(text="## Thesis\nx", thesis="x")

    async def write(self, *_: Any) -> None:
        self.phases.append("record")

    async def finish(self, properties: dict[str, Any], used: list[str]) -> None:
        self.properties, self.used = properties, list(used)

    async def tidy(self, *_: Any, **__: Any) -> None:
        self.phases.append("tidy")


async def test_a_run_goes_through_all_phases_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    wings = Wings(monkeypatch, SweepResult(READ))
    answer = await pipeline.execute(ORDER, wings.tools)
    assert wings.phases == [
        "partition", "choose", "sweep", "check", "synthesize", "record", "tidy",
    ]  # fmt: skip
    assert answer.coverage.exhausted
    assert set(answer.seconds) == {"route", "sweep", "synthesize", "total"}
    assert wings.properties["status"] == "complete"
    assert wings.used == ["r1:1"]


async def test_a_stop_without_any_report_is_raised_as_its_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop = Stop(StopKind.BUDGET, "the next call could exceed the limit")
    unread = Sweep(partition=1, status=SweepStatus.UNREAD, nodes=3, errors=(stop.text,))
    wings = Wings(monkeypatch, SweepResult(unread, stop))
    with pytest.raises(BudgetError, match="nothing was read: the next call"):
        await pipeline.execute(ORDER, wings.tools)
    assert wings.phases[-1] == "sweep"


async def test_without_room_for_a_synthesis_the_answer_is_partial_and_uses_no_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wings = Wings(monkeypatch, SweepResult(READ))
    wings.failure = BudgetError("no room for a synthesis")
    answer = await pipeline.execute(ORDER, wings.tools)
    assert (answer.text, answer.partial) == ("", True)
    assert answer.stopped == "no room for a synthesis"
    assert wings.phases[-2:] == ["synthesize", "tidy"]
    assert wings.used == []
    assert wings.properties["status"] == "partial"
