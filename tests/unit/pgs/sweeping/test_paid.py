"""Replies that an earlier run bought are found, however it packed the partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Completion, Node, Partition, Usage
from pgs_neo4j.pgs.sweeping.material import (
    PackedPartition,
    PaidPasses,
    find_paid,
    pack_partition,
)
from pgs_neo4j.pgs.sweeping.pack import halve_pass
from pgs_neo4j.pgs.sweeping.short_report import SHORT_MARK
from tests.fakes.database import FakeDatabase
from tests.orders import sweep_order

NODES = tuple(
    Node(
        rank=rank, element_id=f"e{rank}", key=f"k{rank}", title=f"T{rank}", text="Iron melts. " * 60
    )
    for rank in range(24)
)
SMALL, LARGE = 3_000, 20_000
WHOLE = range(24)


@dataclass
class Cache:
    """The cached replies of a database, and the limits that they were packed for."""

    stored: dict[str, Completion] = field(default_factory=dict)
    limits: list[int] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def key(self, *given: Any) -> str | None:
        nowhere: Any = FakeDatabase()
        return Replies(nowhere, "r1").key(*given)

    async def find_divided(self, keys: Iterable[str]) -> dict[str, Completion]:
        prefixes = tuple(keys)
        return {key: reply for key, reply in self.stored.items() if key.startswith(prefixes)}

    async def read_pass_limits(self, partition: int) -> list[int]:
        return self.limits


@dataclass
class Tried:
    """A partition to read, with a cache."""

    cache: Cache = field(default_factory=Cache)
    configured: int | None = None

    @property
    def order(self) -> Any:
        config = PGSConfig(max_pass_tokens=self.configured)
        made = sweep_order("Why?", Partition(id=2, size=len(NODES), tokens=9_000))
        return replace(made, config=config)

    @property
    def tools(self) -> Any:
        calls = Calls.of(PGSConfig(), {})
        return SimpleNamespace(llm=ScriptedLLM(), calls=calls, replies=self.cache)

    async def pack(self, most: int | None) -> PackedPartition:
        return await pack_partition(self.order, self.tools, NODES, (), most)

    async def buy(self, most: int | None, *, proven: bool = True, count: int | None = None) -> None:
        """Store replies to the first ``count`` passes for a limit."""
        packed = await self.pack(most)
        paid = await find_paid(self.order, replace_replies(self.tools, Cache()), packed)
        for item in packed.passes[:count]:
            self.cache.stored[paid.keys[item.number]] = reply(proven)
        if most is not None:
            self.cache.limits.append(most)

    async def find(self, most: int | None) -> PaidPasses:
        return await find_paid(self.order, self.tools, await self.pack(most))


def replace_replies(tools: Any, cache: Cache) -> Any:
    return SimpleNamespace(llm=tools.llm, calls=tools.calls, replies=cache)


def reply(proven: bool = True) -> Completion:
    return Completion(text="report", usage=Usage(), model="scripted", proven=proven)


async def test_passes_of_a_limit_that_this_run_has_not_learned_yet_are_read() -> None:
    tried = Tried()
    await tried.buy(SMALL)
    paid = await tried.find(None)
    assert paid.packed.most_tokens == paid.packed.context_limit == SMALL
    assert (len(paid.packed.passes) > 1, paid.find_unpaid()) == (True, [])
    assert paid.count_paid_nodes(proven=True) == len(NODES)
    assert tried.cache.used == set(tried.cache.stored)


async def test_passes_from_before_a_limit_was_learned_are_read_if_none_has_to_be_bought() -> None:
    tried = Tried()
    await tried.buy(None)
    paid = await tried.find(SMALL)
    assert (paid.packed.most_tokens, paid.find_unpaid()) == (None, [])
    tried = Tried()
    await tried.buy(LARGE, count=0)
    first = (await tried.pack(LARGE)).passes
    assert len(first) == 1, "all in one pass"


async def test_a_larger_packing_with_an_unpaid_pass_is_not_read() -> None:
    tried, middle = Tried(), 4_500
    await tried.buy(middle, count=1)
    paid = await tried.find(SMALL)
    assert (paid.packed.most_tokens, paid.count_paid_nodes()) == (SMALL, 0)
    assert tried.cache.used == set()
    smaller = await tried.find(None)
    assert smaller.packed.most_tokens == middle
    assert 0 < smaller.count_paid_nodes() < len(NODES)


async def test_no_limit_above_the_configured_one_is_taken() -> None:
    tried = Tried()
    await tried.buy(LARGE)
    tried.configured = SMALL
    assert (await tried.find(SMALL)).packed.most_tokens == SMALL


async def test_an_unproven_reply_speaks_for_no_other_packing() -> None:
    tried = Tried()
    await tried.buy(LARGE, proven=False)
    paid = await tried.find(SMALL)
    assert (paid.packed.most_tokens, len(paid.find_unpaid())) == (SMALL, len(paid.packed.passes))
    assert len((await tried.find(LARGE)).replies) == 1, "as the current packing, it is taken"


@pytest.mark.parametrize("mark", ["", SHORT_MARK])
async def test_paid_halves_count_as_what_they_show_and_no_more(mark: str) -> None:
    tried = Tried()
    packed = await tried.pack(None)
    (item,) = packed.passes
    first, second = halve_pass(item, ())
    eighth = halve_pass(halve_pass(second, ())[0], ())[1]
    (key,) = (await tried.find(None)).keys.values()
    tried.cache.stored |= {f"{key}{eighth.half}{mark}": reply()}
    paid = await tried.find(None)
    assert paid.count_paid_nodes() == len({piece.rank for piece in eighth.pieces})
    left = [one.label for one in paid.find_unpaid()]
    assert left == ["1a", "1baa", "1bb"]
    shown = [piece.rank for one in paid.find_unpaid() for piece in one.pieces]
    assert sorted([*shown, *(piece.rank for piece in eighth.pieces)]) == list(WHOLE)
    await tried.buy(SMALL)
    assert (await tried.find(None)).packed.most_tokens == SMALL, "one eighth is worth less"
    assert first.label == "1a"
