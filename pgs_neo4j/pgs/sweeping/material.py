"""Reads a partition from the database and packs it into passes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial

from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.calls.receipts import receipt_characters
from pgs_neo4j.model import Node, Relationship
from pgs_neo4j.pgs.sweeping import members
from pgs_neo4j.pgs.sweeping.analogies import render_analogies
from pgs_neo4j.pgs.sweeping.order import SweepOrder, SweepTools
from pgs_neo4j.pgs.sweeping.pack import Pass, pack
from pgs_neo4j.pgs.sweeping.report import frame_size, sweep_prompt
from pgs_neo4j.pgs.sweeping.strict import AGAIN_CHARACTERS
from pgs_neo4j.text.tokens import estimate, estimate_bytes

FRAME_SLACK = 200  # characters for the count of passes and of relationships not listed
MATCH_SLACK = 120  # characters for the list of nodes that match the question
MATCH_LENGTH = 9  # of an alias in that list
FRAME_SHARE = 0.4  # of a small context that instructions, question, and neighbors may take
BRIEF_KEYWORDS = 3
BRIEF_NEIGHBORS = (16, 8, 4)  # as many are named, the nearest first


@dataclass(frozen=True, slots=True)
class PackedPartition:
    """A partition's nodes, the relationships among them, and its passes."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]
    passes: tuple[Pass, ...]


def fit_frame(order: SweepOrder, tools: SweepTools) -> SweepOrder:
    """Return an order whose prompts leave most of a small context to the nodes.

    Digests of neighbors lose their texts first, and then the farthest neighbors go.
    """
    most = _most_tokens(order, tools)
    if most is None:
        return order
    brief = tuple(
        replace(other, summary="", titles=(), reached=(), keywords=other.keywords[:BRIEF_KEYWORDS])
        for other in order.neighbors
    )
    choices = (order.neighbors, brief, *(brief[:kept] for kept in BRIEF_NEIGHBORS), ())
    for neighbors in choices:
        fitted = replace(order, neighbors=neighbors)
        frame = sweep_prompt(fitted, Pass(1, ()), 99)
        if estimate(frame.system + frame.user) <= FRAME_SHARE * most:
            return fitted
    return fitted


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
    if tools.calls.asks_receipts(tools.llm):
        characters = order.config.max_pass_characters
        slack += receipt_characters(_most_tokens(order, tools) or estimate_bytes(characters))
    if order.config.strict:
        slack += AGAIN_CHARACTERS
    packing = partial(
        pack,
        nodes,
        relationships,
        max_characters=order.config.max_pass_characters,
        max_tokens=_most_tokens(order, tools),
        reserved=frame_size(frame) + slack,
        reserved_tokens=estimate(frame.system + frame.user + alike) + (slack - len(alike)) // 2,
    )
    # Packing many passes takes a while, and other calls should not wait for it.
    try:
        passes = await asyncio.to_thread(packing)
    except ConfigError as error:
        raise _explain_context(order, tools, error) from None
    return PackedPartition(nodes, relationships, passes)


def _most_tokens(order: SweepOrder, tools: SweepTools) -> int | None:
    config = order.config
    return tools.calls.pass_tokens(tools.llm, config.max_pass_tokens, config.sweep_max_tokens)


def _explain_context(order: SweepOrder, tools: SweepTools, error: ConfigError) -> ConfigError:
    """Return the error that names the model's context, if that is what leaves no room."""
    context = tools.calls.contexts.of(tools.llm.name)
    if context is None or _most_tokens(order, tools) == order.config.max_pass_tokens:
        return error
    return ConfigError(
        f"the context of {tools.llm.name} is {context.described}, which leaves no room for nodes "
        "beside the instructions and the question; use a model with a larger context, or let its "
        "server give it more"
    )
