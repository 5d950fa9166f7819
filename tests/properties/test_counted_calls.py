"""Every call that an endpoint counts is in the record of its run, whatever becomes of the run.

A history is a run that is killed and resumed a few times, against an endpoint that refuses,
fails, stalls, and is slow. A process dies between any two steps of its event loop: nothing it
would have done afterwards happens, and only what was committed is left.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import stamina

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import (
    DatabaseUnavailableError,
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    PGSError,
    Retry,
)
from pgs_neo4j.llm.calls import ledger as ledger_module
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.ledger import CallCost, Ledger, Spent, Total
from pgs_neo4j.model import Completion, Prompt, Usage
from tests.bench.clock import JumpingLoop
from tests.thorough import tries

HISTORIES = tries(50, 100)
STEPS = 400  # of an event loop, within which most runs end
PROMPT = Prompt(task="sweep", system="s", user="u" * 3500, question="q")


@pytest.fixture(autouse=True)
def no_waits() -> Iterator[None]:
    stamina.set_testing(True, attempts=4)
    yield
    stamina.set_testing(False)


class KilledError(Exception):
    """The process is gone."""


class MortalLoop(JumpingLoop):
    """A loop whose process is killed before a step."""

    steps_left: int | None = None

    def _run_once(self) -> None:
        if self.steps_left is not None:
            self.steps_left -= 1
            if self.steps_left < 0:
                self.steps_left = None
                raise KilledError
        super()._run_once()  # type: ignore[misc]


@dataclass(slots=True)
class Record:
    """What the database holds of a run. ``open`` are the calls in flight by its latest total."""

    draw: random.Random
    spent: Spent = field(default_factory=Spent)
    number: int = 0
    open: tuple[CallCost, ...] = ()
    faults: float = 0.0

    async def store(self, ledger: Ledger, total: Total) -> None:
        in_flight = tuple(ledger.in_flight)
        await asyncio.sleep(self.draw.uniform(0.0, 0.01))
        if self.draw.random() < self.faults:
            raise DatabaseUnavailableError("away")
        if total.number > self.number:
            self.number, self.spent, self.open = total.number, total.spent, in_flight
        await asyncio.sleep(self.draw.uniform(0.0, 0.01))


@dataclass(slots=True)
class Endpoint:
    """A model that counts what it would charge for.

    ``unheard`` counts refusals that came too late: the call was given up, since its hedge had won.
    """

    draw: random.Random
    name: str = "m"
    counted: int = 0
    unheard: int = 0
    charged: set[CallCost] = field(default_factory=set)
    sending: dict[asyncio.Task[Any] | None, CallCost] = field(default_factory=dict)

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: object = None
    ) -> Completion:
        chance = self.draw.random()
        if chance < 0.2:
            try:
                await asyncio.sleep(self.draw.uniform(0.0, 0.2))
            except asyncio.CancelledError:
                self.unheard += 1
                raise
            raise ModelRateLimitError("slow down", retry=Retry(wait_s=0.1))
        if chance < 0.25:
            raise ModelUnavailableError("no connection", retry=Retry(), usage=Usage())
        self.counted += 1
        self.charged.add(self.sending[asyncio.current_task()])
        await asyncio.sleep(self.draw.choice([0.1, 0.2, 0.3, 5.0]))
        if chance < 0.35:
            raise ModelUnavailableError("HTTP 500", retry=Retry(tries=3))
        if chance < 0.4:
            raise ModelTimeoutError("stalled", retry=Retry(tries=2))
        usage = Usage(calls=1, input_tokens=900, output_tokens=50)
        if chance < 0.45:
            raise ModelOutputError("malformed", usage=usage)
        return Completion(text="fine", usage=usage, model="m")


async def work(calls: Calls, endpoint: Any, record: Record, prompts: int) -> None:
    """A run's calls, each with its record, and the end of the run."""

    async def recorded(_: Completion) -> None:
        await record.store(calls.ledger, calls.ledger.total())

    async def ask() -> None:
        with suppress(ModelError):
            await calls.complete(endpoint, PROMPT, room=1000, effort=None, then=recorded)

    with suppress(PGSError):  # the run failed, and its record is closed all the same
        await together(*(ask() for _ in range(prompts)))
    record.faults = 0.0
    await record.store(calls.ledger, calls.ledger.total())


def live(record: Record, endpoint: Endpoint, steps: int | None) -> bool:
    """One process of a run; whether it was killed. Adds what it left uncounted to the endpoint."""
    draw = record.draw
    loop = MortalLoop()
    try:

        async def process() -> None:
            knobs = PGSConfig(max_concurrent_sweeps=draw.randint(1, 6), hedge=draw.random() < 0.5)
            calls = Calls.of(knobs, {})
            before, record.number, record.open = record.spent, 0, ()
            calls.ledger.begin(
                lambda: before + calls.spent(), lambda total: record.store(calls.ledger, total)
            )
            await work(calls, endpoint, record, draw.randint(3, 12))

        loop.steps_left = steps
        try:
            loop.run_until_complete(process())
        except KilledError:
            bury(loop, record, endpoint)
            return True
        return False
    finally:
        loop.close()


def bury(loop: MortalLoop, record: Record, endpoint: Endpoint) -> None:
    """Let the tasks of a dead process end, without any trace of what they still do."""
    left = record.spent, record.number, record.open
    done = endpoint.counted, endpoint.unheard, set(endpoint.charged)
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    record.spent, record.number, record.open = left
    endpoint.counted, endpoint.unheard, endpoint.charged = done


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> dict[Any, CallCost]:
    """Which call each task is about to send."""
    sending: dict[Any, CallCost] = {}
    send = Ledger.send

    async def noted(self: Ledger, call: CallCost, *, free: bool = False) -> None:
        sending[asyncio.current_task()] = call
        await send(self, call, free=free)

    monkeypatch.setattr(ledger_module.Ledger, "send", noted)
    return sending


def test_told_calls_equal_counted_calls_in_random_histories(
    watched: dict[Any, CallCost],
) -> None:
    kills = told = counted = unsent = 0
    for seed in range(HISTORIES):
        draw = random.Random(seed)
        record = Record(draw, faults=draw.choice([0.0, 0.0, 0.02]))
        endpoint = Endpoint(draw, sending=watched)
        history_unsent = 0
        for _ in range(draw.randint(0, 3)):
            if live(record, endpoint, draw.randrange(STEPS)):
                kills += 1
                # A process that dies between the record and the endpoint leaves a call that
                # nobody can know not to have been sent: it counts, as one in flight does.
                history_unsent += len(set(record.open) - endpoint.charged)
        assert not live(record, endpoint, None)
        history_unsent += endpoint.unheard
        assert record.spent.usage.calls == endpoint.counted + history_unsent, seed
        told, counted = told + record.spent.usage.calls, counted + endpoint.counted
        unsent += history_unsent
    assert kills > HISTORIES / 2
    assert counted > 5 * HISTORIES
    assert told == counted + unsent
    assert unsent < kills  # fewer than one for each kill, though half of all steps are sendings


def test_calls_that_wait_for_the_record_share_one_write() -> None:
    written: list[Total] = []

    async def store(total: Total) -> None:
        await asyncio.sleep(1)
        written.append(total)

    async def send_all() -> None:
        ledger = Ledger()
        ledger.begin(lambda: sum((call.worst for call in ledger.in_flight), Spent()), store)
        await together(*(ledger.send(CallCost(Spent(Usage(calls=1)))) for _ in range(20)))

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(send_all())
    assert len(written) <= 2
    assert written[-1].spent.usage.calls == 20
