"""Stopped runs resume and pay once; stored replies cost nothing."""

import asyncio
import sys

import pytest

from pgs_neo4j.database.holder import Holder, this_machine, this_place
from pgs_neo4j.errors import (
    BudgetError,
    BusyError,
    DatabaseError,
    DeadlineError,
    IdempotencyError,
    ModelUnavailableError,
    PromptTooLongError,
    UnknownRunError,
    UsageError,
)
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Completion, SweepStatus, Usage
from tests.database import alter, fetch
from tests.engines import answering, asked, engine_on_papers, without_synthesis
from tests.graphs import checksum, count
from tests.waiting import until


async def only_run(db):
    rows = await fetch(db, "MATCH (r:PgsRun) RETURN r {.*} AS run")
    (row,) = rows
    return row["run"]


async def recorded(db, sweeps, of="(x:PgsSweep)"):
    """Wait until so many sweeps are recorded."""

    async def reached():
        return await count(db, of) >= sweeps

    await until(reached, 60)


async def cancel(task):
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def interrupted(pgs, db, hanging, **knobs):
    """The record of a run that is canceled when all partitions but these have been read."""
    hung = asyncio.Event()

    async def answer(prompt):
        if prompt.partition in hanging:
            hung.set()
            await asyncio.Event().wait()
        return contract_reply(prompt)

    answering(pgs, answer)
    task = asyncio.create_task(pgs.execute("Why?", **knobs))
    await hung.wait()
    await recorded(db, 4 - len(hanging))
    await cancel(task)
    answering(pgs, contract_reply)
    asked(pgs)
    return await only_run(db)


async def test_the_same_question_again_costs_nothing_and_a_change_what_it_touches(pgs, db):
    def reading(prompt):
        seen = any("zebras" in node.text for node in prompt.nodes)
        return contract_reply(prompt).replace("were read", "on zebras" if seen else "were read")

    answering(pgs, reading)
    first = await pgs.execute("Why?")
    assert (first.usage.calls, first.usage.cached) == (5, 0)
    asked(pgs)
    again = await pgs.execute("Why?")
    assert asked(pgs) == []
    assert (again.usage.calls, again.usage.cached, again.usage.tokens) == (0, 5, 0)
    assert again.text == first.text
    assert again.run != first.run
    assert [s.read for s in again.sweeps] == [s.read for s in first.sweeps]
    edit = (
        "MATCH (p:Paper {doi: 'doi/3'})-[:PGS_IN]->(part:PgsPartition) "
        "SET p.abstract = 'Something quite different about seven zebras.' RETURN part.id AS id"
    )
    rows = await alter(db, edit)
    edited = await pgs.execute("Why?")
    assert [p.partition for p in asked(pgs)] == [rows[0]["id"], None]
    assert (edited.usage.calls, edited.usage.cached) == (2, 3)
    for change in ({"question": "Why not?"}, {"sweep_max_tokens": 5999}, {"sweep_effort": "low"}):
        await pgs.execute(**{"question": "Why?"} | change)
        assert len(asked(pgs)) >= 4, change
    pgs.sweep_llm = ScriptedLLM(contract_reply, name="another")
    assert (await pgs.execute("Why?")).usage.calls >= 4


async def test_the_cache_is_bounded_and_can_be_cleared_or_left_out(pgs, db):
    for _ in range(2):
        assert (await pgs.execute("Why?", cache=False)).usage.calls == 5
        assert await count(db, "(x:PgsReply)") == 0
    await pgs.execute("Why?")
    kept = await pgs.kept_replies()
    assert kept.replies == 5
    assert kept.size_bytes > 0
    small = kept.size_bytes * 0.7 / 1e6
    await pgs.execute("Why not?", cache_mb=small)
    bounded = await pgs.kept_replies()
    assert 0 < bounded.size_bytes <= small * 1e6
    rows = await fetch(db, "MATCH (r:PgsReply) RETURN r.run AS run")
    last = await fetch(db, "MATCH (r:PgsRun) RETURN r.id AS id ORDER BY r.started_at DESC LIMIT 1")
    assert {row["run"] for row in rows} == {last[0]["id"]}  # the newest stay
    assert (await pgs.clear_cache()).replies == bounded.replies
    assert (await pgs.kept_replies()).replies == 0


@pytest.mark.parametrize("how", ["resume", "continue"])
async def test_what_failed_is_recorded_not_kept_not_covered_and_bought_again(pgs, db, how):
    def answer(prompt):
        if prompt.partition == 1:
            return "no report at all"
        if prompt.partition == 2:
            text = contract_reply(prompt)
            return Completion(text=text, usage=Usage(calls=1), model="m", truncated=True)
        if prompt.partition == 3:
            return ModelUnavailableError("the endpoint answered 500")
        return contract_reply(prompt)

    answering(pgs, answer)
    first = await pgs.execute("Why?")
    assert first.partial
    failed = {s.partition: s for s in first.sweeps if s.status is SweepStatus.FAILED}
    assert {number: sweep.nodes_read for number, sweep in failed.items()} == {1: 0, 2: 0, 3: 0}
    assert "cut off" in failed[2].errors[0]
    assert any("P3: 0 of 40 nodes were read" in warning for warning in first.warnings)
    assert any("P3" in w and "answered 500" in w for w in first.warnings)
    assert (first.coverage.nodes_read, first.coverage.partitions_swept) == (40, 1)
    assert await count(db, "()-[x:PGS_SWEPT {status: 'failed'}]->()") == 3
    assert await count(db, "(x:PgsReply WHERE x.error IS NULL)") == 2
    answering(pgs, contract_reply)
    asked(pgs)
    if how == "resume":
        whole = await pgs.resume(first.run)
    else:
        whole = await pgs.execute("Continue", mode="continue")
        assert sorted(s.partition for s in whole.sweeps) == [1, 2, 3]
    assert sorted(p.partition or 9 for p in asked(pgs)) == [1, 2, 3, 9]
    assert not whole.partial
    assert whole.coverage.exhausted
    assert await count(db, "(x:PgsRun)") == 1 + (how == "continue")


async def test_a_cancelled_run_goes_on_and_pays_for_what_was_in_flight(pgs, db):
    before = await checksum(db)
    run = await interrupted(pgs, db, {3}, max_concurrent_calls=2)
    assert run["status"] == "interrupted"
    assert (await pgs.sessions.coverage("default", "papers")).nodes_read == 120
    resumed = await pgs.resume(run["id"])
    assert [p.partition for p in asked(pgs)] == [3, None]
    assert resumed.run == run["id"]
    assert resumed.coverage.exhausted
    assert not resumed.partial
    assert resumed.usage.calls == 6  # with the one that was canceled
    assert (await only_run(db))["status"] == "complete"
    assert await count(db, "(x:PgsSweep)") == 4
    assert (await pgs.resume(run["id"])).text == resumed.text  # complete: nothing to do
    assert asked(pgs) == []
    assert await checksum(db) == before


@pytest.mark.parametrize("by_key", [True, False])
async def test_a_run_without_its_synthesis_goes_on_and_pays_for_that_alone(pgs, db, by_key):
    knobs = {"idempotency_key": "k1"} if by_key else {"cache": False}
    answering(pgs, without_synthesis())
    with pytest.raises(ModelUnavailableError):
        await pgs.execute("Why?", **knobs)
    assert await count(db, "(x:PgsReply)") == 4
    answering(pgs, contract_reply)
    asked(pgs)
    run = (await only_run(db))["id"]
    done = await (pgs.execute("Why?", **knobs) if by_key else pgs.resume(run))
    assert [p.task for p in asked(pgs)] == ["synthesis"]
    assert done.run == run
    assert not done.partial
    assert done.coverage.exhausted
    assert await count(db, "(x:PgsReply)") == (5 if by_key else 0)


async def test_what_is_not_there_or_still_going_on_cannot_be_resumed(pgs, db):
    with pytest.raises(UnknownRunError, match="no run 'r0'"):
        await pgs.resume("r0")
    hanging, go_on = asyncio.Event(), asyncio.Event()

    async def answer(prompt):
        hanging.set()
        await go_on.wait()
        return contract_reply(prompt)

    answering(pgs, answer)
    task = asyncio.create_task(pgs.execute("Why?"))
    await hanging.wait()
    with pytest.raises(BusyError, match="still running"):
        await pgs.resume((await only_run(db))["id"])
    go_on.set()
    await task


async def test_a_run_that_was_taken_over_records_nothing_any_more(pgs, db, monkeypatch):
    hanging, go_on = asyncio.Event(), asyncio.Event()

    async def answer(prompt):
        if prompt.partition == 4 and not go_on.is_set():
            hanging.set()
            await go_on.wait()
        return contract_reply(prompt)

    answering(pgs, answer)
    asleep = asyncio.create_task(pgs.execute("Why?"))
    await hanging.wait()
    await recorded(db, 3)
    run = (await only_run(db))["id"]
    await alter(db, "MATCH (r:PgsRun) SET r.updated_at = datetime() - duration('PT5M')")
    monkeypatch.setattr(pgs, "sweep_llm", ScriptedLLM(contract_reply))
    resumed = await pgs.resume(run)
    assert resumed.coverage.exhausted
    go_on.set()
    with pytest.raises(DatabaseError, match="another process resumed it"):
        await asleep
    assert (await only_run(db))["status"] == "complete"


async def test_a_dead_process_of_this_machine_is_noticed_at_once(pgs, db):
    answering(pgs, lambda prompt: ModelUnavailableError("gone"))
    with pytest.raises(Exception, match="failed"):
        await pgs.execute("Why?")
    run = (await only_run(db))["id"]
    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await ended.wait()
    query = (
        "MATCH (r:PgsRun) SET r.status = 'running', r.holder = $holder, r.updated_at = datetime()"
    )
    former = Holder(this_machine(), ended.pid, "0a1b2c3d", this_place())
    await alter(db, query, holder=str(former))
    answering(pgs, contract_reply)
    assert (await pgs.resume(run)).coverage.exhausted


async def test_an_idempotency_key_gives_the_first_answer_again(pgs, db):
    first = await pgs.execute("Why?", idempotency_key="k1")
    asked(pgs)
    again = await pgs.execute("Why?", idempotency_key="k1")
    assert asked(pgs) == []
    assert (again.run, again.text, again.usage) == (first.run, first.text, first.usage)
    with pytest.raises(IdempotencyError, match="choose another key"):
        await pgs.execute("Why not?", idempotency_key="k1")
    with pytest.raises(IdempotencyError):
        await pgs.execute("Why?", idempotency_key="k1", max_sweep_partitions=2)
    other = await pgs.execute("Why not?", idempotency_key="k1", session_id="other")
    assert other.run != first.run
    assert await count(db, "(x:PgsRun)") == 2
    with pytest.raises(UsageError, match="1 to 200"):
        await pgs.execute("Why?", idempotency_key="\n")


@pytest.mark.thorough
async def test_twenty_at_once_with_one_key_and_odd_names_make_one_run(pgs, db):
    session, key = "tēam/\"x\", 'y' {z} \\ $s `t` 🧪", '1/["a", "b"]\\" OR 1=1 // 语'
    results = await asyncio.gather(
        *(pgs.execute("Why?", session_id=session, idempotency_key=key) for _ in range(20)),
        return_exceptions=True,
    )
    done = [result for result in results if not isinstance(result, BaseException)]
    failed = [result for result in results if isinstance(result, BaseException)]
    assert done
    assert all(isinstance(error, BusyError) for error in failed), failed
    assert len({answer.run for answer in done}) == 1
    assert await count(db, "(x:PgsRun)") == 1
    assert len(asked(pgs)) == 5
    last = await pgs.execute("Why?", session_id=session, idempotency_key=key)
    assert (last.run, last.session) == (done[0].run, session)
    assert asked(pgs) == []


async def test_a_bound_on_calls_leaves_one_for_the_synthesis(pgs, db):
    answer = await pgs.execute("Why?", max_calls=3)
    assert answer.usage.calls == 3
    assert [p.task for p in asked(pgs)] == ["sweep", "sweep", "synthesis"]
    assert answer.partial
    assert "3 calls (max_calls)" in answer.stopped
    assert [s.status for s in answer.sweeps].count(SweepStatus.UNREAD) == 2
    assert answer.coverage.nodes_read == 80
    assert (await pgs.runs.answer(answer.run)).stopped == answer.stopped
    done = await pgs.resume(answer.run, max_calls=3)
    assert [p.task for p in asked(pgs)] == ["sweep", "sweep", "synthesis"]
    assert not done.partial
    assert done.usage.calls == 6
    with pytest.raises(BudgetError, match="max_calls"):
        await pgs.execute("And?", max_calls=1)


async def test_what_was_paid_for_is_read_again_when_nothing_more_may_be_bought(pgs, db):
    run = await interrupted(pgs, db, {1, 2})
    resumed = await pgs.resume(run["id"], max_calls=1)
    assert [p.task for p in asked(pgs)] == ["synthesis"]
    assert {s.partition for s in resumed.sweeps if s.report is not None} == {3, 4}
    assert {s.partition for s in resumed.sweeps if s.status is SweepStatus.UNREAD} == {1, 2}
    assert resumed.coverage.nodes_read == 80
    loaded = await pgs.runs.answer(resumed.run)
    assert sorted(s.partition for s in loaded.sweeps) == [1, 2, 3, 4]
    done = await pgs.resume(resumed.run)
    assert sorted(p.partition for p in asked(pgs) if p.partition) == [1, 2]
    for whole in (done, await pgs.runs.answer(done.run)):
        assert sorted(s.partition for s in whole.sweeps) == [1, 2, 3, 4]


async def test_the_deadline_of_a_run_ends_it_with_what_was_read(endpoint, db, clock):
    async def answer(prompt):
        if prompt.partition == 1:
            await recorded(db, 3)
            clock.forward(500)  # a fifth of the time is kept for the synthesis
            await asyncio.Event().wait()
        return contract_reply(prompt)

    async with engine_on_papers(endpoint, db, query_timeout_s=7200, model_timeout_s=7200) as pgs:
        answering(pgs, answer)
        await pgs.partitions.build()
        began = clock.now()
        partial = await pgs.execute("Why?", run_timeout_s=600)
        assert clock.now() - began < 600
        assert "run_timeout_s" in partial.stopped
        assert partial.coverage.nodes_read == 120
        assert partial.text

        async def hang(prompt):
            clock.forward(600)
            await asyncio.Event().wait()

        answering(pgs, hang)
        with pytest.raises(DeadlineError):
            await pgs.execute("How?", run_timeout_s=600)


async def test_a_pass_that_was_halved_is_found_again_by_its_halves(pgs, db):
    def answer(prompt):
        if len(prompt.nodes) > 10 and prompt.partition == 2:
            return PromptTooLongError("longer than the model's context")
        return contract_reply(prompt)

    answering(pgs, without_synthesis(answer))
    with pytest.raises(ModelUnavailableError):
        await pgs.execute("Why?")
    sizes = [len(p.nodes) for p in asked(pgs) if p.partition == 2]
    assert sorted(sizes) == [10, 10, 10, 10, 20, 20, 40]
    answering(pgs, contract_reply)
    done = await pgs.resume((await only_run(db))["id"])
    assert [p.task for p in asked(pgs)] == ["synthesis"]
    assert done.coverage.exhausted
    (halved,) = [s for s in done.sweeps if s.partition == 2]
    assert (halved.passes, halved.passes_accepted, halved.nodes_read) == (4, 4, 40)
    assert "(in pass" not in str(halved.report.absences)


async def test_a_partition_of_which_half_a_pass_is_out_is_recorded_as_read_in_part(pgs, db):
    tries, second = [], asyncio.Event()

    async def answer(prompt):
        if prompt.partition == 2 and len(prompt.nodes) > 20:
            return PromptTooLongError("longer than the model's context")
        if prompt.partition == 2:
            tries.append(prompt)
            if len(tries) > 1:
                second.set()
                await asyncio.Event().wait()
        return contract_reply(prompt)

    answering(pgs, answer)
    task = asyncio.create_task(pgs.execute("Why?"))
    query = "(x:PgsSweep {partition: 2})"
    await recorded(db, 1, query)
    await asyncio.wait_for(second.wait(), 60)
    await cancel(task)
    assert len(tries) == 2
    rows = await fetch(db, f"MATCH {query} RETURN x {{.*}} AS sweep")
    sweep = rows[0]["sweep"]
    assert (sweep["status"], sweep["passes"], sweep["passes_accepted"]) == ("partial", 2, 1)


async def test_a_report_that_is_cut_off_is_asked_for_with_more_room_and_then_in_halves(pgs):
    def answer(prompt):
        if prompt.task == "sweep" and prompt.partition == 2 and len(prompt.nodes) > 20:
            return Completion(
                text=contract_reply(prompt),
                usage=Usage(calls=1, input_tokens=10, output_tokens=10),
                model="m",
                truncated=True,
            )
        return contract_reply(prompt)

    answering(pgs, answer)
    whole = await pgs.execute("Why?", sweep_max_tokens=1000)
    assert whole.usage.calls == 4 + 4 + 1
    rooms = [
        (len(p.nodes), room)
        for p, room in zip(pgs.sweep_llm.prompts, pgs.sweep_llm.max_tokens, strict=True)
        if p.partition == 2
    ]
    assert rooms == [(40, 1000), (40, 2000), (40, 4000), (20, 4000), (20, 4000)]
    assert whole.coverage.exhausted
    assert not whole.partial
