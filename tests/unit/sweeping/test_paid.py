"""Which passes are read: today's, unless only those by weight have replies."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Completion, Node, Partition, Prompt, Relationship, Usage
from pgs_neo4j.sweeping.material import PackedPartition, _pack
from pgs_neo4j.sweeping.order import SweepOrder, SweepTools, new_gate, record_nothing
from pgs_neo4j.sweeping.paid import PaidPasses, find_paid
from pgs_neo4j.sweeping.report import sweep_prompt
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


def order_of(characters: int, texts: int | None = None) -> SweepOrder:
    order = sweep_order("Why?", Partition(id=2, size=40, tokens=9, keywords=(), texts=texts))
    return replace(order, config=PGSConfig(max_pass_characters=characters))


async def look_up(
    contents: set[str], characters: int = 9000, *, cached: bool = True, texts: int | None = None
) -> tuple[PaidPasses, PackedPartition, PackedPartition, Cache]:
    """What is read, today's passes, those by weight, and the cache."""
    cache = Cache(contents)
    tools, order = tools_of(cache if cached else None), order_of(characters, texts)
    nodes = tuple(
        Node(rank=i, element_id="e", key="k", title=f"T{i}", text="x" * 300) for i in range(40)
    )
    links = tuple(Relationship(i, (i + 4) % 40, "NEXT") for i in range(40))
    today = await _pack(order, tools, nodes, links)
    earlier = await _pack(order, tools, nodes, links, by_weight=True)
    return await find_paid(order, tools, today), today, earlier, cache


def contents_of(packed: PackedPartition, characters: int, *, half: str = "") -> set[str]:
    order, count = order_of(characters), len(packed.passes)
    prompts = [sweep_prompt(order, item, count) for item in packed.passes]
    return {f"<{prompt.content}>{half}" for prompt in prompts}


async def test_without_replies_passes_along_connections_are_read() -> None:
    paid, today, earlier, cache = await look_up(set())
    assert paid.packed.passes == today.passes != earlier.passes
    assert set(paid.prompts) == {item.label for item in today.passes}
    assert (paid.replies, cache.lookups) == ({}, 2)
    paid, *_, cache = await look_up(set(), texts=40)
    assert (paid.packed.passes, cache.lookups) == (today.passes, 1)  # not made by 0.1.0


@pytest.mark.parametrize("half", ["", "a", "bab"])
async def test_passes_by_weight_are_read_where_only_they_have_replies(half: str) -> None:
    _, today, earlier, _ = await look_up(set())
    first = {min(contents_of(earlier, 9000, half=half))}
    paid, *_ = await look_up(first)
    assert paid.packed.passes == earlier.passes
    assert paid.replies.keys() == first
    both = first | {max(contents_of(today, 9000))}
    paid, *_ = await look_up(both)
    assert paid.packed.passes == today.passes


async def test_a_partition_that_is_one_pass_by_now_resumes_with_the_two_it_had() -> None:
    paid, today, earlier, _ = await look_up(set(), 17_000)
    assert (len(today.passes), len(earlier.passes)) == (1, 2)
    assert paid.packed.passes == today.passes
    paid, *_ = await look_up({min(contents_of(earlier, 17_000))}, 17_000)
    assert paid.packed.passes == earlier.passes


async def test_a_short_prompt_needs_no_second_look() -> None:
    paid, today, _, cache = await look_up(set(), 50_000)
    assert paid.packed is today
    assert cache.lookups == 1


async def test_without_a_cache_nothing_is_looked_up() -> None:
    paid, today, _, cache = await look_up(set(), cached=False)
    assert (paid.packed, paid.keys, cache.lookups) == (today, {}, 0)


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
