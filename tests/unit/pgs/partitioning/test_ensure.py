"""When a question waits for partitions, cleans up after others, and reads centroids."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import lease
from pgs_neo4j.database.lease import Lease
from pgs_neo4j.errors import (
    BusyError,
    DatabaseError,
    DatabaseTimeoutError,
    GraphChangedError,
    LeaseLostError,
)
from pgs_neo4j.events import Event, PhaseFinished, PhaseStarted, Warned, ignore
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning import ensure
from pgs_neo4j.pgs.partitioning import view as scanner
from pgs_neo4j.pgs.partitioning.ensure import FIRST_WAIT_S, WAIT_S, clean_up, ensure_partitions
from pgs_neo4j.pgs.partitioning.order import PartitionOrder, PartitionTools, settings_digest
from pgs_neo4j.search.space import Space
from tests.fakes.database import Answer, FakeDatabase
from tests.unit.pgs.partitioning.conftest import generation_of_sizes, stored_partitions, view_of

ORDER = PartitionOrder(
    graph="papers", mapping=GraphMapping(), config=PGSConfig(algorithm="louvain")
)
SETTINGS = settings_digest(ORDER, Space("none"))
VIEW = view_of([1, 2, 3, 4], [(0, 1)])
CURRENT = generation_of_sizes(
    *(2, 2),
    relationship_count=1,
    token="t",
    settings=SETTINGS,
    fingerprint=VIEW.fingerprint(SETTINGS),
)


class Stage:
    """A graph whose lease may be held by another job; notes for how long it was waited for.

    Nothing was committed since its generation while its token is ``t``.
    """

    def __init__(self) -> None:
        self.token = "t"
        self.busy: BusyError | None = None
        self.waited: list[float] = []
        self.events: list[Event] = []
        self.db: Any = FakeDatabase(
            read_member_count=[{"members": 4}],
            read_generations=[{"ids": ["g1"]}],
            **stored_partitions(CURRENT, 2),
        )

    async def open_gds(self) -> Any:
        return SimpleNamespace(owned_by=lambda owner: None)

    @asynccontextmanager
    async def hold(self, db: Any, graph: str, **how: Any) -> AsyncIterator[Lease]:
        self.waited.append(how["wait_s"])
        if self.busy is not None:
            raise self.busy
        yield Lease(graph=graph, holder="here", fence=7)

    async def ensure(self, **changes: Any) -> Any:
        tools = PartitionTools(
            db=self.db, open_gds=self.open_gds, space=Space("none"), on_event=self.events.append
        )
        return await ensure_partitions(replace(ORDER, **changes), tools)

    def read_centroids(self) -> list[bool]:
        """Whether each reading of the partitions had the centroids."""
        return [params["centroids"] for params in self.db.params("read_partitions")]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage()

    async def token(db: Any) -> str:
        return stage.token

    async def scan(db: Any, mapping: Any, on_event: Any) -> Any:
        return VIEW

    async def nothing(*args: Any) -> bool:
        return False

    monkeypatch.setattr(ensure, "read_change_token", token)
    monkeypatch.setattr(scanner, "scan", scan)
    monkeypatch.setattr(lease, "hold_lease", stage.hold)
    monkeypatch.setattr(lease, "is_unreleased", nothing)
    monkeypatch.setattr(ensure, "drop_leftovers", nothing)
    return stage


@pytest.mark.parametrize(
    ("answers", "when_busy", "wait_s"),
    [
        ({}, "refuse", 0.0),
        ({"read_current": []}, "refuse", 0.0),
        ({"read_current": []}, "reuse", FIRST_WAIT_S),
    ],
)
async def test_without_partitions_that_may_be_reused_a_busy_graph_is_refused(
    stage: Stage, answers: dict[str, Answer], when_busy: str, wait_s: float
) -> None:
    stage.token, stage.busy = "u", BusyError("held elsewhere")
    stage.db.answers |= answers
    with pytest.raises(BusyError):
        await stage.ensure(when_busy=when_busy)
    assert stage.waited == [wait_s]


async def test_a_reader_waits_a_little_and_then_reuses(stage: Stage) -> None:
    stage.token, stage.busy = "u", BusyError("held elsewhere")
    result = await stage.ensure(when_busy="reuse", centroids=False)
    assert (result.generation, result.outdated) == (CURRENT, True)
    assert stage.waited == [WAIT_S]
    (warning,) = [event for event in stage.events if isinstance(event, Warned)]
    assert "held elsewhere; continuing with the partitions of 2026" in warning.message
    assert stage.read_centroids() == [False]


async def test_a_lost_lease_is_never_taken_for_a_busy_graph(stage: Stage) -> None:
    stage.token, stage.busy = "u", LeaseLostError("another job took over")
    with pytest.raises(LeaseLostError):
        await stage.ensure(when_busy="reuse")


@pytest.mark.parametrize(("when_busy", "cleaned"), [("refuse", 1), ("reuse", 0)])
async def test_only_a_job_cleans_up_after_others(
    stage: Stage, when_busy: str, cleaned: int
) -> None:
    await stage.ensure(when_busy=when_busy)
    assert len(stage.db.params("read_generations")) == cleaned
    assert stage.waited == []


async def test_the_phase_is_reported_with_its_outcome(stage: Stage) -> None:
    result = await stage.ensure(when_busy="reuse", centroids=False)
    assert stage.events[0] == PhaseStarted("partition")
    last = stage.events[-1]
    assert isinstance(last, PhaseFinished)
    assert last.detail == "2 partitions of 4 nodes, unchanged"
    assert result.seconds == last.seconds
    assert set(result.steps) == {"check"}
    stage.token = "u"  # a scan may keep partitions, and then their centroids are needed
    await stage.ensure(when_busy="reuse", centroids=False)
    assert stage.read_centroids() == [False, True]


@pytest.mark.parametrize(
    ("error", "times"),
    [
        (GraphChangedError("again and again"), 1),
        (DatabaseTimeoutError("no answer within 60 s"), 1),
        (DatabaseError("they were deleted while they were read"), 2),
    ],
)
async def test_partitions_are_read_again_only_if_that_was_not_tried_enough(
    stage: Stage, error: DatabaseError, times: int
) -> None:
    stage.db.answers["read_partitions"] = error
    with pytest.raises(type(error)):
        await stage.ensure(when_busy="reuse")
    assert len(stage.read_centroids()) == times


CLEANUP_ORDER = PartitionOrder(
    graph="papers", mapping=GraphMapping(), config=PGSConfig(keep_generations=2)
)


async def open_gds() -> Any:
    raise AssertionError("GDS was opened")


@pytest.mark.parametrize(
    ("generations", "pruned"), [(2, []), (3, [{"graph": "papers", "keep": 2}])]
)
async def test_after_a_clean_end_gds_is_not_opened(generations: int, pruned: list[Any]) -> None:
    db: Any = FakeDatabase(
        read_generations=[{"ids": [f"g{n}" for n in range(generations)]}],
        mark_disposable=[{"ids": []}],
    )
    tools = PartitionTools(db=db, open_gds=open_gds, space=Space("none"), on_event=ignore)
    await clean_up(CLEANUP_ORDER, tools)
    assert db.params("mark_disposable") == pruned
