"""The whole way of a question on a real Neo4j + GDS, with a scripted reader."""

import asyncio
import re

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import (
    AllSweepsFailedError,
    ModelRateLimitError,
    ModelUnavailableError,
    QuestionError,
    UnknownGraphError,
    UnknownSessionError,
    UsageError,
)
from pgs_neo4j.events import PassFinished, PhaseFinished, Routed, SweepFinished, TextStreamed
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Completion, SweepStatus, Usage
from tests.graphs import checksum, count, papers

KNOBS = {
    "min_community_size": 10,
    "target_partition_max": 60,
    "embedder": "none",
    "max_flag_sweeps": 0,
}


@pytest.fixture
async def connect(endpoint, db):
    """An engine on the test database with the papers graph and a scripted reader."""

    def open_engine(answer=contract_reply, **settings):
        return PGS.connect(
            neo4j_uri=endpoint.uri,
            neo4j_user=endpoint.user,
            neo4j_password=endpoint.password,
            sweep_llm=ScriptedLLM(answer),
            synthesis_llm=ScriptedLLM(answer, name="synthesizer"),
            **KNOBS | settings,
        )

    return open_engine


@pytest.fixture
async def engine(connect, db):
    mapping = await papers(db, topics=4, size=40, isolates=2)
    async with connect() as opened:
        await opened.add_graph("papers", mapping)
        yield opened


def facts(prompts):
    """Every planted fact that stood in these prompts as text of a node."""
    return {
        found
        for prompt in prompts
        if prompt.task == "sweep"
        for found in re.findall(r"token is (fact\d+)\.|(Alone \d+ stands)", prompt.user)
    }


async def test_a_question_is_answered_from_every_node_of_a_small_graph(engine):
    answer = await engine.execute("What is missing?", graph="papers")
    assert not answer.partial
    assert answer.coverage.nodes_read == answer.coverage.nodes_total == 162
    assert answer.coverage.partitions_swept == answer.coverage.partitions_total == 5
    assert answer.coverage.exhausted
    assert len(facts(engine.sweep_llm.prompts)) == 162
    assert answer.usage.calls == 6
    assert answer.model == "scripted / synthesizer"
    assert set(answer.seconds) >= {"partition", "route", "sweep", "synthesize", "total"}
    assert answer.synthesis.thesis
    assert answer.synthesis.absences
    assert answer.text.startswith("## Thesis")


async def test_citations_lead_to_real_nodes(engine, db):
    answer = await engine.execute("What is missing?", graph="papers")
    assert answer.synthesis.citations
    for citation in answer.synthesis.citations:
        assert citation.valid
        _, rows = await db.call(
            "MATCH (n:Paper {doi: $doi}) RETURN n.title AS title", {"doi": citation.node}, "read"
        )
        assert [row["title"] for row in rows] == [citation.title]
    _, rows = await db.call(
        "MATCH (f:PgsFinding)-[c:PGS_CITES]->(n:Paper) RETURN f.text AS text, c.alias AS alias, "
        "n.title AS title",
        {},
        "read",
    )
    assert rows
    assert all(row["title"] in row["text"] for row in rows)


async def test_an_invented_citation_is_kept_and_flagged(connect, db):
    def invent(prompt):
        return contract_reply(prompt).replace("says something [n1]", "says something [n9999]")

    mapping = await papers(db)
    async with connect(invent) as engine:
        await engine.add_graph("papers", mapping)
        answer = await engine.execute("What is missing?", graph="papers")
    invalid = [c for s in answer.sweeps for c in s.report.citations if not c.valid]
    assert {c.alias for c in invalid} == {"n9999"}
    assert all(c.node is None for c in invalid)
    assert answer.coverage.exhausted
    assert await count(db, "()-[x:PGS_CITES {alias: 'n9999'}]->()") == 0


async def test_the_users_graph_is_left_alone(engine, db):
    before = await checksum(db)
    await engine.execute("What is missing?", graph="papers")
    assert await checksum(db) == before
    await engine.purge()
    assert await checksum(db) == before
    assert await count(db, "(x) WHERE any(l IN labels(x) WHERE l STARTS WITH 'Pgs')") == 0


async def test_continue_sweeps_the_rest_until_the_graph_is_exhausted(engine):
    first = await engine.execute("Begin", graph="papers", max_sweep_partitions=2)
    assert first.coverage.partitions_swept == 2
    assert first.coverage.nodes_read == 80
    second = await engine.execute("Continue", mode="continue", max_sweep_partitions=2)
    assert second.coverage.partitions_swept == 4
    assert not {s.partition for s in first.sweeps} & {s.partition for s in second.sweeps}
    third = await engine.execute("Continue", mode="continue")
    assert third.coverage.exhausted
    assert [s.nodes for s in third.sweeps] == [2]
    again = await engine.execute("Once more", mode="continue")
    assert len(again.sweeps) == 5
    assert any("whole graph" in warning for warning in again.warnings)


async def test_a_full_run_in_an_old_session_selects_as_in_a_new_one(engine):
    first = await engine.execute("Begin", graph="papers", max_sweep_partitions=2)
    second = await engine.execute("Begin", graph="papers", max_sweep_partitions=2)
    assert {s.partition for s in first.sweeps} == {s.partition for s in second.sweeps}
    assert second.coverage.nodes_read == 80


async def test_targeted_routes_among_the_unread_only(connect, db):
    mapping = await papers(db)
    async with connect(embedder="hashing", route_by="centroids") as engine:
        await engine.add_graph("papers", mapping)
        first = await engine.execute("medieval trade", max_sweep_partitions=1)
        second = await engine.execute("medieval trade", mode="targeted", max_sweep_partitions=1)
    assert first.routing.best_similarity > second.routing.best_similarity
    assert first.sweeps[0].partition != second.sweeps[0].partition


async def test_a_question_compares_the_centroids_that_partitions_list(connect, db):
    mapping = await papers(db)
    async with connect(embedder="hashing", route_by="centroids") as engine:
        await engine.add_graph("papers", mapping)
        made = await engine.partition("papers")
        listed = await engine.partitions("papers")
        assert all(part.centroid is not None for part in (*made.partitions, *listed))
        routing = await engine.route("medieval trade")
        answer = await engine.execute("medieval trade")
        planned = await engine.plan("medieval trade")
        resumed = await engine.partition("papers")
    assert routing.best_similarity is not None
    assert answer.routing == planned.routing == routing
    assert all(part.centroid is not None for part in resumed.partitions)


async def test_sessions_are_apart(engine):
    await engine.execute("Begin", graph="papers", max_sweep_partitions=1, session_id="a")
    other = await engine.execute("Begin", graph="papers", max_sweep_partitions=1, session_id="b")
    assert other.coverage.partitions_swept == 1
    listed = {info.id: info for info in await engine.sessions("papers")}
    assert listed["a"].runs == listed["b"].runs == 1
    assert listed["a"].coverage.nodes_read == 40


async def test_concurrent_runs_in_one_session_lose_nothing(engine):
    await engine.partition("papers")
    runs = [engine.execute(f"Question {i}", graph="papers", session_id="s") for i in range(3)]
    answers = await asyncio.gather(*runs)
    assert len({answer.run for answer in answers}) == 3
    info = (await engine.sessions("papers"))[0]
    assert info.runs == 3
    assert info.coverage.exhausted


async def test_one_failing_sweep_is_recorded_not_covered_and_retried(connect, db):
    mapping = await papers(db)
    broken = True

    def answer(prompt):
        if broken and prompt.task == "sweep" and prompt.partition == 2:
            return ModelUnavailableError("the endpoint answered 500")
        return contract_reply(prompt)

    async with connect(answer) as engine:
        await engine.add_graph("papers", mapping)
        first = await engine.execute("Begin")
        assert first.partial
        assert [s.status for s in first.sweeps if s.partition == 2] == [SweepStatus.FAILED]
        assert first.coverage.nodes_read == 120
        assert first.coverage.partitions_swept == 3
        assert any("P2" in w and "answered 500" in w for w in first.warnings)
        assert await count(db, "()-[x:PGS_SWEPT {status: 'failed'}]->()") == 1
        broken = False
        second = await engine.execute("Continue", mode="continue")
        assert [s.partition for s in second.sweeps] == [2]
        assert second.coverage.exhausted


async def test_when_every_sweep_fails_the_error_says_why_for_each(connect, db):
    mapping = await papers(db)
    async with connect(lambda _: ModelRateLimitError("429 until the deadline")) as engine:
        await engine.add_graph("papers", mapping)
        with pytest.raises(AllSweepsFailedError) as caught:
            await engine.execute("Begin")
        assert set(caught.value.reasons) == {1, 2, 3, 4}
        assert "429 until the deadline" in caught.value.reasons[3]
        assert (await engine.sessions())[0].coverage.nodes_read == 0
    assert await count(db, "(x:PgsRun {status: 'failed'})") == 1


async def test_a_report_that_is_cut_off_is_asked_again_with_more_room(connect, db):
    mapping = await papers(db, topics=1)

    def answer(prompt):
        if prompt.task == "sweep" and sum(p.task == "sweep" for p in engine.sweep_llm.prompts) < 3:  # type: ignore[attr-defined]
            return Completion(
                text=contract_reply(prompt)[:80],
                usage=Usage(calls=1, input_tokens=10, output_tokens=5),
                model="scripted",
                truncated=True,
            )
        return contract_reply(prompt)

    async with connect(answer, sweep_max_tokens=1000, min_community_size=40) as engine:
        await engine.add_graph("papers", mapping)
        result = await engine.execute("Begin")
        assert engine.sweep_llm.max_tokens == [1000, 2000, 4000]
    assert not result.partial
    assert result.usage.calls == 4


@pytest.mark.parametrize(
    "reply", ["", "I would rather not.", "## Findings\n- only this", '{"findings": []}']
)
async def test_what_is_no_report_never_counts_as_read(connect, db, reply):
    mapping = await papers(db, topics=2)

    def answer(prompt):
        broken = prompt.task == "sweep" and prompt.partition == 1
        return reply if broken else contract_reply(prompt)

    async with connect(answer) as engine:
        await engine.add_graph("papers", mapping)
        result = await engine.execute("Begin")
    assert result.partial
    failed = next(s for s in result.sweeps if s.partition == 1)
    assert failed.nodes_read == 0
    assert result.coverage.nodes_read == 80 - failed.nodes


async def test_a_partition_too_long_for_a_prompt_takes_passes_and_loses_no_node(connect, db):
    mapping = await papers(db, topics=1, size=60)
    async with connect(max_pass_characters=6000, min_community_size=60) as engine:
        await engine.add_graph("papers", mapping)
        events = []
        result = await engine.execute("Begin", on_event=events.append)
        prompts = [p for p in engine.sweep_llm.prompts if p.task == "sweep"]
        assert len(facts(prompts)) == 60
        assert all(len(p.system) + len(p.user) <= 6000 for p in prompts)
    assert result.sweeps[0].passes == len(prompts) > 1
    assert result.coverage.exhausted
    passes = [e for e in events if isinstance(e, PassFinished)]
    assert len(passes) == len(prompts)
    assert sum((e.usage for e in passes), Usage()) == result.sweeps[0].usage


async def test_a_failed_pass_leaves_exactly_its_nodes_unread(connect, db):
    mapping = await papers(db, topics=1, size=60)
    refused = set()

    def answer(prompt):
        if prompt.task == "sweep" and "token is fact59." in prompt.user and not refused_done:
            refused.update(facts([prompt]))
            return ModelUnavailableError("the endpoint answered 500")
        return contract_reply(prompt)

    refused_done = False
    async with connect(answer, max_pass_characters=6000, min_community_size=60) as engine:
        await engine.add_graph("papers", mapping)
        first = await engine.execute("Begin")
        assert first.sweeps[0].status is SweepStatus.PARTIAL
        assert first.coverage.nodes_read == 60 - len(refused) < 60
        refused_done = True
        engine.sweep_llm.prompts.clear()
        second = await engine.execute("Continue", mode="continue")
        assert facts(engine.sweep_llm.prompts) == refused
        assert second.sweeps[0].nodes == len(refused)
        assert second.coverage.exhausted


async def test_a_very_long_text_is_read_in_parts(connect, db):
    mapping = await papers(db, topics=1, size=12)
    await db.call(
        "MATCH (p:Paper {doi: 'doi/0'}) "
        "SET p.abstract = reduce(t = '', i IN range(1, 4000) | t + 'sentence ' + i + '. ')",
        {},
        "write",
    )
    async with connect(max_pass_characters=20_000, max_partition_tokens=10**9) as engine:
        await engine.add_graph("papers", mapping)
        result = await engine.execute("Begin")
        parts = {
            int(re.search(r"part (\d+) of", node.title)[1]): node.text  # type: ignore[index]
            for prompt in engine.sweep_llm.prompts
            for node in prompt.nodes
            if node.alias == "n1"
        }
        seen = "".join(text for _, text in sorted(parts.items()))
    assert set(re.findall(r"sentence \d+\.", seen)) == {f"sentence {i}." for i in range(1, 4001)}
    assert result.sweeps[0].passes > 3
    assert result.coverage.exhausted


async def test_coverage_counts_nodes_across_generations(engine, db):
    first = await engine.execute("Begin", graph="papers", max_sweep_partitions=2)
    part = first.sweeps[0].partition
    await db.call(
        "MATCH (p:Paper)-[:PGS_IN {rank: 0}]->(:PgsPartition {id: $part}) "
        "SET p.abstract = 'rewritten'",
        {"part": part},
        "write",
    )
    repartitioned = await engine.partition("papers", random_seed=7)
    assert repartitioned.generation.id
    coverage = await engine.coverage("papers", "default")
    assert first.coverage.nodes_read == 80
    assert coverage.nodes_read == 79  # the rewritten text has not been read
    rest = await engine.execute("Continue", mode="continue", full_sweep=True)
    assert sum(s.nodes_read for s in rest.sweeps) == 162 - 79
    assert rest.coverage.exhausted


async def test_the_window_bounds_the_calls_in_flight(connect, db):
    mapping = await papers(db, topics=8, size=20)
    running, most, full = 0, 0, asyncio.Event()

    async def answer(prompt):
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            full.set()
        await full.wait()
        await asyncio.sleep(0.02)
        running -= 1
        return contract_reply(prompt)

    async with connect(answer, max_concurrent_sweeps=3, max_concurrent_calls=3) as engine:
        await engine.add_graph("papers", mapping)
        async with asyncio.timeout(120):
            await engine.execute("Begin")
    assert most == 3


async def test_canceling_marks_the_run_and_keeps_what_was_read(connect, db):
    mapping = await papers(db)
    hanging = asyncio.Event()

    async def answer(prompt):
        if prompt.task == "sweep" and prompt.partition == 4:
            hanging.set()
            await asyncio.sleep(60)
        return contract_reply(prompt)

    async with connect(answer) as engine:
        await engine.add_graph("papers", mapping)
        task = asyncio.create_task(engine.execute("Begin"))
        await hanging.wait()
        while await count(db, "(x:PgsSweep)") < 3:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await count(db, "(x:PgsRun {status: 'interrupted'})") == 1
        assert (await engine.coverage("papers", "default")).nodes_read == 120


async def test_a_failing_synthesis_loses_no_sweep_and_no_money(connect, db):
    mapping = await papers(db)
    broken = True

    def answer(prompt):
        if broken and prompt.task == "synthesis":
            return ModelUnavailableError("gone")
        return contract_reply(prompt)

    async with connect(answer) as engine:
        await engine.add_graph("papers", mapping)
        with pytest.raises(ModelUnavailableError):
            await engine.execute("Begin")
        assert (await engine.coverage("papers", "default")).exhausted
        broken = False
        engine.sweep_llm.prompts.clear()
        second = await engine.execute("Begin", mode="continue")
        assert engine.sweep_llm.prompts == []
        assert second.usage.calls == 1
        assert {report.name for report in engine.synthesis_llm.prompts[-1].reports} == {
            "P1",
            "P2",
            "P3",
            "P4",
        }
        assert all(citation.valid for citation in second.synthesis.citations)
        assert second.synthesis.citations
        assert any("earlier runs" in warning for warning in second.warnings)
        third = await engine.execute("Once more", mode="continue")
        assert len(third.sweeps) == 4
    failed = "MATCH (r:PgsRun {status: 'failed'}) RETURN r.calls AS calls"
    _, rows = await db.call(failed, {}, "read")
    assert rows == [{"calls": 5}]  # the synthesis may have been charged for


async def test_an_error_in_a_callback_ends_the_run_and_is_recorded(engine, db):
    def explode(event):
        if isinstance(event, SweepFinished):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        await engine.execute("Begin", graph="papers", on_event=explode)
    assert await count(db, "(x:PgsRun {status: 'failed', error: 'BrokenPipeError'})") == 1


async def test_one_unreadable_partition_does_not_stop_the_others(engine, db, monkeypatch):
    from pgs_neo4j.errors import DatabaseTimeoutError
    from pgs_neo4j.sweeping import members as read

    read_members = read.read_members

    async def slow(db, partition, *args):
        if partition.id == 2:
            raise DatabaseTimeoutError("no answer within 1 s")
        return await read_members(db, partition, *args)

    monkeypatch.setattr(read, "read_members", slow)
    answer = await engine.execute("Begin", graph="papers")
    assert answer.coverage.nodes_read == 122
    assert [s.status for s in answer.sweeps if s.partition == 2] == [SweepStatus.FAILED]


async def test_members_deleted_after_partitioning_are_not_read(connect, db):
    mapping = await papers(db, topics=2)

    async with connect(min_community_size=40) as engine:
        await engine.add_graph("papers", mapping)
        await engine.partition()
        other = "MATCH (n)-[:PGS_IN]->(:PgsPartition {id: 2}) DETACH DELETE n"
        await db.call(other, {}, "write")
        gone = await engine.sweep_partition("Begin", 2)
        assert engine.sweep_llm.prompts == []
    assert gone.status is SweepStatus.FAILED
    assert gone.nodes_read == 0
    assert "its nodes are gone" in gone.errors[0]


async def test_a_generation_that_a_run_is_on_is_not_pruned(connect, db):
    mapping = await papers(db)
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def answer(prompt):
        asked.set()
        await go_on.wait()
        return contract_reply(prompt)

    async with connect(answer, keep_generations=1) as engine:
        await engine.add_graph("papers", mapping)
        task = asyncio.create_task(engine.execute("Begin"))
        await asked.wait()
        for seed in (1, 2, 3):
            await engine.partition("papers", random_seed=seed, keep_generations=1)
        go_on.set()
        result = await task
    assert not result.partial
    assert result.coverage.nodes_total == 160
    assert all(citation.valid for citation in result.synthesis.citations)


async def test_a_purge_in_mid_run_is_an_error_and_no_false_coverage(connect, db):
    from pgs_neo4j.errors import DatabaseError

    mapping = await papers(db)

    purges = []

    async def answer(prompt):
        if prompt.partition == 1:
            # Another sweep may fail first, and its end must not cancel the purge.
            purges.append(asyncio.create_task(engine.purge()))  # type: ignore[attr-defined]
            await asyncio.shield(purges[0])
        return contract_reply(prompt)

    async with connect(answer, max_concurrent_sweeps=1) as engine:
        await engine.add_graph("papers", mapping)
        with pytest.raises(DatabaseError, match="can no longer be recorded"):
            await engine.execute("Begin")
        await asyncio.gather(*purges)
    assert await count(db, "(x:PgsSweep|PgsRun)") == 0


async def test_a_synthesis_that_was_cut_off_makes_a_partial_answer(connect, db):
    mapping = await papers(db, topics=1)

    def answer(prompt):
        text = contract_reply(prompt)
        if prompt.task == "synthesis":
            return Completion(text=text[:60], usage=Usage(calls=1), model="m", truncated=True)
        return text

    async with connect(answer) as engine:
        await engine.add_graph("papers", mapping)
        result = await engine.execute("Begin")
    assert result.partial
    assert not result.synthesis.complete
    assert any("cut off" in warning for warning in result.warnings)


async def test_events_tell_the_whole_story(engine):
    events = []
    answer = await engine.execute("Begin", graph="papers", on_event=events.append)
    streamed = "".join(e.text for e in events if isinstance(e, TextStreamed))
    assert streamed == answer.text
    assert sum(isinstance(e, SweepFinished) for e in events) == 5
    assert sum(isinstance(e, Routed) for e in events) == 1
    done = [e.phase for e in events if isinstance(e, PhaseFinished)]
    assert done == ["partition", "route", "sweep", "synthesize"]


async def test_the_steps_can_be_taken_one_by_one(engine):
    await engine.partition("papers")
    parts = await engine.partitions("papers")
    routing = await engine.route("What is missing?", graph="papers")
    assert [r.partition for r in routing.routes] == [p.id for p in parts]
    sweeps = [await engine.sweep_partition("What?", p.id, graph="papers") for p in parts[:2]]
    assert all(s.status is SweepStatus.ACCEPTED for s in sweeps)
    synthesis = await engine.synthesize("What?", sweeps, graph="papers")
    assert synthesis.thesis
    with pytest.raises(UsageError, match="no partition 99"):
        await engine.sweep_partition("What?", 99, graph="papers")


async def test_layered_search_answers_first_and_tells_the_sweeps_what_is_known(engine):
    result = await engine.layered_search("ammonia catalysis", graph="papers", top_k=3)
    assert len(result.search.nodes) == 3
    assert "[n1]" in result.search.text
    assert all(c.valid for c in result.search.citations)
    assert all("ammonia" in node.text for node in result.search.nodes)
    synthesis = engine.synthesis_llm.prompts[-1]
    assert result.search.nodes[0].title in synthesis.user.partition("<known>")[2]
    assert result.answer.coverage.partitions_swept == 1


async def test_a_question_comes_last_in_the_prompt_and_the_prefix_is_stable(engine):
    await engine.execute("First question?", graph="papers")
    await engine.execute("Second question?", graph="papers")
    by_part = {}
    for prompt in engine.sweep_llm.prompts:
        by_part.setdefault(prompt.partition, []).append(prompt)
    for first, second in by_part.values():
        assert first.system == second.system
        assert (
            first.user.partition("First question?")[0]
            == (second.user.partition("Second question?")[0])
        )
        assert len(first.user) - first.user.rfind("First question?") < 200


async def test_bad_requests_are_refused_before_any_work(engine):
    with pytest.raises(QuestionError):
        await engine.execute("   ", graph="papers")
    with pytest.raises(UnknownGraphError, match="papers"):
        await engine.execute("What?", graph="nope")
    with pytest.raises(UnknownSessionError):
        await engine.execute("What?", mode="continue", session_id="never")
    with pytest.raises(UsageError, match="not partitioned"):
        await engine.partitions("papers")
    with pytest.raises(UsageError, match="no mode 'bogus'"):
        await engine.execute("What?", graph="papers", mode="bogus")
    with pytest.raises(UsageError, match="session names"):
        await engine.execute("What?", graph="papers", session_id="")
    with pytest.raises(QuestionError, match="UTF-8"):
        await engine.execute("What \udcff?", graph="papers")
    for top_k in (0, -2, 10_000):
        with pytest.raises(UsageError, match="top_k"):
            await engine.layered_search("What?", graph="papers", top_k=top_k)
    assert engine.sweep_llm.prompts == engine.synthesis_llm.prompts == []
