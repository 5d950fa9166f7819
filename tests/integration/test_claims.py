"""Runs at once in one session read different partitions, and buy no prompt twice."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.holder import Holder, this_machine, this_place
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import ModelUnavailableError, NothingLeftError
from pgs_neo4j.llm.calls import replies
from pgs_neo4j.llm.calls.replies import claim_purchases, free_purchases, wait_for_purchase
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Answer, Prompt
from pgs_neo4j.pgs.runs import runs
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers
from tests.graphs import count

BEGIN = """
UNWIND $ids AS id
CREATE (:PgsRun {id: id, status: 'running', holder: '', updated_at: datetime()})
"""
SILENT = "MATCH (r:PgsRun) SET r.updated_at = datetime() - duration('PT5M')"


@pytest.fixture
async def engine(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with engine_on_papers(endpoint, db, topics=15, size=20) as opened:
        yield opened


class Slow:
    """A model that takes its time, so that calls of several runs overlap."""

    def __init__(self, seconds: float = 0.05) -> None:
        self.seconds = seconds
        self.prompts: list[Prompt] = []

    async def __call__(self, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        await asyncio.sleep(self.seconds)
        return contract_reply(prompt)

    @property
    def bought(self) -> Counter[str]:
        """How often each prompt was bought."""
        return Counter(prompt.system + prompt.user for prompt in self.prompts)


def use(engine: PGS, slow: Any) -> Any:
    engine.sweep_llm = engine.synthesis_llm = ScriptedLLM(slow)
    return slow


def swept(answers: list[Answer]) -> list[int]:
    return sorted(sweep.partition for answer in answers for sweep in answer.sweeps)


async def continue_at_once(engine: PGS, questions: list[str], **knobs: Any) -> list[Answer]:
    return await asyncio.gather(
        *(engine.execute(question, mode="continue", **knobs) for question in questions)
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("questions", "cache"),
    [(["Why?"] * 3, True), (["Why?"] * 3, False), (["Why?", "How?", "When?"], True)],
)
async def test_three_that_continue_at_once_read_fifteen_partitions(
    engine: PGS, db: Database, questions: list[str], cache: bool
) -> None:
    slow = use(engine, Slow())
    await engine.execute("What?", max_sweep_partitions=1, cache=cache)
    knobs = {"max_sweep_partitions": 4, "cache": cache}
    answers = await continue_at_once(engine, questions, **knobs)
    partitions = swept(answers)
    assert len(partitions) == len(set(partitions)) == 12
    assert max(slow.bought.values()) == 1
    assert (await engine.sessions.coverage("default", "papers")).partitions_swept == 13


@pytest.mark.thorough
async def test_a_run_that_finds_nothing_free_waits_and_then_has_nothing_left(
    engine: PGS, db: Database
) -> None:
    slow = use(engine, Slow(0.0))
    await engine.execute("Why?", max_sweep_partitions=14)
    slow.seconds = 0.5
    ended = await asyncio.gather(
        *(engine.execute("Why?", mode="continue") for _ in range(3)), return_exceptions=True
    )
    assert max(slow.bought.values()) == 1
    (answer,) = [one for one in ended if isinstance(one, Answer)]
    assert len(answer.sweeps) == 1
    assert answer.coverage.exhausted
    assert sum(isinstance(one, NothingLeftError) for one in ended) == 2


@pytest.mark.nightly
async def test_twenty_that_ask_the_same_at_once_buy_each_prompt_once(
    engine: PGS, db: Database
) -> None:
    slow = use(engine, Slow())
    answers = await asyncio.gather(
        *(engine.execute("Why?", session_id=f"s{i % 4}", full_sweep=True) for i in range(20))
    )
    assert max(slow.bought.values()) == 1
    assert len(slow.prompts) == 16
    assert sum(answer.usage.calls for answer in answers) == 16
    assert {answer.text for answer in answers} == {answers[0].text}
    assert all(answer.usage.calls + answer.usage.cached == 16 for answer in answers)
    await alter(db, BEGIN, ids=[f"r{run}" for run in range(20)])
    keys = [f"k{number}" for number in range(30)]
    claims = await asyncio.gather(
        *(claim_purchases(db, f"r{run}", keys[run:] + keys[:run]) for run in range(20))
    )
    assert Counter(key for claim in claims for key in claim.own) == dict.fromkeys(keys, 1)


@pytest.mark.thorough
async def test_what_one_run_cannot_buy_another_one_buys(engine: PGS, db: Database) -> None:
    """Its failure frees the purchase, and nobody waits for it until its end."""
    tries: Counter[int | None] = Counter()

    async def fail_once(prompt: Prompt) -> str:
        tries[prompt.partition] += 1
        first = tries[prompt.partition] == 1
        await asyncio.sleep(0.1)
        if prompt.partition == 3 and first:
            raise ModelUnavailableError("gone")
        return contract_reply(prompt)

    use(engine, fail_once)
    one, other = await asyncio.gather(
        *(engine.execute("Why?", session_id=name, full_sweep=True) for name in "ab")
    )
    assert one.partial != other.partial
    assert {tries[partition] for partition in range(1, 16)} == {1, 2}
    assert tries[3] == 2


async def test_a_claim_of_a_silent_run_is_free_again(
    engine: PGS, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SIGN_S", 600.0)
    await engine.execute("What?", max_sweep_partitions=1)
    hung, go_on = asyncio.Event(), asyncio.Event()

    async def hang(prompt: Prompt) -> str:
        hung.set()
        await go_on.wait()
        return contract_reply(prompt)

    use(engine, hang)
    alone: Any = {"max_concurrent_sweeps": 1, "max_concurrent_calls": 1}
    asleep = asyncio.create_task(
        engine.execute("Why?", mode="continue", max_sweep_partitions=14, **alone)
    )
    await hung.wait()
    await alter(db, SILENT)
    slow = use(engine, Slow(0.0))
    async with asyncio.timeout(60):
        answer = await engine.execute("Why?", mode="continue", max_sweep_partitions=14)
    assert answer.coverage.exhausted
    assert len(slow.prompts) == 15
    asleep.cancel()
    await asyncio.gather(asleep, return_exceptions=True)
    assert await count(db, "(x:PgsRun {status: 'running'})") == 0


async def test_a_purchase_passes_from_run_to_run(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "FIRST_POLL_S", 0.01)
    monkeypatch.setattr(replies, "SILENT_S", 1e6)  # a dead buyer is not waited for
    await alter(db, BEGIN, ids=["r1", "r2"])
    assert (await claim_purchases(db, "r1", ["a", "b"])).own == {"a", "b"}
    assert (await claim_purchases(db, "r1", ["a"])).own == {"a"}
    await free_purchases(db, "r2", ["a", "b"])  # which are not r2's
    claims = await claim_purchases(db, "r2", ["a", "c"])
    assert (claims.own, claims.busy) == ({"c"}, {"a": "r1"})
    waiting = asyncio.create_task(wait_for_purchase(db, "r2", "a", lambda: False))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await free_purchases(db, "r1", ["a"])
    assert await waiting
    assert (await claim_purchases(db, "r1", ["a"])).busy == {"a": "r2"}
    waiting = asyncio.create_task(wait_for_purchase(db, "r2", "b", lambda: False))
    await alter(db, "CREATE (:PgsReply {key: 'b', text: 't', model: 'm'})")
    assert not await waiting
    assert (await claim_purchases(db, "r2", ["b"])).stored == {"b"}
    await alter(db, "MATCH (r:PgsRun {id: 'r2'}) SET r.status = 'failed'")
    assert (await claim_purchases(db, "r1", ["a", "c"])).own == {"a", "c"}
    looks = iter([False, False, True])
    assert not await wait_for_purchase(db, "r2", "a", lambda: next(looks))
    assert (await claim_purchases(db, "r1", [])).own == set()
    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await ended.wait()
    dead = str(Holder(this_machine(), ended.pid, "0a1b2c3d", this_place()))
    for run, holder in (("dead", dead), ("alive", str(Holder.of_this_process()))):
        await alter(db, BEGIN, ids=[run])
        hold = "MATCH (r:PgsRun {id: $run}) SET r.holder = $holder"
        await alter(db, hold, run=run, holder=holder)
        await claim_purchases(db, run, [f"of {run}"])
    claims = await claim_purchases(db, "r1", ["of alive", "of dead", "d"])
    assert (claims.own, claims.busy) == ({"d", "of dead"}, {"of alive": "alive"})
