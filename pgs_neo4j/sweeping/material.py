"""Reads a partition from the database and packs it into passes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from pgs_neo4j.model import Node, Relationship
from pgs_neo4j.sweeping import members
from pgs_neo4j.sweeping.analogies import render_analogies
from pgs_neo4j.sweeping.order import SweepOrder, SweepTools
from pgs_neo4j.sweeping.pack import Pass, pack
from pgs_neo4j.sweeping.report import frame_size, sweep_prompt
from pgs_neo4j.text.tokens import estimate

FRAME_SLACK = 200  # characters for the count of passes and of relationships not listed
MATCH_SLACK = 120  # characters for the list of nodes that match the question
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
    return await pack_partition(order, tools, tuple(nodes), tuple(links))


async def pack_partition(
    order: SweepOrder,
    tools: SweepTools,
    nodes: tuple[Node, ...],
    relationships: tuple[Relationship, ...],
) -> PackedPartition:
    """Pack what was read of a partition into passes, with room for the rest of each prompt."""
    frame = sweep_prompt(order, Pass(1, ()), 99)
    matches = MATCH_SLACK + MATCH_LENGTH * len(order.matches) if order.matches else 0
    alike = render_analogies(order.analogies)
    slack = FRAME_SLACK + matches + len(alike)
    packing = partial(
        pack,
        nodes,
        relationships,
        max_characters=order.config.max_pass_characters,
        max_tokens=tools.calls.pass_tokens(
            tools.llm, order.config.max_pass_tokens, order.config.sweep_max_tokens
        ),
        reserved=frame_size(frame) + slack,
        reserved_tokens=estimate(frame.system + frame.user + alike) + (slack - len(alike)) // 2,
    )
    # Packing many passes takes a while, and other calls should not wait for it.
    return PackedPartition(nodes, relationships, await asyncio.to_thread(packing))
