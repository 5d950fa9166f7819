"""What all sweeps of a run share, and a partition as they read it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.calls.replies import Replies
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import GraphMapping, Node, Partition, PromptNeighbor, Relationship, Sweep
from pgs_neo4j.sweeping import members
from pgs_neo4j.sweeping.pack import Pass, pack
from pgs_neo4j.sweeping.report import frame_size, sweep_prompt
from pgs_neo4j.text.tokens import estimate

READ_AHEAD = 4  # partitions read from the database at a time
FRAME_SLACK = 200  # characters: the count of passes, relationships not listed

Record = Callable[[Sweep, Sequence[Row]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Reader:
    """What all sweeps of a run share. ``record`` is told of every report that was accepted, with

    the replies to keep; ``gate`` lets few of them read the database at a time.
    """

    db: Database
    llm: LLM
    mapping: GraphMapping
    generation: str
    partitions: Mapping[int, Partition]
    question: str
    config: PGSConfig
    calls: Calls
    replies: Replies | None
    on_event: OnEvent
    record: Record
    gate: asyncio.Semaphore
    known: str | None = None
    wave: int = 1


async def unrecorded(result: Sweep, replies: Sequence[Row]) -> None:
    """The record of sweeps that belong to no session."""


def new_gate(*, in_order: bool = False) -> asyncio.Semaphore:
    """Lets as many partitions be read ahead of the model as keep it busy, and no more.

    ``in_order`` one after the other, so that those that come first are also asked for first.
    """
    return asyncio.Semaphore(1 if in_order else READ_AHEAD)


@dataclass(frozen=True, slots=True)
class Material:
    """A partition as read from the database: its nodes, what relates them, and its passes."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]
    passes: tuple[Pass, ...]


async def read_material(
    reader: Reader, partition: Partition, skip: frozenset[int] = frozenset()
) -> Material:
    """Read a partition from the database and pack it into passes. Raises DatabaseError."""
    reading = asyncio.create_task(members.relationships(reader.db, partition, reader.mapping))
    try:
        nodes = await members.members(reader.db, partition, reader.mapping, skip)
        links = await reading
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    return Material(tuple(nodes), tuple(links), _passes(reader, partition, nodes, links))


def neighbors(reader: Reader, partition: Partition) -> tuple[PromptNeighbor, ...]:
    """The digests of the partitions that share relationships with this one, nearest first."""
    known = [(link, reader.partitions.get(link.id)) for link in partition.adjacent]
    return tuple(
        PromptNeighbor(found.name, found.keywords, found.summary, link.edges, found.lineage)
        for link, found in known
        if found is not None
    )


def _passes(
    reader: Reader,
    partition: Partition,
    nodes: Sequence[Node],
    links: Sequence[Relationship],
) -> tuple[Pass, ...]:
    frame = sweep_prompt(
        reader.question, partition, Pass(1, ()), neighbors(reader, partition), 99, reader.known
    )
    room = reader.config.sweep_max_tokens
    return pack(
        nodes,
        links,
        max_characters=reader.config.max_pass_characters,
        max_tokens=reader.calls.pass_tokens(reader.llm, reader.config.max_pass_tokens, room),
        reserved=frame_size(frame) + FRAME_SLACK,
        reserved_tokens=estimate(frame.system + frame.user) + FRAME_SLACK // 2,
    )
