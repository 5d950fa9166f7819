"""When partitions are computed, reused, waited for, or refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import lease
from pgs_neo4j.database.lease import Lease
from pgs_neo4j.errors import BusyError, DatabaseError, EmptyGraphError, LeaseLostError
from pgs_neo4j.events import Event, PhaseFinished, PhaseStarted, Warned
from pgs_neo4j.model import Generation, GraphMapping
from pgs_neo4j.partitioning import cleanup, drift, ensure
from pgs_neo4j.partitioning.drift import check_drift
from pgs_neo4j.partitioning.ensure import ATTEMPTS, FIRST_WAIT_S, WAIT_S, ensure_partitions
from pgs_neo4j.partitioning.order import (
    BuildOrder,
    BuildTools,
    PartitionOrder,
    PartitionTools,
    settings_digest,
)
from pgs_neo4j.partitioning.rows import generation_properties, partition_row
from pgs_neo4j.partitioning.scan import view as scanner
from pgs_neo4j.partitioning.scan.view import View
from pgs_neo4j.retrieval.space import Space
from tests.fakes.database import FakeDatabase
from tests.unit.partitioning.conftest import generation_of_sizes, ints, partition, view_of

ORDER = PartitionOrder(
    graph="papers", mapping=GraphMapping(), config=PGSConfig(algorithm="louvain")
)
SETTINGS = settings_digest(ORDER, Space("none"))
VIEW = view_of([1, 2, 3, 4], [(0, 1)])
CURRENT = replace(
    generation_of_sizes(2, 2, relationship_count=1, token="t"),
    settings=SETTINGS,
    fingerprint=VIEW.fingerprint(SETTINGS),
)


class Stage:
    """A graph on a database that is not there; notes what was built and for how long waited."""

    def __init__(self, current: Generation | None = CURRENT) -> None:
        self.current = current
        self.token: str | None = "t"
        self.view = VIEW
        self.busy: BusyError | None = None
        self.waited: list[float] = []
        self.built: list[str] = []
        self.ordered: list[BuildOrder] = []
        self.builds: Callable[[], bool] = lambda: True
        self.opened = 0
        self.events: list[Event] = []
        self.db: Any = FakeDatabase(
            read_current=lambda params: self._rows(),
            read_partitions=lambda params: self._partitions(),
            read_member_count=[{"members": 4}],
            read_generations=[{"ids": ["g1"]}],
            read_membership=lambda params: [
                {
                    "partition": p,
                    "ids": [2 * p - 1, 2 * p],
                    "ranks": [0, 1],
                    "hashes": [20 * p - 10, 20 * p],
                    "facts": [0, 0],
                }
                for p in params["partitions"]
            ],
            read_sketches=[{"sketch": VIEW.sketch.tolist()}],
        )

    def _rows(self) -> list[dict[str, Any]]:
        if self.current is None:
            return []
        stored = {"id": self.current.id, "created_at": self.current.created_at}
        return [{"generation": stored | generation_properties(self.current)}]

    def _partitions(self) -> list[dict[str, Any]]:
        rows = [
            {"partition": partition_row(partition(n, 2)), "adjacent": [], "parent": None}
            for n in (1, 2)
        ]
        return [{"partitions": rows}]

    async def open_gds(self) -> Any:
        self.opened += 1
        return SimpleNamespace(owned_by=lambda owner: None)

    @property
    def tools(self) -> PartitionTools:
        return PartitionTools(
            db=self.db, open_gds=self.open_gds, space=Space("none"), on_event=self.events.append
        )

    @asynccontextmanager
    async def hold(self, db: Any, graph: str, **how: Any) -> AsyncIterator[Lease]:
        self.waited.append(how.get("wait_s", 0.0))
        if self.busy is not None:
            raise self.busy
        yield Lease(graph=graph, holder="here", fence=7)

    def build(self, how: str) -> Any:
        async def write(
            order: BuildOrder, tools: BuildTools, view: View, previous: Any, **more: Any
        ) -> bool:
            self.ordered.append(order)
            self.built.append("seeded" if more.get("seeded") else how)
            done = self.builds()
            if done:
                fingerprint = view.fingerprint(order.settings)
                self.current = generation_of_sizes(2, 2, id="g2", fingerprint=fingerprint)
            return done

        return write


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage()

    async def token(db: Any) -> str | None:
        return stage.token

    async def scan(db: Any, mapping: Any, on_event: Any) -> Any:
        return stage.view

    async def nothing(*args: Any) -> bool:
        return False

    monkeypatch.setattr(ensure, "read_change_token", token)
    monkeypatch.setattr(drift, "read_change_token", token)
    monkeypatch.setattr(scanner, "scan", scan)
    monkeypatch.setattr(lease, "hold_lease", stage.hold)
    monkeypatch.setattr(lease, "is_unreleased", nothing)
    monkeypatch.setattr(cleanup, "drop_leftovers", nothing)
    monkeypatch.setattr(ensure, "build_generation", stage.build("cold"))
    monkeypatch.setattr(ensure, "refresh_generation", stage.build("refreshed"))
    return stage


async def test_partitions_are_reused_while_no_other_program_commits(stage: Stage) -> None:
    result = await ensure_partitions(ORDER, stage.tools)
    assert result.reused
    assert result.generation == CURRENT
    assert result.drift is not None
    assert not result.drift.committed
    assert (stage.opened, stage.built, stage.waited) == (0, [], [])


async def test_an_equal_scan_is_reused_and_its_token_recorded(stage: Stage) -> None:
    stage.token = "u"
    result = await ensure_partitions(ORDER, stage.tools)
    assert result.reused
    assert result.drift is not None
    assert result.drift.committed
    assert not result.drift.changed
    assert stage.built == []
    assert stage.db.params("set_verified") == [{"generation": "g1", "token": "u"}]


@pytest.mark.parametrize(
    ("view", "origin"),
    [
        (
            view_of([1, 2, 3, 4], [(0, 1)], text_hash=ints(11, 20, 30, 40), content_hash="x"),
            "refreshed",
        ),
        (view_of([1, 2, 3, 4], [(0, 2)], content_hash="x"), "cold"),
        (view_of([5, 6], content_hash="x"), "cold"),
    ],
    ids=["text", "relationship", "nodes"],
)
async def test_what_changed_decides_how_the_next_one_is_built(
    stage: Stage, view: Any, origin: str
) -> None:
    stage.token, stage.view = "u", view
    result = await ensure_partitions(ORDER, stage.tools)
    assert stage.built == [origin]
    assert not result.reused
    assert result.generation.id == "g2"
    assert result.drift is not None
    assert result.drift.changed


async def test_a_small_drift_grows_from_the_earlier_partitions(stage: Stage) -> None:
    stage.token = "u"
    stage.view = view_of([1, 2, 3, 4, 5], [(0, 1)], content_hash="x")
    order = replace(ORDER, config=PGSConfig(algorithm="louvain", seed_drift=0.5))
    stage.current = replace(CURRENT, settings=settings_digest(order, Space("none")))
    await ensure_partitions(order, stage.tools)
    assert stage.built == ["seeded"]


async def test_force_begins_from_nothing_though_nothing_changed(stage: Stage) -> None:
    result = await ensure_partitions(replace(ORDER, force=True), stage.tools)
    assert stage.built == ["cold"]
    assert not result.reused


async def test_the_first_generation_has_no_drift(stage: Stage) -> None:
    stage.current = None
    result = await ensure_partitions(ORDER, stage.tools)
    assert stage.built == ["cold"]
    assert result.drift is None


async def test_nodes_that_vanish_are_scanned_again(stage: Stage) -> None:
    stage.current = None
    outcomes = iter([False, True])
    stage.builds = lambda: next(outcomes)
    await ensure_partitions(ORDER, stage.tools)
    assert stage.built == ["cold", "cold"]
    first, second = stage.ordered
    assert first.generation_id != second.generation_id
    assert (first.settings, first.token, first.lease.fence) == (SETTINGS, "t", 7)


async def test_a_graph_that_never_stands_still_is_given_up(stage: Stage) -> None:
    stage.token = "u"
    stage.view = view_of([5, 6], content_hash="x")
    stage.builds = lambda: False
    with pytest.raises(DatabaseError, match=f"{ATTEMPTS} times in a row"):
        await ensure_partitions(ORDER, stage.tools)
    assert len(stage.built) == ATTEMPTS
    assert stage.current == CURRENT


async def test_an_empty_graph_is_refused(stage: Stage) -> None:
    stage.token, stage.view = "u", view_of([])
    with pytest.raises(EmptyGraphError):
        await ensure_partitions(ORDER, stage.tools)
    assert stage.built == []


async def test_a_busy_graph_is_refused_at_once(stage: Stage) -> None:
    stage.token, stage.busy = "u", BusyError("held elsewhere")
    with pytest.raises(BusyError):
        await ensure_partitions(ORDER, stage.tools)
    assert stage.waited == [0.0]


async def test_a_reader_waits_a_little_and_then_reuses(stage: Stage) -> None:
    stage.token, stage.busy = "u", BusyError("held elsewhere")
    result = await ensure_partitions(replace(ORDER, when_busy="reuse"), stage.tools)
    assert result.generation == CURRENT
    assert stage.waited == [WAIT_S]
    (warning,) = [event for event in stage.events if isinstance(event, Warned)]
    assert "held elsewhere; continuing with the partitions of 2026" in warning.message


async def test_a_reader_waits_long_for_the_first_generation(stage: Stage) -> None:
    stage.current, stage.busy = None, BusyError("held elsewhere")
    with pytest.raises(BusyError):
        await ensure_partitions(replace(ORDER, when_busy="reuse"), stage.tools)
    assert stage.waited == [FIRST_WAIT_S]


async def test_a_lost_lease_is_never_taken_for_a_busy_graph(stage: Stage) -> None:
    stage.token, stage.busy = "u", LeaseLostError("another job took over")
    with pytest.raises(LeaseLostError):
        await ensure_partitions(replace(ORDER, when_busy="reuse"), stage.tools)


@pytest.mark.parametrize(("when_busy", "cleaned"), [("refuse", 1), ("reuse", 0)])
async def test_only_a_job_cleans_up_after_others(
    stage: Stage, when_busy: Any, cleaned: int
) -> None:
    await ensure_partitions(replace(ORDER, when_busy=when_busy), stage.tools)
    assert len(stage.db.params("read_generations")) == cleaned


async def test_the_phase_is_reported_with_its_outcome(stage: Stage) -> None:
    result = await ensure_partitions(ORDER, stage.tools)
    assert stage.events[0] == PhaseStarted("partition")
    last = stage.events[-1]
    assert isinstance(last, PhaseFinished)
    assert last.detail == "2 partitions of 4 nodes, unchanged"
    assert result.seconds == last.seconds
    assert set(result.steps) == {"check"}


# What a check alone finds


async def test_before_the_first_generation_there_is_no_drift(stage: Stage) -> None:
    stage.current = None
    assert await check_drift(ORDER, stage.tools) is None


async def test_an_equal_token_needs_no_scan(stage: Stage) -> None:
    stage.view = view_of([])
    found = await check_drift(ORDER, stage.tools)
    assert found is not None
    assert (found.committed, found.nodes) == (False, 4)
    other = replace(ORDER, config=PGSConfig(algorithm="louvain", random_seed=7))
    changed = await check_drift(other, stage.tools)
    assert changed is not None
    assert changed.settings_changed


async def test_without_a_scan_only_the_commit_is_told(stage: Stage) -> None:
    stage.token = "u"
    found = await check_drift(ORDER, stage.tools, scan=False)
    assert found is not None
    assert (found.committed, found.nodes, found.changed) == (True, 0, False)


async def test_a_scan_counts_what_moved_and_builds_nothing(stage: Stage) -> None:
    stage.token = "u"
    stage.view = view_of([1, 2, 3, 9], [(0, 1)], content_hash="x")
    found = await check_drift(ORDER, stage.tools)
    assert found is not None
    assert (found.nodes_added, found.nodes_removed) == (1, 1)
    assert (stage.built, stage.opened) == ([], 0)
    assert stage.db.params("set_verified") == []


async def test_a_check_records_an_equal_scan(stage: Stage) -> None:
    stage.token = "u"
    found = await check_drift(ORDER, stage.tools)
    assert found is not None
    assert not found.changed
    assert stage.db.params("set_verified") == [{"generation": "g1", "token": "u"}]


@pytest.mark.parametrize("busy", [None, BusyError("held elsewhere")])
async def test_a_reader_may_leave_centroids_out(stage: Stage, busy: BusyError | None) -> None:
    if busy is not None:
        stage.token, stage.busy = "u", busy
    order = replace(ORDER, when_busy="reuse", centroids=False)
    await ensure_partitions(order, stage.tools)
    assert [params["centroids"] for params in stage.db.params("read_partitions")] == [False]


async def test_a_job_reads_the_centroids_of_the_partitions_it_keeps(stage: Stage) -> None:
    stage.token = "u"
    await ensure_partitions(replace(ORDER, when_busy="reuse", centroids=False), stage.tools)
    read = [params["centroids"] for params in stage.db.params("read_partitions")]
    assert read
    assert all(read)
