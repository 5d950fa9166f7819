"""Orders with defaults, for tests that look at one field of them."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import GraphMapping, Partition, PromptNeighbor, Sweep, Unit
from pgs_neo4j.sweeping.order import SweepOrder
from pgs_neo4j.synthesis.order import SynthesisOrder


def sweep_order(
    question: str,
    partition: Partition,
    neighbors: Sequence[PromptNeighbor] = (),
    known: str | None = None,
) -> SweepOrder:
    """A sweep of one partition for a question."""
    return SweepOrder(
        question=question,
        partition=partition,
        neighbors=tuple(neighbors),
        partition_ids=frozenset({partition.id}),
        mapping=GraphMapping(),
        generation="g1",
        config=PGSConfig(),
        search_answer=known,
    )


def synthesis_order(
    question: str,
    sweeps: Sequence[Sweep],
    partitions: Sequence[Partition],
    config: PGSConfig,
    known: str | None = None,
    units: Sequence[Unit] = (),
) -> SynthesisOrder:
    """A synthesis of sweeps for a question."""
    return SynthesisOrder(
        question=question,
        sweeps=tuple(sweeps),
        partitions=tuple(partitions),
        config=config,
        search_answer=known,
        units=tuple(units),
    )
