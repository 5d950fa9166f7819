"""Which graph to partition and how, and the connections that do it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Literal

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.events import OnEvent
from pgs_neo4j.gds import GDS
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.space import Space

OpenGDS = Callable[[], Awaitable[GDS]]
WhenBusy = Literal["refuse", "reuse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionOrder:
    """Which graph to partition, and how.

    ``force`` begins from nothing, so that the result depends on the graph and the settings
    alone. While another job builds, ``refuse`` raises BusyError at once; ``reuse`` waits a little
    and then takes the current partitions.
    """

    graph: str
    mapping: GraphMapping
    config: PGSConfig
    force: bool = False
    when_busy: WhenBusy = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTools:
    """The connections that partition a graph. ``open_gds`` is called only to compute."""

    db: Database
    open_gds: OpenGDS
    space: Space
    on_event: OnEvent


def settings_digest(order: PartitionOrder, space: Space) -> str:
    """Return a digest of everything but the graph that decides its partitions."""
    config = order.config
    knobs = {
        "min": config.min_community_size,
        "max": config.target_partition_max,
        "tokens": config.max_partition_tokens,
        "algorithm": config.algorithm,
        "seed": config.random_seed,
        "centroid": config.centroid,
    }
    return digest([knobs, space.signature, asdict(order.mapping)])
