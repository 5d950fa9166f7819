"""The prompts of a packed partition, and the replies that they have."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Completion, Node, Partition, Prompt, Relationship, Usage
from pgs_neo4j.sweeping.material import PackedPartition, pack_partition
from pgs_neo4j.sweeping.order import SweepOrder, SweepTools, new_gate, record_nothing
from pgs_neo4j.sweeping.paid import PaidPasses, find_paid
from tests.orders import sweep_order


@dataclass
class Cache:
    """Replies by the content of their prompt."""

    contents: set[str] = field(default_factory=set)
    lookups: int = 0

    def key(self, llm: object, prompt: Prompt, room: int, effort: object) -> str:
        return f"<{prompt.content}>"

    async def find(self, keys: Any) -> dict[str, Completion]:
        self.lookups += 1
        return {
            key: Completion(text="", usage=Usage(), model="m")
            for key in keys
            if key in self.contents
        }


def tools_of(cache: Cache | None) -> SweepTools:
    fakes: dict[str, Any] = {"db": None, "replies": cache}
    return SweepTools(
        llm=ScriptedLLM(contract_reply),
        calls=Calls.of(PGSConfig(), {}),
        on_event=lambda event: None,
        record=record_nothing,
        gate=new_gate(),
        **fakes,
    )


def order_of(characters: int) -> SweepOrder:
    order = sweep_order("Why?", Partition(id=2, size=40, tokens=9))
    return replace(order, config=PGSConfig(max_pass_characters=characters))


async def look_up(
    contents: set[str], *, cached: bool = True
) -> tuple[PaidPasses, PackedPartition, Cache]:
    """What is read, as it was packed, and the cache."""
    cache = Cache(contents)
    tools, order = tools_of(cache if cached else None), order_of(9000)
    nodes = tuple(
        Node(rank=i, element_id="e", key="k", title=f"T{i}", text="x" * 300) for i in range(40)
    )
    links = tuple(Relationship(i, (i + 4) % 40, "NEXT") for i in range(40))
    packed = await pack_partition(order, tools, nodes, links)
    return await find_paid(order, tools, packed), packed, cache


async def test_passes_without_replies_have_prompts_and_keys() -> None:
    paid, packed, cache = await look_up(set())
    assert paid.packed is packed
    assert set(paid.prompts) == {item.label for item in packed.passes}
    assert set(paid.keys) == {item.number for item in packed.passes}
    assert (paid.replies, cache.lookups) == ({}, 1)


@pytest.mark.parametrize("half", ["", "a", "bab"])
async def test_a_reply_to_a_pass_or_to_a_half_of_it_is_found(half: str) -> None:
    paid, _, _ = await look_up(set())
    key = paid.keys[2] + half
    paid, _, _ = await look_up({key})
    assert paid.replies.keys() == {key}


async def test_without_a_cache_nothing_is_looked_up() -> None:
    paid, packed, cache = await look_up(set(), cached=False)
    assert (paid.packed, paid.keys, cache.lookups) == (packed, {}, 0)


def test_packing_leaves_the_event_loop() -> None:
    async def work() -> int:
        ticks, done = 0, False

        async def tick() -> None:
            nonlocal ticks
            while not done:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        await look_up(set())
        done = True
        await ticking
        return ticks

    assert asyncio.run(work()) > 10
