"""An engine that partitions nothing, and a database that holds only records of jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from pgs_neo4j.database.queries import BOUND, Query
from pgs_neo4j.database.schema import SCHEMA_VERSION
from pgs_neo4j.engine.jobs import Jobs
from pgs_neo4j.errors import PGSError, UnknownGraphError
from pgs_neo4j.model import Drift, Generation

AT = "2026-07-01T12:00:00Z"


GENERATION = Generation(
    id="g1", graph="papers", created_at=AT, algorithm="leiden-louvain", fingerprint="f",
    node_count=160, relationship_count=480, partition_count=4, modularity=0.74,
    sizes=(40, 40, 40, 40), pooled_nodes=0, embedder=None, dimensions=None,
)  # fmt: skip


@dataclass(slots=True)
class Records:
    """Answers the statements about jobs from a dictionary."""

    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    failing: dict[str, PGSError] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def read(self, query: Query, **params: Any) -> list[dict[str, Any]]:
        """Return the version of an up-to-date schema."""
        assert query.name == "database/read_version"
        assert not params
        return [{"version": SCHEMA_VERSION}]

    async def write(self, query: Query, **params: Any) -> list[dict[str, Any]]:
        assert set(params) == set(query.params) - set(BOUND)
        self.asked.append(query.name)
        if query.name in self.failing:
            raise self.failing[query.name]
        if query.name == "pgs/runs/merge_jobs":
            self.jobs[params["id"]] = {**params, "outcome": "running"}
            return [{"started_at": AT}]
        if query.name == "pgs/runs/set_job_results":
            given = {**params["properties"], "generation": params["generation"]}
            self.jobs[params["id"]].update(given)
            return [{"finished_at": AT}]
        return []


@dataclass(frozen=True, slots=True)
class Graphs:
    """The graphs of the engine, by their names."""

    engine: Engine

    async def __call__(self) -> list[SimpleNamespace]:
        return [await self.get(name) for name in self.engine.names]

    async def get(self, name: str | None) -> SimpleNamespace:
        wanted = name or self.engine.names[0]
        if wanted not in self.engine.names:
            raise UnknownGraphError(f"there is no graph {wanted}")
        return SimpleNamespace(name=wanted, generation=self.engine.current)


@dataclass(slots=True)
class Engine:
    """Replaces ``PGS``: records what it is asked for, and answers or raises as it is told."""

    db: Records = field(default_factory=Records)
    names: tuple[str, ...] = ("papers",)
    current: str | None = "g1"
    drift: Drift | None = None
    reused: bool = False
    raising: dict[str, BaseException] = field(default_factory=dict)
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    working: Callable[[], Any] | None = None

    is_restricted = False

    async def open_view(self, graph: str | None) -> Engine:
        return self

    @property
    def jobs(self) -> Jobs:
        return Jobs(self)

    @property
    def graphs(self) -> Graphs:
        return Graphs(self)

    @property
    def partitions(self) -> Engine:
        return self

    async def check(self, graph: str, *, scan: bool = True, on_event: Any = None) -> Drift | None:
        self.calls.append(("check", graph, scan))
        return self.drift if self.current is not None else None

    async def clean_up(self, graph: str) -> None:
        self.calls.append(("clean up", graph))

    async def build(
        self, graph: str, *, force: bool, on_event: Any, keep_generations: int | None
    ) -> SimpleNamespace:
        self.calls.append(("partition", graph, force, keep_generations))
        if self.working is not None:
            await self.working()
        if graph in self.raising:
            raise self.raising[graph]
        return SimpleNamespace(
            generation=replace(GENERATION, graph=graph),
            reused=self.reused,
            drift=self.drift,
            seconds=1.5,
            steps={"scan": 0.25},
        )
