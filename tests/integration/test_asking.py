"""The whole way of a question on a real Neo4j + GDS, with a scripted reader."""

import asyncio
import re
from functools import partial

import pytest

from pgs_neo4j.errors import (
    AllSweepsFailedError,
    DatabaseError,
    DatabaseTimeoutError,
    ModelRateLimitError,
    ModelUnavailableError,
    NothingLeftError,
    QuestionError,
    UnknownGraphError,
    UnknownSessionError,
    UsageError,
)
from pgs_neo4j.events import PassFinished, PhaseFinished, Routed, SweepFinished, TextStreamed
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import Completion, SweepStatus, Usage
from pgs_neo4j.pgs.sweeping import material
from tests.database import alter, fetch
from tests.engines import engine_on_papers
from tests.graphs import count


@pytest.fixture
async def connect(endpoint, db):
    """An engine on the papers with a scripted reader."""
    return partial(engine_on_papers, endpoint, db)


@pytest.fixture
async def engine(connect):
    async with connect(isolates=2) as opened:
        yield opened


def facts(prompts):
    """Every planted fact that stood in these prompts as text of a node."""
    return [
        found
        for prompt in prompts
        if prompt.task == "sweep"
        for found in re.findall(r"token is (fact\d+)\.|(Alone \d+ stands)", prompt.user)
    ]


async def test_a_question_is_answered_from_every_node_of_a_small_graph(engine, db, monkeypatch):
    monkeypatch.setattr(material, "CHUNK", 15)
    events = []
    answer = await engine.execute("What is missing?", graph="papers", on_event=events.append)
    assert not answer.partial
    assert answer.coverage.nodes_read == answer.coverage.nodes_total == 162
    assert answer.coverage.partitions_swept == answer.coverage.partitions_total == 5
    assert answer.coverage.exhausted
    assert len(facts(engine.sweep_llm.prompts)) == 162
    assert answer.usage.calls == 6
    assert set(answer.seconds) >= {"partition", "route", "sweep", "synthesize", "total"}
    assert answer.synthesis.thesis
    assert answer.synthesis.absences
    assert answer.text.startswith("## Thesis")
    assert "".join(e.text for e in events if isinstance(e, TextStreamed)) == answer.text
    assert sum(isinstance(e, SweepFinished) for e in events) == 5
    assert sum(isinstance(e, Routed) for e in events) == 1
    done = [e.phase for e in events if isinstance(e, PhaseFinished)]
    assert done == ["partition", "route", "sweep", "synthesize"]
    assert answer.synthesis.citations
    for citation in answer.synthesis.citations:
        assert citation.valid
        rows = await fetch(
            db, "MATCH (n:Paper {doi: $doi}) RETURN n.title AS title", doi=citation.node
        )
        assert [row["title"] for row in rows] == [citation.title]


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
    with pytest.raises(NothingLeftError):
        await engine.execute("Once more", mode="continue")
    again = await engine.execute("Once more", mode="continue", full_sweep=True)
    assert len(again.sweeps) == 5
    assert any("whole graph" in warning for warning in again.warnings)
    for session in ("a", "b", "a"):  # sessions are apart, and a full run selects as in a new one
        other = await engine.execute("Begin", max_sweep_partitions=2, session_id=session)
        assert [s.partition for s in other.sweeps] == [s.partition for s in first.sweeps]
        assert other.coverage.nodes_read == 80
    listed = {info.id: info for info in await engine.sessions("papers")}
    assert {name: info.runs for name, info in listed.items()} == {"a": 2, "b": 1, "default": 4}
    assert listed["a"].coverage.nodes_read == 80


@pytest.mark.thorough
async def test_a_question_is_compared_with_centroids_and_targeted_takes_the_unread_only(connect):
    async with connect(embedder="hashing", route_by="centroids") as engine:
        made = await engine.partitions.build("papers")
        listed = await engine.partitions("papers")
        assert all(part.centroid is not None for part in (*made.partitions, *listed))
        routing = await engine.route("medieval trade", max_sweep_partitions=1)
        planned = await engine.plan("medieval trade", max_sweep_partitions=1)
        first = await engine.execute("medieval trade", max_sweep_partitions=1)
        assert first.routing == planned.routing == routing
        second = await engine.execute("medieval trade", mode="targeted", max_sweep_partitions=1)
        resumed = await engine.partitions.build("papers")
    assert first.routing.best_similarity > second.routing.best_similarity
    assert first.sweeps[0].partition != second.sweeps[0].partition
    assert all(part.centroid is not None for part in resumed.partitions)


async def test_when_every_sweep_fails_the_error_says_why_for_each(connect, db):
    async with connect(lambda _: ModelRateLimitError("429 until the deadline")) as engine:
        with pytest.raises(AllSweepsFailedError) as caught:
            await engine.execute("Begin")
        assert set(caught.value.reasons) == {1, 2, 3, 4}
        assert "429 until the deadline" in caught.value.reasons[3]
        assert (await engine.sessions())[0].coverage.nodes_read == 0
    assert await count(db, "(x:PgsRun {status: 'failed'})") == 1


async def test_a_partition_too_long_for_a_prompt_takes_passes_and_a_failed_one_is_unread(connect):
    refused = set()

    def answer(prompt):
        if prompt.task == "sweep" and "token is fact59." in prompt.user and not refused_done:
            refused.update(facts([prompt]))
            return ModelUnavailableError("the endpoint answered 500")
        return contract_reply(prompt)

    refused_done, events = False, []
    async with connect(
        answer, max_pass_characters=6000, min_community_size=60, topics=1, size=60
    ) as engine:
        first = await engine.execute("Begin")
        assert first.sweeps[0].status is SweepStatus.PARTIAL
        assert first.coverage.nodes_read == 60 - len(refused) < 60
        refused_done = True
        engine.sweep_llm.prompts.clear()
        second = await engine.execute("Continue", mode="continue")
        assert {*facts(engine.sweep_llm.prompts)} == refused
        assert second.sweeps[0].nodes == len(refused)
        assert second.coverage.exhausted
        engine.sweep_llm.prompts.clear()
        whole = await engine.execute("Begin again", on_event=events.append)
        prompts = [p for p in engine.sweep_llm.prompts if p.task == "sweep"]
    assert len(facts(prompts)) == 60
    assert all(len(p.system) + len(p.user) <= 6000 for p in prompts)
    assert whole.sweeps[0].passes == len(prompts) > 1
    passes = [e for e in events if isinstance(e, PassFinished)]
    assert len(passes) == len(prompts)
    assert sum((e.usage for e in passes), Usage()) == whole.sweeps[0].usage
    total = sum((e.usage for e in passes), whole.synthesis.usage)
    assert (total.calls, total.tokens) == (whole.usage.calls, whole.usage.tokens)


async def test_a_failing_synthesis_loses_no_sweep_and_no_money(connect, db):
    broken = True

    def answer(prompt):
        if broken and prompt.task == "synthesis":
            return ModelUnavailableError("gone")
        return contract_reply(prompt)

    async with connect(answer) as engine:
        with pytest.raises(ModelUnavailableError):
            await engine.execute("Begin")
        assert (await engine.sessions.coverage("default", "papers")).exhausted
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
        with pytest.raises(NothingLeftError):
            await engine.execute("Once more", mode="continue")
        third = await engine.execute("Once more", mode="continue", full_sweep=True)
        assert len(third.sweeps) == 4
    failed = "MATCH (r:PgsRun {status: 'failed'}) RETURN r.calls AS calls"
    rows = await fetch(db, failed)
    assert rows == [{"calls": 5}]  # the synthesis may have been charged for


async def test_one_unreadable_partition_does_not_stop_the_others(engine, db, monkeypatch):
    read_members = material.read_members

    async def slow(db, partition, *args):
        if partition.id == 2:
            raise DatabaseTimeoutError("no answer within 1 s")
        return await read_members(db, partition, *args)

    monkeypatch.setattr(material, "read_members", slow)
    answer = await engine.execute("Begin", graph="papers")
    assert answer.coverage.nodes_read == 122
    assert [s.status for s in answer.sweeps if s.partition == 2] == [SweepStatus.FAILED]


async def test_members_deleted_after_partitioning_are_not_read(connect, db):
    async with connect(min_community_size=40, topics=2) as engine:
        await engine.partitions.build()
        other = "MATCH (n)-[:PGS_IN]->(:PgsPartition {id: 2}) DETACH DELETE n"
        await alter(db, other)
        gone = await engine.sweep_partition("Begin", 2)
        assert engine.sweep_llm.prompts == []
    assert gone.status is SweepStatus.FAILED
    assert gone.nodes_read == 0
    assert "its nodes are gone" in gone.errors[0]


@pytest.mark.thorough
async def test_a_generation_that_a_run_is_on_is_not_pruned(connect):
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def answer(prompt):
        asked.set()
        await go_on.wait()
        return contract_reply(prompt)

    async with connect(answer, keep_generations=1) as engine:
        task = asyncio.create_task(engine.execute("Begin"))
        await asked.wait()
        for seed in (1, 2, 3):
            await engine.partitions.build("papers", random_seed=seed, keep_generations=1)
        go_on.set()
        result = await task
    assert not result.partial
    assert result.coverage.nodes_total == 160
    assert all(citation.valid for citation in result.synthesis.citations)


@pytest.mark.schema
async def test_a_purge_in_mid_run_is_an_error_and_no_false_coverage(connect, db):
    purges = []

    async def answer(prompt):
        if prompt.partition == 1:
            # Another sweep may fail first, and its end must not cancel the purge.
            purges.append(asyncio.create_task(engine.purge()))  # type: ignore[attr-defined]
            await asyncio.shield(purges[0])
        return contract_reply(prompt)

    async with connect(answer, max_concurrent_sweeps=1) as engine:
        # A statement may meet the purge, or its end.
        told = "so nothing more is stored|the run can no longer be recorded"
        with pytest.raises(DatabaseError, match=told):
            await engine.execute("Begin")
        await asyncio.gather(*purges)
    assert await count(db, "(x:PgsSweep|PgsRun)") == 0


@pytest.mark.thorough
async def test_a_synthesis_that_was_cut_off_makes_a_partial_answer(connect):
    def answer(prompt):
        text = contract_reply(prompt)
        if prompt.task == "synthesis":
            return Completion(text=text[:60], usage=Usage(calls=1), model="m", truncated=True)
        return text

    async with connect(answer, topics=1) as engine:
        result = await engine.execute("Begin")
    assert result.partial
    assert not result.synthesis.complete
    assert any("cut off" in warning for warning in result.warnings)


@pytest.mark.thorough
async def test_the_steps_can_be_taken_one_by_one(engine):
    await engine.partitions.build("papers")
    parts = await engine.partitions("papers")
    routing = await engine.route("What is missing?", graph="papers")
    assert [r.partition for r in routing.routes] == [p.id for p in parts]
    sweeps = [await engine.sweep_partition("What?", p.id, graph="papers") for p in parts[:2]]
    assert all(s.status is SweepStatus.ACCEPTED for s in sweeps)
    synthesis = await engine.synthesize("What?", sweeps, graph="papers")
    assert synthesis.thesis
    with pytest.raises(UsageError, match="no partition 99"):
        await engine.sweep_partition("What?", 99, graph="papers")


@pytest.mark.thorough
async def test_layered_search_answers_first_and_tells_the_sweeps_what_is_known(engine):
    result = await engine.layered_search("ammonia catalysis", graph="papers", top_k=3)
    assert len(result.search.nodes) == 3
    assert "[n1]" in result.search.text
    assert all(c.valid for c in result.search.citations)
    assert all("ammonia" in node.text for node in result.search.nodes)
    synthesis = engine.synthesis_llm.prompts[-1]
    assert result.search.nodes[0].title in synthesis.user.partition("<known>")[2]
    assert result.answer.coverage.partitions_swept == 1


BAD_REQUESTS = (
    (QuestionError, None, {"question": "   "}),
    (QuestionError, "UTF-8", {"question": "What \udcff?"}),
    (UnknownGraphError, "papers", {"graph": "nope"}),
    (UnknownSessionError, "never", {"mode": "continue", "session_id": "never"}),
    (UsageError, "no mode 'bogus'", {"mode": "bogus"}),
    (UsageError, "session names", {"session_id": ""}),
)


async def test_bad_requests_are_refused_before_any_work(engine):
    for error, said, given in BAD_REQUESTS:
        with pytest.raises(error, match=said):
            await engine.execute(**{"question": "What?", "graph": "papers"} | given)
    with pytest.raises(UsageError, match="not partitioned"):
        await engine.partitions("papers")
    for top_k in (0, -2, 10_000):
        with pytest.raises(UsageError, match="top_k"):
            await engine.layered_search("What?", graph="papers", top_k=top_k)
    assert engine.sweep_llm.prompts == engine.synthesis_llm.prompts == []
