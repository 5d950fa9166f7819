"""Finds the cached replies to the passes of a partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pgs_neo4j.llm.calls.purchases import claim_purchases
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.model import Completion, Prompt
from pgs_neo4j.pgs.sweeping.material import PackedPartition
from pgs_neo4j.pgs.sweeping.order import SweepOrder, SweepTools
from pgs_neo4j.pgs.sweeping.report import sweep_prompt

REASKS = 3  # of one pass whose reply is cut off


@dataclass(frozen=True, slots=True)
class PaidPasses:
    """A packed partition, its prompts by label, and the replies it has.

    ``keys`` holds the key of each pass by number, where replies are cached. ``replies`` are by key;
    those to halves of a pass are among them, under its key and the letters of the half. ``own`` are
    the keys that this run has claimed to buy, ``busy`` maps those that another run is buying to it.
    """

    packed: PackedPartition
    prompts: Mapping[str, Prompt]
    keys: Mapping[int, str] = field(default_factory=dict)
    replies: Mapping[str, Completion] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    busy: Mapping[str, str] = field(default_factory=dict)


async def find_paid(order: SweepOrder, tools: SweepTools, packed: PackedPartition) -> PaidPasses:
    """Return the passes to read, and their cached replies. Raises DatabaseError."""
    count, replies = len(packed.passes), tools.replies
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
    return PaidPasses(packed, prompts, keys, await find_halved(replies, keys.values()))


async def claim_passes(tools: SweepTools, paid: PaidPasses) -> PaidPasses:
    """Claim the passes that no cached reply answers. Raises DatabaseError.

    Replies that another run has stored since are added.
    """
    unpaid = [key for key in paid.keys.values() if key not in paid.replies]
    replies = tools.replies
    if replies is None or not replies.shared or not unpaid:
        return paid
    claims = await claim_purchases(tools.db, replies.run, unpaid)
    stored = await find_halved(replies, claims.stored)
    return replace(
        paid,
        replies={**paid.replies, **stored},
        own=frozenset(claims.own),
        busy=claims.busy,
    )


async def find_halved(replies: Replies, keys: Iterable[str]) -> dict[str, Completion]:
    """Return the cached replies to passes and to their halves, by key. Raises DatabaseError."""
    return await replies.find_divided(keys)
