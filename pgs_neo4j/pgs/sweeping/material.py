"""Prepares a sweep: reads a partition, packs it into passes, and finds cached replies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.stored_data import COUNT, FIX, check_stored
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.calls.receipts import receipt_characters
from pgs_neo4j.llm.calls.replies import Replies, claim_purchases
from pgs_neo4j.model import Completion, GraphMapping, Node, Partition, Prompt, Relationship
from pgs_neo4j.pgs.sweeping.neighbors import render_analogies
from pgs_neo4j.pgs.sweeping.order import SweepOrder, SweepTools
from pgs_neo4j.pgs.sweeping.pack import HALVES, Pass, halve_pass, pack
from pgs_neo4j.pgs.sweeping.report import frame_size, sweep_prompt
from pgs_neo4j.pgs.sweeping.short_report import SHORT_MARK
from pgs_neo4j.pgs.sweeping.strict import AGAIN_CHARACTERS
from pgs_neo4j.text import node_text
from pgs_neo4j.text.tokens import estimate, estimate_bytes

# Ranks per statement. Each statement has its own deadline and retry, but also looks at all members
# of the partition, so the chunk covers a whole partition within the usual limits.
CHUNK = 2000
MOST_CHARACTERS = 500  # maximum characters to read of a relationship's name; prompts show fewer

FRAME_SLACK = 200  # characters reserved for the counts of passes and of relationships not listed
MATCH_SLACK = 120  # characters reserved for the list of nodes that match the question
MATCH_LENGTH = 9  # characters reserved for each alias in that list
FRAME_SHARE = 0.4  # maximum share of a prompt's limit for instructions, question, and neighbors
BRIEF_KEYWORDS = 3
BRIEF_NEIGHBORS = (16, 8, 4)  # numbers of neighbors to try, nearest first
PaidForm = Literal["usual", "short", "halves"]
"""How a pass was paid for: by a reply in the usual or the short format, or by replies to halves."""
REASKS = 3  # maximum number of repeated requests for a pass whose reply was cut off


@dataclass(frozen=True, slots=True)
class PackedPartition:
    """A partition's nodes, the relationships among them, and its passes.

    ``most_tokens`` is the token limit of each prompt, and ``order`` has only the neighbors that fit
    in this limit.
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

    ``keys`` maps the number of each pass to its key in the reply cache; it is empty if replies are
    not cached. ``replies`` maps keys to replies. A reply to a half of a pass has the key of the
    pass, followed by the letters of the half. ``own`` has the keys that this run has claimed.
    ``busy`` maps the keys that another run is buying to the id of that run.
    """

    packed: PackedPartition
    prompts: Mapping[str, Prompt]
    keys: Mapping[int, str] = field(default_factory=dict)
    replies: Mapping[str, Completion] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    busy: Mapping[str, str] = field(default_factory=dict)

    def find_unpaid(self) -> list[Pass]:
        """Return the passes without a cached reply, or the halves that lack one."""
        return [item for item, reply in self._follow() if reply is None]

    def count_paid_nodes(self, *, proven: bool = False) -> int:
        """Count the nodes in passes and halves with a cached reply.

        With ``proven``, only proven replies count.
        """
        paid = (
            item
            for item, reply in self._follow()
            if reply is not None and (reply.proven or not proven)
        )
        return len({piece.rank for item in paid for piece in item.pieces})

    def _follow(self) -> Iterator[tuple[Pass, Completion | None]]:
        """Yield each pass, or the halves that it was read in, with the cached reply."""
        left = list(reversed(self.packed.passes))
        while left:
            item = left.pop()
            key = self.keys.get(item.number)
            key = key + item.half if key else ""
            form = find_paid_form(key, self.replies)
            halves = halve_pass(item, self.packed.relationships) if form == "halves" else ()
            left += reversed(halves)
            if not halves:
                yield item, self.replies.get(key + SHORT_MARK if form == "short" else key)


def find_paid_form(key: str, replies: Mapping[str, Completion]) -> PaidForm | None:
    """Return how a pass or half was paid for; None if no reply to it or its halves is cached.

    ``key`` is its key in the reply cache, empty if replies are not cached.
    """
    if not key:
        return None
    if key in replies:
        return "usual"
    if key + SHORT_MARK in replies:
        return "short"
    halves = tuple(key + half for half in HALVES)
    return "halves" if any(other.startswith(halves) for other in replies) else None


async def find_paid(order: SweepOrder, tools: SweepTools, packed: PackedPartition) -> PaidPasses:
    """Return the passes to read with their cached replies. Raises DatabaseError.

    A run learns a server's limit only from its calls, so an earlier run may have packed the
    partition for another limit. If the cached replies to that packing cover more nodes, its passes
    are read instead. ``order`` is the order of ``packed`` before ``fit_frame``.
    """
    best = await _find_replies(tools, packed)
    replies = tools.replies
    if replies is None:
        return best
    if best.find_unpaid():
        best = await _find_better(order, tools, replies, best)
    replies.used |= best.replies.keys()
    return best


async def _find_better(
    order: SweepOrder, tools: SweepTools, replies: Replies, current: PaidPasses
) -> PaidPasses:
    """Return the passes for the limit whose replies cover the most nodes.

    Only proven replies count in favor of another limit: an unproven reply would be reused again and
    again, although passes that fit the context can be proven. Passes for a larger limit may not fit
    the model's context, so they are read only if none of them has to be bought.
    """
    best, most_nodes = current, current.count_paid_nodes()
    packed = current.packed
    for limit in await _find_other_limits(order, replies, packed.most_tokens):
        with suppress(ConfigError):  # another model's limit may leave no room for nodes
            other = await pack_partition(order, tools, packed.nodes, packed.relationships, limit)
            found = await _find_replies(tools, other)
            nodes = found.count_paid_nodes(proven=True)
            if nodes > most_nodes and not (
                _is_larger(limit, packed.most_tokens) and found.find_unpaid()
            ):
                best, most_nodes = found, nodes
    return best


async def _find_other_limits(
    order: SweepOrder, replies: Replies, current: int | None
) -> list[int | None]:
    """Return the configured limit and smaller limits of cached passes, without the current one."""
    configured = order.config.max_pass_tokens
    stored = await replies.read_pass_limits(order.partition.id)
    limits = [configured, *(most for most in stored if not _is_larger(most, configured))]
    return [most for most in dict.fromkeys(limits) if most != current]


def _is_larger(limit: int | None, other: int | None) -> bool:
    """Return whether a limit on tokens is above another limit; None means no limit."""
    return other is not None and (limit is None or limit > other)


async def _find_replies(tools: SweepTools, packed: PackedPartition) -> PaidPasses:
    """Return the passes of a packed partition with their cached replies."""
    # Rendering and hashing many prompts takes a while, and other calls should not wait for it.
    prompts, keys = await asyncio.to_thread(_render_passes, tools, packed)
    if tools.replies is None:
        return PaidPasses(packed, prompts)
    return PaidPasses(packed, prompts, keys, await tools.replies.find_divided(keys.values()))


def _render_passes(
    tools: SweepTools, packed: PackedPartition
) -> tuple[dict[str, Prompt], dict[int, str]]:
    """Return the prompts of passes by label, and the keys of their replies by number."""
    order, count, replies = packed.order, len(packed.passes), tools.replies
    coded = tools.calls.asks_receipts(tools.llm)
    prompts = {
        item.label: sweep_prompt(order, item, count, with_receipts=coded) for item in packed.passes
    }
    if replies is None:
        return prompts, {}
    room, effort = order.config.sweep_max_tokens, order.config.sweep_effort
    keys = {
        item.number: replies.key(tools.llm, prompts[item.label], room, effort)
        for item in packed.passes
    }
    return prompts, {number: key for number, key in keys.items() if key}


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
    replies.used |= stored.keys()
    return replace(
        paid,
        replies={**paid.replies, **stored},
        own=frozenset(claims.own),
        busy=claims.busy,
    )
