"""Policies for model calls: in batches, five at a time, and that of the engine."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import ModelRateLimitError
from pgs_neo4j.llm.calls.queue import HOLD_S, ConcurrencyLimit, Scheduler
from pgs_neo4j.llm.pace import Pace

SLOTS = 5
TIMEOUT_S = 600.0

Ask = Callable[[int], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Policy:
    """A scheduling policy.

    ``ours`` is the engine's scheduler from SLOTS up to ``ceiling``; the two others take calls
    in the order of their arrival.
    """

    name: str
    ours: bool = True
    batches: bool = False
    hedge: bool = False
    ceiling: int = SLOTS


BATCHES = Policy("batches of five", ours=False, batches=True)
SEMAPHORE = Policy("plain semaphore", ours=False)
OURS = Policy("ours")
HEDGED = Policy("ours, hedged", hedge=True)
GROWING = Policy("ours, may grow to 20", ceiling=20)


@dataclass(frozen=True, slots=True)
class Done:
    """How long all calls took, in the loop's seconds, and where the limit stood at the end."""

    seconds: float
    hedged: int = 0
    limit: int = SLOTS


async def done(policy: Policy, ask: Ask, tokens: list[int], pace: Pace) -> Done:
    """Ask each call once, or more often, until all have their reply."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    if policy.ours:
        scheduler = Scheduler(
            ConcurrencyLimit(SLOTS, policy.ceiling), TIMEOUT_S, hedge=policy.hedge
        )
        hedged = await _scheduled(scheduler, ask, tokens, pace)
        return Done(loop.time() - began, hedged, scheduler.limit.calls)
    await (_in_batches if policy.batches else _within_semaphore)(ask, len(tokens))
    return Done(loop.time() - began)


async def _scheduled(scheduler: Scheduler, ask: Ask, tokens: list[int], pace: Pace) -> int:
    """Offer the longest calls first, as the engine does; how many of them were hedged."""
    order = sorted(range(len(tokens)), key=lambda number: -tokens[number])
    in_flight: Counter[int] = Counter()
    hedged: set[int] = set()

    async def counted(number: int) -> object:
        if in_flight[number]:
            hedged.add(number)
        in_flight[number] += 1
        try:
            return await ask(number)
        finally:
            in_flight[number] -= 1

    await together(
        *(
            scheduler.call(
                partial(counted, number),
                pace,
                length=float(tokens[number]),
                tokens=tokens[number],
            )
            for number in order
        )
    )
    return len(hedged)


async def _in_batches(ask: Ask, count: int) -> None:
    for first in range(0, count, SLOTS):
        batch = range(first, min(first + SLOTS, count))
        await asyncio.gather(*(_patiently(ask, number) for number in batch))


async def _within_semaphore(ask: Ask, count: int) -> None:
    slots = asyncio.Semaphore(SLOTS)

    async def one(number: int) -> None:
        async with slots:
            await _patiently(ask, number)

    await asyncio.gather(*(one(number) for number in range(count)))


async def _patiently(ask: Ask, number: int) -> None:
    """Ask again when refused, after the time that the endpoint names."""
    while True:
        try:
            await ask(number)
        except ModelRateLimitError as error:
            wait_s = error.retry.wait_s if error.retry else None
            await asyncio.sleep(wait_s or HOLD_S)
        else:
            return
