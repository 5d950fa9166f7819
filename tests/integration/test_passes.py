"""Partitions longer than a pass: divided along their connections, resumed, and read truly."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgs_neo4j.config.models_table import entries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import BudgetError, ModelUnavailableError
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Prompt, Report, SweepStatus
from pgs_neo4j.pgs.sweeping import passes
from pgs_neo4j.pgs.sweeping.report import parse_report
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import engine_on, engine_on_papers
from tests.graphs import MAPPING, count

ONE_PARTITION: dict[str, Any] = {"min_community_size": 160, "target_partition_max": 200}
# Longer texts, and weights that have nothing to do with the rings.
LONG = """
MATCH (p:Paper)
SET p.abstract = p.abstract + reduce(t = '', i IN range(1, 40) | t + ' so'),
    p.score = toFloat(toInteger(split(p.doi, '/')[1]) * 37 % 160)
"""
RELATIONSHIPS = "MATCH (:Paper)-[r:CITES]->(:Paper) RETURN count(r) AS count"


@pytest.fixture
async def engine(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """Four rings of papers in one partition, whose passes hold about one ring."""
    async with engine_on_papers(endpoint, db, **ONE_PARTITION, max_pass_characters=17_000) as pgs:
        await alter(db, LONG)
        yield pgs


def sweeps_of(pgs: PGS) -> list[Prompt]:
    assert isinstance(pgs.sweep_llm, ScriptedLLM)
    prompts = [prompt for prompt in pgs.sweep_llm.prompts if prompt.task == "sweep"]
    pgs.sweep_llm.prompts.clear()
    return prompts


def answer_with(pgs: PGS, answer: Any) -> None:
    assert isinstance(pgs.sweep_llm, ScriptedLLM)
    pgs.sweep_llm._answer = answer


def shown(prompts: list[Prompt]) -> list[set[str]]:
    return [{node.alias for node in prompt.nodes} for prompt in prompts]


async def test_passes_show_relationships_with_both_ends(engine: PGS, db: Database) -> None:
    with pytest.raises(BudgetError, match="nothing was read"):
        await engine.execute("Why?", max_calls=1)
    assert sweeps_of(engine) == []
    rows = await fetch(db, RELATIONSHIPS)
    answer = await engine.execute("Why?")
    (sweep,) = answer.sweeps
    prompts = sweeps_of(engine)
    assert sweep.passes == len(prompts) > 2
    assert answer.coverage.exhausted
    along = sum(len(prompt.relationships) for prompt in prompts)
    assert along > 0.85 * rows[0]["count"]


async def test_a_run_resumes_with_the_same_passes(engine: PGS) -> None:
    begun: list[set[str]] = []

    def answer(prompt: Prompt) -> str | Exception:
        if "n100" in shown([prompt])[0]:
            return ModelUnavailableError("500")
        begun.extend(shown([prompt]))
        return contract_reply(prompt)

    answer_with(engine, answer)
    first = await engine.execute("Why?")
    sweeps_of(engine)
    answer_with(engine, contract_reply)
    resumed = await engine.resume(first.run)
    (rest,) = shown(sweeps_of(engine))
    assert all(not rest & before for before in begun)
    assert resumed.coverage.exhausted
    assert resumed.sweeps[0].passes == len(begun) + 1


async def test_texts_that_all_changed_since_are_read_as_they_are_now(
    engine: PGS, db: Database
) -> None:
    first = await engine.execute("Why?")
    before = shown(sweeps_of(engine))
    await alter(
        db,
        "MATCH (p:Paper) SET p.abstract = 'Rewritten ' + p.doi + "
        "reduce(t = '', i IN range(1, 200) | t + ' again')",
    )
    # A resumed run keeps its partitions, whatever became of their texts.
    await alter(db, "MATCH (r:PgsRun {id: $id}) SET r.status = 'failed'", id=first.run)
    second = await engine.resume(first.run)
    prompts = sweeps_of(engine)
    assert len(prompts) > len(before)
    assert second.sweeps[0].nodes_read == second.sweeps[0].nodes == 160
    assert all("Rewritten" in node.text for prompt in prompts for node in prompt.nodes)
    assert sorted(len(prompt.nodes) for prompt in prompts) != sorted(map(len, before))


@pytest.mark.thorough
async def test_a_plan_and_the_doctor_say_when_partitions_exceed_a_pass(
    engine: PGS, endpoint: Endpoint, db: Database
) -> None:
    plan = await engine.plan("Why?")
    assert plan.advice == (
        "partitions longer than one pass (1 of 1) are read in parts; run 'pgs partition --graph "
        "papers --force --max-partition-tokens 3000', so that one pass shows a partition whole"
    )
    assert (await engine.plan("Why?", max_pass_characters=500_000)).advice == ""
    checks = {check.name: check for check in await engine.doctor()}
    assert checks["partitions of papers"].status == "warning"
    assert "--max-partition-tokens 3000" in checks["partitions of papers"].fix
    small = entries({"scripted": {"context": 9000}})
    knobs: dict[str, Any] = ONE_PARTITION | {"embedder": "none", "max_partition_tokens": 3000}
    async with engine_on(endpoint, **knobs, max_pass_characters=17_000, models=small) as pgs:
        await pgs.graphs.add("papers", MAPPING)
        await pgs.partitions.build("papers")  # a plan itself replaces no partitions
        plan = await pgs.plan("Why?", full_sweep=True)
        assert plan.advice == ""
        assert {sweep.passes for sweep in plan.sweeps} == {1}
        assert "partitions of papers" not in {check.name for check in await pgs.doctor()}


async def test_one_node_longer_than_a_pass_is_read_whole_and_is_no_reason_to_repartition(
    engine: PGS, db: Database
) -> None:
    giant = (
        "MATCH (p:Paper {doi: 'doi/7'}) "
        "SET p.abstract = reduce(t = '', i IN range(1, 9000) | t + 'word' + i + ' ')"
    )
    await alter(db, giant)
    knobs: dict[str, Any] = {"max_partition_tokens": 3000, "max_sweep_partitions": 50}
    plan = await engine.plan("Why?", full_sweep=True, **knobs)
    assert max(sweep.passes for sweep in plan.sweeps) > 3
    assert plan.advice == ""
    answer = await engine.execute("Why?", full_sweep=True, **knobs)
    assert answer.coverage.exhausted
    assert await count(db, "(:PgsSweep {status: 'accepted'})-[:PGS_READ]->(x:PgsPartition)") > 1


async def test_a_budget_below_one_pass_reads_the_best_part_of_it(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(
        endpoint, db, **ONE_PARTITION, sweep_max_tokens=300, synthesis_max_tokens=600
    ) as pgs:
        await alter(db, LONG)
        question = "What is the meaning of fact101?"
        whole = (await pgs.plan(question)).sweeps[0].input_tokens
        answer = await pgs.execute(question, max_tokens=whole, session_id="small")
        assert answer.partial
        assert answer.usage.tokens <= whole
        (sweep,) = answer.sweeps
        assert sweep.status is SweepStatus.PARTIAL
        prompts = sweeps_of(pgs)
        assert sum(map(len, shown(prompts))) == sweep.nodes_read == answer.coverage.nodes_read
        assert 0 < sweep.nodes_read < 160
        assert any("Paper 101" in node.title for node in prompts[0].nodes)
        # With more to spend, what was paid for is not asked again.
        resumed = await pgs.resume(answer.run, max_tokens="none")
        assert resumed.coverage.nodes_read == 160
        again = shown(sweeps_of(pgs))
        assert not set.union(*again) & set.union(*shown(prompts))


@pytest.mark.thorough
async def test_a_long_reply_does_not_hold_up_the_event_loop(
    engine: PGS, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[bool] = []

    def parse(*args: Any, **kwargs: Any) -> Report:
        threads.append(threading.current_thread() is threading.main_thread())
        return parse_report(*args, **kwargs)

    monkeypatch.setattr(passes, "parse_report", parse)
    await engine.execute("Why?", max_calls=20)
    assert set(threads) == {True}
    threads.clear()
    answer_with(
        engine, lambda prompt: contract_reply(prompt) + "\n" + "so " * (passes.LONG_REPLY // 2)
    )
    answer = await engine.execute("How?", max_calls=20)
    assert set(threads) == {False}
    assert answer.coverage.exhausted
