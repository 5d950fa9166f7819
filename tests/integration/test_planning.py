"""What a run would cost is told before, and without a model call."""

import math
from collections import Counter

import pytest

from pgs_neo4j.config.models_table import entries
from pgs_neo4j.errors import ConfigError, ModelUnavailableError, PGSError
from pgs_neo4j.llm.calls.budget import estimated_tokens
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import Completion, Usage
from tests.engines import answering, engine_on_papers, without_synthesis
from tests.graphs import count
from tests.planned_runs import try_history
from tests.thorough import histories

PRICES = {"scripted": {"input_price": 1.0, "output_price": 10.0}}


@pytest.fixture
async def engine(endpoint, db):
    async with engine_on_papers(endpoint, db, models=PRICES) as opened:
        yield opened


@pytest.mark.thorough
async def test_the_passes_and_input_tokens_are_those_of_the_run(engine):
    knobs = {"max_pass_characters": 6000, "max_flag_sweeps": 0}
    plan = await engine.plan("Why?", **knobs)
    answer = await engine.execute("Why?", **knobs)
    prompts = [p for p in engine.sweep_llm.prompts if p.task == "sweep"]
    assert sum(each.passes for each in plan.sweeps) == len(prompts) > 4
    paid = sum(s.usage.input_tokens for s in answer.sweeps)
    assert sum(each.input_tokens for each in plan.sweeps) == paid


async def test_a_plan_asks_nothing_and_a_run_costs_what_was_planned_less_the_cache(engine, db):
    plan = await engine.plan("Why?")
    assert engine.sweep_llm.prompts == engine.synthesis_llm.prompts == []
    assert await count(db, "(x:PgsRun|PgsSession|PgsReply)") == 0
    assert [(each.nodes, each.passes) for each in plan.sweeps] == [(40, 1)] * 4
    assert 0 < plan.low < plan.high
    assert all(each.reason for each in plan.sweeps)
    answer = await engine.execute("Why?")
    assert answer.usage.calls == plan.calls == 5
    assert plan.low <= answer.cost <= plan.high
    plan = await engine.plan("Why?")
    assert plan.cached == 4
    assert (plan.calls, sum(each.input_tokens for each in plan.sweeps)) == (1, 0)
    assert (await engine.plan("Why?", cache=False)).cached == 0
    assert (await engine.plan("Why not?")).cached == 0
    engine.sweep_llm._answer = lambda p: "nothing" if p.partition == 2 else contract_reply(p)
    await engine.execute("Why now?", session_id="now")
    plan = await engine.plan("Why now?", mode="continue", session_id="now")
    assert [each.partition for each in plan.sweeps] == [2], "what is unread"


async def test_a_plan_says_what_a_bound_would_leave_out(engine):
    assert (await engine.plan("Why?")).budget == ""
    plan = await engine.plan("Why?", max_calls=3)
    assert plan.budget == "3 calls (max_calls) would leave about 2 of 4 unread"
    assert "max_cost" in (await engine.plan("Why?", max_cost=0.0001)).budget
    engine.sweep_llm.name = "unpriced"
    assert (await engine.plan("Why?")).low is None
    with pytest.raises(ConfigError, match="needs the price of unpriced"):
        await engine.plan("Why?", max_cost=1.0)


async def test_a_plan_of_a_model_with_a_small_context_has_more_passes(engine):
    small = {"scripted": {"context": 2600}}
    engine.settings = engine.settings.model_copy(update={"models": entries(small)})
    plan = await engine.plan("Why?", sweep_max_tokens=800)
    answer = await engine.execute("Why?", sweep_max_tokens=800)
    assert sum(each.passes for each in plan.sweeps) > 4
    assert answer.coverage.exhausted
    for prompt in engine.sweep_llm.prompts:
        assert (len(prompt.system) + len(prompt.user)) / 3.5 <= 1800


def bad_answers():
    """Cut off the first two replies to a pass, and reject the next two."""
    asked = Counter()

    def answer(prompt):
        reply, room = contract_reply(prompt), 3200
        if prompt.task != "sweep":
            return reply
        pass_read = (prompt.partition, tuple(node.alias for node in prompt.nodes))
        asked[pass_read] += 1
        cut, rejected = asked[pass_read] <= 2, asked[pass_read] in (3, 4)
        usage = Usage(calls=1, input_tokens=estimated_tokens(prompt), output_tokens=room)
        text = "nothing" if rejected else reply
        return Completion(text=text, usage=usage, model="scripted", truncated=cut)

    return answer


@pytest.mark.parametrize("answers", [lambda: contract_reply, bad_answers])
@pytest.mark.parametrize("knobs", [{}, {"strict": True, "max_pass_characters": 9000}])
async def test_a_budget_of_the_most_of_a_plan_ends_no_run(engine, answers, knobs):
    engine.sweep_llm._answer = engine.synthesis_llm._answer = answers()
    knobs = {"max_sweep_partitions": 1, "max_flag_sweeps": 2, "sweep_max_tokens": 800, **knobs}
    plan = await engine.plan("Why?", **knobs)
    least, likely, most = plan.without_flags, plan.with_flags, plan.most
    assert least.partitions == 1
    assert likely.partitions == most.partitions == 3
    assert least.calls == plan.calls < likely.calls < most.calls
    assert least.cost < likely.cost < most.cost
    budget = {
        "max_calls": most.calls,
        "max_tokens": most.input_tokens + most.output_tokens,
        "max_cost": most.cost,
    }
    answered = await engine.execute("Why?", **knobs, **budget)
    assert answered.stopped == ""
    assert 1 < len(answered.sweeps) <= most.partitions
    assert least.calls < answered.usage.calls <= most.calls
    assert answered.usage.input_tokens <= most.input_tokens
    assert answered.usage.output_tokens <= most.output_tokens
    assert answered.cost <= most.cost


async def test_a_plan_covers_flags_in_a_small_context(endpoint, db):
    small = {"scripted": {"context": 2600, **PRICES["scripted"]}}
    async with engine_on_papers(endpoint, db, models=small) as engine:
        knobs = {"max_sweep_partitions": 1, "max_flag_sweeps": 2, "sweep_max_tokens": 800}
        plan = await engine.plan("Why?", **knobs)
        answered = await engine.execute("Why?", **knobs)
        flagged = [sweep for sweep in answered.sweeps if sweep.wave > 1]
        assert flagged
        assert sum(one.usage.calls for one in flagged) <= plan.flagged.calls
        assert sum(one.usage.input_tokens for one in flagged) <= plan.flagged.most.input_tokens
        assert answered.usage.calls <= plan.most.calls


async def test_flags_may_name_a_partition_that_is_smaller_but_not_paid(endpoint, db):
    def answer(prompt):
        if prompt.partition == small and not paid:
            return ModelUnavailableError("gone")
        lines = contract_reply(prompt).splitlines(keepends=True)
        text = "".join(line for line in lines if "it may continue" not in line)
        return text.replace("## Absences", f"- P{small}: it may say more.\n\n## Absences", 1)

    small, paid = 0, False
    async with engine_on_papers(
        endpoint, db, answer, topics=12, size=12, models=PRICES, max_flag_sweeps=1
    ) as engine:
        partitions = (await engine.partitions.build()).partitions
        given = {"session_id": "another", "max_sweep_partitions": 1}
        routed = {one.partition for one in (await engine.plan("Why fact7?", **given)).sweeps}
        largest = sorted(partitions, key=lambda part: -part.tokens)[:4]
        largest += sorted(partitions, key=lambda part: -part.size)[:4]
        known = routed | {part.id for part in largest}
        small = next(part.id for part in partitions if part.id not in known)
        read = await engine.execute("Why fact7?", full_sweep=True)
        assert [one.partition for one in read.sweeps if one.report is None] == [small]
        paid = True
        plan = await engine.plan("Why fact7?", **given)
        assert plan.cached == len(plan.sweeps) == 1
        assert plan.flagged.most.calls > 0
        answered = await engine.execute("Why fact7?", **given)
        assert small in {one.partition for one in answered.sweeps}
        assert answered.usage.calls <= plan.most.calls
        assert (answered.cost or math.inf) <= (plan.most.cost or 0.0)


async def test_a_plan_of_what_was_read_and_not_answered_has_its_synthesis(endpoint, db):
    async with engine_on_papers(endpoint, db, without_synthesis(), models=PRICES) as engine:
        with pytest.raises(PGSError):
            await engine.execute("Why?", full_sweep=True)
        answering(engine, contract_reply)
        plan = await engine.plan("Why?", mode="continue")
        assert plan.sweeps == ()
        answered = await engine.execute("Why?", mode="continue")
        assert 0 < answered.usage.calls <= plan.most.calls
        assert answered.usage.input_tokens <= plan.most.input_tokens
        assert (answered.cost or math.inf) <= (plan.most.cost or 0.0)


@pytest.mark.parametrize("seed", histories(2, thorough=12))
async def test_no_run_takes_more_than_its_plan_told(endpoint, db, seed):
    connection = {
        "neo4j_uri": endpoint.uri,
        "neo4j_user": endpoint.user,
        "neo4j_password": endpoint.password,
    }
    compared = await try_history(connection, db, seed)
    assert [one for one in compared if one.exceeded or one.stopped] == []
