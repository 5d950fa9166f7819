"""Describes what one sweep reads, and which connections it uses."""

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

READ_AHEAD = 4  # partitions read from the database at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOrder:
    """One partition to read for one question.

    It holds everything but the connections. ``skip`` holds the ranks read before, ``partition_ids``
    the ids that a flag may name, ``matches`` the ranks that match the question best. Among waiting
    sweeps, the one with the highest ``priority`` goes first; None: the longest. ``run`` and
    ``holder`` say who records the sweep; both are empty for a sweep outside of runs. ``analogies``
    are those with nodes of other partitions.
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
    """Returns a sweep with what later calls have proven read, and records it.

    What they have shown to be cut is read ``again``, or else counts as read no longer. Raises
    DatabaseError.
    """

    async def __call__(self, *, again: bool = True) -> Sweep: ...


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The result of a sweep.

    ``stop`` is the reason for an unread one. ``refused`` says why replies were not accepted, also
    where a limit kept others from being asked for. ``settle`` is None where later calls can change
    nothing. ``cause`` is the first failure of the model that was no matter of one reply.
    """

    sweep: Sweep
    stop: Stop | None = None
    refused: tuple[str, ...] = ()
    settle: Settle | None = None
    cause: ModelError | None = None


Described = TypeVar("Described", Partition, Unit)
Record = Callable[[SweepOrder, Sweep, Sequence[Row]], Awaitable[None]]
"""Stores a sweep whenever another of its reports is accepted, with the replies to cache."""


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
    """Return a limit on prefetched partitions; with ``in_order``, one at a time.

    It lets through as many as keep the model busy.
    """
    return asyncio.Semaphore(1 if in_order else READ_AHEAD)


def without_centroid(described: Described) -> Described:
    """Return a partition or unit without its vector, which no order needs."""
    return described if described.centroid is None else replace(described, centroid=None)
