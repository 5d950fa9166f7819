"""Defines the orders to partition a graph and to build a generation, their tools, and a timer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal
from uuid import uuid4

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import GDS
from pgs_neo4j.database.lease import Lease
from pgs_neo4j.events import OnEvent, StepStarted
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.kept_settings import ChosenSettings
from pgs_neo4j.pgs.partitioning.result import KnownGenerations
from pgs_neo4j.pgs.partitioning.rows import definition_of
from pgs_neo4j.search.space import Space

OpenGDS = Callable[[], Awaitable[GDS]]
WhenBusy = Literal["refuse", "reuse"]


class StepTimer:
    """Measures steps in ``seconds``, by name. The times of a repeated step add up."""

    def __init__(self, on_event: OnEvent) -> None:
        self.on_event = on_event
        self.seconds: dict[str, float] = {}
        self._began = perf_counter()

    def elapsed(self) -> float:
        """Return the seconds since the timer was created."""
        return perf_counter() - self._began

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Report the start of a step, and add its seconds at the end."""
        self.on_event(StepStarted("partition", name))
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - began


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionOrder:
    """The graph to partition, and the way to do it.

    ``force`` starts from scratch, so that the result depends only on the graph and the settings.
    ``when_busy`` matters while another job builds: ``refuse`` raises BusyError at once, and
    ``reuse`` waits briefly and then uses the current partitions. Without ``centroids``, reused
    partitions have no centroids. ``chosen`` says which settings the user chose; without it, all of
    ``config`` counts as chosen.
    """

    graph: str
    mapping: GraphMapping
    config: PGSConfig
    force: bool = False
    when_busy: WhenBusy = "refuse"
    centroids: bool = True
    chosen: ChosenSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTools:
    """The connections that partition a graph.

    ``open_gds`` is called only when partitions must be computed. ``known`` caches generations, so
    that each is read only once.
    """

    db: Database
    open_gds: OpenGDS
    space: Space
    on_event: OnEvent
    known: KnownGenerations = field(default_factory=KnownGenerations)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOrder:
    """One scan of a graph and the generation to build from it.

    ``token`` is the change token read before the scan. ``settings`` is the result of
    ``settings_digest``. ``force`` builds from scratch even if nothing changed. ``generation_id`` is
    the id of the new generation. ``standing`` has the configured values that the generation will
    record, by name, latest last.
    """

    generation_id: str
    lease: Lease
    mapping: GraphMapping
    config: PGSConfig
    settings: str
    token: str | None
    force: bool = False
    standing: Mapping[str, list[object]] = field(default_factory=dict)

    @property
    def graph(self) -> str:
        """The name of the graph."""
        return self.lease.graph


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildTools:
    """The connections that build a generation, and the timer of its steps."""

    db: Database
    gds: GDS
    space: Space
    timer: StepTimer


def new_generation_id() -> str:
    """Return a new unique id for a generation."""
    return f"g{uuid4().hex[:12]}"


def settings_digest(order: PartitionOrder, space: Space) -> str:
    """Return a digest of the settings, space, and mapping that determine the partitions."""
    config = order.config
    knobs = {
        "min": config.min_community_size,
        "max": config.target_partition_max,
        "tokens": config.max_partition_tokens,
        "algorithm": config.algorithm,
        "seed": config.random_seed,
        "centroid": config.centroid,
    }
    return digest([knobs, space.signature, definition_of(order.mapping)])
