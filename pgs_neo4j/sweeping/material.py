"""Reads a partition from the database and packs it into passes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.model import Node, Relationship
from pgs_neo4j.sweeping import members
from pgs_neo4j.sweeping.order import SweepOrder, SweepTools
from pgs_neo4j.sweeping.pack import Pass, pack
from pgs_neo4j.sweeping.report import frame_size, sweep_prompt
from pgs_neo4j.text.tokens import estimate

# Characters: the count of passes, relationships not listed, nodes that match the question.
FRAME_SLACK = 200
MATCH_SLACK = 120
MATCH_LENGTH = 9  # of an alias in that list


@dataclass(frozen=True, slots=True)
class PackedPartition:
    """A partition's nodes, the relationships among them, and its passes."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]
    passes: tuple[Pass, ...]


async def read_packed(order: SweepOrder, tools: SweepTools) -> PackedPartition:
    """Read a partition and pack it into passes. Raises DatabaseError."""
    db, partition, mapping = tools.db, order.partition, order.mapping
    reading = asyncio.create_task(members.read_relationships(db, partition, mapping))
    try:
        nodes = await members.read_members(db, partition, mapping, order.skip)
        links = await reading
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    return PackedPartition(tuple(nodes), tuple(links), _pack(order, tools, nodes, links))


def _pack(
    order: SweepOrder, tools: SweepTools, nodes: Sequence[Node], links: Sequence[Relationship]
) -> tuple[Pass, ...]:
    frame = sweep_prompt(order, Pass(1, ()), 99)
    matches = MATCH_SLACK + MATCH_LENGTH * len(order.matches) if order.matches else 0
    slack = FRAME_SLACK + matches
    room = order.config.sweep_max_tokens
    return pack(
        nodes,
        links,
        max_characters=order.config.max_pass_characters,
        max_tokens=tools.calls.pass_tokens(tools.llm, order.config.max_pass_tokens, room),
        reserved=frame_size(frame) + slack,
        reserved_tokens=estimate(frame.system + frame.user) + slack // 2,
    )
