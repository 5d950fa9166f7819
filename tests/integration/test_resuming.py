"""Stopped runs resume and pay once; stored replies cost nothing."""

import asyncio
import sys
from dataclasses import replace

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
from tests.engines import engine_on_papers
from tests.graphs import checksum, count


@pytest.fixture
async def engine(endpoint, db):
    async with engine_on_papers(endpoint, db) as opened:
        yield opened


def asked(engine):
    """Prompts that were paid for, and forgets them."""
    prompts = [*engine.sweep_llm.prompts, *engine.synthesis_llm.prompts]
    engine.sweep_llm.prompts.clear()
    engine.synthesis_llm.prompts.clear()
    return prompts


def answering(engine, answer):
    engine.sweep_llm._answer = engine.synthesis_llm._answer = answer


async def only_run(db):
    _, rows = await db.call("MATCH (r:PgsRun) RETURN r {.*} AS run", {}, "read")
    (row,) = rows
    return row["run"]


async def test_the_same_question_again_costs_nothing(engine):
    first = await engine.execute("Why?")
    assert (first.usage.calls, first.usage.cached) == (5, 0)
    asked(engine)
    again = await engine.execute("Why?")
    assert asked(engine) == []
    assert (again.usage.calls, again.usage.cached, again.usage.tokens) == (0, 5, 0)
    assert again.text == first.text
    assert again.run != first.run
    assert [s.read for s in again.sweeps] == [s.read for s in first.sweeps]


async def test_after_an_edit_only_that_partition_and_the_synthesis_are_paid_for(engine, db):
    def reading(prompt):
        seen = any("zebras" in node.text for node in prompt.nodes)
        return contract_reply(prompt).replace("were read", "on zebras" if seen else "were read")

    answering(engine, reading)
    await engine.execute("Why?")
    asked(engine)
    edit = (
        "MATCH (p:Paper {doi: 'doi/3'})-[:PGS_IN]->(part:PgsPartition) "
        "SET p.abstract = 'Something quite different about seven zebras.' RETURN part.id AS id"
    )
    _, rows = await db.call(edit, {}, "write")
    again = await engine.execute("Why?")
    prompts = asked(engine)
    assert [p.partition for p in prompts] == [rows[0]["id"], None]
    assert (again.usage.calls, again.usage.cached) == (2, 3)


async def test_another_question_model_or_room_finds_nothing_in_the_cache(engine):
    await engine.execute("Why?")
    for change in ({"question": "Why not?"}, {"sweep_max_tokens": 5999}, {"sweep_effort": "low"}):
        asked(engine)
        await engine.execute(**{"question": "Why?"} | change)
        assert len(asked(engine)) >= 4
    engine.sweep_llm = ScriptedLLM(contract_reply, name="another")
    assert (await engine.execute("Why?")).usage.calls >= 4


async def test_without_the_cache_everything_is_paid_for_and_nothing_is_left(engine, db):
    for _ in range(2):
        assert (await engine.execute("Why?", cache=False)).usage.calls == 5
        assert await count(db, "(x:PgsReply)") == 0


async def test_the_cache_is_bounded_and_can_be_cleared(engine, db):
    await engine.execute("Why?")
    kept = await engine.kept_replies()
    assert kept.replies == 5
    assert kept.size_bytes > 0
    small = kept.size_bytes * 0.7 / 1e6
    await engine.execute("Why not?", cache_mb=small)
    bounded = await engine.kept_replies()
    assert 0 < bounded.size_bytes <= small * 1e6
    _, rows = await db.call("MATCH (r:PgsReply) RETURN r.run AS run", {}, "read")
    _, last = await db.call(
        "MATCH (r:PgsRun) RETURN r.id AS id ORDER BY r.started_at DESC LIMIT 1", {}, "read"
    )
    assert {row["run"] for row in rows} == {last[0]["id"]}  # the newest stay
    assert (await engine.clear_cache()).replies == bounded.replies
    assert (await engine.kept_replies()).replies == 0


async def test_failures_are_never_kept(engine, db):
    cut = Completion(text=contract_reply, usage=Usage(calls=1), model="m", truncated=True)

    def answer(prompt):
        if prompt.partition == 1:
            return "no report at all"
        if prompt.partition == 2:
            return replace(cut, text=contract_reply(prompt))
        return contract_reply(prompt)

    answering(engine, answer)
    result = await engine.execute("Why?")
    assert {s.partition for s in result.sweeps if s.status is SweepStatus.FAILED} == {1, 2}
    assert await count(db, "(x:PgsReply)") == 3
    answering(engine, contract_reply)
    asked(engine)
    again = await engine.execute("Why?")
    assert not again.partial
    assert [p.partition for p in asked(engine)][:2] != []
    assert again.usage.cached == 2


async def test_a_cancelled_run_goes_on_and_pays_for_what_was_in_flight(engine, db):
    hanging, before = asyncio.Event(), await checksum(db)

    async def answer(prompt):
        if prompt.partition == 3:
            hanging.set()
            await asyncio.sleep(60)
        return contract_reply(prompt)

    answering(engine, answer)
    task = asyncio.create_task(engine.execute("Why?", max_concurrent_calls=2))
    await hanging.wait()
    while await count(db, "(x:PgsSweep)") < 3:
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    run = await only_run(db)
    assert run["status"] == "interrupted"
    answering(engine, contract_reply)
    asked(engine)
    resumed = await engine.resume(run["id"])
    assert [p.partition for p in asked(engine)] == [3, None]
    assert resumed.run == run["id"]
    assert resumed.coverage.exhausted
    assert not resumed.partial
    assert resumed.usage.calls == 6  # with the one that was cancelled
    assert (await only_run(db))["status"] == "complete"
    assert await count(db, "(x:PgsSweep)") == 4
    asked(engine)
    assert (await engine.resume(run["id"])).text == resumed.text  # complete: nothing to do
    assert asked(engine) == []
    assert await checksum(db) == before


async def test_without_the_cache_a_run_still_pays_once(engine, db):
    def answer(prompt):
        gone = prompt.task == "synthesis"
        return ModelUnavailableError("gone") if gone else contract_reply(prompt)

    answering(engine, answer)
    with pytest.raises(ModelUnavailableError):
        await engine.execute("Why?", cache=False)
    assert await count(db, "(x:PgsReply)") == 4
    answering(engine, contract_reply)
    asked(engine)
    done = await engine.resume((await only_run(db))["id"])
    assert [p.task for p in asked(engine)] == ["synthesis"]
    assert done.coverage.exhausted
    assert await count(db, "(x:PgsReply)") == 0


async def test_a_partial_answer_is_completed(engine, db):
    def answer(prompt):
        return ModelUnavailableError("500") if prompt.partition == 2 else contract_reply(prompt)

    answering(engine, answer)
    partial = await engine.execute("Why?")
    assert partial.partial
    assert any("P2: 0 of 40 nodes were read" in warning for warning in partial.warnings)
    answering(engine, contract_reply)
    asked(engine)
    whole = await engine.resume(partial.run)
    assert [p.partition for p in asked(engine)] == [2, None]
    assert not whole.partial
    assert whole.coverage.exhausted
    assert await count(db, "(x:PgsRun)") == 1


async def test_what_is_not_there_or_still_going_on_cannot_be_resumed(engine, db):
    with pytest.raises(UnknownRunError, match="no run 'r0'"):
        await engine.resume("r0")
    hanging, go_on = asyncio.Event(), asyncio.Event()

    async def answer(prompt):
        hanging.set()
        await go_on.wait()
        return contract_reply(prompt)

    answering(engine, answer)
    task = asyncio.create_task(engine.execute("Why?"))
    await hanging.wait()
    with pytest.raises(BusyError, match="still running"):
        await engine.resume((await only_run(db))["id"])
    go_on.set()
    await task


async def test_a_run_that_was_taken_over_records_nothing_any_more(engine, db, monkeypatch):
    hanging, go_on = asyncio.Event(), asyncio.Event()

    async def answer(prompt):
        if prompt.partition == 4 and not go_on.is_set():
            hanging.set()
            await go_on.wait()
        return contract_reply(prompt)

    answering(engine, answer)
    asleep = asyncio.create_task(engine.execute("Why?"))
    await hanging.wait()
    while await count(db, "(x:PgsSweep)") < 3:
        await asyncio.sleep(0.01)
    run = (await only_run(db))["id"]
    await db.call("MATCH (r:PgsRun) SET r.updated_at = datetime() - duration('PT5M')", {}, "write")
    monkeypatch.setattr(engine, "sweep_llm", ScriptedLLM(contract_reply))
    resumed = await engine.resume(run)
    assert resumed.coverage.exhausted
    go_on.set()
    with pytest.raises(DatabaseError, match="another process resumed it"):
        await asleep
    assert (await only_run(db))["status"] == "complete"


async def test_a_dead_process_of_this_machine_is_noticed_at_once(engine, db):
    answering(engine, lambda prompt: ModelUnavailableError("gone"))
    with pytest.raises(Exception, match="failed"):
        await engine.execute("Why?")
    run = (await only_run(db))["id"]
    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await ended.wait()
    query = (
        "MATCH (r:PgsRun) SET r.status = 'running', r.holder = $holder, r.updated_at = datetime()"
    )
    former = Holder(this_machine(), ended.pid, "0a1b2c3d", this_place())
    await db.call(query, {"holder": str(former)}, "write")
    answering(engine, contract_reply)
    assert (await engine.resume(run)).coverage.exhausted


async def test_an_idempotency_key_gives_the_first_answer_again(engine, db):
    first = await engine.execute("Why?", idempotency_key="k1")
    asked(engine)
    again = await engine.execute("Why?", idempotency_key="k1")
    assert asked(engine) == []
    assert (again.run, again.text, again.usage) == (first.run, first.text, first.usage)
    with pytest.raises(IdempotencyError, match="choose another key"):
        await engine.execute("Why not?", idempotency_key="k1")
    with pytest.raises(IdempotencyError):
        await engine.execute("Why?", idempotency_key="k1", max_sweep_partitions=2)
    other = await engine.execute("Why not?", idempotency_key="k1", session_id="other")
    assert other.run != first.run
    assert await count(db, "(x:PgsRun)") == 2
    with pytest.raises(UsageError, match="1 to 200"):
        await engine.execute("Why?", idempotency_key="\n")


async def test_a_key_that_only_looks_alike_is_another_one(engine, db):
    """A session and a key with a slash, and another pair that reads the same."""
    first = await engine.execute("Why?", session_id="team", idempotency_key="x/1")
    other = await engine.execute("Why?", session_id="team/x", idempotency_key="1")
    assert other.run != first.run
    assert (first.session, other.session) == ("team", "team/x")
    again = await engine.execute("Why?", session_id="team", idempotency_key="x/1")
    assert again.run == first.run


async def test_a_key_that_an_earlier_release_stored_is_found_in_its_session_only(engine, db):
    first = await engine.execute("Why?", session_id="team", idempotency_key="x/1")
    await db.call("MATCH (r:PgsRun) SET r.idempotency = 'papers/team/x/1'", {}, "write")
    again = await engine.execute("Why?", session_id="team", idempotency_key="x/1")
    assert again.run == first.run
    other = await engine.execute("Why?", session_id="team/x", idempotency_key="1")
    assert other.run != first.run
    assert await count(db, "(x:PgsRun)") == 2


async def test_twenty_at_once_with_one_key_and_odd_names_make_one_run(engine, db):
    session, key = "tēam/\"x\", 'y' {z} \\ $s `t` 🧪", '1/["a", "b"]\\" OR 1=1 // 语'
    results = await asyncio.gather(
        *(engine.execute("Why?", session_id=session, idempotency_key=key) for _ in range(20)),
        return_exceptions=True,
    )
    done = [result for result in results if not isinstance(result, BaseException)]
    failed = [result for result in results if isinstance(result, BaseException)]
    assert done
    assert all(isinstance(error, BusyError) for error in failed), failed
    assert len({answer.run for answer in done}) == 1
    assert await count(db, "(x:PgsRun)") == 1
    assert len(asked(engine)) == 5
    last = await engine.execute("Why?", session_id=session, idempotency_key=key)
    assert (last.run, last.session) == (done[0].run, session)
    assert asked(engine) == []


async def test_an_idempotency_key_goes_on_with_a_run_that_failed(engine, db):
    def answer(prompt):
        gone = prompt.task == "synthesis"
        return ModelUnavailableError("gone") if gone else contract_reply(prompt)

    answering(engine, answer)
    with pytest.raises(ModelUnavailableError):
        await engine.execute("Why?", idempotency_key="k1")
    answering(engine, contract_reply)
    asked(engine)
    done = await engine.execute("Why?", idempotency_key="k1")
    assert [p.task for p in asked(engine)] == ["synthesis"]
    assert not done.partial
    assert await count(db, "(x:PgsRun)") == 1


async def test_two_at_once_with_one_key_make_one_run(engine, db):
    results = await asyncio.gather(
        *(engine.execute("Why?", idempotency_key="k1") for _ in range(4)), return_exceptions=True
    )
    done = [result for result in results if not isinstance(result, BaseException)]
    assert done
    assert all(isinstance(r, BusyError) for r in results if isinstance(r, BaseException))
    assert len({answer.run for answer in done}) == 1
    assert await count(db, "(x:PgsRun)") == 1


async def test_an_answer_is_read_back_as_it_was_given(engine):
    given = await engine.execute("Why?")
    found = await engine.answer(given.run)
    assert found.synthesis.citations == given.synthesis.citations
    assert found.synthesis.citations
    assert [s.report for s in found.sweeps] == [s.report for s in given.sweeps]
    assert replace(found, sweeps=(), synthesis=given.synthesis, seconds=given.seconds) == replace(
        given, sweeps=()
    )


async def test_a_budget_in_tokens_is_never_crossed_and_resume_goes_on(engine, db):
    whole = await engine.execute("How?", cache=False)
    per_call = whole.usage.tokens // 5
    for calls in (2, 3, 4):
        asked(engine)
        limit = per_call * (calls + 4)
        answer = await engine.execute(
            f"Why {calls}?",
            max_tokens=limit,
            sweep_max_tokens=300,
            synthesis_max_tokens=600,
            session_id=f"s{calls}",
        )
        assert answer.usage.tokens <= limit
        if not answer.stopped:
            continue
        assert answer.partial
        assert any("left unread" in warning for warning in answer.warnings)
        done = await engine.resume(answer.run, max_tokens=10**7)
        assert done.coverage.exhausted
        assert not done.partial


async def test_a_bound_on_calls_leaves_one_for_the_synthesis(engine, db):
    answer = await engine.execute("Why?", max_calls=3)
    assert answer.usage.calls == 3
    assert [p.task for p in asked(engine)] == ["sweep", "sweep", "synthesis"]
    assert answer.partial
    assert "3 calls (max_calls)" in answer.stopped
    assert [s.status for s in answer.sweeps].count(SweepStatus.UNREAD) == 2
    assert answer.coverage.nodes_read == 80
    assert (await engine.answer(answer.run)).stopped == answer.stopped
    done = await engine.resume(answer.run, max_calls=3)
    assert [p.task for p in asked(engine)] == ["sweep", "sweep", "synthesis"]
    assert not done.partial
    assert done.usage.calls == 6
    with pytest.raises(BudgetError, match="max_calls"):
        await engine.execute("And?", max_calls=1)


async def test_what_was_paid_for_is_read_again_when_nothing_more_may_be_bought(engine, db):
    hanging = asyncio.Event()

    async def answer(prompt):
        if prompt.partition in (1, 2):
            hanging.set()
            await asyncio.Event().wait()
        return contract_reply(prompt)

    answering(engine, answer)
    task = asyncio.create_task(engine.execute("Why?"))
    await hanging.wait()
    while await count(db, "(x:PgsSweep)") < 2:
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    answering(engine, contract_reply)
    asked(engine)
    resumed = await engine.resume((await only_run(db))["id"], max_calls=1)
    assert [p.task for p in asked(engine)] == ["synthesis"]
    assert {s.partition for s in resumed.sweeps if s.report is not None} == {3, 4}
    assert {s.partition for s in resumed.sweeps if s.status is SweepStatus.UNREAD} == {1, 2}
    assert resumed.coverage.nodes_read == 80
    loaded = await engine.answer(resumed.run)
    assert sorted(s.partition for s in loaded.sweeps) == [1, 2, 3, 4]
    done = await engine.resume(resumed.run)
    assert sorted(p.partition for p in asked(engine) if p.partition) == [1, 2]
    assert sorted(s.partition for s in done.sweeps) == [1, 2, 3, 4]
    assert sorted(s.partition for s in (await engine.answer(done.run)).sweeps) == [1, 2, 3, 4]


async def test_the_deadline_of_a_run_ends_it_with_what_was_read(endpoint, db, clock):
    async def answer(prompt):
        if prompt.partition == 1:
            while await count(db, "(x:PgsSweep)") < 3:
                await asyncio.sleep(0.01)
            clock.forward(500)  # a fifth of the time is kept for the synthesis
            await asyncio.Event().wait()
        return contract_reply(prompt)

    async with engine_on_papers(endpoint, db, query_timeout_s=7200, model_timeout_s=7200) as engine:
        answering(engine, answer)
        await engine.partition()
        began = clock.now()
        partial = await engine.execute("Why?", run_timeout_s=600)
        assert clock.now() - began < 600
        assert "run_timeout_s" in partial.stopped
        assert partial.coverage.nodes_read == 120
        assert partial.text

        async def hang(prompt):
            clock.forward(600)
            await asyncio.Event().wait()

        answering(engine, hang)
        with pytest.raises(DeadlineError):
            await engine.execute("How?", run_timeout_s=600)


async def test_a_pass_that_was_halved_is_found_again_by_its_halves(engine, db):
    def answer(prompt):
        if prompt.task == "sweep" and len(prompt.nodes) > 10 and prompt.partition == 2:
            return PromptTooLongError("longer than the model's context")
        gone = prompt.task == "synthesis"
        return ModelUnavailableError("gone") if gone else contract_reply(prompt)

    answering(engine, answer)
    with pytest.raises(ModelUnavailableError):
        await engine.execute("Why?")
    sizes = [len(p.nodes) for p in asked(engine) if p.partition == 2]
    assert sorted(sizes) == [10, 10, 10, 10, 20, 20, 40]
    answering(engine, contract_reply)
    done = await engine.resume((await only_run(db))["id"])
    assert [p.task for p in asked(engine)] == ["synthesis"]
    assert done.coverage.exhausted
    (halved,) = [s for s in done.sweeps if s.partition == 2]
    assert (halved.passes, halved.passes_accepted, halved.nodes_read) == (4, 4, 40)
    assert "(in pass" not in str(halved.report.absences)


async def test_a_partition_of_which_half_a_pass_is_out_is_recorded_as_read_in_part(engine, db):
    tries = []

    async def answer(prompt):
        if prompt.partition == 2 and len(prompt.nodes) > 20:
            return PromptTooLongError("longer than the model's context")
        if prompt.partition == 2:
            tries.append(prompt)
            if len(tries) > 1:
                await asyncio.Event().wait()
        return contract_reply(prompt)

    answering(engine, answer)
    task = asyncio.create_task(engine.execute("Why?"))
    query = "(x:PgsSweep {partition: 2})"
    while len(tries) < 2 or not await count(db, query):
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    _, rows = await db.call(f"MATCH {query} RETURN x {{.*}} AS sweep", {}, "read")
    sweep = rows[0]["sweep"]
    assert (sweep["status"], sweep["passes"], sweep["passes_accepted"]) == ("partial", 2, 1)


async def test_a_report_that_is_cut_off_is_asked_for_with_more_room_and_then_in_halves(engine):
    def answer(prompt):
        if prompt.task == "sweep" and prompt.partition == 2 and len(prompt.nodes) > 20:
            return Completion(
                text=contract_reply(prompt),
                usage=Usage(calls=1, input_tokens=10, output_tokens=10),
                model="m",
                truncated=True,
            )
        return contract_reply(prompt)

    answering(engine, answer)
    whole = await engine.execute("Why?", sweep_max_tokens=1000)
    rooms = [
        (len(p.nodes), room)
        for p, room in zip(engine.sweep_llm.prompts, engine.sweep_llm.max_tokens, strict=True)
        if p.partition == 2
    ]
    assert rooms == [(40, 1000), (40, 2000), (40, 4000), (20, 4000), (20, 4000)]
    assert whole.coverage.exhausted
    assert not whole.partial
