"""Runs policies on the same draws: over HTTP in a hurried loop, or simulated."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

from pydantic import SecretStr

from pgs_neo4j.errors import ModelRateLimitError, Retry
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.model import Prompt
from tests.bench.clock import HurriedLoop, JumpingLoop
from tests.bench.endpoint import Asked, Told, served
from tests.bench.latencies import TRIES, Draw, drawn
from tests.bench.policies import SLOTS, Policy, done

RETRY_AFTER_S = 5.0
REFUSING_S = 0.1  # that the endpoint takes to say no
WARMING = "warming"
WARM_CONNECTIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What the endpoint is like, and who asks it. ``takes``: calls at once, else it refuses."""

    name: str
    policies: tuple[Policy, ...]
    calls: int = 15
    stragglers: float = 0.0
    takes: int | None = None
    slots: int = SLOTS
    """Slots of the lower bound that makespans are divided by."""

    def draw(self, seed: int) -> Draw:
        """The calls of one seed."""
        return drawn(seed, self.calls, self.stragglers)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One policy on one draw: makespan ÷ lower bound, and what it asked of the endpoint."""

    ratio: float
    hedged: int
    refused: int
    limit: int


class Busy:
    """The endpoint as one policy meets it on one draw."""

    def __init__(self, draw: Draw, takes: int | None) -> None:
        self._draw, self._takes = draw, takes
        self._tries: Counter[int] = Counter()
        self._taken = 0
        self.refused = 0

    async def take(self, number: int) -> bool:
        """Work on a call for the time that was drawn; False when it is refused."""
        if self._takes is not None and self._taken >= self._takes:
            self.refused += 1
            await asyncio.sleep(REFUSING_S)
            return False
        seconds = self._draw.seconds[number, self._tries[number] % TRIES]
        self._tries[number] += 1
        self._taken += 1
        try:
            await asyncio.sleep(float(seconds))
        finally:
            self._taken -= 1
        return True


def simulated(scenario: Scenario, seeds: Iterable[int]) -> dict[str, list[Outcome]]:
    """The outcomes by policy, without any endpoint: the clock jumps."""

    async def one(policy: Policy, draw: Draw) -> Outcome:
        busy = Busy(draw, scenario.takes)

        async def ask(number: int) -> None:
            if not await busy.take(number):
                raise ModelRateLimitError("refused", retry=Retry(RETRY_AFTER_S))

        return await _outcome(scenario, policy, draw, busy, ask, Pace())

    async def every() -> dict[str, list[Outcome]]:
        outcomes: dict[str, list[Outcome]] = {policy.name: [] for policy in scenario.policies}
        for seed in seeds:
            draw = scenario.draw(seed)
            for policy in scenario.policies:
                outcomes[policy.name].append(await one(policy, draw))
        return outcomes

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(every())


def over_http(scenario: Scenario, seeds: Iterable[int], speed: float) -> dict[str, list[Outcome]]:
    """The same through our client and a socket; ``speed`` seconds pass in one of the wall's.

    All policies meet a draw at the same time, so that they share what the machine is busy with.
    """
    with asyncio.Runner(loop_factory=lambda: HurriedLoop(speed)) as runner:
        return runner.run(_over_http(scenario, seeds))


async def _over_http(scenario: Scenario, seeds: Iterable[int]) -> dict[str, list[Outcome]]:
    runs: dict[str, Busy] = {}

    async def answer(asked: Asked) -> Told:
        name, number = asked.body["messages"][-1]["content"].split()
        if name == WARMING or await runs[name].take(int(number)):
            return Told()
        return Told("too many at once", 429, {"Retry-After": f"{RETRY_AFTER_S:g}"})

    outcomes: dict[str, list[Outcome]] = {policy.name: [] for policy in scenario.policies}
    async with served(answer) as address, AsyncExitStack() as stack:
        models = {policy: await _warm(address, stack) for policy in scenario.policies}

        async def one(place: int, policy: Policy, draw: Draw) -> None:
            busy = runs[str(place)] = Busy(draw, scenario.takes)

            async def ask(number: int) -> object:
                return await _asked(models[policy], f"{place} {number}")

            result = await _outcome(scenario, policy, draw, busy, ask, Pace())
            outcomes[policy.name].append(result)

        for seed in seeds:
            draw = scenario.draw(seed)
            async with asyncio.TaskGroup() as group:
                for place, policy in enumerate(scenario.policies):
                    group.create_task(one(place, policy, draw))
    return outcomes


async def _warm(address: str, stack: AsyncExitStack) -> OpenAILLM:
    """A model with open connections: in a hurried clock, opening them would take seconds."""
    llm = OpenAILLM("bench", Endpoint(f"{address}/v1", SecretStr("bench")))
    stack.push_async_callback(llm.close)
    await asyncio.gather(*(_asked(llm, f"{WARMING} 0") for _ in range(WARM_CONNECTIONS)))
    return llm


async def _asked(llm: OpenAILLM, text: str) -> object:
    prompt = Prompt(task="sweep", system="", user=text, question="")
    return await llm.complete(prompt, max_tokens=16)


async def _outcome(
    scenario: Scenario, policy: Policy, draw: Draw, busy: Busy, ask: Any, pace: Pace
) -> Outcome:
    result = await done(policy, ask, draw.tokens.tolist(), pace)
    return Outcome(
        ratio=result.seconds / draw.bound(scenario.slots),
        hedged=result.hedged,
        refused=busy.refused,
        limit=result.limit,
    )


def summed(outcomes: list[Outcome]) -> dict[str, float]:
    """Mean, spread and ninth decile of the ratio; means of the rest."""
    ratios = sorted(each.ratio for each in outcomes)
    return {
        "mean": fmean(ratios),
        "spread": pstdev(ratios),
        "p90": ratios[min(len(ratios) - 1, int(0.9 * len(ratios)))],
        "hedged": fmean(each.hedged for each in outcomes),
        "refused": fmean(each.refused for each in outcomes),
        "limit": fmean(each.limit for each in outcomes),
    }
