"""The order of a sweep, its tools, and its result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import ModelError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.calls.budget import Stop
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import (
    GraphMapping,
    Partition,
    PromptAnalogy,
    PromptNeighbor,
    Sweep,
    Unit,
)

READ_AHEAD = 4  # partitions that are read from the database at the same time


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOrder:
    """One partition to read for one question: everything but the connections.

    ``skip`` are the ranks that need not be read again. ``partition_ids`` are the ids that a flag
    may name. ``matches`` are the ranks that match the question best. Among waiting sweeps, the
    sweep with the highest ``priority`` begins first; if it is None, the longest sweep begins first.
    ``run`` and ``holder`` say who records the sweep; both are empty outside of runs. ``analogies``
    are analogies with nodes of other partitions.
    """

    question: str
    partition: Partition
    neighbors: tuple[PromptNeighbor, ...]
    partition_ids: frozenset[int]
    mapping: GraphMapping
    generation: str
    config: PGSConfig
    search_answer: str | None = None
    skip: frozenset[int] = frozenset()
    matches: tuple[int, ...] = ()
    priority: float | None = None
    wave: int = 1
    run: str = ""
    holder: str = ""
    analogies: tuple[PromptAnalogy, ...] = ()

    @property
    def nodes_wanted(self) -> int:
        """How many nodes the sweep is to read."""
        return self.partition.size - len(self.skip)


class Settle(Protocol):
    """Updates a sweep by what later calls have shown about the model's context, and records it.

    Nodes that were cut off are read ``again``; otherwise they no longer count as read. Returns the
    sweep. Raises DatabaseError.
    """

    async def __call__(self, *, again: bool = True) -> Sweep: ...


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The result of a sweep.

    ``stop`` is the limit that left the partition unread. ``refused`` says why replies were not
    accepted, even if a limit prevented further requests. ``settle`` is None if later calls cannot
    change the sweep. ``cause`` is the first failure of the model itself, not of a single reply.
    """

    sweep: Sweep
    stop: Stop | None = None
    refused: tuple[str, ...] = ()
    settle: Settle | None = None
    cause: ModelError | None = None


Described = TypeVar("Described", Partition, Unit)
Record = Callable[[SweepOrder, Sweep, Sequence[Row]], Awaitable[None]]
"""Stores a sweep, with the replies to cache, each time another report of it is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTools:
    """The connections that sweeps share.

    ``gate`` limits how many sweeps read the database at once.
    """

    db: Database
    llm: LLM
    calls: Calls
    replies: Replies | None
    on_event: OnEvent
    record: Record
    gate: asyncio.Semaphore


async def record_nothing(order: SweepOrder, sweep: Sweep, replies: Sequence[Row]) -> None:
    """Record nothing, for sweeps that belong to no session."""


def new_gate(*, in_order: bool = False) -> asyncio.Semaphore:
    """Return a limit on the partitions that are read ahead of the model.

    With ``in_order``, they are read one at a time, so that sweeps begin in their order.
    """
    return asyncio.Semaphore(1 if in_order else READ_AHEAD)


def without_centroid(described: Described) -> Described:
    """Return a partition or unit without its centroid, to keep orders small."""
    return described if described.centroid is None else replace(described, centroid=None)
