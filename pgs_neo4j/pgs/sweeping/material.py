"""Prepares a sweep: reads a partition, packs it into passes, and finds cached replies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.stored_data import COUNT, FIX, check_stored
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.calls.receipts import receipt_characters
from pgs_neo4j.llm.calls.replies import Replies, claim_purchases
from pgs_neo4j.model import Completion, GraphMapping, Node, Partition, Prompt, Relationship
from pgs_neo4j.pgs.sweeping.neighbors import render_analogies
from pgs_neo4j.pgs.sweeping.order import SweepOrder, SweepTools
from pgs_neo4j.pgs.sweeping.pack import Pass, pack
from pgs_neo4j.pgs.sweeping.report import frame_size, sweep_prompt
from pgs_neo4j.pgs.sweeping.strict import AGAIN_CHARACTERS
from pgs_neo4j.text import node_text
from pgs_neo4j.text.tokens import estimate, estimate_bytes

# Ranks per statement. Each statement has its own deadline and retry, but also looks at all members
# of the partition, so the chunk covers a whole partition within the usual limits.
CHUNK = 2000
MOST_CHARACTERS = 500  # of a relationship's name that are read; prompts show fewer

FRAME_SLACK = 200  # characters reserved for the counts of passes and of relationships not listed
MATCH_SLACK = 120  # characters reserved for the list of nodes that match the question
MATCH_LENGTH = 9  # characters reserved for each alias in that list
FRAME_SHARE = 0.4  # of the limit of a prompt, at most, for instructions, question, and neighbors
BRIEF_KEYWORDS = 3
BRIEF_NEIGHBORS = (16, 8, 4)  # numbers of neighbors to try, nearest first
REASKS = 3  # requests for a pass after its reply was cut off


@dataclass(frozen=True, slots=True)
class PackedPartition:
    """A partition's nodes, the relationships among them, and its passes.

    ``most_tokens`` is the token limit of each prompt, and ``order`` holds only the neighbors that
    fit in this limit.
    """

    order: SweepOrder
    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]
    passes: tuple[Pass, ...]
    most_tokens: int | None

    @property
    def context_limit(self) -> int | None:
        """The token limit of its passes if it differs from the configured limit; None otherwise."""
        configured = self.order.config.max_pass_tokens
        return self.most_tokens if self.most_tokens != configured else None


def fit_frame(order: SweepOrder, most: int | None) -> SweepOrder:
    """Return an order with fewer details of neighbors, to leave room for nodes in each prompt.

    ``most`` is the limit of a prompt in tokens. First the digests of neighbors lose their texts,
    then the farthest neighbors are left out, until the prompt without nodes takes at most
    FRAME_SHARE of the limit.
    """
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
    reading = asyncio.create_task(read_relationships(db, partition, mapping))
    try:
        nodes = await read_members(db, partition, mapping, order.skip)
        links = await reading
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    most = most_tokens(order, tools)
    return await pack_partition(order, tools, tuple(nodes), tuple(links), most)


async def pack_partition(
    order: SweepOrder,
    tools: SweepTools,
    nodes: tuple[Node, ...],
    relationships: tuple[Relationship, ...],
    most: int | None,
) -> PackedPartition:
    """Pack a partition into passes, with room for the rest of each prompt.

    ``most`` is the limit of a prompt in tokens. Of everything that a run learns from its calls,
    only this limit affects the passes, so another run with the same limit finds the cached replies.
    Raises ConfigError when the limit leaves no room for nodes.
    """
    order = fit_frame(order, most)
    frame = sweep_prompt(order, Pass(1, ()), 99)
    matches = MATCH_SLACK + MATCH_LENGTH * len(order.matches) if order.matches else 0
    alike = render_analogies(order.analogies)
    slack = FRAME_SLACK + matches + len(alike)
    # A run learns only from its calls whether prompts need receipts, so each prompt reserves room
    # for them.
    slack += receipt_characters(most or estimate_bytes(order.config.max_pass_characters))
    if order.config.strict:
        slack += AGAIN_CHARACTERS
    packing = partial(
        pack,
        nodes,
        relationships,
        max_characters=order.config.max_pass_characters,
        max_tokens=most,
        reserved=frame_size(frame) + slack,
        reserved_tokens=estimate(frame.system + frame.user + alike) + (slack - len(alike)) // 2,
    )
    # Packing many passes takes a while, and would block the event loop.
    try:
        passes = await asyncio.to_thread(packing)
    except ConfigError as error:
        raise _explain_no_room(order, tools, error, most) from None
    return PackedPartition(order, nodes, relationships, passes, most)


def most_tokens(order: SweepOrder, tools: SweepTools) -> int | None:
    """Return the token limit of a prompt, from the settings and the model's context."""
    config = order.config
    return tools.calls.pass_tokens(tools.llm, config.max_pass_tokens, config.sweep_max_tokens)


def _explain_no_room(
    order: SweepOrder, tools: SweepTools, error: ConfigError, most: int | None
) -> ConfigError:
    """Return an error that names the model's context if the context leaves no room."""
    context = tools.calls.contexts.of(tools.llm.name)
    if context is None or most == order.config.max_pass_tokens:
        return error
    return ConfigError(
        f"the context of {tools.llm.name} is {context.described}, which leaves no room for nodes "
        "beside the instructions and the question; use a model with a larger context, or let its "
        "server give it more"
    )


async def read_members(
    db: Database,
    partition: Partition,
    mapping: GraphMapping,
    skip: frozenset[int] = frozenset(),
) -> list[Node]:
    """Return a partition's nodes by rank, without the ranks in ``skip``. Raises StoredDataError."""
    nodes: list[Node] = []
    for first in range(0, partition.size, CHUNK):
        last = min(first + CHUNK, partition.size)
        if skip.issuperset(range(first, last)):
            continue
        rows = await db.read(
            queries.get("pgs/sweeping/read_members"),
            partition=partition.uid,
            first=first,
            last=last,
            text=mapping.text_properties,
            facts=mapping.facts,
            title=mapping.title_properties,
            key=mapping.key_properties,
        )
        nodes += [
            node_text.node(
                rank=check_stored(COUNT, rank, "the rank of a node", FIX),
                element_id=element_id,
                labels=labels,
                text=text,
                title=title,
                key=key,
            )
            for rank, element_id, labels, text, title, key in rows[0]["members"]
            if rank not in skip
        ]
    return nodes


async def read_relationships(
    db: Database, partition: Partition, mapping: GraphMapping
) -> list[Relationship]:
    """Return relationships among a partition's members, by rank.

    Parallel relationships of one type count once, unless their names differ. Facts on relationships
    are not returned, because they are part of the source node's text.
    """
    if mapping.relationship_name:
        return await _read_named_relationships(db, partition, mapping)
    rows = await db.read(
        queries.get("pgs/sweeping/read_relationships"),
        partition=partition.uid,
        types=list(mapping.relationship_types),
    )
    columns = zip(rows[0]["sources"], rows[0]["targets"], rows[0]["types"], strict=True)
    return [Relationship(*triple) for triple in dict.fromkeys(columns)]


async def _read_named_relationships(
    db: Database, partition: Partition, mapping: GraphMapping
) -> list[Relationship]:
    rows = await db.read(
        queries.get("pgs/sweeping/read_named_relationships"),
        partition=partition.uid,
        types=list(mapping.relationship_types),
        name=mapping.relationship_name or "",
        length=MOST_CHARACTERS,
    )
    names = ("sources", "targets", "types", "names")
    columns = zip(*(rows[0][name] for name in names), strict=True)
    return [Relationship(*values) for values in dict.fromkeys(columns)]


@dataclass(frozen=True, slots=True)
class PaidPasses:
    """A packed partition, its prompts by label, and its cached replies.

    ``keys`` maps the number of each pass to its key in the reply cache; it is empty where replies
    are not cached. ``replies`` maps keys to replies. A reply to a half of a pass has the key of the
    pass, followed by the letters of the half. ``own`` holds the keys that this run has claimed.
    ``busy`` maps the keys that another run is buying to the id of that run.
    """

    packed: PackedPartition
    prompts: Mapping[str, Prompt]
    keys: Mapping[int, str] = field(default_factory=dict)
    replies: Mapping[str, Completion] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    busy: Mapping[str, str] = field(default_factory=dict)

    @property
    def nodes_paid(self) -> int:
        """The number of nodes in passes with a cached reply, to the whole pass or to a half."""
        # The key of a half begins with the key of its pass.
        answered = {
            number
            for number, key in self.keys.items()
            if any(reply.startswith(key) for reply in self.replies)
        }
        passes = (item for item in self.packed.passes if item.number in answered)
        return len({piece.rank for item in passes for piece in item.pieces})


async def find_paid(order: SweepOrder, tools: SweepTools, packed: PackedPartition) -> PaidPasses:
    """Return the passes to read with their cached replies. Raises DatabaseError.

    A run learns a server's limit only from its calls, so an earlier run may have packed the
    partition for another limit. This function packs the partition for each limit that has cached
    replies, and returns the passes whose cached replies cover the most nodes. ``order`` is the
    order of ``packed`` before ``fit_frame``.
    """
    paid = await _find_replies(tools, packed)
    if tools.replies is None or all(key in paid.replies for key in paid.keys.values()):
        return paid
    for most in await _find_other_limits(order, tools.replies, packed.most_tokens):
        with suppress(ConfigError):  # another model's limit may leave no room for nodes
            other = await pack_partition(order, tools, packed.nodes, packed.relationships, most)
            found = await _find_replies(tools, other)
            if found.nodes_paid > paid.nodes_paid:
                paid = found
    return paid


async def _find_other_limits(
    order: SweepOrder, replies: Replies, current: int | None
) -> list[int | None]:
    """Return the configured limit and all limits of cached passes, without the current limit."""
    configured = order.config.max_pass_tokens
    limits = dict.fromkeys([configured, *await replies.pass_limits()])
    return [most for most in limits if most != current]


async def _find_replies(tools: SweepTools, packed: PackedPartition) -> PaidPasses:
    """Return the passes of a packed partition with their cached replies."""
    order, count, replies = packed.order, len(packed.passes), tools.replies
    coded = tools.calls.asks_receipts(tools.llm)
    prompts = {
        item.label: sweep_prompt(order, item, count, with_receipts=coded) for item in packed.passes
    }
    if replies is None:
        return PaidPasses(packed, prompts)
    room, effort = order.config.sweep_max_tokens, order.config.sweep_effort
    keys: dict[int, str] = {}
    for item in packed.passes:
        if key := replies.key(tools.llm, prompts[item.label], room, effort):
            keys[item.number] = key
    return PaidPasses(packed, prompts, keys, await replies.find_divided(keys.values()))


async def claim_passes(tools: SweepTools, paid: PaidPasses) -> PaidPasses:
    """Claim the passes that have no cached reply. Raises DatabaseError.

    Adds replies that another run has stored in the meantime.
    """
    unpaid = [key for key in paid.keys.values() if key not in paid.replies]
    replies = tools.replies
    if replies is None or not replies.shared or not unpaid:
        return paid
    claims = await claim_purchases(tools.db, replies.run, unpaid)
    stored = await replies.find_divided(claims.stored)
    return replace(
        paid,
        replies={**paid.replies, **stored},
        own=frozenset(claims.own),
        busy=claims.busy,
    )
